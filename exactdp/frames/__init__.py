"""Releases from data frames: rows of (user, key) in, a frame of noisy counts out.

`release` does everything for counts, `keys` for the set of keys alone. Their steps can also be
called separately: `bounded` (at most k keys per user), `counted` (on the engine that holds the
rows), and the mechanisms' release of the counts.
Before noise is drawn, the bounds are checked on the pairs of user and key that are counted.
Frames of pandas, polars (eager and lazy), pyarrow, DuckDB, Dask and PySpark, through narwhals.
"""

from exactdp.frames.advising import Advice, Advised, Bound, advise
from exactdp.frames.checking import EngineError
from exactdp.frames.choosing import Choice
from exactdp.frames.counting import Totals, bounded, counted
from exactdp.frames.cutting import Cut, cut
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.releasing import FrameRelease, checked_bounds, draw, drawn, release
from exactdp.frames.selecting import KeysRelease, keys

__all__ = [
    "Advice",
    "Advised",
    "Bound",
    "Choice",
    "Cut",
    "EngineError",
    "FrameRelease",
    "KeyedHash",
    "KeysRelease",
    "Totals",
    "advise",
    "bounded",
    "checked_bounds",
    "counted",
    "cut",
    "draw",
    "drawn",
    "keys",
    "release",
]
