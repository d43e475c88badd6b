"""A release of a large table on Spark, from a Parquet file, against SQL that DuckDB runs.

Run: python -m tests.frames.large [ROWS [GIB]]   (10^8 rows; memory of Spark, 6 GiB)
A user has about ten rows, and k = 5 of the user's d keys count, chosen uniformly. So a key has
the sum over its users of min(1, 5/d) users on average, with independent users. Every released
count must be within six standard deviations, noise included: all of a thousand are, except with
probability 2e-6. Prints seconds, those of the processor, and the peak memory of the JVM.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from exactdp import frames

_K, _KEYS, _ROWS_OF_A_USER = 5, 1000, 10


def write_table(path: Path, rows: int) -> list[tuple[str, float, float]]:
    """Write the table; returns key, mean and variance of its number of users."""
    import duckdb

    users = rows // _ROWS_OF_A_USER
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '6GB'; SET temp_directory = '{path.parent}'")
        source = """
            SELECT (hash(i) % $users)::BIGINT AS uid, 'page ' || hash(-i - 1) % $keys AS url
            FROM range($rows) t(i)
        """
        parameters = {"users": users, "rows": rows, "keys": _KEYS}
        connection.sql(source, params=parameters).write_parquet(str(path))
        return connection.execute(
            """
            WITH pairs AS (SELECT DISTINCT uid, url FROM read_parquet($path)),
            own AS (SELECT uid, least(1, $k / count(*)) AS p FROM pairs GROUP BY uid)
            SELECT url, sum(p), sum(p * (1 - p)) FROM pairs JOIN own USING (uid) GROUP BY url
            """,
            {"path": str(path), "k": _K},
        ).fetchall()


def released(path: Path, gib: int, folder: str) -> tuple[Any, dict[str, float]]:
    """The mechanism, and the counts that Spark releases from the file."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{os.cpu_count()}]")
        .config("spark.driver.memory", f"{gib}g")
        .config("spark.local.dir", folder)
        .config("spark.sql.warehouse.dir", folder)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    rows = session.read.parquet(str(path))
    out = frames.release(rows, user="uid", by="url", k=_K, epsilon=1, delta="1e-6")
    counts = {row["url"]: float(row["count"]) for row in out.frame.collect()}
    machine = SparkContext._gateway.proc
    session.stop()
    machine.stdin.close()  # ends the JVM, whose seconds are then known
    machine.wait()
    return out.mechanism, counts


def main() -> None:
    """Make the table, release it, and compare."""
    rows, gib = (int(text) for text in [*sys.argv[1:], *["100000000", "6"][len(sys.argv) - 1 :]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        expected = write_table(path, rows)
        begun, before = time.perf_counter(), os.times()
        mechanism, counts = released(path, gib, folder)
        wall, used = time.perf_counter() - begun, os.times()
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    processor = sum(after - earlier for after, earlier in zip(used[:4], before[:4], strict=True))
    noise = float(mechanism.sigma) ** 2
    worst = max(abs(counts[key] - mean) / (v + noise) ** 0.5 for key, mean, v in expected)
    assert len(counts) == len(expected) == _KEYS, (len(counts), len(expected))
    assert worst < 6, worst
    print(
        f"{rows} rows: {wall:.0f} s, {processor:.0f} CPU s, {peak:.1f} GiB; {_KEYS} counts within "
        f"{worst:.1f} sd of DuckDB's"
    )


if __name__ == "__main__":
    main()
