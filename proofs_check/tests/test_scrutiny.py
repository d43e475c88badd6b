"""The scrutiny finds planted faults of checks, and nothing in a sound one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from exactdp_proofs.boxes import always_positive
from exactdp_proofs.comparisons import Counterexample, at_most, below, equal
from exactdp_proofs.scrutiny import _wrong, doubts, survivors
from exactdp_proofs.vocabulary import PAPERS
from flint import arb
from parts import part

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law


def near(bound: int = 4) -> None:
    """Squares."""
    for n in range(1, 5):
        at_most(n * n, bound * n, n=n)


def far(bound: int = 1) -> None:
    """Far from its bound."""
    for n in range(1, 5):
        at_most(n, bound * 100, n=n)


def two(bound: int = 3, second: int = 3) -> None:
    """Two comparisons."""
    for n in range(3):
        below(n, bound, n=n)
        below(n, second, n=n)


def wider(most: int = 5) -> None:
    """All below 5."""
    for n in range(1, most):
        below(n, 5, n=n)


def elsewhere(second: bool = False) -> None:
    """Arithmetic."""
    if second:
        equal(1 + 1, 3)
    equal(1 + 1, 2)


def by_hand(second: bool = False) -> None:
    """Raises by itself."""
    equal(2, 2)
    if second:
        raise Counterexample("by hand")


def in_a_box(constant: str = "0.2501") -> None:
    """A parabola."""
    always_positive(lambda x: x * x - x + arb(constant), [(0, 1)])


@pytest.mark.parametrize(
    ("check", "more", "doubt"),
    [
        (near, {"mutant": {"bound": 3}}, ""),
        (two, {"mutant": {"bound": 2, "second": 2}}, ""),
        (two, {"mutant": {"second": 2}}, ""),
        (in_a_box, {"mutant": {"constant": "0.2499"}}, ""),
        (in_a_box, {"mutant": {"constant": "0.2"}, "fitted": {"constant": "30"}}, "never nearer"),
        (far, {}, "never nearer to the bound than 0.04"),
        (far, {"fitted": {"bound": Fraction(4, 100)}}, ""),
        (far, {"slack": "an order"}, ""),
        (near, {"mutant": {"bound": 3}, "slack": "far"}, "nothing to explain: far"),
        (two, {"mutant": {"bound": 2}}, "only, the statement ends at"),
        (two, {"mutant": {"bound": 2}, "elsewhere": "the first of two"}, ""),
        (near, {"mutant": {"bound": 3}, "elsewhere": "there"}, "nothing to explain: there"),
        (wider, {"mutant": {"most": 6}}, "a case that the statement does not visit:  at n=5"),
        (elsewhere, {"mutant": {"second": True}}, "which the statement never passes"),
        (by_hand, {"mutant": {"second": True}}, "fails by no comparison: by hand"),
        (near, {"mutant": {"bound": 4}, "slack": "none"}, "the mutant passes"),
        (near, {"mutant": {"bound": 3}, "fitted": {"bound": 3}}, "the statement fails: 16 > 12"),
    ],
)
def test_doubts(check: Callable[..., object], more: dict[str, Any], doubt: str) -> None:
    doubt_text = "; ".join(doubts(part(check, **more)))
    assert doubt in doubt_text
    assert bool(doubt) == bool(doubt_text)


def square(n: int) -> int:
    return n * n


def unused(n: int) -> int:
    return n


def sound(bound: int = 4) -> None:
    """Squares by a helper."""
    for n in range(1, 5):
        equal(square(n), bound * n * n // 4, n=n)


def empty(bound: int = 2) -> None:
    """A triangle inequality: any values of the helper pass."""
    for n in range(5):
        a, b = unused(n), square(n)
        at_most(abs(a + b), abs(a) + abs(b), n=n)
    at_most(2, bound)


def test_a_check_that_decides_nothing_survives_wrong_values() -> None:
    assert list(survivors(part(sound))) == []
    assert list(survivors(part(empty))) == ["square", "unused"]
    assert square(3) == 9


def test_wrong_values_are_of_the_same_kind() -> None:
    values = [True, 3, Fraction(1, 2), Fraction(0), (1, "a"), {"a": 2}, Law({1: Fraction(1)})]
    for value in values[:-1]:
        assert type(_wrong(value, 1)) is type(value)
        assert _wrong(value, 1) != value
    assert _wrong((1, "a"), -1) == (0, "a")
    assert _wrong("text", 1) is None
    law = Law({1: Fraction(1, 2), 2: Fraction(1, 2)})
    assert _wrong(law, 1)[1] == Fraction(4, 7)


def test_wrong_laws_have_other_ratios() -> None:
    p, q = Law({0: Fraction(3, 4), 1: Fraction(1, 4)}), Law({0: Fraction(1, 4), 1: Fraction(3, 4)})
    larger, smaller = (max_loss(_wrong(p, sign), _wrong(q, sign)) for sign in (1, -1))
    assert larger == 9
    assert 1 < smaller < 3


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_no_doubt_is_left(paper: str) -> None:
    command = [sys.executable, "-m", "exactdp_proofs.scrutiny", paper]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
