"""From rows to a release, beside the plain queries that count the same pairs, on every engine.

Run: python -m lab.benchmarks.frames [ROWS [USERS [KEYS [PASSES [ENGINE ...]]]]]

Default: 10^6 rows of 10^5 users, 1000 keys, one pass, all engines. Users and keys are integers,
uniform and independent; k = 10 keys of a user count. The file of rows is made first, in a folder
for temporary files: 10^8 rows take 0.6 GB there. Every query has a process of its own on one
processor, which first releases a tiny frame, so that no query pays for imports and calibration. For
each query the medians of three such processes are printed: seconds of the processor, and peak
resident memory. The queries:

- pairs: group by user and key, then count by key; on polars with the default engine;
- streamed: the same with polars' streaming engine, which `release` uses;
- users: the number of distinct users by key;
- release: `exactdp.frames.release`.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_ENGINES = ("polars", "polars-lazy", "duckdb", "pyarrow", "pandas", "dask")
_DEFAULTS = (10**6, 10**5, 1000, 1)
_ROUNDS = 3


def main() -> None:
    numbers = [int(text) for text in sys.argv[1:5]]
    rows, users, keys, passes = (*numbers, *_DEFAULTS[len(numbers) :])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        _make(path, rows, users, keys)
        print(f"{rows} rows, {users} users, {keys} keys, {passes} passes, GSHM, k = 10")
        for engine in sys.argv[5:] or _ENGINES:
            streamed = ["streamed"] if engine.startswith("polars") else []
            queries = ["pairs", *streamed, "users", "release"]
            runs = [
                {query: _in_child(engine, query, path, passes) for query in queries}
                for _ in range(_ROUNDS)
            ]
            cpu, gib = (
                {query: statistics.median(run[query][i] for run in runs) for query in queries}
                for i in (0, 1)
            )
            print(f"  {engine}")
            for query in queries:
                times = f"release takes {cpu['release'] / cpu[query]:5.2f} times as long"
                print(f"    {query:8} {cpu[query]:7.2f} CPU s {gib[query]:6.2f} GiB   {times}")
            sys.stdout.flush()


def _in_child(engine: str, query: str, path: Path, passes: int) -> tuple[float, float]:
    """Seconds of the processor, and GiB, of a query."""
    words = [sys.executable, "-m", "lab.benchmarks.frames", "query", engine, query]
    run = subprocess.run([*words, str(path), str(passes)], check=True, stdout=subprocess.PIPE)
    seconds, gib = json.loads(run.stdout)
    return seconds, gib


def _make(path: Path, rows: int, users: int, keys: int) -> None:
    """Users and keys at random."""
    import duckdb

    source = """
        SELECT (hash(i) % $users)::BIGINT AS uid, (hash(-i - 1) % $keys)::BIGINT AS url
        FROM range($rows) t(i)
    """
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '2GB'")
        relation = connection.sql(source, params={"users": users, "keys": keys, "rows": rows})
        relation.write_parquet(str(path))


def _query(engine: str, query: str, path: str, passes: int) -> None:
    """Answer one query, and print what it took."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import polars

    _release(polars.DataFrame({"uid": [1], "url": [1]}), 1)
    frame = _frame(engine, path)
    begun = time.process_time()
    if query == "release":
        _release(frame, passes)
    else:
        _plain(frame, engine, query)
    seconds = time.process_time() - begun
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))


def _release(frame: Any, passes: int) -> Any:
    import narwhals

    from exactdp import frames

    release = frames.release(
        frame, user="uid", by="url", k=10, epsilon=1, delta="1e-6", passes=passes
    )
    released = release.frame.compute() if hasattr(release.frame, "compute") else release.frame
    return narwhals.from_native(released).lazy().collect().rows()


def _plain(frame: Any, engine: str, query: str) -> Any:
    """The answer of a plain query."""
    pair, key = ["uid", "url"], ["url"]
    if engine.startswith("polars"):
        import polars

        rows = frame.lazy()
        if query == "users":
            return rows.group_by(key).agg(polars.col("uid").n_unique()).collect(engine="streaming")
        counts = rows.group_by(pair).agg().group_by(key).len()
        return counts.collect(engine="streaming" if query == "streamed" else "in-memory")
    if engine == "duckdb":
        if query == "users":
            return frame.aggregate("url, count(DISTINCT uid)").fetchall()
        return frame.distinct().aggregate("url, count(*)").fetchall()
    if engine == "pyarrow":
        if query == "users":
            return frame.group_by(key).aggregate([("uid", "count_distinct")])
        return frame.group_by(pair).aggregate([]).group_by(key).aggregate([([], "count_all")])
    counts = (
        frame.groupby("url")["uid"].nunique()
        if query == "users"
        else frame.drop_duplicates(pair).groupby("url").size()
    )
    return counts.compute() if engine == "dask" else counts


def _frame(engine: str, path: str) -> Any:
    if engine == "duckdb":
        import duckdb

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


if __name__ == "__main__":
    if sys.argv[1:2] == ["query"]:
        _query(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        main()
