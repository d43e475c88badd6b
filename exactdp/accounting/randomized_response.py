"""Randomised response: exact delta and epsilon, and the least share of wrong answers."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calculator import calibrated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_VALUE
from exactdp.accounting.pure import Pure
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
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
    least = refine(lambda: (1 - ball(target)) * others / (others + ball(loss).exp()))
    return calibrated(
        RandomizedResponse.name,
        "exact",
        lambda flip: RandomizedResponse(flip=flip, epsilon=loss, values=others + 1),
        target=target,
        name="flip",
        start=least.upper,
        step=unit_of(least.upper, step),
        lowest=1,
        given={"values": Fraction(others + 1)},
    )


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

    def evaluate(self) -> arb:
        """A ball around delta."""
        if not self.epsilon:
            return ball(1 - self.flip - self.other)
        excess = ball(1 - self.flip) - ball(self.epsilon).exp() * ball(self.other)
        return excess.max(arb(0))


#: The least epsilon for a delta, >= 0 (the default) and < 1; others as in :func:`delta`.
epsilon = RandomizedResponse.least_epsilon
