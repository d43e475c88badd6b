"""Pld: what a sequence of mechanisms leaks, certified from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld import curves, queries, renyi
from exactdp.accounting.pld.atoms import AtomicLoss, SampledAtoms
from exactdp.accounting.pld.laplace import BetweenLoss
from exactdp.accounting.pld.laws import LossLaw, SampledLoss
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, delta_target, integer, non_negative, positive, rational

__all__ = ["ADD_REMOVE", "Pld", "Step"]

ADD_REMOVE = "add-remove neighbours: one user takes part or not"

#: The largest epsilon that is asked about: floats say where to look.
_LARGEST = 10**300


@dataclass(frozen=True)
class Step:
    """One step: the law of its loss for each order of the neighbours.

    removed: the data with the user against those without. added: the other way round.
    """

    removed: LossLaw | AtomicLoss | BetweenLoss
    added: LossLaw | AtomicLoss | BetweenLoss


@dataclass(frozen=True)
class Pld:
    """The privacy loss of mechanisms run one after the other, the later ones chosen adaptively.

    steps: each step with how often it is run. neighbours: the relation; mixing two is refused.
    source: what the dominating pairs rest on.
    """

    steps: tuple[tuple[Step, int], ...]
    neighbours: str
    source: str

    def composed(self, times: int | str) -> Pld:
        """The same so many times over.

        times: an integer >= 1.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=10).composed(100).epsilon("1e-5"), "4"))
        [4.377, 4.378]
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

        epsilon: >= 0 and <= 1e300. relative_width: of the enclosure, > 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).delta(1, relative_width="1e-6"), "6"))
        [0.126936, 0.126937]
        """
        loss, wanted = non_negative("epsilon", epsilon), positive("relative_width", relative_width)
        if loss > _LARGEST:
            raise InvalidParameter("epsilon", epsilon, ">= 0 and <= 1e300")
        worst, *others = self._ranked(float(loss))
        found = queries.delta(worst, loss, wanted)
        for order in others:
            if queries.ceiling(order, loss) > found.lower:
                other = queries.delta(order, loss, wanted)
                found = Enclosure(max(found.lower, other.lower), max(found.upper, other.upper))
        return found

    def epsilon(self, delta: Real, *, width: Real = "1e-3") -> Enclosure:
        """The smallest epsilon >= 0 for which all together is (epsilon, delta)-DP.

        delta: > 0 and < 1. width: of the enclosure, > 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=1).sampled("0.01").composed(1000)
        >>> print(format(loss.epsilon("1e-5"), "5"))
        [1.8281, 1.8285]
        """
        target, wanted = delta_target("delta", delta), positive("width", width)
        worst, *others = self._ranked(1.0)
        found = queries.epsilon(worst, target, wanted)
        for order in others:
            if queries.ceiling(order, found.lower) > target:
                other = queries.epsilon(order, target, wanted)
                found = Enclosure(max(found.lower, other.lower), max(found.upper, other.upper))
        return found

    def mu(self, *, least_delta: Real = "1e-10", width: Real = "1e-2") -> Enclosure:
        """The smallest mu whose Gaussian mechanism leaks more, at every delta >= least_delta.

        least_delta: > 0 and < 1; the far tail of a sampled mechanism is that of all its steps
        without sampling, so that no smaller mu dominates it everywhere. width: > 0.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=4).composed(4).mu(), "3"))
        [0.499, 0.51]
        """
        least, wanted = delta_target("least_delta", least_delta), positive("width", width)
        last = max(self.epsilon(least).float_upper(), 0.1)
        return curves.gaussian_mu(self.orders(), last, wanted)

    def type_two_error(self, alpha: Real, *, width: Real = "1e-3") -> Enclosure:
        """The least type II error of any test between neighbours at level alpha: the trade-off.

        alpha: type I error, > 0 and < 1. width: > 0. Source: Dong, Roth, Su 2022, Proposition 2.12.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).type_two_error("0.05"), "3"))
        [0.74, 0.742]
        """
        level, wanted = delta_target("alpha", alpha), positive("width", width)
        last = 1 + max(math.log(1 / level), math.log(1 / wanted))
        return curves.type_two_error(self.orders(), level, last, wanted)

    def renyi(self, order: Real) -> Enclosure:
        """The Renyi divergence of an order > 1 between neighbours, of all steps together.

        >>> from exactdp.accounting import pld
        >>> pld.gaussian(sigma=1).renyi("2.5")
        Enclosure[1.25, 1.25]
        """
        alpha = rational("order", order)
        if alpha <= 1:
            raise InvalidParameter("order", order, "> 1")
        found = [renyi.divergence(laws, alpha) for laws in self.orders()]
        return Enclosure(max(e.lower for e in found), max(e.upper for e in found))

    def renyi_delta(self, epsilon: Real) -> Enclosure:
        """The best delta that the Renyi divergences of all real orders imply: never below delta.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).renyi_delta(3), "4"))
        [0.005143, 0.005144]
        """
        loss = non_negative("epsilon", epsilon)
        found = [renyi.best_delta(laws, loss) for laws in self.orders()]
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

    def _ranked(self, loss: float) -> list[queries.Order]:
        """The orders, the one that seems to leak most at this loss first."""
        return sorted(self.orders(), key=lambda order: -queries.log_delta_guess(order, loss))

    def orders(self) -> list[queries.Order]:
        """The laws of all losses, for each order of the neighbours; one where both agree."""
        removed = tuple((step.removed, n) for step, n in self.steps)
        added = tuple((step.added, n) for step, n in self.steps)
        return list(dict.fromkeys([removed, added]))


def _sampled(step: Step, rate: Fraction) -> Step:
    return Step(_on_sample(step, rate, removed=True), _on_sample(step, rate, removed=False))


def _on_sample(step: Step, rate: Fraction, *, removed: bool) -> LossLaw | AtomicLoss:
    if isinstance(step.removed, BetweenLoss):
        raise InvalidParameter("mechanism", type(step.removed).__name__, "one that can be sampled")
    if isinstance(step.removed, AtomicLoss):
        return SampledAtoms(step.removed, rate, removed)
    return SampledLoss(step.removed, rate, removed)
