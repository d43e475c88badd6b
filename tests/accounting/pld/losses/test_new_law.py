"""A new law in one file: the example of CONTRIBUTING against brute force."""

import math
import re
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp.errors import InvalidParameter, Undecided
from tests.accounting.pld.curves import repeated_excess
from tests.accounting.pld.losses.kary_response import kary_response

PAGE = Path(__file__).parents[4] / "CONTRIBUTING.md"


def test_contributing_shows_this_file() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    whole = Path(__file__).with_name("kary_response.py").read_text(encoding="utf-8")
    assert whole.endswith(code[1])


def _masses(epsilon: float, answers: int, truth: int) -> list[float]:
    total = math.exp(epsilon) + answers - 1
    return [math.exp(epsilon) / total if x == truth else 1 / total for x in range(answers)]


@pytest.mark.parametrize(("times", "epsilon"), [(1, 0.3), (3, 0.3), (5, 1.7)])
def test_the_example_of_contributing(times: int, epsilon: float) -> None:
    loss = kary_response(epsilon=Fraction(4, 5), answers=4)
    p, q = (_masses(0.8, 4, truth) for truth in (0, 1))
    delta = loss.composed(times).delta(str(epsilon), relative_width="1e-9")
    expected = pytest.approx(repeated_excess(p, q, times, epsilon), rel=1e-8)
    assert float(delta.lower) == expected
    assert float(delta.upper) == expected


@pytest.mark.parametrize("epsilon", ["1e-320", "1e-400", "1e320"])
def test_an_extreme_parameter_is_answered_or_undecided(epsilon: str) -> None:
    loss = kary_response(epsilon=epsilon, answers=4).composed(3)
    for ask in (lambda: loss.epsilon("1e-3"), lambda: loss.delta(0), loss.mu):
        with suppress(Undecided, InvalidParameter):
            ask()


def test_renyi_divergences_and_epsilon_come_with_the_kind() -> None:
    loss = kary_response(epsilon=Fraction(4, 5), answers=4).composed(3)
    p, q = (_masses(0.8, 4, truth) for truth in (0, 1))
    moment = sum(a**2.5 * b**-1.5 for a, b in zip(p, q, strict=True))
    assert float(loss.renyi("2.5").upper) == pytest.approx(3 * math.log(moment) / 1.5)
    epsilon = float(loss.epsilon("0.05").upper)
    assert repeated_excess(p, q, 3, epsilon) <= 0.05 <= repeated_excess(p, q, 3, epsilon - 2e-3)
