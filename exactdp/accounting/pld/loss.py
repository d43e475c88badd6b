"""Pld: what a sequence of mechanisms leaks, certified from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld import queries
from exactdp.accounting.pld.laws import GaussianLoss, LossLaw, SampledLoss
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, delta_target, integer, non_negative, positive, rational

__all__ = ["Pld", "Step", "gaussian"]

_ADD_REMOVE = "add-remove neighbours: one user takes part or not"


@dataclass(frozen=True)
class Step:
    """One step: the law of its loss for each order of the neighbours.

    removed: the data with the user against those without. added: the other way round.
    """

    removed: LossLaw
    added: LossLaw


@dataclass(frozen=True)
class Pld:
    """The privacy loss of mechanisms run one after the other, the later ones chosen adaptively.

    steps: each step with how often it is run. neighbours: the relation; mixing two is refused.
    source: what the dominating pairs rest on.
    """

    steps: tuple[tuple[Step, int], ...]
    neighbours: str
    source: str

    def composed(self, times: int) -> Pld:
        """The same so many times over.

        times: an integer >= 1.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=10).composed(100).epsilon("1e-5"), "4"))
        [4.377, 4.379]
        """
        count = integer("times", times, least=1)
        return Pld(tuple((step, n * count) for step, n in self.steps), self.neighbours, self.source)

    def then(self, other: Pld) -> Pld:
        """This and then the other, on the same data."""
        if other.neighbours != self.neighbours:
            raise InvalidParameter("other", other.neighbours, f"for {self.neighbours}")
        merged = dict(self.steps)
        for step, n in other.steps:
            merged[step] = merged.get(step, 0) + n
        sources = dict.fromkeys([*self.source.split("; "), *other.source.split("; ")])
        return Pld(tuple(merged.items()), self.neighbours, "; ".join(sources))

    def delta(self, epsilon: Real, *, relative_width: Real = "1e-3") -> Enclosure:
        """The smallest delta for which all together is (epsilon, delta)-DP.

        epsilon: >= 0. relative_width: of the enclosure, > 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).delta(1, relative_width="1e-6"), "6"))
        [0.126936, 0.126938]
        """
        loss, wanted = non_negative("epsilon", epsilon), positive("relative_width", relative_width)
        found = [queries.delta(order, loss, wanted) for order in self._orders()]
        return Enclosure(max(e.lower for e in found), max(e.upper for e in found))

    def epsilon(self, delta: Real, *, width: Real = "1e-3") -> Enclosure:
        """The smallest epsilon >= 0 for which all together is (epsilon, delta)-DP.

        delta: > 0 and < 1. width: of the enclosure, > 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=1).sampled("0.01").composed(1000)
        >>> print(format(loss.epsilon("1e-5"), "5"))
        [1.8281, 1.8287]
        """
        target, wanted = delta_target("delta", delta), positive("width", width)
        found = [queries.epsilon(order, target, wanted) for order in self._orders()]
        return Enclosure(max(e.lower for e in found), max(e.upper for e in found))

    def guarantee(self, epsilon: Real) -> Guarantee:
        """The promise at epsilon, as in :meth:`delta`."""
        loss = non_negative("epsilon", epsilon)
        return Guarantee(loss, self.delta(loss), self.neighbours, self.source)

    def sampled(self, rate: Real) -> Pld:
        """Each step on a Poisson sample: every user takes part with probability rate.

        rate: in (0, 1]. Whether a user takes part is decided anew, and secretly, for every step.
        Source: Zhu, Dong, Wang 2022, Theorem 11.
        """
        probability = rational("rate", rate)
        if not 0 < probability <= 1:
            raise InvalidParameter("rate", rate, "> 0 and <= 1")
        if probability == 1:
            return self
        steps = tuple((_sampled(step, probability), n) for step, n in self.steps)
        return Pld(steps, self.neighbours, f"{self.source}; Zhu, Dong, Wang 2022, Theorem 11")

    def _orders(self) -> list[queries.Order]:
        removed = tuple((step.removed, n) for step, n in self.steps)
        added = tuple((step.added, n) for step, n in self.steps)
        return list(dict.fromkeys([removed, added]))


def gaussian(*, sigma: Real, sensitivity: Real = 1) -> Pld:
    """The Gaussian mechanism.

    sigma: standard deviation of the noise, > 0, in the units of the query (the noise multiplier,
    where sensitivity is 1). sensitivity: l2 distance by which one user moves the query, > 0.
    Source: Dong, Roth, Su 2022; Balle and Wang 2018.
    """
    mu = positive("sensitivity", sensitivity) / positive("sigma", sigma)
    law = GaussianLoss(mu)
    return Pld(((Step(law, law), 1),), _ADD_REMOVE, "Balle and Wang 2018, Theorem 5")


def _sampled(step: Step, rate: Fraction) -> Step:
    return Step(
        SampledLoss(step.removed, rate, removed=True),
        SampledLoss(step.removed, rate, removed=False),
    )
