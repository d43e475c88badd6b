"""Pairs of programs: one whose law the white box cannot know or must get right, one it must prove.

Every program is called with a bit to protect and a generator. A sinner leaks the bit, or seems to,
in a way an exact law is easily fooled about; its twin does the same honestly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest

from exactdp.audit import private
from exactdp.audit.whitebox.verdicts import Privacy
from exactdp.errors import ExactDPError

#: program(bit, generator) -> outcome.
Program = Callable[[Any, Any], Any]

#: What the twins keep, and :func:`coin` spends: log 1.1 = 0.09531...
EPSILON = "0.1"


def coin(bit: int, rng: Any) -> int:
    """The bit, or with probability 10/21 the other one."""
    return bit if rng.randrange(21) < 11 else 1 - bit


def numpy_coin(bit: int, rng: Any) -> int:
    """The same from a numpy generator."""
    return bit if rng.integers(21) < 11 else 1 - bit


@dataclass(frozen=True)
class Pair:
    """A sinner and its twin, each made afresh for every audit.

    delta: of the sinner in production at EPSILON, where a law exists and is known (then a verdict
    is right if it is refuted with an enclosure that holds it, or proved for a delta of 0); None
    where only "not exact" is right.
    apart: a total variation distance between its outputs on 0 and on 1 that production is seen to
    reach, where it can be seen in a few runs.
    """

    name: str
    why: str
    make: Callable[[], Program]
    make_twin: Callable[[], Program]
    interface: str
    delta: Fraction | None
    apart: float
    options: dict[str, Any] = field(default_factory=dict)

    def audited(self, program: Program) -> Privacy:
        return private(
            program, 0, 1, epsilon=EPSILON, interface=self.interface, progress=False, **self.options
        )


class Group:
    """The pairs of one file, in the order in which they are written."""

    def __init__(self, interface: str = "random") -> None:
        self.pairs: list[Pair] = []
        self._interface = interface

    def sinner(
        self, *, delta: Fraction | int | None = None, apart: float = 0, **options: Any
    ) -> Callable[[Program], Program]:
        """Decorates a program without state of its own."""

        def added(program: Program) -> Program:
            self._add(program, lambda: program, delta, apart, options)
            return program

        return added

    def maker(
        self, *, delta: Fraction | int | None = None, apart: float = 0
    ) -> Callable[[Callable[[], Program]], Callable[[], Program]]:
        """Decorates a function that makes a program with fresh state."""

        def added(make: Callable[[], Program]) -> Callable[[], Program]:
            self._add(make, make, delta, apart, {})
            return make

        return added

    def twin(self, program: Program) -> Program:
        """Decorates the twin of the pair above."""
        self.twin_maker(lambda: program)
        return program

    def twin_maker(self, make: Callable[[], Program]) -> Callable[[], Program]:
        """Decorates the function that makes the twin of the pair above."""
        self.pairs[-1] = replace(self.pairs[-1], make_twin=make)
        return make

    def _add(self, named: Any, make: Any, delta: Any, apart: float, options: Any) -> None:
        exact = None if delta is None else Fraction(delta)
        self.pairs.append(
            Pair(named.__name__, named.__doc__, make, make, self._interface, exact, apart, options)
        )


#: What is remembered (None: nothing yet), and how something is.
Place = tuple[Callable[[], Any], Callable[[int], Any]]


def remembering(place: Place) -> Program:
    """Its first answer, for ever."""
    look, keep = place

    def run(x: int, rng: Any) -> int:
        drawn = coin(x, rng)
        if look() is None:
            keep(drawn)
        return int(look())

    return run


def looking(place: Place) -> Program:
    """Whether anything is remembered, and nothing is."""
    look, _ = place
    return lambda x, rng: coin(x, rng) if look() is None else x


def assert_not_proved(pair: Pair) -> None:
    """Not exact, undecided, or a verdict with the true delta in its enclosure."""
    try:
        found = pair.audited(pair.make())
    except ExactDPError:
        return
    if found.verdict == "undecided":
        return
    if found.verdict == "proved" and pair.delta != 0:
        pytest.fail(f"a lie ({pair.why}) {found}")
    worst = max(found.deltas, key=lambda each: each.upper)
    if pair.delta is None or not worst.lower <= pair.delta <= worst.upper:
        pytest.fail(f"another delta ({pair.why}) {found}, truly {pair.delta}")


def assert_proved(pair: Pair) -> None:
    """The twin is private, and the white box says so."""
    found = pair.audited(pair.make_twin())
    assert found.verdict == "proved", str(found)


def distance(program: Program, make_generator: Callable[[int], Any], runs: int) -> float:
    """Total variation between the outputs that were seen on 0 and those that were seen on 1."""
    seen = [
        Counter(_written(program, bit, make_generator(2 * i + bit)) for i in range(runs))
        for bit in (0, 1)
    ]
    return sum(abs(seen[0][x] - seen[1][x]) for x in {*seen[0], *seen[1]}) / (2 * runs)


def _written(program: Program, bit: int, generator: Any) -> str:
    """An output as whoever receives it sees it; a number with a fraction is rounded."""
    try:
        outcome = program(bit, generator)
    except Exception as error:
        return repr(error)
    rounds = isinstance(outcome, float) and abs(outcome) > 0.25
    return repr(round(outcome) if rounds and outcome < 1e9 else outcome)
