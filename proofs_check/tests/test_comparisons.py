"""Comparisons raise with both values and the case, never guess, and record what was compared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import (
    Counterexample,
    agree,
    at_most,
    below,
    equal,
    every,
    holds,
    identity,
    observe,
    reproduces,
    significant,
    within,
)
from exactdp_proofs.evidence import summary_of
from flint import arb

from exactdp.balls import ball, precision
from exactdp.errors import Undecided

THIRD = Fraction(1, 3)
X = sympy.Symbol("x")


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: at_most(3, 2, n=1), "3 > 2 at n=1"),
        (lambda: at_most(arb(2).sqrt(), Fraction(7, 5)), r"1\.41421 > 7/5"),
        (lambda: below(2, 2), "2 >= 2"),
        (lambda: equal({1, 2}, {1}), r"\{1, 2\} != \{1\}"),
        (lambda: within(Fraction(1), Fraction(11, 10), Fraction(9, 100)), "1, not 11/10"),
        (lambda: agree(arb(2).sqrt(), Fraction(141421356237, 10**11)), "!="),
        (lambda: at_most(Fraction(10**5000, 3), 2), r"3\.33333e\+4999 > 2"),
        (lambda: holds(False, n=3), "does not hold at n=3"),
        (lambda: reproduces(Fraction(26, 1000), "0.025"), "13/500, not 1/40"),
        (lambda: reproduces(THIRD, "3.4e-1"), "1/3, not"),
        (lambda: significant(Fraction(1, 50), Fraction(1, 100)), "p-value 0.02 > 1/100"),
        (lambda: identity((X + 1) ** 2 - X**2 - 2 * X), "1 is not 0"),
        (lambda: always_positive(lambda x: x - 1, [(0, 2)]), "at 1"),
        (lambda: never_negative([0, 1, -1], 0, Fraction(3, 2)), r"-0\.75 < 0 at 1\.5"),
        (lambda: never_negative([Fraction(1, 5), -1, 1], 0, 1), r"< 0 at 0\.\d"),
    ],
)
def test_a_false_comparison_says_what_was_compared(check: Callable[[], None], message: str) -> None:
    with pytest.raises(Counterexample, match=message):
        check()
    assert observe(check).failed


def test_true_comparisons_pass() -> None:
    def check() -> None:
        at_most(2, 2)
        below(arb(2).sqrt(), Fraction(3, 2))
        equal((1, THIRD), (1, THIRD))
        within(THIRD, Fraction(3, 10), Fraction(1, 30))
        agree(arb(2).sqrt() ** 2, 2)
        holds(True)

    record = observe(check)
    assert not record.raised
    assert record.kinds == {"exact": 4, "balls": 2}
    reproduces(Fraction(254, 10000), "0.025")
    reproduces(Fraction(15, 1000), "1.5e-2")
    significant(Fraction(1, 200), Fraction(1, 100))


@pytest.mark.parametrize(
    "check",
    [
        lambda: at_most(arb(1, 0.1), 1),
        lambda: below(arb(1, 0.1), arb(1)),
        lambda: within(arb(1, 0.1), 1, Fraction(1, 20)),
        lambda: agree(arb(1, 0.1), 1),
        lambda: never_negative([Fraction(1, 9), Fraction(-2, 3), 1], 0, 1),
    ],
)
def test_what_is_not_known_is_not_guessed(check: Callable[[], None]) -> None:
    with pytest.raises(Undecided):
        check()


@pytest.mark.parametrize(
    "check", [lambda: at_most(0.1, 1), lambda: equal(arb(1), 1), lambda: equal(0.5, 0.5)]
)
def test_floats_and_equality_of_balls_are_refused(check: Callable[[], None]) -> None:
    with pytest.raises(TypeError):
        check()


def test_polynomials_are_decided_where_they_touch_zero() -> None:
    never_negative([1, -2], 0, Fraction(1, 2))
    never_negative([1, -2, 1], 0, 1)  # (1 - x)^2, zero at an end
    never_negative([Fraction(26, 100), -1, 1], 0, 1)  # minimum 0.01 inside


def test_nearness_is_that_of_the_nearest_case() -> None:
    def check() -> None:
        for n in range(1, 5):
            at_most(n, 5, n=n)
        with precision(64):
            at_most(ball(1) / 2, 1)

    assert list(observe(check).passed.values()) == [0.8, 0.5]


def whole(leave: bool = False) -> None:
    for x in every("two bits", (0, 1)):
        at_most(x, 1, x=x)
        if leave:
            break


@pytest.mark.parametrize(
    ("check", "outcome", "text"),
    [
        (whole, "proved", "2 comparisons, all cases; over two bits; attained"),
        (lambda: whole(True), "verified", ""),
        (lambda: (whole(), at_most(1, 2)), "verified", "1 exact comparisons; 2 comparisons"),
        (lambda: identity(X - X), "proved", "1 symbolic identities"),
        (lambda: (identity(X - X), equal(1, 1)), "verified", ""),
        (lambda: never_negative([0, 1], 0, 1), "proved", r"over \[0, 1\], degree 1"),
        (lambda: always_positive(lambda x: 1 + x, [(0, 1)]), "proved", r"over \[0, 1\] in 1 part"),
        (lambda: reproduces(THIRD, "0.33"), "reproduced", "1 printed numbers"),
        (lambda: significant(Fraction(0), THIRD), "supported", "1 statistical tests"),
        (lambda: at_most(arb(1), 2), "verified", "1 comparisons in ball arithmetic"),
    ],
)
def test_the_outcome_follows_from_the_comparisons(
    check: Callable[[], None], outcome: str, text: str
) -> None:
    import re

    record = observe(check)
    (place, *_) = record.passed
    record.failed = place
    evidence = summary_of(record, record)
    assert evidence.outcome == outcome
    assert re.match(text, evidence.comparisons)
