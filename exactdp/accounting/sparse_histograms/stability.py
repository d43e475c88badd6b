"""The stability histogram: noise on non-empty bins, then a threshold; delta is a fraction.

An element that only one of two neighbours has contributes a count of 1, so delta is exactly the
probability that a noisy count of 1 passes the threshold; in the other order the loss is smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting.certify.checking import Check, Verdict
from exactdp.accounting.certify.grid import Refuted, calibrated
from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, delta_target, integer, positive
from exactdp.samplers import GeoSample
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["StabilityCalibration", "calibrate", "check", "delta", "least", "passes"]

#: Fractions of n times as many bits as e^epsilon are worked with.
MOST_ROWS = 1_000_000
LEAST_LOSS = Fraction(1, 10**9)

_NEIGHBOURS = "replace-one neighbours: one of the n rows replaced by another, n being public"
_SOURCE = "BV Theorem 1.3"


@dataclass(frozen=True)
class StabilityCalibration:
    """The least threshold for a target, beside the one below it, whose delta is above the target.

    refuted is None when a threshold of 0 already suffices.
    """

    n: int
    epsilon: Fraction
    target: Fraction
    threshold: int
    delta: Enclosure
    refuted: Refuted | None
    guarantee: Guarantee

    def as_dict(self) -> dict[str, object]:
        """For JSON: numbers as decimal strings, rounded outward."""
        found = {"threshold": self.threshold}
        return calibrated(self, "stability", {"n": self.n}, found)


def delta(*, n: int, epsilon: Real, threshold: int) -> Enclosure:
    """The delta of releasing noisy counts > threshold, exactly.

    n: rows, 1 to 10^6. epsilon: 1e-9 to 1e9; GeoSample keeps a rational a little below e^epsilon.
    threshold: an integer >= 0.
    Raises InvalidParameter. Source: BV, Theorem 1.3 (stated without the algorithm).

    >>> from exactdp.accounting import stability
    >>> print(stability.delta(n=100, epsilon=1, threshold=20))
    [0.0001804371958, 0.0001804371959]
    """
    noise = _noise(n, epsilon)
    return Enclosure.exact(passes(noise, integer("threshold", threshold, least=0)))


def check(*, n: int, epsilon: Real, threshold: int, delta: Real) -> Check:
    """Whether (epsilon, delta) is kept: proved or refuted; parameters as in :func:`delta`."""
    found = passes(_noise(n, epsilon), integer("threshold", threshold, least=0))
    target = delta_target("delta", delta)
    verdict: Verdict = "proved" if found <= target else "refuted"
    return Check(verdict, Enclosure.exact(found), target, tight=True)


def calibrate(*, n: int, epsilon: Real, delta: Real) -> StabilityCalibration:
    """The least threshold for (epsilon, delta); parameters as in :func:`delta`.

    >>> from exactdp.accounting import stability
    >>> stability.calibrate(n=100, epsilon=1, delta="1e-5").threshold
    28
    """
    noise, target = _noise(n, epsilon), delta_target("delta", delta)
    threshold = least(noise, target)
    found = Enclosure.exact(passes(noise, threshold))
    below = threshold - 1
    refuted = Refuted(Fraction(below), Enclosure.exact(passes(noise, below))) if threshold else None
    tilde, loss = noise.e_half_epsilon**2, noise.epsilon
    promise = Guarantee(loss, found, _NEIGHBOURS, _SOURCE, tilde)
    return StabilityCalibration(noise.n, loss, target, threshold, found, refuted, promise)


def _noise(n: int, epsilon: Real) -> GeoSample:
    if integer("n", n, least=1) > MOST_ROWS:
        raise InvalidParameter("n", n, f"<= {MOST_ROWS}: its fractions grow with n")
    if not LEAST_LOSS <= positive("epsilon", epsilon) <= 1 / LEAST_LOSS:
        raise InvalidParameter("epsilon", epsilon, "between 1e-9 and 1e9")
    return GeoSample(n=n, epsilon=epsilon)


def passes(noise: CountSampler, threshold: int) -> Fraction:
    """P(noisy count of 1 > threshold)."""
    cdf = noise.cdf(1)
    if threshold >= cdf.high:
        return Fraction(0)
    return 1 - Fraction(cdf.numerator(threshold), cdf.denominator)


def least(noise: CountSampler, target: Fraction) -> int:
    """The least threshold that a noisy count of 1 passes with at most the target probability."""
    low, high = 0, noise.n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(noise, middle) <= target else (middle + 1, high)
    return low
