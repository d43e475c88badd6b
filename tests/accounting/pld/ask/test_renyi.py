"""Renyi divergences of every source and scheme against mpmath's integrals and sums."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from mpmath import mpf

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

_Density = Callable[[mpf], mpf]

ORDER = mpf("2.5")
RATE = mpf(1) / 5

#: Weights of the noise around -1, 0, 1 and 2.
WITH, WITHOUT = (0, 1 - RATE, RATE, 0), (0, 1, 0, 0)
MIRRORED = (RATE, 1 - RATE, 0, 0)
ALL, NONE = (0, 0, 1, 0), (0, 1, 0, 0)
GROUP = (0, (1 - RATE) ** 2, 2 * RATE * (1 - RATE), RATE**2)

PAIRS = {
    "plain": [(ALL, NONE)],
    "sampled": [(WITH, WITHOUT), (WITHOUT, WITH)],
    "replaced": [(WITH, MIRRORED)],
    "grouped": [(GROUP, NONE), (NONE, GROUP)],
}
SCHEMES: dict[str, Callable[[pld.Pld], pld.Pld]] = {
    "plain": lambda loss: loss,
    "sampled": lambda loss: loss.sampled("0.2"),
    "replaced": lambda loss: loss.sampled("0.2").replaced(),
    "grouped": lambda loss: loss.sampled("0.2").grouped(2),
}


def _gaussian(x: mpf) -> mpf:
    return mpmath.npdf(x, 0, mpf("0.8"))


def _laplace(x: mpf) -> mpf:
    return mpmath.exp(-abs(x) / mpf("0.8")) / mpf("1.6")


def _integer(z: mpf) -> mpf:
    return mpmath.exp(-(z**2) / (2 * mpf("0.7")))


def _integral(f: _Density) -> mpf:
    return mpmath.quad(f, [-40, -10, -5, -3, -2, -1, 0, 1, 2, 3, 4, 6, 9, 14, 45])


def _sum(f: _Density) -> mpf:
    return mpmath.fsum(f(mpf(z)) for z in range(-40, 41)) / mpmath.fsum(
        _integer(mpf(z)) for z in range(-40, 41)
    )


NOISES: dict[str, tuple[pld.Pld, _Density, Callable[[_Density], mpf]]] = {
    "integers": (pld.discrete_gaussian(sigma2="0.7"), _integer, _sum),
    "gaussian": (pld.gaussian(sigma="0.8"), _gaussian, _integral),
    "laplace": (pld.laplace(scale="0.8"), _laplace, _integral),
}
CASES = [(n, s) for n in NOISES for s in SCHEMES if n == "gaussian" or s != "grouped"]


def _mixed(noise: _Density, weights: tuple[mpf, ...]) -> _Density:
    return lambda x: mpmath.fsum(
        w * noise(x - at) for at, w in zip((-1, 0, 1, 2), weights, strict=True)
    )


def _moment(
    noise: _Density, total: Callable[[_Density], mpf], pair: tuple[tuple[mpf, ...], ...]
) -> mpf:
    p, q = (_mixed(noise, weights) for weights in pair)
    return total(lambda x: p(x) ** ORDER * q(x) ** (1 - ORDER))


def _around(divergence: Enclosure, exact: mpf) -> bool:
    low, high = (
        mpf(end.numerator) / end.denominator for end in (divergence.lower, divergence.upper)
    )
    return bool(low * (1 - mpf("1e-13")) <= exact <= high * (1 + mpf("1e-13")))


@pytest.mark.few(3)
@pytest.mark.parametrize(("noise", "scheme"), CASES)
def test_the_divergence_of_the_two_laws(noise: str, scheme: str) -> None:
    loss, density, total = NOISES[noise]
    with mpmath.workdps(25):
        most = max(_moment(density, total, pair) for pair in PAIRS[scheme])
        divergence = SCHEMES[scheme](loss).composed(3).renyi("2.5")
        assert _around(divergence, 3 * mpmath.log(most) / (ORDER - 1))
        assert divergence.width <= divergence.upper / 10**12


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", ["integers", "gaussian", "laplace"])
def test_batches_have_the_worst_of_every_epsilon_above(noise: str) -> None:
    """Losses above 0 of one order and below 0 of the other, and an atom for the rest."""
    loss, density, total = NOISES[noise]
    weights = (1 - RATE, 0, RATE, 0), (1, 0, 0, 0)
    p, q = (_mixed(density, w) for w in weights)

    def part(f: Callable[[mpf, mpf], mpf]) -> mpf:
        # p exceeds q on the right of 0
        if total is _sum:
            return _sum(lambda z: f(p(z), q(z)) if z > 0 else mpf(0))
        return mpmath.quad(lambda x: f(p(x), q(x)), [0, 1, 2, 3, 4, 6, 9, 14, 45])

    with mpmath.workdps(25):
        above = part(lambda a, b: a**ORDER * b ** (1 - ORDER) + b**ORDER * a ** (1 - ORDER))
        atom = 1 - part(lambda a, b: a + b)
        one = _moment(density, total, weights)
        divergence = loss.batched("0.2").renyi("2.5")
        assert _around(Enclosure.exact(divergence.upper), mpmath.log(above + atom) / (ORDER - 1))
        assert _around(Enclosure.exact(divergence.lower), mpmath.log(one) / (ORDER - 1))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sampled", "replaced", "grouped"])
def test_the_best_of_all_orders(scheme: str) -> None:
    """No order on a fine list is better than the lower end, one nearly as good as the upper."""
    loss = SCHEMES[scheme](pld.gaussian(sigma=2)).composed(20)
    delta = loss.renyi_delta(2)
    bounds = []
    for order in (Fraction(i, 10) for i in range(15, 120, 5)):
        alpha, divergence = float(order), loss.renyi(order).float_upper()
        log = (alpha - 1) * (divergence - 2 + float(mpmath.log1p(-1 / alpha)))
        bounds.append(mpmath.exp(log - mpmath.log(alpha)))
    assert float(delta.lower) <= min(bounds) * (1 + 1e-9)
    assert min(bounds) <= float(delta.upper) * 1.05
    assert delta.width <= delta.upper / 1000
    assert loss.delta(2).upper <= delta.lower


def test_what_is_infinite_is_refused() -> None:
    for loss in (pld.approximate(epsilon=1, delta="1e-9"), pld.gshm(k=2, sigma=1, tau=9)):
        with pytest.raises(InvalidParameter, match="0 for Renyi divergences"):
            loss.composed(2).renyi(2)


def test_pieces_are_where_they_are_said_to_be() -> None:
    """Of bounded losses the divergence tends to the largest loss."""
    for loss in (pld.laplace(scale=1).sampled("0.3"), pld.laplace(scale=1).batched("0.3")):
        orders = [loss.renyi(order).float_upper() for order in (2, 20, 2000)]
        assert all(a < b for a, b in pairwise(orders))
        edge = loss.epsilon("1e-12").float_upper()
        assert orders[-1] == pytest.approx(edge, rel=0.01)
