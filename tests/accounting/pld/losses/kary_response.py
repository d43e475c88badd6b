"""The example of CONTRIBUTING: a new law and its mechanism in one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting.pld import REPLACE_ONE, Pld
from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.losses.listed import ListedLaw
from exactdp.balls import ball
from exactdp.parameters import Real, integer, positive


@dataclass(frozen=True)
class KaryResponse(ListedLaw):
    """Of k answers the true one, with probability e^epsilon/(e^epsilon + k - 1), or any other."""

    epsilon: Fraction
    answers: int
    symmetric = True  # the same law in both orders of the neighbours

    @property
    def unit(self) -> Fraction:
        return self.epsilon

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        growth = ball(self.epsilon).exp()
        other = 1 / (growth + self.answers - 1)
        yield Outcome.at(self.epsilon, growth * other, other)
        yield Outcome.at(-self.epsilon, other, growth * other)
        yield Outcome.at(Fraction(0), (self.answers - 2) * other, (self.answers - 2) * other)


def kary_response(*, epsilon: Real, answers: int) -> Pld:
    law = KaryResponse(positive("epsilon", epsilon), integer("answers", answers, least=3))
    return Pld(((Step.alike(law), 1),), REPLACE_ONE, "the definition of the mechanism")
