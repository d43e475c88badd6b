"""A new calculator, as somebody would add it: the Laplace mechanism by its standard deviation."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calculator import Calculator, Evaluated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.parameter_search import calibrated
from exactdp.balls import ball
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, frozen, number
from exactdp.parameters import Real, delta_target, non_negative, positive


def delta(*, sigma: Real, epsilon: Real, sensitivity: Real = 1) -> Enclosure:
    """1 - exp((epsilon - sensitivity/scale)/2), where scale = sigma/sqrt 2."""
    return Laplace(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity).delta()


def check(*, sigma: Real, epsilon: Real, delta: Real, sensitivity: Real = 1) -> Check:
    """Whether a claimed delta is kept."""
    return Laplace(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity).check(delta)


def guarantee(*, sigma: Real, epsilon: Real, sensitivity: Real = 1) -> Guarantee:
    """The guarantee of a release."""
    return Laplace(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity).guarantee()


def calibrate(*, epsilon: Real, delta: Real) -> Calibration:
    """The least sigma at sensitivity 1."""
    return calibrated(
        Laplace.name,
        "exact",
        lambda sigma: Laplace(sigma=sigma, epsilon=epsilon),
        target=delta_target("delta", delta),
        name="sigma",
        start=Fraction(1),
        step=Fraction(1, 10**6),
        lowest=1,
        given={},
    )


@frozen(kw_only=True)
class Laplace(Calculator, Evaluated):
    """The calculator; parameters as in :func:`delta`."""

    sigma: Number = number(positive)
    epsilon: Number = number(non_negative)
    sensitivity: Number = number(positive, default=1)

    name = "laplace-by-sigma"
    title = "the Laplace mechanism"
    example: ClassVar = {"sigma": "2", "epsilon": "0.5"}
    falls_with: ClassVar = {"sigma": 0, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours = add_remove("moving the query by at most the sensitivity")
    source = "the law of Laplace noise"

    def evaluate(self) -> arb:
        """A ball around delta."""
        size = ball(self.sensitivity) * ball(2).sqrt() / ball(self.sigma)
        return -((ball(self.epsilon) - size) / 2).expm1()


#: The least epsilon for a delta.
epsilon = Laplace.least_epsilon
