"""`mechanism="auto"` against every mechanism that answers a random question, made by its name."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter, Undecided
from exactdp.frames.candidates import MECHANISMS, SELECTIONS, Target, mechanism_for, selection_for
from exactdp.frames.values import Sum
from tests.seeds import seeds

#: Questions that three and more mechanisms answer.
QUICK = [14, 50, 171, 183]

#: Names that are left out: top-k answers another question, as it subtracts the next largest count.
_OTHERS = {"auto", "top-k"}


def question(seed: int) -> tuple[Target, bool]:
    """A random question about counts, or about the set of keys."""
    r = random.Random(seed)
    k = r.choice([1, 1, 2, 3, 5, 10, 30, 100, 365])
    listed = r.choice([None, None, 1, 2, 5, 20, 100, 1000])
    top = r.choice([None, None, 1, 5, 20, 100])
    limits = {
        f"s{i}": Sum(0, r.choice([1, 10, 600]), of="sums") for i in range(r.choice([0, 0, 0, 1, 3]))
    }
    target = Target(
        epsilon=r.choice(["0.01", "0.1", "0.35", "1", "3", "10"]),
        delta=r.choice(["1e-3", "1e-5", "1e-6", "1e-9", "1e-12"]),
        k=None if top is not None and not limits and r.random() < 0.5 else k,
        top=top,
        times=r.choice([1, 1, 1, 7, 30]),
        listed=listed,
        values=limits,
        lower=r.choice([1, 1, 1, 4]),
    )
    return target, r.random() < 0.2 and target.k is not None


def answers(target: Target, keys_only: bool) -> Iterator[tuple[str, Fraction]]:
    """Every mechanism that answers the question, and its certified error of one count (95 %).

    For the set of keys: the number of users with which a key is released half of the time.
    """
    if keys_only:
        with_: dict[str, Any] = {"k": target.k or 1, **target.pair, "times": target.times}
        for name in SELECTIONS:
            yield from _answer(name, lambda n=name: selection_for(n, **with_)[0].half)
        return
    for name in set(MECHANISMS) - _OTHERS:
        if name == "top-k-with-base" and (target.top is None or target.listed or target.values):
            continue  # releases other keys, or no sums
        if name in ("gshm", "known-keys", "correlated-gaussian") and target.k is None:
            continue
        yield from _answer(name, lambda n=name: _error(mechanism_for(n, target)[0]))


def _answer(name: str, make: Callable[[], Any]) -> Iterator[tuple[str, Fraction]]:
    try:
        yield name, Fraction(make())
    except (InvalidParameter, Undecided):  # cannot keep this target, or does not answer
        return


def _error(mechanism: Any) -> int:
    return int(mechanism.accuracy("0.05").per_query)


@seeds(QUICK, set(range(200)) - set(QUICK))
def test_no_mechanism_by_its_name_is_better_than_auto(seed: int) -> None:
    target, keys_only = question(seed)
    errors = dict(answers(target, keys_only))
    assert seed not in QUICK or len(errors) > 2
    if not errors:
        return
    if keys_only:
        mechanism, _ = selection_for("auto", k=target.k or 1, **target.pair, times=target.times)
        error = mechanism.half
    else:
        error = _error(mechanism_for("auto", target)[0])
    assert error <= min(errors.values())
