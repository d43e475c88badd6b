"""A view of an enumerating source that shows only its bits.

Programs run on it make every choice through the base algorithms (rejection, lazy inversion), so the
code that production uses is enumerated down to single bits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

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


def joint(laws: Iterable[Law[Any]]) -> Law[tuple[Any, ...]]:
    """The law of independent outcomes side by side."""
    whole: Law[tuple[Any, ...]] = Law.point(())
    for law in laws:
        whole = whole.product(law).map(lambda pair: (*pair[0], pair[1]))
    return whole


def assert_encloses(law: Law[T], expected: Law[T]) -> None:
    """Every probability agrees with the expected one, up to the residual mass."""
    for outcome, weight in law.items():
        assert weight <= expected[outcome] <= weight + law.residual
