"""The Laplace mechanism: exact delta and epsilon, and the least noise for a target."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.pure import Pure, calibrated_scale, laplace_delta
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, frozen, number
from exactdp.lazy import own_names
from exactdp.parameters import Real, non_negative, positive


def delta(*, scale: Real, epsilon: Real, sensitivity: Real = 1) -> Enclosure:
    """The smallest delta for which the Laplace mechanism is (epsilon, delta)-DP.

    scale: the noise has a density proportional to exp(-|z|/scale); > 0, in the units of the query;
    its standard deviation is sqrt(2) scale.
    epsilon: >= 0. sensitivity: distance by which one user moves the query, > 0.
    Returns an enclosure of relative width <= 1e-12: of 1 - e^((epsilon - sensitivity/scale)/2), and
    0 from epsilon = sensitivity/scale on. Raises InvalidParameter, Undecided.
    Source: Dwork, McSherry, Nissim, Smith 2006; Balle, Barthe, Gaboardi 2018, Theorem 3.

    >>> from exactdp.accounting import laplace
    >>> print(laplace.delta(scale=1, epsilon="0.5"))
    [0.2211992169, 0.221199217]
    """
    return Laplace(scale=scale, epsilon=epsilon, sensitivity=sensitivity).delta()


def check(*, scale: Real, epsilon: Real, delta: Real, sensitivity: Real = 1) -> Check:
    """Whether the claimed delta, >= 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return Laplace(scale=scale, epsilon=epsilon, sensitivity=sensitivity).check(delta)


def guarantee(*, scale: Real, epsilon: Real, sensitivity: Real = 1) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return Laplace(scale=scale, epsilon=epsilon, sensitivity=sensitivity).guarantee()


def calibrate(
    *, epsilon: Real, delta: Real = 0, sensitivity: Real = 1, resolution: Real = "1e-9"
) -> Calibration:
    """The smallest scale that makes the Laplace mechanism (epsilon, delta)-DP.

    epsilon: >= 0, and > 0 where delta is 0. delta: >= 0 and < 1. sensitivity: > 0.
    resolution: relative step between values of the scale that are tried, in [1e-15, 0.1].
    The returned scale provably satisfies the target, and the next smaller one provably does not.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import laplace
    >>> print(laplace.calibrate(epsilon="0.3").scale)
    3.333333334
    """
    size = positive("sensitivity", sensitivity)
    return calibrated_scale(
        Laplace,
        lambda scale: Laplace(scale=scale, epsilon=epsilon, sensitivity=size),
        size=size,
        epsilon=epsilon,
        delta=delta,
        resolution=resolution,
        given={"sensitivity": size},
    )


@frozen(kw_only=True)
class Laplace(Pure):
    """The calculator; parameters as in :func:`delta`."""

    scale: Number = number(positive)
    epsilon: Number = number(non_negative)
    sensitivity: Number = number(positive, default=1)

    name = "laplace"
    title = "a real-valued answer with Laplace noise"
    example: ClassVar = {"scale": "1", "epsilon": "1"}
    falls_with: ClassVar = {"scale": 0, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours = add_remove("moving the query by at most the sensitivity")
    source = "Balle, Barthe, Gaboardi 2018, Theorem 3"

    @property
    def distance(self) -> Fraction:
        """By which one user moves the query, in scales."""
        return self.sensitivity / self.scale

    def largest_loss(self) -> Enclosure:
        """sensitivity/scale."""
        return Enclosure.exact(self.distance)

    def evaluate(self) -> arb:
        """A ball around delta."""
        return laplace_delta(self.distance, self.epsilon)


#: The least epsilon for a delta, >= 0 (the default) and < 1; others as in :func:`delta`.
epsilon = Laplace.least_epsilon


__dir__ = own_names(__name__)
