"""Random frames on every engine against plain Python.

Run: python -m tests.frames.fuzz [FRAMES [FIRST]]. Every frame has random types, bounds and
passes; a difference ends the run, which says how to repeat it.
"""

from __future__ import annotations

import random
import sys
import warnings
from functools import partial

from tests.frames.reference import ENGINES, crowd, frame_of, some_rows
from tests.frames.test_engines import compared

_KEYS = ("integers", "text", "dates", "wide")


def one(seed: int) -> None:
    """One random frame on every engine."""
    rng = random.Random(seed)
    types = (
        rng.choice(["integers", "text", "wide"]),
        *(rng.choice(_KEYS) for _ in range(rng.choice([1, 1, 1, 2, 3]))),
    )
    user, *keys = types
    rows = some_rows(
        seed, user, tuple(keys), rng.choice([0, 1, 50, 2000]), rng.choice([1, 30, 400])
    )
    if types == ("integers", "text"):
        rows += crowd(seed, rng.choice([10, 9000]), 8)
    k, passes = rng.choice([1, 2, 3, 10, 30]), rng.choice([1, 1, 2])
    for engine in ENGINES:
        try:
            compared(partial(frame_of, engine), rows, types, k=k, passes=passes)
        except BaseException:
            print(f"differs: {engine}, repeat with python -m tests.frames.fuzz 1 {seed}")
            raise


def main() -> None:
    """Every frame in turn."""
    warnings.simplefilter("ignore")
    arguments = [*sys.argv[1:], *["500", "0"][len(sys.argv) - 1 :]]
    number, first = (int(text) for text in arguments)
    for seed in range(first, first + number):
        one(seed)
        if sys.stderr.isatty() or seed % 50 == 49:
            print(f"{seed + 1 - first} frames, {len(ENGINES)} engines: no difference", flush=True)


if __name__ == "__main__":
    main()
