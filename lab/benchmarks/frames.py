"""From rows to a release: seconds, the share of the run-time check, and memory, on every engine.

Run: python -m lab.benchmarks.frames [ROWS [USERS]]   (10^6 and 10^5; the figures quoted: 10^8 and
10^7) Each engine has a process of its own, whose peak resident memory is printed. The file of rows
is made first, in a folder for temporary files: 10^8 rows take 0.8 GB there.
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

import narwhals

#: Engines for more rows than fit into memory, and other engines, which skip more than 10^7 rows.
_LAZY = ("duckdb", "polars-lazy")
_IN_MEMORY = ("polars", "pandas", "pyarrow", "dask")

#: About so many rows are worked on in one pass.
_PART = 10**7


def main() -> None:
    rows, users = (int(text) for text in [*sys.argv[1:], "1000000", "100000"][:2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        _make(path, rows, users)
        megabytes, passes = path.stat().st_size / 1e6, max(1, rows // _PART)
        print(f"{rows} rows, {users} users, {megabytes:.0f} MB, {passes} passes, GSHM, k = 10")
        for engine in _LAZY if rows > 10**7 else _LAZY + _IN_MEMORY:
            words = [sys.executable, "-m", "lab.benchmarks.frames", engine, str(path), str(passes)]
            measured = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
            line = "{engine:12} {wall:7.1f} s {cpu:8.1f} CPU s ({check:4.1%} of them the check)"
            line += " {gib:6.2f} GiB {released:7} keys"
            print("  " + line.format(**measured), flush=True)


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
        relation = connection.sql(source, params={"users": users, "rows": rows})
        relation.write_parquet(str(path))


def _one(engine: str, path: str, passes: int) -> None:
    """Release with one engine, and print what it took."""
    from exactdp import frames
    from exactdp.frames import counting

    spent, check = [0.0], counting.check

    def timed(*arguments: Any) -> None:
        begun = time.process_time()
        check(*arguments)
        spent[0] += time.process_time() - begun

    counting.check = timed
    frame = _frame(engine, path)
    start, cpu = time.perf_counter(), time.process_time()
    release = frames.release(
        frame, user="uid", by="url", k=10, epsilon=1, delta="1e-6", passes=passes
    )
    released = len(_rows(release.frame))
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    took = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    took["check"] = spent[0] / took["cpu"]
    print(json.dumps({"engine": engine, **took, "gib": largest, "released": released}))


def _frame(engine: str, path: str) -> object:
    if engine == "duckdb":
        import duckdb

        duckdb.execute("SET memory_limit = '3GB'")
        return duckdb.read_parquet(path)
    if engine.startswith("polars"):
        import polars

        return polars.scan_parquet(path) if engine == "polars-lazy" else polars.read_parquet(path)
    if engine == "pyarrow":
        from pyarrow import parquet

        return parquet.read_table(path)
    if engine == "pandas":
        import pandas

        return pandas.read_parquet(path)
    import dask.dataframe

    return dask.dataframe.read_parquet(path)


def _rows(frame: Any) -> list[object]:
    """The rows of a frame of any kind."""
    if hasattr(frame, "compute"):
        frame = frame.compute()
    seen = narwhals.from_native(frame)
    held = seen.collect() if isinstance(seen, narwhals.LazyFrame) else seen
    return held.rows()


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in _LAZY + _IN_MEMORY:
        _one(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        main()
