"""Densities that the user gives, against the library's own laws and against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_series
from mpmath import mp, mpf

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from tests.reference import to_mp

Density = Callable[[Any], Any]


def _normal(mean: int) -> Density:
    return lambda x: (-((x - mean) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()


def _mixture(x: Any) -> Any:
    return (_normal(-2)(x) + 2 * _normal(1)(x)) / 3


def _logistic(x: Any) -> Any:
    return 1 / ((x / 2).exp() + (-x / 2).exp()) ** 2


def _moved(x: Any) -> Any:
    return _logistic(x - 1)


def _pair(p: Density, q: Density) -> pld.Pld:
    return pld.from_density(p, q, neighbours=pld.ADD_REMOVE)


def _laplace() -> pld.Pld:
    def rising(x: Any) -> Any:
        return x.exp() / 2

    def falling(x: Any) -> Any:
        return (-x).exp() / 2

    return pld.from_density(
        [lambda x: rising(x - 1), lambda x: rising(x - 1), lambda x: falling(x - 1)],
        [rising, falling, falling],
        breaks=[0, 1],
        neighbours=pld.ADD_REMOVE,
    )


def _overlap(one: Enclosure, other: Enclosure) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.fixture(scope="module", params=["gaussian", "laplace"])
def both(request: pytest.FixtureRequest) -> tuple[pld.Pld, pld.Pld]:
    """A loss by its densities, and the same by the library."""
    if request.param == "laplace":
        return _laplace(), pld.laplace(scale=1)
    return _pair(_normal(1), _normal(0)), pld.gaussian(sigma=1)


@pytest.mark.parametrize("epsilon", ["0", "0.25", "0.999"])
def test_single_runs_agree_with_the_library(both: Any, epsilon: str) -> None:
    ours, known = (loss.delta(epsilon, relative_width="1e-6") for loss in both)
    assert _overlap(ours, known)
    assert ours.width <= ours.lower / 10**6


@pytest.mark.parametrize(
    "composed",
    [
        lambda loss: loss.composed(3),
        pytest.param(lambda loss: loss.sampled("0.1").composed(20), marks=pytest.mark.slow),
        pytest.param(lambda loss: loss.then(pld.gaussian(sigma=2)), marks=pytest.mark.slow),
    ],
)
def test_compositions_agree_with_the_library(both: Any, composed: Any) -> None:
    ours, known = (composed(loss).epsilon("1e-6") for loss in both)
    assert _overlap(ours, known)
    assert known.lower - Fraction("0.002") < ours.lower
    assert ours.upper < known.upper + Fraction("0.002")


@pytest.mark.parametrize("epsilon", ["0.3", "0.7"])
@pytest.mark.parametrize("name", ["logistic", "mixture"])
def test_delta_is_the_integral(name: str, epsilon: str) -> None:
    known: dict[str, tuple[Density, Density]] = {
        "logistic": (lambda y: mp.sech((y - 1) / 2) ** 2 / 4, lambda y: mp.sech(y / 2) ** 2 / 4),
        "mixture": (lambda y: (mp.npdf(y + 2) + 2 * mp.npdf(y - 1)) / 3, mp.npdf),
    }
    loss = _pair(*{"logistic": (_moved, _logistic), "mixture": (_mixture, _normal(0))}[name])
    delta = loss.delta(epsilon, relative_width="1e-8")
    expected = max(
        _integral(*pair, mp.exp(mpf(epsilon))) for pair in (known[name], known[name][::-1])
    )
    assert to_mp(delta.lower) * (1 - mpf(10) ** -8) <= expected
    assert expected <= to_mp(delta.upper) * (1 + mpf(10) ** -8)


def _integral(p: Density, q: Density, x: mpf) -> mpf:
    """The integral of (p - x q)+, between the places where p - x q changes its sign."""

    def rest(y: mpf) -> mpf:
        return p(y) - x * q(y)

    places = [mpf(i) / 4 for i in range(-240, 241)]
    pairs = [(a, b) for a, b in pairwise(places) if (rest(a) > 0) != (rest(b) > 0)]
    roots = [mp.findroot(rest, ends, solver="anderson") for ends in pairs]
    edges = [places[0], *roots, places[-1]]
    middles = ((a, b) for a, b in pairwise(edges) if rest((a + b) / 2) > 0)
    return sum((mp.quad(rest, mp.linspace(a, b, 16)) for a, b in middles), mpf(0))


def test_two_runs_of_a_loss_that_is_not_monotone_are_the_double_sum() -> None:
    places = (np.arange(1600) + 0.5) / 100 - 8
    q = np.exp(-(places**2) / 2) / np.sqrt(2 * np.pi) / 100
    shifted = [np.exp(-((places - m) ** 2) / 2) / np.sqrt(2 * np.pi) / 100 for m in (-2, 1)]
    p = (shifted[0] + 2 * shifted[1]) / 3
    both = [np.outer(side, side) for side in (p, q)]
    sums = [np.maximum(a - math.e * b, 0).sum() for a, b in (both, both[::-1])]
    delta = _pair(_mixture, _normal(0)).composed(2).delta(1)
    assert float(delta.lower) - 1e-4 < max(sums) < float(delta.upper) + 1e-4
    assert delta.width < delta.lower / 500


def test_outputs_of_one_side_alone_are_infinite_losses() -> None:
    def level(height: int) -> Density:
        return lambda x: 0 * x + height

    def flat(*heights: int) -> list[Density]:
        return [level(height) for height in heights]

    loss = pld.from_density(
        flat(0, 1, 1, 0, 0),
        flat(0, 0, 1, 1, 0),
        breaks=[0, "0.25", 1, "1.25"],
        neighbours=pld.ADD_REMOVE,
    )
    quarter = Enclosure.exact("0.25")
    assert _overlap(loss.delta(1), quarter)
    assert _overlap(loss.infinite_mass(), quarter)
    assert loss.infinite_mass().width < Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("density", "what"),
    [
        (lambda x: 1.01 * _normal(0)(x), "integral 1"),
        (lambda x: _normal(0)(x) * 99 / 100, "integral 1"),
        (lambda x: (x - 1) * _normal(0)(x), ">= 0"),
        (lambda x: 0.5, "returns a float"),
        (lambda x: x.to_bytes(), "raises"),
        (lambda x: _normal(0)(arb_series([x[0].mid(), 1])), "contradict"),
        ([_normal(0), _normal(0)], "1 functions"),
    ],
)
def test_no_densities(density: Any, what: str) -> None:
    with pytest.raises(InvalidParameter, match=what):
        pld.from_density(density, _normal(0), neighbours=pld.ADD_REMOVE)


def test_breaks_rise() -> None:
    with pytest.raises(InvalidParameter, match="rising"):
        pld.from_density([_logistic] * 3, [_logistic] * 3, breaks=[1, 0], neighbours="two values")


def test_the_source_says_what_is_on_trust() -> None:
    loss = _pair(_moved, _logistic)
    assert "on trust: that their integrals are 1" in loss.source
    assert "on trust" in loss.composed(2).then(pld.gaussian(sigma=1)).source
    assert "on trust" in loss.guarantee("0.5").source
