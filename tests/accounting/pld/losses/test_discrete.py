"""Mechanisms with countably many outcomes against enumeration and other exact rules."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from exactdp.accounting import composition, pld
from exactdp.accounting.pld import Pld
from exactdp.accounting.pld.losses import integers
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from tests.accounting.pld.curves import repeated_excess


def _agree(delta: Enclosure, exact: Enclosure) -> bool:
    narrow = delta.upper <= delta.lower * Fraction(1001, 1000)
    return narrow and delta.lower <= exact.upper and exact.lower <= delta.upper


@pytest.mark.parametrize("delta", [0, "1e-8"])
def test_responses_against_the_optimal_rule(delta: int | str) -> None:
    bounds = pld.approximate(epsilon="0.1", delta=delta).composed(100).delta(4)
    exact = composition.optimal(k=100, epsilon="0.1", delta=delta, total_epsilon=4)
    assert _agree(bounds, exact)


@pytest.mark.parametrize(("sigma2", "shift", "k"), [("0.3", 2, 3), (100, 1, 4)])
def test_discrete_gaussian_against_sums_over_the_lattice(
    sigma2: int | str, shift: int, k: int
) -> None:
    delta = pld.discrete_gaussian(sigma2=sigma2, sensitivity=shift).composed(k).delta(1)
    exact = composition.discrete_gaussian(k=k, sigma2=sigma2, sensitivity=shift, epsilon=1)
    assert _agree(delta, exact)


def _holds(delta: Enclosure, exact: float) -> bool:
    return delta.float_lower() <= exact * (1 + 1e-12) and exact <= delta.float_upper() * (1 + 1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize("epsilon", [0, 0.3, 1.2])
def test_sampled_discrete_laplace_by_enumeration(epsilon: float) -> None:
    # z is at most 0, 1, or at least 2: the three values of the loss
    fall, rate = exp(-0.4), 0.3
    end, middle = 1 / (1 + fall), (1 - fall) / (1 + fall) * fall
    a, b = [end, middle, end * fall**2], [end * fall**2, middle, end]
    mixed = [(1 - rate) * y + rate * x for x, y in zip(a, b, strict=True)]
    exact = max(repeated_excess(mixed, b, 6, epsilon), repeated_excess(b, mixed, 6, epsilon))
    loss = pld.discrete_laplace(epsilon="0.8", sensitivity=2).sampled("0.3").composed(6)
    assert _holds(loss.delta(str(epsilon)), exact)


@pytest.mark.parametrize("epsilon", [0.03, 0.08])
def test_runs_of_values_by_enumeration(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integers, "_MOST_RUNS", 256)
    z = np.arange(-330, 331)
    here, moved = (np.exp(-((z - shift) ** 2) / 2000) for shift in (0, 1))
    here, moved = here / here.sum(), moved / here.sum()
    mixed = (here + moved) / 2
    exact = max(
        float(np.maximum(np.outer(p, p) - exp(epsilon) * np.outer(q, q), 0).sum())
        for p, q in [(mixed, here), (here, mixed)]
    )
    loss = pld.discrete_gaussian(sigma2=1000).sampled("0.5").composed(2)
    assert _holds(loss.delta(str(epsilon), relative_width="0.1"), exact)


def test_laws_of_any_mechanism_by_enumeration() -> None:
    p = Law({"a": Fraction(1, 2), "b": Fraction(1, 3), "only p": Fraction(1, 6)})
    q = Law({"a": Fraction(1, 4), "b": Fraction(2, 3), "only q": Fraction(1, 12)})
    a, b = [1 / 2, 1 / 3, 1 / 6, 0], [1 / 4, 2 / 3, 0, 1 / 12]
    exact = max(repeated_excess(a, b, 5, 0.5), repeated_excess(b, a, 5, 0.5))
    delta = pld.laws(p, q, neighbours="these two").composed(5).delta("0.5")
    assert _holds(delta, exact)


def test_pure_losses_end() -> None:
    loss = pld.randomized_response(epsilon=1).composed(3)
    assert loss.delta(3) == 0
    assert loss.delta("2.999") > 0


def test_relations_do_not_mix() -> None:
    coin = pld.laws(Law.uniform([0, 1]), Law.point(0), neighbours="a coin")
    with pytest.raises(InvalidParameter, match="for the relation 'add-remove"):
        pld.gaussian(sigma=1).then(coin)


def test_equal_steps_are_counted_together() -> None:
    one = pld.gaussian(sigma=2)
    assert isinstance(one.then(one), Pld)
    assert one.then(one.composed(3)) == one.composed(4)
