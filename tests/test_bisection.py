"""Bisection against trying every integer, and against roots that are known."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from exactdp.bisection import halved, least


@given(st.integers(-50, 50), st.integers(0, 60), st.integers(-60, 120))
def test_the_least_integer_that_passes(low: int, count: int, start: int) -> None:
    tried = []

    def holds(n: int) -> bool:
        tried.append(n)
        return n >= start

    high = low + count
    passing = [n for n in range(low, high) if n >= start]
    assert least(low, high, holds) == (passing[0] if passing else high)
    assert all(low <= n < high for n in tried)  # the upper end is not tried
    assert len(tried) <= count.bit_length()


@given(st.integers(0, 40), st.integers(0, 10**40))
def test_without_an_upper_end(low: int, start: int) -> None:
    assert least(low, None, lambda n: n >= start) == max(low, start)


@given(st.fractions(-1, 1), st.booleans(), st.integers(0, 60))
def test_ends_keep_what_holds(root: Fraction, rising: bool, times: int) -> None:
    ends = (Fraction(-2), Fraction(2)) if rising else (Fraction(2), Fraction(-2))
    without, with_ = halved(*ends, lambda x: x >= root if rising else x <= root, times=times)
    assert abs(with_ - without) == Fraction(4, 2**times)
    assert min(without, with_) <= root <= max(without, with_)
    assert (with_ >= root) if rising else (with_ <= root)


def test_halving_ends_at_a_width() -> None:
    low, high = halved(0.0, 2.0, lambda x: x * x >= 2, width=1e-9)
    assert low < math.sqrt(2) <= high
    assert 0.5e-9 < high - low <= 1e-9
    assert halved(1.0, 1.0, lambda _: False) == (1.0, 1.0)
