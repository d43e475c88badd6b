"""Independent reference values: mpmath at high precision, straight from the papers' formulas.

Nothing here imports the calculators under test, and every j is visited. The working precision
covers the cancellation in Phi(..) - e^eps Phi(..), so the results are good to far more digits than
any enclosure they are compared with.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath
from mpmath import mp, mpf

from exactdp.balls import FLOOR_BITS
from exactdp.enclosure import Enclosure

#: Beyond this many bits the reference is treated as exact (relative error).
TRUSTED_BITS = 300


def to_mp(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def bits_for(epsilon: Fraction, mu: Fraction) -> int:
    """Precision that leaves 400 bits after the cancellation of about mu^2/(1 + epsilon) or mu."""
    with mp.workprec(64):
        smallest = min(to_mp(mu), to_mp(mu) ** 2 / (1 + to_mp(epsilon)), mpf(1))
        return 440 + 2 * int(-mpmath.log(smallest, 2))


def cdf(x: mpf) -> mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def gaussian(epsilon: mpf, mu: mpf) -> mpf:
    """Lemma 2.5 with sensitivity/sigma = mu."""
    t, half = epsilon / mu, mu / 2
    return cdf(half - t) - mpmath.exp(epsilon) * cdf(-half - t)


def gaussian_delta(sigma: Fraction, epsilon: Fraction, sensitivity: Fraction) -> mpf:
    mu = sensitivity / sigma
    with mp.workprec(bits_for(epsilon, mu)):
        return gaussian(to_mp(epsilon), to_mp(mu))


def sampled_gaussian(epsilon: mpf, rate: mpf, mu: mpf) -> mpf:
    """delta of one Gaussian step on a Poisson sample, with the user against without."""
    part = mp.exp(epsilon) - 1 + rate
    t = mp.log(part / rate) / mu + mu / 2
    return rate * mp.ncdf(mu - t) - part * mp.ncdf(-t)


def discrete_gaussian(variance: float, reach: int) -> dict[int, float]:
    """The masses of discrete Gaussian noise, cut off at +-reach."""
    weights = {z: math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def leaked(p: Mapping[Any, float], q: Mapping[Any, float], epsilon: float) -> float:
    """The larger delta(epsilon) of two laws, of both orders."""
    return max(
        math.fsum(max(mass - math.exp(epsilon) * other.get(y, 0.0), 0.0) for y, mass in one.items())
        for one, other in ((p, q), (q, p))
    )


def gshm_exact(k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> mpf:
    """Lemma 2.7, every j in turn."""
    with mp.workprec(bits_for(epsilon, 1 / sigma)):
        s, eps = to_mp(sigma), to_mp(epsilon)
        log_phi = mpmath.log1p(-mpmath.erfc(to_mp(tau) / s / mpmath.sqrt(2)) / 2)
        best = -mpmath.expm1(k * log_phi)
        for j in range(1, k + 1):
            gamma = (k - j) * log_phi
            mu = mpmath.sqrt(j) / s
            inner = gaussian(eps - gamma, mu)
            best = max(best, -mpmath.expm1(gamma) + mpmath.exp(gamma) * inner)
            best = max(best, gaussian(eps + gamma, mu))
        return best


def gshm_add_the_deltas(k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> mpf:
    """Lemma 2.6."""
    with mp.workprec(bits_for(epsilon, 1 / sigma)):
        s = to_mp(sigma)
        log_phi = mpmath.log1p(-mpmath.erfc(to_mp(tau) / s / mpmath.sqrt(2)) / 2)
        return gaussian(to_mp(epsilon), mpmath.sqrt(k) / s) - mpmath.expm1(k * log_phi)


def csh_published(k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> mpf:
    """Theorem 3.5, every j in turn."""
    with mp.workprec(bits_for(epsilon, Fraction(1, 2) / sigma)):
        s, eps, root = to_mp(sigma), to_mp(epsilon), mpmath.sqrt(k)
        share = 1 + mpf(k) ** (-mpf(1) / 4)
        log_phi = mpmath.log1p(-mpmath.erfc(to_mp(tau) / (share * s) / mpmath.sqrt(2)) / 2)
        best = max(-mpmath.expm1((k + 1) * log_phi), gaussian(eps, mpmath.sqrt(k + root) / (2 * s)))
        for j in range(1, k):
            mu = min(mpmath.sqrt(j), mpmath.sqrt(j + root) / 2) / s
            log_psi = (k - j + 1) * log_phi
            best = max(best, -mpmath.expm1(log_psi) + gaussian(eps, mu))
            best = max(best, gaussian(eps + log_psi, mu))
        return best


def csh_add_the_deltas(k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> mpf:
    """Theorem 3.3."""
    with mp.workprec(bits_for(epsilon, Fraction(1, 2) / sigma)):
        s, root = to_mp(sigma), mpmath.sqrt(k)
        share = 1 + mpf(k) ** (-mpf(1) / 4)
        log_phi = mpmath.log1p(-mpmath.erfc(to_mp(tau) / (share * s) / mpmath.sqrt(2)) / 2)
        noise = gaussian(to_mp(epsilon), mpmath.sqrt(k + root) / (2 * s))
        return noise - mpmath.expm1((k + 1) * log_phi)


def assert_about(enclosure: Enclosure, expected: mpf, digits: int = 30) -> None:
    """The enclosure is narrow, or small, and meets the reference, which is good to these digits."""
    narrow = enclosure.lower * (1 + Fraction(1, 10**12)) >= enclosure.upper
    assert narrow or enclosure.upper <= Fraction(1, 2**FLOOR_BITS)
    with mp.workdps(80):
        slack = abs(expected) * mpf(10) ** -digits
        assert to_mp(enclosure.lower) <= expected + slack
        assert expected - slack <= to_mp(enclosure.upper)


def contains(lower: Fraction, upper: Fraction, reference: mpf) -> bool:
    """Whether the reference, with its own error bound around it, meets [lower, upper]."""
    with mp.workprec(2 * TRUSTED_BITS + 4000):
        slack = abs(reference) * mpf(2) ** -TRUSTED_BITS
        return bool(to_mp(lower) <= reference + slack and reference - slack <= to_mp(upper))


def permute_and_flip(accepted: list[float]) -> list[float]:
    """The probability of each option, over all orders in which options are looked at.

    accepted: the probability that an option is taken when it is looked at.
    """
    totals = [0.0] * len(accepted)
    for order in itertools.permutations(range(len(accepted))):
        left = 1.0
        for option in order:
            totals[option] += left * accepted[option]
            left *= 1 - accepted[option]
    return [mass / math.factorial(len(accepted)) for mass in totals]
