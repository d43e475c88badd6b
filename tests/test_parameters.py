from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.parameters import (
    choice,
    decimal_text,
    delta_target,
    integer,
    non_negative,
    positive,
    rational,
    shortest,
)


@pytest.mark.parametrize(
    ("given_", "exact"),
    [
        (0.35, Fraction(7, 20)),
        ("0.35", Fraction(7, 20)),
        ("7/20", Fraction(7, 20)),
        ("35e-2", Fraction(7, 20)),
        (Decimal("0.35"), Fraction(7, 20)),
        (Fraction(7, 20), Fraction(7, 20)),
        (np.float64(0.35), Fraction(7, 20)),
        (np.int64(3), Fraction(3)),
        (gmpy2.mpq(7, 20), Fraction(7, 20)),
        (-4, Fraction(-4)),
        (1e-5, Fraction(1, 10**5)),
        ("1e-10000", Fraction(1, 10**10000)),
    ],
)
def test_numbers_are_read_exactly(given_: object, exact: Fraction) -> None:
    assert rational("x", given_) == exact  # type: ignore[arg-type]


BAD = [
    "abc",
    "",
    "nan",
    "inf",
    "-inf",
    "1/0",
    "1e999999",
    "1e-999999",
    "1e999999999999",
    "sNaN",
    "1/2/3",
    "0x10",
    float("nan"),
    float("inf"),
    Decimal("Infinity"),
    None,
    True,
    [1],
    1j,
    b"1",
    10**10001,
]


@pytest.mark.parametrize("reader", [rational, positive, non_negative, delta_target])
def test_bad_numbers_raise_one_line_with_the_name(reader: Callable[..., object]) -> None:
    for value in BAD:
        with pytest.raises(InvalidParameter, match=r"^sigma must be .{1,140}, got .{,60}$"):
            print(reader("sigma", value))  # what is not refused shows with the failure


@pytest.mark.parametrize("value", ["nan", float("inf"), Decimal("-Infinity"), np.float64("nan")])
def test_a_number_that_is_not_finite_is_refused_as_such(value: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^sigma must be a finite number > 0, got"):
        positive("sigma", value)


BAD_INTEGERS = [*BAD, 0, -1, 1.5, "1.5", Fraction(3, 2)]


def test_bad_integers() -> None:
    for value in BAD_INTEGERS:
        with pytest.raises(InvalidParameter, match=r"^k must be an integer >= 1"):
            print(integer("k", value, least=1))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [3, "3", "3.0", "3e0", 3.0, Decimal(3), np.int32(3)])
def test_integers_in_every_notation(value: object) -> None:
    assert integer("k", value, least=1) == 3  # type: ignore[arg-type]


def test_domains() -> None:
    with pytest.raises(InvalidParameter, match=r"^sigma must be > 0, got -1$"):
        positive("sigma", -1)
    with pytest.raises(InvalidParameter, match=r"^tau must be >= 0, got -0.5$"):
        non_negative("tau", -0.5)
    for value in (0, 1, 2, -1):
        with pytest.raises(InvalidParameter, match=r"^delta must be > 0 and < 1, got"):
            delta_target("delta", value)
    with pytest.raises(InvalidParameter, match=r"^analysis must be one of 'a', 'b', got 'c'$"):
        choice("analysis", "c", ("a", "b"))


def test_a_value_whose_text_raises_still_gives_the_message() -> None:
    class Rude:
        def __str__(self) -> str:
            raise RuntimeError

    with pytest.raises(InvalidParameter, match="a Rude"):
        positive("sigma", Rude())  # type: ignore[arg-type]


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value="-1e400", max_value="1e400"))
def test_decimal_text_reads_back(value: Decimal) -> None:
    number = Fraction(value)
    assert rational("x", decimal_text(number)) == number
    assert Fraction(Decimal(shortest(value))) == number


def test_numbers_of_many_digits_have_a_text() -> None:
    small = Fraction(1, 2**20000)
    assert Fraction(Decimal(decimal_text(small))) == small


@pytest.mark.slow
@given(st.fractions())
def test_fraction_text_reads_back(value: Fraction) -> None:
    assert rational("x", decimal_text(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints(value: float) -> None:
    assert rational("x", value) == Fraction(Decimal(repr(value)))


def test_fractions_of_many_digits_have_a_text() -> None:
    text = decimal_text(Fraction(10**5000 + 1, 3 * 10**4900))
    assert text.partition("/")[0] == "1" + "0" * 4999 + "1"
