"""Two sampled steps by numerical integration of their densities: another method altogether."""

import pytest
from mpmath import mp, mpf, ncdf, npdf, quad

from exactdp.accounting import pld


def _one(epsilon: mpf, rate: mpf, mu: mpf, *, removed: bool) -> mpf:
    """delta(epsilon) of one step, for any real epsilon."""
    x = mp.exp(epsilon)
    part = (x if removed else 1 / x) - (1 - rate)
    if part <= 0:
        return 1 - x if removed else mpf(0)
    t = mp.log(part / rate) / mu + mu / 2
    if removed:
        return rate * ncdf(mu - t) - (x - 1 + rate) * ncdf(-t)
    return ncdf(t) - x * ((1 - rate) * ncdf(t) + rate * ncdf(t - mu))


def _two(epsilon: mpf, rate: mpf, mu: mpf, *, removed: bool) -> mpf:
    """The mean of the second step's delta over the first step's loss."""

    def integrand(x: mpf) -> mpf:
        mixed = (1 - rate) * npdf(x) + rate * npdf(x - mu)
        loss = mp.log(mixed / npdf(x)) * (1 if removed else -1)
        density = mixed if removed else npdf(x)
        return density * _one(epsilon - loss, rate, mu, removed=removed)

    return quad(integrand, [-14, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10, 16], maxdegree=5)


@pytest.mark.parametrize(
    ("rate", "mu", "epsilon"), [("0.2", "1", "0.8"), ("0.5", "2", "3"), ("0.03", "0.5", "0.01")]
)
@pytest.mark.slow
def test_two_steps(rate: str, mu: str, epsilon: str) -> None:
    loss = pld.gaussian(sigma=1, sensitivity=mu).sampled(rate).composed(2)
    found = loss.delta(epsilon, relative_width="1e-4")
    with mp.workdps(18):
        given = mpf(epsilon), mpf(rate), mpf(mu)
        exact = max(_two(*given, removed=True), _two(*given, removed=False))
    assert found.float_lower() <= exact * (1 + mpf(1e-8))
    assert exact * (1 - mpf(1e-8)) <= found.float_upper()
