"""Is `mechanism="auto"` ever worse than a mechanism that somebody names?

Run: python -m tests.frames.choices [QUESTIONS [FIRST]]   (200 random questions; some minutes)
For every random question, each mechanism that answers the question is made by its name, and its
certified error of one count (95 %), or the number of users that a key needs, is compared with that
of "auto". Prints who won, and how much the worst choice would have cost.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter, Undecided
from exactdp.frames.ranges import Range
from exactdp.frames.targets import MECHANISMS, SELECTIONS, Target, mechanism_for, selection_for

#: Mechanisms whose answer is another one: csh subtracts the next largest count from all.
_OTHERS = {"auto", "csh"}


def question(seed: int) -> tuple[Target, bool]:
    """A random question about counts, or about the set of keys."""
    r = random.Random(seed)
    k = r.choice([1, 1, 2, 3, 5, 10, 30, 100, 365])
    listed = r.choice([None, None, 1, 2, 5, 20, 100, 1000])
    top = r.choice([None, None, 1, 5, 20, 100])
    limits = {f"s{i}": Range(0, r.choice([1, 10, 600])) for i in range(r.choice([0, 0, 0, 1, 3]))}
    target = Target(
        epsilon=r.choice(["0.01", "0.1", "0.35", "1", "3", "10"]),
        delta=r.choice(["1e-3", "1e-5", "1e-6", "1e-9", "1e-12"]),
        k=None if top is not None and not limits and r.random() < 0.5 else k,
        top=top,
        times=r.choice([1, 1, 1, 7, 30]),
        listed=listed,
        limits=limits,
        lower=r.choice([1, 1, 1, 4]),
    )
    return target, r.random() < 0.2 and target.k is not None


def answers(target: Target, keys_only: bool) -> Iterator[tuple[str, Fraction]]:
    """Every mechanism that answers the question, and its certified error."""
    if keys_only:
        with_: dict[str, Any] = {"k": target.k or 1, **target.pair, "times": target.times}
        for name in SELECTIONS:
            yield from _made(name, lambda n=name: selection_for(n, **with_)[0].half)
        return
    for name in set(MECHANISMS) - _OTHERS:
        if name == "top-k-with-base" and (target.top is None or target.listed or target.limits):
            continue  # releases other keys, or no sums
        if name in ("gshm", "known", "correlated") and target.k is None:
            continue
        yield from _made(name, lambda n=name: _error(mechanism_for(n, target)[0]))


def _made(name: str, make: Callable[[], Any]) -> Iterator[tuple[str, Fraction]]:
    try:
        yield name, Fraction(make())
    except (InvalidParameter, Undecided):  # cannot keep this target, or does not answer
        return


def _error(made: Any) -> int:
    return int(made.accuracy("0.05").per_query)


def compare(seed: int) -> tuple[str, Fraction, dict[str, Fraction]] | None:
    """What "auto" takes, its error, and those of all; None if nothing answers the question."""
    target, keys_only = question(seed)
    found = dict(answers(target, keys_only))
    if not found:
        return None
    if keys_only:
        made, choice = selection_for("auto", k=target.k or 1, **target.pair, times=target.times)
        error = Fraction(made.half)
    else:
        made, choice = mechanism_for("auto", target)
        error = Fraction(_error(made))
    assert choice is not None
    name = choice.options[0].name
    assert error <= min(found.values()), (seed, target, name, error, found)
    return name, error, found


def main() -> None:
    """Random questions in turn."""
    given = [*sys.argv[1:], *["200", "0"][len(sys.argv) - 1 :]]
    number, first = (int(text) for text in given)
    won: Counter[str] = Counter()
    asked, seed, worst = 0, first, Fraction(1)
    while asked < number:
        found = compare(seed)
        seed += 1
        if found is None:
            continue
        name, error, others = found
        won[f"{name} of {len(others)}"] += 1
        worst = max(worst, max(others.values()) / max(error, Fraction(1)))
        asked += 1
    print(f"{asked} questions: none is answered better by another mechanism than by auto")
    print(", ".join(f"{name}: {times}" for name, times in won.most_common()))
    print(f"the worst mechanism that answers has up to {float(worst):.1f} times the error")


if __name__ == "__main__":
    main()
