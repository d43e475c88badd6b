"""The stability histogram: noise on non-empty bins, then a threshold. delta is a fraction.

An element that only one of two neighbours has contributes a count of 1 there. delta is exactly the
probability that a noisy count of 1 passes the threshold. In the other order of the neighbours the
loss is smaller.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from exactdp import bisection
from exactdp.accounting.calculator import Calculator, Known
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.accounting.parameter_search import calibrated
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import Real, delta_target, integer, positive
from exactdp.samplers import GeoSample
from exactdp.samplers.count_samplers import CountSampler

#: The computation uses fractions of about 20 bits for each unit of the threshold, which is <= n.
MOST_ROWS = 1_000_000
LEAST_LOSS = Fraction(1, 10**9)


def delta(*, n: int, epsilon: Real, threshold: int) -> Enclosure:
    """The exact delta of releasing noisy counts > threshold.

    n: number of rows, 1 to 10^6.
    epsilon: 1e-9 to 1e9. GeoSample keeps a rational number slightly below e^epsilon.
    threshold: an integer >= 0.
    Raises InvalidParameter.
    Source: Balcer and Vadhan (BV), Theorem 1.3, which does not spell out the algorithm.

    >>> from exactdp.accounting import stability
    >>> print(stability.delta(n=100, epsilon=1, threshold=20))
    [2.825960991e-5, 2.825960992e-5]
    """
    return Stability(n=n, epsilon=epsilon, threshold=threshold).delta()


def check(*, n: int, epsilon: Real, threshold: int, delta: Real) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return Stability(n=n, epsilon=epsilon, threshold=threshold).check(delta)


def guarantee(*, n: int, epsilon: Real, threshold: int) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return Stability(n=n, epsilon=epsilon, threshold=threshold).guarantee()


def calibrate(*, n: int, epsilon: Real, delta: Real) -> Calibration:
    """The least threshold for (epsilon, delta).

    n: number of rows, 1 to 10^6. epsilon: 1e-9 to 1e9. delta: target, > 0 and < 1.
    Raises InvalidParameter.

    >>> from exactdp.accounting import stability
    >>> print(stability.calibrate(n=100, epsilon=1, delta="1e-5").threshold)
    23
    """
    noise, target = _noise(n, epsilon), delta_target("delta", delta)
    return calibrated(
        Stability.name,
        "exact",
        lambda threshold: Stability(n=n, epsilon=epsilon, threshold=int(threshold)),
        target=target,
        name="threshold",
        start=Fraction(least(noise, target)),
        step=Fraction(1),
        given={"n": Fraction(noise.n)},
    )


@frozen(kw_only=True)
class Stability(Calculator, Known):
    """The calculator; parameters as in :func:`delta`."""

    n: int = whole(least=1)
    epsilon: Number = number(positive)
    threshold: int = whole(least=0)

    name = "stability"
    title = "the stability histogram of n rows, of which one may be replaced"
    example: ClassVar = {"n": "1000", "threshold": "23", "epsilon": "1"}
    falls_with: ClassVar = {"threshold": 1}
    calibrate = staticmethod(calibrate)

    neighbours, source = REPLACED_ROW, "BV Theorem 1.3"

    def __post_init__(self) -> None:
        _ = self._noise  # checks n and epsilon

    @cached_property
    def _noise(self) -> GeoSample:
        return _noise(self.n, self.epsilon)

    @property
    def e_epsilon(self) -> Fraction:
        """The rational number that GeoSample keeps."""
        return self._noise.e_half_epsilon**2

    def delta(self) -> Enclosure:
        """The exact probability that a new element passes."""
        return Enclosure.exact(passes(self._noise, self.threshold))


def _noise(n: int, epsilon: Real) -> GeoSample:
    if integer("n", n, least=1) > MOST_ROWS:
        raise InvalidParameter("n", n, f"<= {MOST_ROWS}: the fractions grow with the threshold")
    if not LEAST_LOSS <= positive("epsilon", epsilon) <= 1 / LEAST_LOSS:
        raise InvalidParameter("epsilon", epsilon, "between 1e-9 and 1e9")
    return GeoSample(n=n, epsilon=epsilon)


def passes(noise: CountSampler, threshold: int) -> Fraction:
    """P(noisy count of 1 > threshold)."""
    return noise.passing(1, threshold)


def least(noise: CountSampler, target: Fraction) -> int:
    """The least threshold that a noisy count of 1 passes with probability <= target."""
    return bisection.least(0, None, lambda t: t >= noise.n or passes(noise, t) <= target)


__dir__ = own_names(__name__)
