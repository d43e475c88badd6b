"""Correct mechanisms in the style of real code get their law; bugged twins are never proved."""

from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import pytest

from exactdp.audit import compare, foreign_law, private
from exactdp.law import Law
from exactdp.oracle.assertions import _NOT_EXACT
from tests.audit.honest import arrays, libraries, scripts, single_doubles  # noqa: F401  (they add their cases)
from tests.audit.honest.case import CASES, Case, Probabilities

#: By default half of the styles are audited, one case each, and none that takes more than a second.
SLOW = (
    *("discrete Laplace by coin flips", "rejection in a method", "flip_bits"),
    *("integers added to a histogram", "server that logs its times", "from_table"),
    *("log_of_random", "difference_by_math", "log_of_an_array", "inverse_laplace", "rounded"),
)


def _marked() -> list[Any]:
    styles = list(dict.fromkeys(case.style for case in CASES))
    chosen = {*styles[::2]}
    marked = []
    for case in CASES:
        slow = case.name in SLOW or case.style not in chosen
        if not slow:
            chosen.remove(case.style)
        marked.append(pytest.param(case, id=case.name, marks=[pytest.mark.slow] * slow))
    return marked


by_name = pytest.mark.parametrize("case", _marked())


def _delta(left: Probabilities, right: Probabilities, epsilon: str) -> Any:
    """The hockey-stick divergence of two laws, outcome by outcome."""
    with mpmath.workdps(40):
        ratio = mpmath.exp(mpmath.mpf(epsilon))
        return mpmath.fsum(
            max(0, mpmath.mpf(p.numerator) / p.denominator - ratio * _number(right.get(y)))
            for y, p in left.items()
        )


def _number(p: Fraction | None) -> Any:
    return mpmath.mpf(0) if p is None else mpmath.mpf(p.numerator) / p.denominator


@pytest.mark.few(1)
@by_name
def test_the_honest_mechanism_is_proved(case: Case) -> None:
    verdict = _private(case.honest, case)
    assert verdict.verdict == "proved", str(verdict)
    left, right = map(case.law, case.data())
    expected = (_delta(left, right, case.epsilon), _delta(right, left, case.epsilon))
    for bounds, value in zip(verdict.deltas, expected, strict=True):
        assert float(bounds.lower) - 1e-9 <= float(value) <= float(bounds.upper) + 1e-9


def _private(program: Any, case: Case) -> Any:
    return private(
        program,
        *case.data(),
        epsilon=case.epsilon,
        delta=case.delta,
        interface=case.interface,
        progress=False,
    )


@pytest.mark.slow  # the deltas above are those of both laws
@by_name
def test_its_law_is_that_of_the_formula(case: Case) -> None:
    left, _ = case.data()  # the deltas above depend on the other one, too
    program = partial(case.honest, left)
    law = foreign_law(program, interface=case.interface, progress=False)
    weights = {y: p for y, p in case.law(left).items() if p}
    expected = Law(weights, 1 - sum(weights.values()))
    assert compare(law, expected, tolerance="1e-9").verdict == "agrees"


@pytest.mark.few(1)
@by_name
def test_the_bugged_twin_is_not_proved(case: Case) -> None:
    try:
        verdict = _private(case.bugged, case)
    except _NOT_EXACT:
        return
    assert verdict.verdict != "proved", str(verdict)
