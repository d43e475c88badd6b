"""The branch and bound against exhaustive search, on functions with several hills."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from flint import arb

from exactdp.accounting.certify.search import certified_maximum
from exactdp.balls import precision

TOLERANCE = arb(10) ** -15


@dataclass(frozen=True)
class Wave:
    """2 + sin(x/period) + tilt x: many local maxima."""

    first: int
    last: int
    period: int
    tilt: arb

    def value(self, j: int) -> arb:
        return 2 + (arb(j) / self.period).sin() + self.tilt * j

    def bound(self, a: int, b: int) -> arb:
        return 3 + (self.tilt * a).max(self.tilt * b)

    def slope(self, a: int, b: int) -> arb:
        x = arb(a).union(arb(b)) / self.period
        return x.cos() / self.period + self.tilt


@pytest.mark.few(30)
@pytest.mark.parametrize("period", [1, 7, 3000])
@pytest.mark.parametrize("tilt", ["-0.001", "0", "0.3"])
@pytest.mark.parametrize("last", [1, 2, 100, 2345])
def test_equals_exhaustive_search(period: int, tilt: str, last: int) -> None:
    def families() -> list[Wave]:
        return [Wave(1, last, period, arb(tilt)), Wave(3, last - 1, period + 2, arb(tilt))]

    with precision(128):
        terms = (f.value(j) for f in families() for j in range(f.first, f.last + 1))
        best = max(terms, key=lambda v: v.mid())
    for bits in (128, 256, 512):  # the effort allowed grows with the precision
        with precision(bits):
            maximum = certified_maximum(families(), TOLERANCE, arb(2) ** -1000).value
            assert maximum.overlaps(best)
            if maximum.rad() < arb(10) ** -12:
                return
    pytest.fail("not settled")


def test_empty_families() -> None:
    with precision(64):
        assert certified_maximum([Wave(5, 4, 1, arb(0))], TOLERANCE, arb(0)).value == 0
        assert certified_maximum([], TOLERANCE, arb(0)).value == 0


def test_insufficient_precision_gives_a_wider_ball_that_still_contains_the_maximum() -> None:
    with precision(128):
        wave = Wave(1, 1000, 7, arb("0.001"))
        best = max((wave.value(j) for j in range(1, 1001)), key=lambda v: v.mid())
    with precision(6):
        maximum = certified_maximum([wave], TOLERANCE, arb(2) ** -1000).value
        assert maximum.rad() > arb(2) ** -20
    with precision(128):
        assert maximum.overlaps(best)
