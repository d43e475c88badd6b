"""A base of the calculators of mechanisms that keep some epsilon with delta 0."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.accounting.calculator import Calculator, Evaluated, Instance
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.parameter_search import calibrated
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, delta_or_zero, non_negative


class Pure(Calculator, Evaluated):
    """A calculator whose delta is 0 from an epsilon on. Claims and targets of delta may be 0."""

    pure = True

    @abstractmethod
    def largest_loss(self) -> Enclosure:
        """The least epsilon with delta 0."""

    def check(self, delta: Real) -> Check:
        """Compare delta with the claim, which may be 0."""
        return decide(self.evaluate, delta_or_zero("delta", delta), tight=True)

    @classmethod
    def least_epsilon(cls, *, delta: Real = 0, **parameters: Any) -> Enclosure:
        """The least epsilon at which a delta, >= 0 and < 1, is kept; 0 needs no delta."""
        if delta_or_zero("delta", delta):
            return super().least_epsilon(delta=delta, **parameters)
        return cls(**parameters, epsilon=0).largest_loss()


def distance_for(epsilon: Real, delta: Real) -> Enclosure:
    """The distance, in scales, at which Laplace noise keeps (epsilon, delta)."""
    loss, target = non_negative("epsilon", epsilon), delta_or_zero("delta", delta)
    if not target:
        if not loss:
            raise InvalidParameter("epsilon", epsilon, "> 0 where delta is 0")
        return Enclosure.exact(loss)
    return refine(lambda: ball(loss) - 2 * (-ball(target)).log1p())


def calibrated_scale(
    kind: type[Pure],
    at: Callable[[Fraction], Instance],
    *,
    size: Fraction,
    epsilon: Real,
    delta: Real,
    resolution: Real,
    given: Mapping[str, Fraction],
) -> Calibration:
    """The least scale, from the one that Laplace noise needs.

    at: the mechanism with a scale. size: the distance by which one user moves its law.
    """
    step = read_resolution(resolution)
    start = size / distance_for(epsilon, delta).upper
    return calibrated(
        kind.name,
        "exact",
        at,
        target=delta_or_zero("delta", delta),
        name="scale",
        start=start,
        step=unit_of(start, step),
        lowest=1,
        given=given,
    )


def laplace_delta(distance: Fraction, epsilon: Fraction) -> arb:
    """1 - e^((epsilon - distance)/2): the delta of Laplace noise at a distance, in scales."""
    if epsilon >= distance:
        return arb(0)
    return -(ball(epsilon - distance) / 2).expm1()
