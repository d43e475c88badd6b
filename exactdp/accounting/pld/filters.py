"""Privacy filters: what a mechanism costs, where later mechanisms depend on earlier answers.

An analyst may choose each mechanism *and its parameters* by the answers so far. The privacy loss
distributions of the mechanisms that she happened to run do not compose then: to stop when delta of
their composition exceeds a limit is no filter (Tran, Koskela, Raisa, Honkela 2026; Regehr et al.
2026). Each filter here adds up costs, and the sum is compared with a limit that is fixed before the
first answer. The promise is that of the limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting import gaussian
from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.mechanisms import approximate
from exactdp.balls import ball, refine
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, non_negative, rational

__all__ = ["Costs", "Filter", "GaussianFilter", "RenyiFilter", "SumFilter", "ZcdpFilter"]

Costs = dict[str, Fraction]

#: What is spent: a loss, or the promise of a mechanism.
Spending = Pld | Guarantee

#: Of the budget's delta, what a loss may use unless the caller says more or less.
_SHARE = Fraction(1, 10)


#: Losses below this are not computed with.
_SMALL = Fraction(1, 10**100)


@dataclass(frozen=True)
class SumFilter:
    """Sums of epsilon and of delta. Any mechanism.

    Source: Rogers, Roth, Ullman, Vadhan 2016 (basic composition of adaptively chosen parameters).
    The same sums are an odometer: with the chance delta spent so far, the privacy loss of the
    answers exceeds the epsilon spent so far.
    """

    limits: Costs
    source = "Rogers, Roth, Ullman, Vadhan 2016, sums of adaptively chosen epsilon and delta"

    def cost(self, spending: Spending | None, costs: Mapping[str, Real]) -> Costs:
        """Of a loss, the epsilon at a delta: that of costs, or a tenth of the limit."""
        if spending is None:
            return _numbers(costs, ("epsilon", "delta"))
        if isinstance(spending, Guarantee):
            _nothing_else(costs)
            return {"epsilon": spending.epsilon, "delta": spending.delta.upper}
        if costs.keys() - {"delta"}:
            raise InvalidParameter("costs", Described(", ".join(costs)), "delta alone, with a loss")
        delta = non_negative("delta", costs.get("delta", _SHARE * self.limits.get("delta", 0)))
        return {"epsilon": spending.epsilon(delta).upper, "delta": delta}


@dataclass(frozen=True)
class ZcdpFilter:
    """Sums of rho. Mechanisms that are rho-zCDP, Gaussian noise, and pure differential privacy.

    Source: Feldman, Zrnic 2021 (the Renyi filter, at every order). epsilon-DP is
    epsilon^2/2-zCDP (Bun, Steinke 2016, Proposition 1.4).
    """

    limits: Costs
    source = "Feldman, Zrnic 2021, sums of adaptively chosen rho"

    def cost(self, spending: Spending | None, costs: Mapping[str, Real]) -> Costs:
        """Of a loss: mu^2/2 for Gaussian noise, half the square of the largest loss."""
        if spending is None:
            return _numbers(costs, ("rho",))
        _nothing_else(costs)
        squares = _squares(spending)
        if squares is None:
            squares = _largest(spending) ** 2
        return {"rho": squares / 2}


@dataclass(frozen=True)
class GaussianFilter:
    """Sums of mu^2 for Gaussian noise without sampling: no loss by adaptivity.

    Source: Smith, Thakurta 2022 (arXiv 2210.17520).
    """

    limits: Costs
    source = "Smith, Thakurta 2022, sums of adaptively chosen mu^2"

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> GaussianFilter:
        """The largest mu^2 (about) whose Gaussian mechanism is (epsilon, delta)-DP."""
        sigma = gaussian.calibrate(epsilon=epsilon, delta=delta).sigma
        return cls({"mu^2": 1 / rational("sigma", sigma) ** 2})

    def cost(self, spending: Spending | None, costs: Mapping[str, Real]) -> Costs:
        """mu^2 of Gaussian noise."""
        _nothing_else(costs)
        squares = None if spending is None else _squares(spending)
        if squares is None:
            kind = "numbers" if spending is None else "another mechanism"
            raise InvalidParameter("spending", Described(kind), "Gaussian noise, not sampled")
        return {"mu^2": squares}


@dataclass(frozen=True)
class RenyiFilter:
    """Sums of the Renyi divergence of one order, and of the mass of infinite losses.

    Any mechanism. Source: Feldman, Zrnic 2021, and for infinite losses as follows. Given the
    answers so far, let the laws P and Q dominate the next mechanism, let P0 be P without its
    infinite losses, of mass d, and let the integral of (P0/Q)^order Q be at most
    e^((order - 1) r). Both d and r are known before the answer. The laws A and B of the mechanism
    itself are the images of P and Q under one randomised map (Blackwell); let A0 be that of P0.
    Then A0 <= A lacks the mass d, and the integral of (A0/B)^order B is no larger than that above
    (data processing). In every run the d add up to at most D, and the r to at most R. By induction
    from the last mechanism to the first, where d + (1 - d) (D - d) <= D, the A0 of whole runs lacks
    at most D of the mass of A, and the integral of (A0/B)^order B over whole runs is at most
    e^((order - 1) R). As (x - y)_+ <= c y^(1 - order) x^order for c = (order - 1)^(order -
    1)/order^order, delta is at most D + c e^((order - 1)(R - epsilon)).
    """

    order: Fraction
    limits: Costs
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
        return cls(chosen, {"divergence": most, "delta": failures})

    def cost(self, spending: Spending | None, costs: Mapping[str, Real]) -> Costs:
        """The divergence of finite losses, and the mass of infinite ones."""
        if isinstance(spending, Pld):
            _nothing_else(costs)
            loss = spending
        else:
            named = SumFilter({}).cost(spending, costs)
            epsilon, delta = (named.get(name, Fraction(0)) for name in ("epsilon", "delta"))
            if epsilon < _SMALL:  # no divergence exceeds the largest loss
                return {"divergence": epsilon, "delta": delta}
            loss = approximate(epsilon=epsilon, delta=delta)
        divergence = loss.renyi(self.order, finite=True).upper
        return {"divergence": divergence, "delta": loss.infinite_mass().upper}


Filter = SumFilter | ZcdpFilter | GaussianFilter | RenyiFilter


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


def _squares(spending: Spending) -> Fraction | None:
    """The sum of mu^2, if all of it is Gaussian noise."""
    if isinstance(spending, Guarantee):
        return None
    squares = Fraction(0)
    for step, times in spending.steps:
        mu = step.removed.distance
        if mu is None:
            return None
        squares += times * mu**2
    return squares


def _largest(spending: Spending) -> Fraction:
    """The epsilon of pure differential privacy."""
    if isinstance(spending, Guarantee):
        largest, infinite = spending.epsilon, spending.delta.upper
    else:
        found = spending.largest_loss()
        infinite = Fraction(1) if found is None else spending.infinite_mass().upper
        largest = Fraction(0) if found is None else found.upper
    if infinite:
        allowed = "Gaussian noise or pure differential privacy, in a budget of rho"
        raise InvalidParameter("spending", Described("another mechanism"), allowed)
    return largest


def _numbers(costs: Mapping[str, Real], names: tuple[str, ...]) -> Costs:
    if not costs or costs.keys() - set(names):
        given = Described(" and ".join(sorted(costs)) or "none")
        raise InvalidParameter("costs", given, " and ".join(names))
    return {name: non_negative(name, cost) for name, cost in costs.items()}


def _nothing_else(costs: Mapping[str, Real]) -> None:
    if costs:
        given = Described(" and ".join(sorted(costs)))
        raise InvalidParameter("costs", given, "left out: the loss says what it costs")
