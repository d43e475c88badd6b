"""mu against curves that other code computes: closed forms, enumeration and sums of losses."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.pld import Pld
from exactdp.errors import InvalidParameter
from exactdp.law import Law

Floats = NDArray[np.float64]
Curve = Callable[[float], float]

#: Nodes of a grid of losses; cells of noise.
_NODES, _CELLS = 1 << 12, 1 << 18


def _gaussian(epsilon: float, mu: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def _falling_root(function: Curve, low: float, high: float) -> float:
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def _smallest_mu(curve: Curve, least: float) -> float:
    """The largest mu at a point of the curve where delta is at least the least one."""
    if curve(0) <= least:
        return 0.0
    last = _falling_root(lambda x: curve(x) - least, 0.0, 60.0)

    def mu(epsilon: float) -> float:
        delta = curve(epsilon)
        return _falling_root(lambda m: delta - _gaussian(epsilon, m), 1e-9, 40.0)

    places = np.linspace(0, last, 101)
    for _ in range(3):
        values = [mu(x) for x in places]
        best = int(np.argmax(values))
        places = np.linspace(places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)], 21)
    return max(values)


def _of_losses(losses: Floats, masses: Floats) -> Curve:
    return lambda x: float((masses * np.maximum(-np.expm1(x - losses), 0)).sum())


def _largest(*curves: Curve) -> Curve:
    return lambda x: max(curve(x) for curve in curves)


def _runs(p: list[float], q: list[float], times: int) -> Curve:
    """Independent runs of two laws with the same outcomes, all outcomes one by one."""
    both = [np.array([1.0])] * 2
    for _ in range(times):
        both = [np.outer(old, law).ravel() for old, law in zip(both, (p, q), strict=True)]
    return _of_losses(np.log(both[0]) - np.log(both[1]), both[0])


def _sampled_gaussian(sigma: float, rate: float, times: int) -> Curve:
    """Both orders, each a sum of losses that are shared between the nodes of a grid."""
    edges = np.linspace(-9.5, 9.5 + 1 / sigma, _CELLS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    # by symmetry of the tails: no cell loses its digits to 1
    none, shifted = (_cell_masses(edges - x) for x in (0, 1 / sigma))
    losses = np.log1p(rate * np.expm1(middles / sigma - 1 / (2 * sigma**2)))
    removed = _sums(losses, (1 - rate) * none + rate * shifted, times)
    return _largest(removed, _sums(-losses, none, times))


def _cell_masses(edges: Floats) -> Floats:
    low, high = edges[:-1], edges[1:]
    return np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))


def _sums(losses: Floats, masses: Floats, times: int) -> Curve:
    start, step = losses.min(), (losses.max() - losses.min()) / (_NODES - 2)
    place = (losses - start) / step
    node = place.astype(int)
    one = np.bincount(node, masses * (1 - (place - node)), _NODES)
    one += np.bincount(node + 1, masses * (place - node), _NODES)
    all_ = np.array([1.0])
    for _ in range(times):
        all_ = np.convolve(all_, one)
    return _of_losses(times * start + step * np.arange(len(all_)), all_)


def _response(epsilon: float, times: int) -> Curve:
    yes = 1 / (1 + math.exp(-epsilon))
    return _runs([yes, 1 - yes], [1 - yes, yes], times)


def _laws(p: list[str], q: list[str]) -> Pld:
    one, other = (Law({i: Fraction(x) for i, x in enumerate(law)}) for law in (p, q))
    return pld.laws(one, other, neighbours=pld.ADD_REMOVE)


def _sgd(sigma: int, rate: str, steps: int) -> Pld:
    return pld.sgd(noise_multiplier=sigma, rate=rate, steps=steps)


_P, _Q = ["0.5", "0.3", "0.15", "0.05"], ["0.4", "0.25", "0.05", "0.3"]
_FLOATS = [float(x) for x in _P], [float(x) for x in _Q]

#: Each loss, its curve, and the relative error of the mu of this curve.
_LOSSES: dict[str, tuple[Callable[[], Pld], Callable[[], Curve], float]] = {
    "four Gaussians": (
        lambda: pld.gaussian(sigma=4).composed(4),
        lambda: lambda x: _gaussian(x, 0.5),
        1e-9,
    ),
    "a response": (
        lambda: pld.randomized_response(epsilon="0.4"),
        lambda: _response(0.4, 1),
        1e-12,
    ),
    "seven responses": (
        lambda: pld.randomized_response(epsilon="0.2").composed(7),
        lambda: _response(0.2, 7),
        1e-9,
    ),
    "Laplace": (
        lambda: pld.laplace(scale=3),
        lambda: lambda x: -math.expm1(min(x - 1 / 3, 0) / 2),
        1e-12,
    ),
    "a response that may fail": (
        lambda: pld.approximate(epsilon="0.3", delta="1e-7"),
        lambda: lambda x: 1e-7 + (1 - 1e-7) * max(_response(0.3, 1)(x), 0),
        1e-12,
    ),
    "five runs of laws": (
        lambda: _laws(_P, _Q).composed(5),
        lambda: _largest(_runs(*_FLOATS, 5), _runs(*_FLOATS[::-1], 5)),
        1e-9,
    ),
    "a step": (lambda: _sgd(4, "0.01", 1), lambda: _sampled_gaussian(4, 0.01, 1), 1e-5),
    "ten steps": (lambda: _sgd(4, "0.01", 10), lambda: _sampled_gaussian(4, 0.01, 10), 1e-5),
    "three large steps": (lambda: _sgd(1, "0.2", 3), lambda: _sampled_gaussian(1, 0.2, 3), 1e-5),
    "six steps": (lambda: _sgd(2, "0.05", 6), lambda: _sampled_gaussian(2, 0.05, 6), 1e-5),
}
_SLOW = {"five runs of laws", "ten steps", "three large steps", "six steps"}


@pytest.mark.few(12)
@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] * (x in _SLOW)) for x in _LOSSES]
)
@pytest.mark.parametrize("least", ["1e-2", "1e-3", "1e-4", "1e-5", "1e-6"])
def test_mu_by_other_code(name: str, least: str) -> None:
    loss, curve, error = _LOSSES[name]
    mu = loss().mu(least_delta=least)
    expected = _smallest_mu(curve(), float(least))
    assert mu.float_lower() <= expected * (1 + error)
    assert mu.float_upper() >= expected * (1 - error)
    assert mu.relative_width <= Fraction(1, 10**4)


def test_mu_is_that_of_deltas_above_the_least_alone() -> None:
    """Beyond the epsilon of the least delta, a larger mu would be needed."""
    mu = _sgd(4, "0.01", 10).mu(least_delta="1e-6")
    expected = 0.00920358577784297  # by `_smallest_mu` of `_sampled_gaussian`
    assert mu.lower < expected < mu.upper


def test_mu_of_batches_has_two_ends() -> None:
    """A sample of coins is no worse than the worst neighbours that the upper end takes."""
    mu = pld.gaussian(sigma=4).batched("0.1").mu(least_delta="1e-3")
    real = pld.gaussian(sigma=2).sampled("0.1").mu(least_delta="1e-3")
    assert 0 < real.lower <= mu.upper
    assert 0 < mu.lower < mu.upper


@pytest.mark.parametrize("least", ["0.1", "0.5"])
def test_mu_is_0_where_no_delta_is_larger(least: str) -> None:
    assert pld.approximate(epsilon=0, delta="0.1").mu(least_delta=least) == 0


def test_no_mu_where_losses_are_infinite_more_often() -> None:
    with pytest.raises(InvalidParameter, match=r"^least_delta must be above the delta"):
        pld.approximate(epsilon="0.3", delta="0.1").mu(least_delta="0.09")


def test_mu_where_losses_are_infinite_just_as_often() -> None:
    """At delta = 0.1 epsilon is 0.3, the largest loss, and a Gaussian mechanism has a mu there."""
    mu = pld.approximate(epsilon="0.3", delta="0.1").mu(least_delta="0.1", relative_width="1e-6")
    expected = _smallest_mu(lambda x: 0.1 + 0.9 * max(_response(0.3, 1)(x), 0), 0.1 + 1e-12)
    assert mu.float_lower() <= expected * (1 + 1e-9)
    assert mu.float_upper() >= expected * (1 - 1e-9)
    assert mu.relative_width <= Fraction(1, 10**6)
