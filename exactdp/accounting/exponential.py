"""The exponential mechanism: exact delta and epsilon, and the least noise for a target.

All pairs of two outcomes with losses in an interval of length w = 2 sensitivity/scale occur, and
the worst at epsilon has delta = (1 - e^((epsilon - w)/2))^2/(1 - e^-w).
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.pure import Pure, calibrated_scale, laplace_delta
from exactdp.balls import ball
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, frozen, number
from exactdp.lazy import own_names
from exactdp.parameters import Real, non_negative, positive


def delta(*, scale: Real, epsilon: Real, sensitivity: Real = 1) -> Enclosure:
    """The smallest delta for which the exponential mechanism is (epsilon, delta)-DP, over all
    scores.

    scale: an option is chosen with a probability proportional to exp(score/scale); > 0, in the
    units of the scores. epsilon: >= 0.
    sensitivity: how far one user moves each score, > 0; half of this, if a user can only raise
    scores, or only lower them.
    Returns an enclosure of relative width <= 1e-12; 0 from epsilon = 2 sensitivity/scale on.
    Raises InvalidParameter, Undecided.
    Source: McSherry, Talwar 2007; Dong, Durfee, Rogers 2020, Section 3 (bounded range).

    >>> from exactdp.accounting import exponential
    >>> print(exponential.delta(scale=2, epsilon="0.5"))
    [0.07740468631, 0.07740468632]
    """
    return Exponential(scale=scale, epsilon=epsilon, sensitivity=sensitivity).delta()


def check(*, scale: Real, epsilon: Real, delta: Real, sensitivity: Real = 1) -> Check:
    """Whether the claimed delta, >= 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return Exponential(scale=scale, epsilon=epsilon, sensitivity=sensitivity).check(delta)


def guarantee(*, scale: Real, epsilon: Real, sensitivity: Real = 1) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return Exponential(scale=scale, epsilon=epsilon, sensitivity=sensitivity).guarantee()


def calibrate(
    *, epsilon: Real, delta: Real = 0, sensitivity: Real = 1, resolution: Real = "1e-9"
) -> Calibration:
    """The smallest scale that makes the exponential mechanism (epsilon, delta)-DP.

    epsilon: >= 0, and > 0 where delta is 0. delta: >= 0 and < 1. sensitivity: as in :func:`delta`.
    resolution: relative step between values of the scale that are tried, in [1e-15, 0.1].
    The returned scale provably satisfies the target, and the next smaller one provably does not.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import exponential
    >>> print(exponential.calibrate(epsilon=1).scale)
    2
    """
    size = positive("sensitivity", sensitivity)
    return calibrated_scale(
        Exponential,
        lambda scale: Exponential(scale=scale, epsilon=epsilon, sensitivity=size),
        size=2 * size,
        epsilon=epsilon,
        delta=delta,
        resolution=resolution,
        given={"sensitivity": size},
    )


@frozen(kw_only=True)
class Exponential(Pure):
    """The calculator; parameters as in :func:`delta`."""

    scale: Number = number(positive)
    epsilon: Number = number(non_negative)
    sensitivity: Number = number(positive, default=1)

    name = "exponential"
    title = "a choice among options by their scores (the exponential mechanism)"
    example: ClassVar = {"scale": "2", "epsilon": "1"}
    falls_with: ClassVar = {"scale": 0, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours = add_remove("moving each score by at most the sensitivity")
    source = "Dong, Durfee, Rogers 2020, Section 3"

    @property
    def width(self) -> Fraction:
        """The length of the interval of losses."""
        return 2 * self.sensitivity / self.scale

    def largest_loss(self) -> Enclosure:
        """The width."""
        return Enclosure.exact(self.width)

    def evaluate(self) -> arb:
        """A ball around delta."""
        return laplace_delta(self.width, self.epsilon) ** 2 / -(-ball(self.width)).expm1()


#: The least epsilon for a delta, >= 0 (the default) and < 1; others as in :func:`delta`.
epsilon = Exponential.least_epsilon


__dir__ = own_names(__name__)
