"""A view of an enumerating source that shows only its bits.

Programs run on it make every choice through the base algorithms (rejection, lazy inversion), so the
code that production uses is enumerated down to single bits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import TypeVar

from exactdp.law import Law
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import Words

T = TypeVar("T", bound=Hashable)


class Bitwise(Source):
    def __init__(self, source: Source) -> None:
        self._source = source

    def bits(self, k: int) -> int:
        value = 0
        for _ in range(k):
            value = value << 1 | self._source.bits(1)
        return value

    def words(self, n: int, bits: int) -> Words:
        return self._source.words(n, bits)


def bitwise_law(program: Callable[[Source], T], residual: Fraction) -> Law[T]:
    return exact_law(lambda source: program(Bitwise(source)), residual=residual)


def assert_law_is(law: Law[int], lower: Callable[[int], Fraction], upper: object = None) -> None:
    """Every probability in the law agrees with a stated one, up to the residual mass."""
    top = upper or lower
    for outcome, weight in law.items():
        assert weight <= top(outcome)  # type: ignore[operator]
        assert weight + law.residual >= lower(outcome)
