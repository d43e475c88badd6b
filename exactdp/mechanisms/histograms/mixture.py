"""From a law near a pure DP law to pure DP, by mixing with a law that reaches every output.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, delta_target, positive, rational
from exactdp.samplers import RationalCdf, Source

Data = TypeVar("Data")
Outcome = TypeVar("Outcome")


def required_distance(*, e_epsilon: Real, gamma: Real, least: Real) -> Fraction:
    """Largest distance delta to an (epsilon, 0)-DP mechanism that a mixture makes (epsilon, 0)-DP.

    e_epsilon: e^epsilon > 1. gamma: weight of the law U that is mixed in, > 0 and < 1.
    least: the smallest probability that U gives to any output, > 0 and <= 1.
    Returns delta = (e^epsilon - 1)/(e^epsilon + 1) * gamma/(1 - gamma) * least. If the output
    probabilities of M' and of an (epsilon, 0)-DP mechanism M differ by at most delta for every data
    set and output, then (1 - gamma) M' + gamma U is (epsilon, 0)-DP; no larger delta suffices in
    general. Raises InvalidParameter. Source: BV, Lemma 3.1.

    >>> required_distance(e_epsilon=3, gamma="1/2", least="1/2")
    Fraction(1, 4)
    """
    factor, weight = rational("e_epsilon", e_epsilon), delta_target("gamma", gamma)
    floor = positive("least", least)
    if factor <= 1:
        raise InvalidParameter("e_epsilon", e_epsilon, "> 1")
    if floor > 1:
        raise InvalidParameter("least", least, "> 0 and <= 1")
    return (factor - 1) / (factor + 1) * weight / (1 - weight) * floor


def mixed_law(law: Law[Any], other: Law[Any], gamma: Real) -> Law[Any]:
    """The mixture (1 - gamma) law + gamma other, 0 <= gamma <= 1."""
    weight = delta_target("gamma", gamma)
    return Law.mixture([(1 - weight, law), (weight, other)])


@dataclass(frozen=True)
class Purified(Generic[Data, Outcome]):
    """A mechanism near a purely private one, made purely private by a mixture.

    near(data, source): a mechanism M' within total variation distance `distance` of an
    (epsilon, 0)-DP mechanism, for all data. cover(source): draws from a law U that does not depend
    on data and gives every outcome at least the probability `least`, > 0.
    e_epsilon: e^epsilon > 1. gamma_bits: j >= 1, for the weight gamma = 2^-j of U.
    The mixture is (epsilon, 0)-DP; its distance to the purely private mechanism is at most
    gamma + distance. Both draws are made every time, so if each reads a fixed number of random bits
    and takes a fixed number of steps, then so does the mixture. Raises InvalidParameter.
    Source: BV, Algorithm 1 and Lemma 3.1.
    """

    near: Callable[[Data, Source], Outcome]
    cover: Callable[[Source], Outcome]
    distance: Fraction
    e_epsilon: Fraction
    least: Fraction
    gamma_bits: int

    def __post_init__(self) -> None:
        gamma = Fraction(1, 1 << self.gamma_bits)
        most = required_distance(e_epsilon=self.e_epsilon, gamma=gamma, least=self.least)
        if self.distance > most:
            raise InvalidParameter("distance", self.distance, f"<= {most}")

    def draw(self, data: Data, source: Source) -> Outcome:
        """One draw from (1 - gamma) M'(data) + gamma U."""
        scale = 1 << self.gamma_bits
        covers = source.fixed_inverse_cdf(RationalCdf(0, 1, (scale - 1, scale).__getitem__, scale))
        if source.draws(1, 2) == 1:
            return self.cover(source) if covers else self.near(data, source)
        covering, near = self.cover(source), self.near(data, source)
        return covering if covers else near
