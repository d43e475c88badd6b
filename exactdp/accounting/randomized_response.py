"""Randomised response: exact delta and epsilon, and the least share of wrong answers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import ClassVar

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_VALUE
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.pure import Pure
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import Real, delta_or_zero, integer, non_negative, positive


def delta(*, flip: Real, epsilon: Real, values: int = 2) -> Enclosure:
    """The smallest delta for which one answer by randomised response is (epsilon, delta)-DP.

    flip: the probability of a wrong answer, > 0 and at most 1 - 1/values; all wrong answers are
    equally likely. epsilon: >= 0. values: number of possible answers, >= 2.
    Returns an enclosure of relative width <= 1e-12: of 1 - flip - e^epsilon flip/(values - 1), and
    0 where this is negative. Raises InvalidParameter, Undecided.
    Source: Warner 1965, and its law.

    >>> from exactdp.accounting import randomized_response
    >>> print(randomized_response.delta(flip="0.25", epsilon="0.5"))
    [0.3378196823, 0.3378196824]
    """
    return RandomizedResponse(flip=flip, epsilon=epsilon, values=values).delta()


def check(*, flip: Real, epsilon: Real, delta: Real, values: int = 2) -> Check:
    """Whether the claimed delta, >= 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return RandomizedResponse(flip=flip, epsilon=epsilon, values=values).check(delta)


def guarantee(*, flip: Real, epsilon: Real, values: int = 2) -> Guarantee:
    """The guarantee of an answer; parameters as in :func:`delta`."""
    return RandomizedResponse(flip=flip, epsilon=epsilon, values=values).guarantee()


def calibrate(
    *, epsilon: Real, delta: Real = 0, values: int = 2, resolution: Real = "1e-9"
) -> Calibration:
    """The smallest probability of a wrong answer that makes randomised response private.

    epsilon: >= 0. delta: >= 0 and < 1. values: as in :func:`delta`.
    resolution: relative step between the probabilities that are tried, in [1e-15, 0.1].
    The returned probability provably satisfies the target, and the next smaller one provably does
    not. Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import randomized_response
    >>> print(randomized_response.calibrate(epsilon=1).flip)
    0.2689414214
    """
    loss, target = non_negative("epsilon", epsilon), delta_or_zero("delta", delta)
    others, step = integer("values", values, least=2) - 1, read_resolution(resolution)
    start = _least_flip(loss, target, others)
    unit = unit_of(start, step)
    if ceil(start / unit) * unit > Fraction(others, others + 1):
        allowed = "a smaller step: every multiple that keeps the target is above 1 - 1/values"
        raise InvalidParameter("resolution", resolution, allowed)
    return calibrated(
        RandomizedResponse.name,
        "exact",
        lambda flip: RandomizedResponse(flip=flip, epsilon=loss, values=others + 1),
        target=target,
        name="flip",
        start=start,
        step=unit,
        lowest=1,
        given={"values": Fraction(others + 1)},
    )


def _least_flip(epsilon: Fraction, delta: Fraction, others: int) -> Fraction:
    """The least flip that is enough, rounded up where it is irrational."""
    if not epsilon:
        return (1 - delta) * others / (others + 1)
    return refine(lambda: (1 - ball(delta)) * others / (others + ball(epsilon).exp())).upper


@frozen(kw_only=True)
class RandomizedResponse(Pure):
    """The calculator; parameters as in :func:`delta`."""

    flip: Number = number(positive)
    epsilon: Number = number(non_negative)
    values: int = whole(least=2, default=2)

    name = "randomized-response"
    title = "an answer that is wrong with a known probability (randomised response)"
    example: ClassVar = {"flip": "0.25", "epsilon": "1.2"}
    falls_with: ClassVar = {"flip": 0, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours = REPLACED_VALUE
    source = "Warner 1965"

    def __post_init__(self) -> None:
        if self.flip > 1 - Fraction(1, self.values):
            allowed = "at most 1 - 1/values, where all answers are equally likely"
            raise InvalidParameter("flip", self.flip, allowed)

    @property
    def other(self) -> Fraction:
        """The probability of each wrong answer."""
        return self.flip / (self.values - 1)

    def largest_loss(self) -> Enclosure:
        """ln of the ratio of the probabilities of the right and of a wrong answer."""
        ratio = (1 - self.flip) / self.other
        return Enclosure.exact(0) if ratio == 1 else refine(lambda: ball(ratio).log())

    def delta(self) -> Enclosure:
        """An enclosure of delta; at epsilon 0 delta is rational."""
        if not self.epsilon:
            return Enclosure.exact(1 - self.flip - self.other)
        return super().delta()

    def check(self, delta: Real) -> Check:
        """Compare delta with the claim, which it often equals at epsilon 0."""
        if not self.epsilon:
            return Check(self.delta(), delta_or_zero("delta", delta), tight=True)
        return super().check(delta)

    def evaluate(self) -> arb:
        """A ball around delta."""
        excess = ball(1 - self.flip) - ball(self.epsilon).exp() * ball(self.other)
        return excess.max(arb(0))


#: The least epsilon for a delta, >= 0 (the default) and < 1; others as in :func:`delta`.
epsilon = RandomizedResponse.least_epsilon


__dir__ = own_names(__name__)
