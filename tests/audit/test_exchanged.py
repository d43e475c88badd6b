"""Programs whose calls, or rounds of a loop, look alike and are not.

A function, a table or a class is exchanged between two calls of one sampler, or a variable has no
value in the first round. The expected law follows every sequence of draws.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from exactdp.audit import foreign_law, private

FAIR, LOUD = (0,) * 8 + (1,) * 8, (0,) + (1,) * 15
TABLES = ((), LOUD, FAIR)


class Script:
    """A generator that repeats given draws of four bits."""

    def __init__(self, draws: tuple[int, ...]) -> None:
        self.left = list(draws)

    def getrandbits(self, _: int) -> int:
        return self.left.pop(0)


def law_of(program: Callable[..., Any], bit: int) -> dict[Any, Fraction]:
    """The law of a program that draws four bits twice."""
    pairs = list(itertools.product(range(16), repeat=2))
    outcomes = Counter(program(bit, Script(draws)) for draws in pairs)
    return {outcome: Fraction(n, len(pairs)) for outcome, n in outcomes.items()}


def fair(rng):
    return FAIR[rng.getrandbits(4)]


def loud(rng):
    return LOUD[rng.getrandbits(4)]


sampler = fair


def by_a_global(rng):
    return sampler(rng)


def a_function_that_a_global_names(bit, rng):
    global sampler
    sampler = fair
    first = bit ^ by_a_global(rng)
    sampler = loud
    return first, bit ^ by_a_global(rng)


def after_an_assignment(n, rng):
    seen = range(3)
    n = n + 1
    while True:
        x = rng.getrandbits(4)
        if x >= 0 and seen:
            return TABLES[n][x]


def an_argument_assigned_before_the_draw(bit, rng):
    return rng.getrandbits(4) % 2, bit ^ after_an_assignment(0, rng)


class Noise:
    table = FAIR


def of_a_class(kind, rng):
    return kind.table[rng.getrandbits(4)]


def a_class_as_a_value(bit, rng):
    Noise.table = FAIR
    first = bit ^ of_a_class(Noise, rng)
    Noise.table = LOUD
    return first, bit ^ of_a_class(Noise, rng)


@pytest.fixture
def two_modules_of_one_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int, Any], Any]:
    text = "FLIP = {}\n\ndef flip(rng):\n    return FLIP[rng.getrandbits(4)]\n"
    for name, table in (("fair_module", FAIR), ("loud_module", LOUD)):
        (tmp_path / f"{name}.py").write_text(text.format(table), encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    import fair_module  # type: ignore[import-not-found]
    import loud_module  # type: ignore[import-not-found]

    return lambda bit, rng: (bit ^ fair_module.flip(rng), bit ^ loud_module.flip(rng))


def refuted(program: Callable[[int, Any], Any]) -> bool:
    """Whether the audit finds the law of enumeration, and refutes a claim that is false by it."""
    laws = [law_of(program, bit) for bit in (0, 1)]
    delta = sum(max(p - laws[1].get(x, Fraction(0)), Fraction(0)) for x, p in laws[0].items())
    assert delta > Fraction(1, 2)
    assert dict(foreign_law(lambda rng: program(0, rng)).items()) == laws[0]
    return private(program, 0, 1, epsilon=0, delta=delta / 2).verdict == "refuted"


@pytest.mark.parametrize(
    "program",
    [
        a_function_that_a_global_names,
        an_argument_assigned_before_the_draw,
        a_class_as_a_value,
    ],
)
def test_what_is_exchanged_between_calls_is_followed(program: Callable[[int, Any], Any]) -> None:
    assert refuted(program)


def test_modules_of_one_text_have_their_own_tables(
    two_modules_of_one_text: Callable[[int, Any], Any],
) -> None:
    assert refuted(two_modules_of_one_text)


def unset_in_the_first_round(bit, rng):
    while True:
        x = rng.getrandbits(1)
        if x > 1:  # never
            n = 0
        try:
            n = n + 1
        except UnboundLocalError:
            n = 0
        if x:
            return bit if n else 2


class Rounds:
    number = 0

    @classmethod
    def tick(cls) -> None:
        cls.number += 1


def counted_by_a_class(bit, rng):
    counter, counter.number = Rounds, 0
    while True:
        counter.tick()
        if rng.getrandbits(1):
            return bit if counter.number > 1 else 2


@pytest.mark.parametrize("program", [unset_in_the_first_round, counted_by_a_class])
def test_later_rounds_of_a_loop_are_followed(program: Callable[[int, Any], Any]) -> None:
    """The first round ends with probability 1/2 and shows nothing; the others show the bit."""
    law = foreign_law(lambda rng: program(0, rng))
    assert law[2] == Fraction(1, 2)
    assert Fraction(1, 2) - law[0] == law.residual <= Fraction(1, 1 << 64)
    assert private(program, 0, 1, epsilon=0, delta="0.4").verdict == "refuted"
