from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exactdp
from exactdp import Enclosure, InvalidParameter, Undecided

fractions = st.fractions() | st.builds(
    lambda m, e: Fraction(m) * Fraction(10) ** e,
    st.integers(-(10**20), 10**20),
    st.integers(-400, 400),
)


@pytest.mark.slow
@given(fractions, fractions)
def test_floats_round_outward_and_are_the_nearest_such(x: Fraction, y: Fraction) -> None:
    e = Enclosure(min(x, y), max(x, y))
    low, high = e.float_lower(), e.float_upper()
    assert low == -math.inf or Fraction(low) <= e.lower
    assert high == math.inf or Fraction(high) >= e.upper
    above, below = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    assert above == math.inf or Fraction(above) > e.lower
    assert below == -math.inf or Fraction(below) < e.upper


@given(fractions, st.integers(1, 40))
def test_decimals_round_outward_by_less_than_one_unit(x: Fraction, digits: int) -> None:
    e = Enclosure(x, x)
    low, high = Decimal(e.decimal_lower(digits)), Decimal(e.decimal_upper(digits))
    assert Fraction(low) <= x <= Fraction(high)
    if x:
        assert Fraction(high) - Fraction(low) <= abs(x) * Fraction(10) ** (1 - digits)


def test_comparisons_answer_or_refuse() -> None:
    e = Enclosure(Fraction(1, 3), Fraction(1, 2))
    assert e > 0.3
    assert e >= "1/3"
    assert e < 1
    assert e <= "0.5"
    assert not e > 0.5
    assert not e < Fraction(1, 3)
    assert e != 1
    assert Fraction(2, 5) in e
    assert Fraction(3, 5) not in e
    for compare in (
        lambda: e < 0.4,
        lambda: e <= 0.4,
        lambda: e > 0.4,
        lambda: e >= 0.4,
        lambda: e == 0.4,
        lambda: e < Enclosure(Fraction(2, 5), Fraction(1)),
    ):
        with pytest.raises(Undecided):
            compare()
    assert Enclosure.exact("0.5") == 0.5
    assert Enclosure.exact(1) == Enclosure.exact("1.0")
    assert hash(Enclosure.exact(1)) == hash(Enclosure.exact("1.0"))
    assert e != "text"


def test_no_implicit_float() -> None:
    with pytest.raises(TypeError):
        float(Enclosure.exact(1))  # type: ignore[arg-type]


def test_shape() -> None:
    e = Enclosure(Fraction(2), Fraction(3))
    assert e.width == 1
    assert e.relative_width == Fraction(1, 2)
    assert e.clamped(0, "2.5") == Enclosure(Fraction(2), Fraction(5, 2))
    assert e.clamped(0, 1) == Enclosure.exact(1)
    assert Enclosure.exact(0).relative_width == 0
    with pytest.raises(Undecided):
        _ = Enclosure(Fraction(0), Fraction(1)).relative_width
    with pytest.raises(InvalidParameter):
        Enclosure(Fraction(1), Fraction(0))
    with pytest.raises(InvalidParameter):
        e.decimal_lower(0)
    assert str(e) == "[2, 3]"
    assert repr(e) == "Enclosure[2, 3]"
    assert e.as_dict(3) == {"lower": "2", "upper": "3"}


def test_errors_have_one_root() -> None:
    assert issubclass(InvalidParameter, exactdp.ExactDPError)
    assert issubclass(Undecided, exactdp.ExactDPError)
    assert issubclass(InvalidParameter, ValueError)


@pytest.mark.slow
@given(*([st.fractions(-9, 9, max_denominator=20)] * 6))
def test_arithmetic_encloses_every_result(
    a: Fraction, b: Fraction, c: Fraction, d: Fraction, s: Fraction, t: Fraction
) -> None:
    x, y = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    # a point of each, by clamping
    p, q = min(max(s, x.lower), x.upper), min(max(t, y.lower), y.upper)
    assert p + q in x + y
    assert p - q in x - y
    assert p * q in x * y
    assert 2 - p in 2 - x
    assert 3 * p in 3 * x
    # ends are reached: nothing is wider than it must be
    assert (x + y).width == x.width + y.width == (x - y).width
    assert {(x * y).lower, (x * y).upper} <= {u * v for u in (a, b) for v in (c, d)}
    if y.lower <= 0 <= y.upper:
        with pytest.raises(Undecided):
            x / y
    else:
        assert p / q in x / y
        assert 1 / q in 1 / y


def test_format_and_hash() -> None:
    third = Enclosure(Fraction(1, 3), Fraction(1, 3))
    assert f"{third:3}" == "[0.333, 0.334]"
    assert f"{third}" == str(third)
    assert hash(Enclosure.exact(2)) == hash(2)
    assert Enclosure.exact(2) in {2}
    with pytest.raises(InvalidParameter):
        f"{third:.3f}"
