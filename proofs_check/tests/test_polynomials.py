"""Signs of coefficients: what is proved, what is refuted, and what stays open."""

from __future__ import annotations

import pytest
import sympy as sp
from exactdp_proofs.comparisons import Counterexample, observe
from exactdp_proofs.polynomials import never_below_zero

from exactdp.errors import Undecided

A, B = sp.symbols("a b")


@pytest.mark.parametrize(
    "expression", [A + B, (A + B) ** 2 - 2 * A * B, A / (A + B), 1 - A / (A + B), sp.Integer(0)]
)
def test_non_negative_coefficients_prove(expression: sp.Expr) -> None:
    record = observe(lambda: never_below_zero(expression))
    assert not record.raised
    assert record.kinds.keys() == {"interval search"}  # so the outcome is "proved"


@pytest.mark.parametrize(
    "expression", [A - B, -A, sp.Integer(-1), A / (A + B) - 1, (A - 1) * (A - 20), A**2 - A / 50]
)
def test_a_negative_value_is_a_counterexample(expression: sp.Expr) -> None:
    with pytest.raises(Counterexample, match="< 0"):
        never_below_zero(expression)


def test_signs_that_do_not_settle_it() -> None:
    with pytest.raises(Undecided, match="both signs"):
        never_below_zero((A - B) ** 2)
