"""Discrete Laplace (geometric) noise: exact delta and epsilon, and the least noise for a target."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.pure import Pure, calibrated_scale
from exactdp.balls import ball
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import Real, integer, non_negative, positive


def delta(*, scale: Real, epsilon: Real, sensitivity: int = 1) -> Enclosure:
    """The smallest delta for which one integer query with discrete Laplace noise is private.

    scale: P(z) is proportional to exp(-|z|/scale), > 0. This is the geometric mechanism, with
    alpha = exp(-1/scale). epsilon: >= 0.
    sensitivity: how far one user moves the query at most, an integer >= 1.
    Returns an enclosure of relative width <= 1e-12; 0 from epsilon = sensitivity/scale on.
    Raises InvalidParameter, Undecided.
    Source: Ghosh, Roughgarden, Sundararajan 2012, Definition 2.4, and its law.

    >>> from exactdp.accounting import discrete_laplace
    >>> print(discrete_laplace.delta(scale=1, epsilon="0.5"))
    [0.2876491366, 0.2876491367]
    """
    return DiscreteLaplace(scale=scale, epsilon=epsilon, sensitivity=sensitivity).delta()


def check(*, scale: Real, epsilon: Real, delta: Real, sensitivity: int = 1) -> Check:
    """Whether the claimed delta, >= 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return DiscreteLaplace(scale=scale, epsilon=epsilon, sensitivity=sensitivity).check(delta)


def guarantee(*, scale: Real, epsilon: Real, sensitivity: int = 1) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return DiscreteLaplace(scale=scale, epsilon=epsilon, sensitivity=sensitivity).guarantee()


def calibrate(
    *, epsilon: Real, delta: Real = 0, sensitivity: int = 1, resolution: Real = "1e-9"
) -> Calibration:
    """The smallest scale that makes one integer query with discrete Laplace noise private.

    epsilon: >= 0, and > 0 where delta is 0. delta: >= 0 and < 1. sensitivity: an integer >= 1.
    resolution: relative step between values of the scale that are tried, in [1e-15, 0.1].
    The returned scale provably satisfies the target, and the next smaller one provably does not.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import discrete_laplace
    >>> print(discrete_laplace.calibrate(epsilon="0.5", sensitivity=3).scale)
    6
    """
    size = integer("sensitivity", sensitivity, least=1)
    return calibrated_scale(
        DiscreteLaplace,
        lambda scale: DiscreteLaplace(scale=scale, epsilon=epsilon, sensitivity=size),
        size=Fraction(size),
        epsilon=epsilon,
        delta=delta,
        resolution=resolution,
        given={"sensitivity": Fraction(size)},
    )


@frozen(kw_only=True)
class DiscreteLaplace(Pure):
    """The calculator; parameters as in :func:`delta`.

    delta falls with the scale. It is the largest over m, 1 <= m <= s = sensitivity, of 1 - (r^m +
    e^epsilon r^(s - m + 1))/(1 + r), where r = exp(-1/scale), and r^m/(1 + r) rises with r.
    """

    scale: Number = number(positive)
    epsilon: Number = number(non_negative)
    sensitivity: int = whole(least=1, default=1)

    name = "discrete-laplace"
    title = "an integer answer with discrete Laplace noise (the geometric mechanism)"
    example: ClassVar = {"scale": "1", "epsilon": "1"}
    falls_with: ClassVar = {"scale": 0, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours = add_remove("moving the integer query by at most the sensitivity")
    source = "Ghosh, Roughgarden, Sundararajan 2012, Definition 2.4"

    def largest_loss(self) -> Enclosure:
        """sensitivity/scale."""
        return Enclosure.exact(self.sensitivity / self.scale)

    def evaluate(self) -> arb:
        """A ball around delta.

        The loss of x is (|x + s| - |x|)/scale, s being the sensitivity; between -s and 0 it exceeds
        epsilon exactly where 2 x + s > epsilon scale.
        """
        shift = self.sensitivity
        if self.epsilon * self.scale >= shift:
            return arb(0)
        t = math.floor((self.epsilon * self.scale - shift) / 2)
        return above(t, self.scale) - ball(self.epsilon).exp() * above(t + shift, self.scale)


def above(z: int, scale: Fraction) -> arb:
    """P(X > z) for P(z) proportional to exp(-|z|/scale)."""
    rate = ball(1 / scale)
    share = 1 + (-rate).exp()
    return (-rate * (z + 1)).exp() / share if z >= 0 else 1 - (rate * z).exp() / share


#: The least epsilon for a delta, >= 0 (the default) and < 1; others as in :func:`delta`.
epsilon = DiscreteLaplace.least_epsilon


__dir__ = own_names(__name__)
