"""Releases from data frames: rows of (user, key) in, a frame of noisy counts out.

`release` does everything for counts, `keys` for the set of keys alone. Their steps can also be
called separately: `bound_pairs` (at most k keys per user), `count_users` (on the engine that
holds the rows), and the mechanisms' release of the counts.
Before noise is drawn, the bounds are checked on the pairs of user and key that are counted.
Frames of pandas, polars (eager and lazy), pyarrow, DuckDB, Dask and PySpark, through narwhals.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
