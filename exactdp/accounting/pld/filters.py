"""Privacy filters: what a mechanism costs, where later mechanisms depend on earlier answers.

An analyst may choose each mechanism *and its parameters* by the answers so far. The privacy loss
distributions of the mechanisms that she happened to run do not compose then: to stop when delta of
their composition exceeds a limit is no filter (Tran, Koskela, Raisa, Honkela 2026; Regehr et al.
2026). Each filter here adds up costs, and the sum is compared with a limit that is fixed before the
first answer. The limit is what is promised.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting import gaussian
from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.mechanisms import approximate
from exactdp.balls import ball, refine
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, non_negative, rational

Costs = dict[str, Fraction]

#: The share of the budget's delta that a loss may use if the caller names no number.
_SHARE = Fraction(1, 10)

#: Losses below this are not computed with.
_SMALL = Fraction(1, 10**100)


@dataclass(frozen=True)
class Expense:
    """What is spent: a loss, with costs that say how to count it; a promise; or costs alone."""

    loss: Pld | None
    promise: Guarantee | None
    costs: Mapping[str, Real]

    @classmethod
    def of(cls, spending: Pld | Guarantee | None, costs: Mapping[str, Real]) -> Expense:
        if isinstance(spending, Guarantee):
            return cls(None, spending, costs)
        return cls(spending, None, costs)

    @property
    def neighbours(self) -> str | None:
        """The relation that is stated, if any."""
        stated = self.loss or self.promise
        return None if stated is None else stated.neighbours

    @property
    def mechanism(self) -> str:
        """What is known of the mechanism beside its cost, as a text; empty for costs alone."""
        if self.promise:
            return repr((self.promise.epsilon, self.promise.neighbours, self.promise.source))
        return repr(self.loss) if self.loss else ""

    def numbers(self, names: tuple[str, ...]) -> Costs:
        """The costs, which must have some of these names."""
        if not self.costs or self.costs.keys() - set(names):
            cost_names = Described(" and ".join(sorted(self.costs)) or "none")
            raise InvalidParameter("costs", cost_names, " and ".join(names))
        return {name: non_negative(name, cost) for name, cost in self.costs.items()}

    def without_costs(self) -> Expense:
        """The expense. Raises InvalidParameter if there are costs beside the loss."""
        if self.costs:
            cost_names = Described(" and ".join(sorted(self.costs)))
            raise InvalidParameter("costs", cost_names, "left out: the loss says what it costs")
        return self

    def squares(self) -> Fraction | None:
        """The sum of mu^2, if all of the loss is Gaussian noise."""
        squares = Fraction(0)
        for step, times in self.loss.steps if self.loss else ():
            mu = step.removed.distance
            if mu is None:
                return None
            squares += times * mu**2
        return squares if self.loss else None

    def largest(self) -> Fraction:
        """The epsilon of pure differential privacy."""
        if self.promise:
            largest, infinite = self.promise.epsilon, self.promise.delta.upper
        else:
            largest, infinite = Fraction(0), Fraction(1)
            if self.loss is not None and (end := self.loss.largest_loss()) is not None:
                largest, infinite = end.upper, self.loss.infinite_mass().upper
        if infinite:
            allowed = "Gaussian noise or pure differential privacy, in a budget of rho"
            raise InvalidParameter("spending", Described("another mechanism"), allowed)
        return largest


@dataclass(frozen=True)
class Filter(ABC):
    """A rule that adds up costs, with limits."""

    source: ClassVar[str]
    limits: Costs

    @property
    def settings(self) -> Costs:
        """The settings of the filter that a budget keeps beside its limits."""
        return {}

    @abstractmethod
    def cost(self, expense: Expense) -> Costs:
        """What the expense costs, in the terms of the limits."""


class SumFilter(Filter):
    """Sums of epsilon and of delta. Any mechanism.

    Source: Rogers, Roth, Ullman, Vadhan 2016 (basic composition of adaptively chosen parameters).
    The same sums are an odometer: with the chance delta spent so far, the privacy loss of the
    answers exceeds the epsilon spent so far.
    """

    source = "Rogers, Roth, Ullman, Vadhan 2016, sums of adaptively chosen epsilon and delta"

    def cost(self, expense: Expense) -> Costs:
        """Of a loss, epsilon at the delta in the costs, or at a tenth of the limit."""
        if promise := expense.promise:
            expense.without_costs()
            return {"epsilon": promise.epsilon, "delta": promise.delta.upper}
        if expense.loss is None:
            return expense.numbers(("epsilon", "delta"))
        costs = expense.costs
        if costs.keys() - {"delta"}:
            raise InvalidParameter("costs", Described(", ".join(costs)), "delta alone, with a loss")
        delta = non_negative("delta", costs.get("delta", _SHARE * self.limits.get("delta", 0)))
        return {"epsilon": expense.loss.epsilon(delta).upper, "delta": delta}


class ZcdpFilter(Filter):
    """Sums of rho. Mechanisms that are rho-zCDP, Gaussian noise, and pure differential privacy.

    Source: Feldman, Zrnic 2021 (the Renyi filter, at every order). epsilon-DP is
    epsilon^2/2-zCDP (Bun, Steinke 2016, Proposition 1.4).
    """

    source = "Feldman, Zrnic 2021, sums of adaptively chosen rho"

    def cost(self, expense: Expense) -> Costs:
        """Of a loss: mu^2/2 for Gaussian noise, half the square of the largest loss."""
        if expense.loss is None and expense.promise is None:
            return expense.numbers(("rho",))
        squares = expense.without_costs().squares()
        if squares is None:
            squares = expense.largest() ** 2
        return {"rho": squares / 2}


class GaussianFilter(Filter):
    """Sums of mu^2 for Gaussian noise without sampling: no loss by adaptivity.

    Source: Smith, Thakurta 2022 (arXiv 2210.17520).
    """

    source = "Smith, Thakurta 2022, sums of adaptively chosen mu^2"

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> GaussianFilter:
        """The largest mu^2 (about) whose Gaussian mechanism is (epsilon, delta)-DP."""
        sigma = gaussian.calibrate(epsilon=epsilon, delta=delta).sigma
        return cls({"mu^2": 1 / rational("sigma", sigma) ** 2})

    def cost(self, expense: Expense) -> Costs:
        """mu^2 of Gaussian noise."""
        squares = expense.without_costs().squares()
        if squares is None:
            kind = "another mechanism" if expense.loss or expense.promise else "numbers"
            raise InvalidParameter("spending", Described(kind), "Gaussian noise, not sampled")
        return {"mu^2": squares}


@dataclass(frozen=True)
class RenyiFilter(Filter):
    """Sums of the Renyi divergence of one order, and of the mass of infinite losses.

    Any mechanism. Source: Feldman, Zrnic 2021, and for infinite losses as follows. Given the
    answers so far, let the laws P and Q dominate the next mechanism, let P0 be P without its
    infinite losses, of mass d, and let the integral of (P0/Q)^order Q be at most
    e^((order - 1) r). Both d and r are known before the answer, and are the larger ones of both
    orders of the neighbours, as each mechanism may have its own order. The laws A and B of the
    mechanism itself are images of P and Q under one randomised map (Blackwell); let A0 be the
    image of P0. Then A0 <= A lacks the mass d, and the integral of (A0/B)^order B is at most that
    of P0 and Q (data processing). In every run the d add up to at most D, and the r to at most R.
    By induction from the last mechanism to the first, where d + (1 - d) (D - d) <= D, the A0 of
    whole runs lacks at most D of the mass of A, and the integral of (A0/B)^order B over whole runs
    is at most e^((order - 1) R). As (x - y)_+ <= c y^(1 - order) x^order for c = (order -
    1)^(order - 1)/order^order, delta is at most D + c e^((order - 1)(R - epsilon)).
    """

    order: Fraction
    source = "Feldman, Zrnic 2021, sums of adaptively chosen Renyi divergences of one order"

    @classmethod
    def of(
        cls, epsilon: Fraction, delta: Fraction, order: Fraction | None, failures: Fraction
    ) -> RenyiFilter:
        """order: > 1; None for the one that allows most Gaussian noise. failures: D."""
        if not 0 <= failures < delta:
            raise InvalidParameter("failures", failures, f">= 0 and < delta = {delta}")
        chosen = _best_order(epsilon, delta - failures) if order is None else order
        if chosen <= 1:
            raise InvalidParameter("order", order, "> 1")
        most = refine(lambda: _most_divergence(chosen, epsilon, delta - failures)).lower
        if most <= 0:
            raise InvalidParameter("order", chosen, "one at which something can be spent")
        return cls({"divergence": most, "delta": failures}, chosen)

    @property
    def settings(self) -> Costs:
        return {"order": self.order, "failures": self.limits["delta"]}

    def cost(self, expense: Expense) -> Costs:
        """The divergence of finite losses, and the mass of infinite ones."""
        loss = expense.loss
        if loss is not None:
            expense.without_costs()
        else:
            named = SumFilter({}).cost(expense)
            epsilon, delta = (named.get(name, Fraction(0)) for name in ("epsilon", "delta"))
            if epsilon < _SMALL:  # no divergence exceeds the largest loss
                return {"divergence": epsilon, "delta": delta}
            loss = approximate(epsilon=epsilon, delta=delta)
        divergence = loss.renyi(self.order, finite=True).upper
        return {"divergence": divergence, "delta": loss.infinite_mass().upper}


def _most_divergence(order: Fraction, epsilon: Fraction, delta: Fraction) -> arb:
    """The R at which c e^((order - 1)(R - epsilon)) is delta, as in RenyiFilter."""
    a, s = ball(order), ball(order - 1)
    return ball(epsilon) + (ball(delta).log() + a * a.log() - s * s.log()) / s


def _best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The order at which most Gaussian noise is possible, roughly: any order is valid."""

    def refusal(log_s: float) -> float:
        order = Fraction(1 + math.exp(log_s))
        return -float(_most_divergence(order, epsilon, delta).mid()) / float(order)

    return Fraction(round(16 * (1 + math.exp(minimum(refusal, -8.0, 12.0, 1e-3)))) + 1, 16)
