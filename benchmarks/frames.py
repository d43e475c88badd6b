"""From rows to a release: seconds and memory on every engine that holds more rows than memory does.

Run: python -m benchmarks.frames [ROWS [USERS]]   (10^6 and 10^5; the figures quoted: 10^8 and 10^7)
Each engine has a process of its own, whose largest resident memory is told. The file of rows is
made first, in a folder for temporary files: 10^8 rows take 0.8 GB there.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_ENGINES = ("duckdb", "polars-lazy")

#: About so many rows are worked on in one pass.
_PART = 10**7


def main() -> None:
    rows, users = (int(text) for text in [*sys.argv[1:], "1000000", "100000"][:2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        _make(path, rows, users)
        megabytes, passes = path.stat().st_size / 1e6, max(1, rows // _PART)
        print(f"{rows} rows, {users} users, {megabytes:.0f} MB, {passes} passes, GSHM, k = 10")
        for engine in _ENGINES:
            words = [sys.executable, "-m", "benchmarks.frames", engine, str(path), str(passes)]
            found = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
            line = "{engine:12} {wall:7.1f} s {cpu:8.1f} CPU s {gib:6.2f} GiB {released:7} keys"
            print("  " + line.format(**found), flush=True)


def _make(path: Path, rows: int, users: int) -> None:
    """Users at random; keys of which the n-th is about as frequent as 1/n."""
    import duckdb

    source = """
        SELECT (hash(i) % $users)::BIGINT AS uid,
               'page ' || floor(exp(ln(20000) * (hash(-i - 1) % 1000003) / 1000003)) AS url
        FROM range($rows) t(i)
    """
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '2GB'")
        made = connection.sql(source, params={"users": users, "rows": rows})
        made.write_parquet(str(path))


def _one(engine: str, path: str, passes: int) -> None:
    """Release with one engine, and print what it took."""
    from exactdp import frames

    start, cpu = time.perf_counter(), time.process_time()
    found = frames.release(
        _frame(engine, path), user="uid", by="url", k=10, epsilon=1, delta="1e-6", passes=passes
    )
    released = len(_rows(engine, found.frame))
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    took = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    print(json.dumps({"engine": engine, **took, "gib": largest, "released": released}))


def _frame(engine: str, path: str) -> object:
    if engine == "duckdb":
        import duckdb

        duckdb.execute("SET memory_limit = '3GB'")
        return duckdb.read_parquet(path)
    import polars

    return polars.scan_parquet(path)


def _rows(engine: str, frame: Any) -> list[object]:
    found: list[object] = frame.fetchall() if engine == "duckdb" else frame.collect().rows()
    return found


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in _ENGINES:
        _one(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        main()
