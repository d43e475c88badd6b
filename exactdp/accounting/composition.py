"""Several mechanisms on the same data: basic, optimal, zero-concentrated and exact composition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

from flint import arb, ctx

from exactdp.accounting import zcdp
from exactdp.accounting.discrete_gaussian import many
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.lazy import own_names
from exactdp.parameters import Real, integer, non_negative, positive, probability

__all__ = ["basic", "discrete_gaussian", "optimal", "zcdp_delta"]

#: Most terms of a binomial law that are summed; about 7 sqrt(k) terms matter.
_MOST_TERMS = 1 << 22


def basic(*, parts: Iterable[tuple[Real, Real]]) -> tuple[Enclosure, Enclosure]:
    """(epsilon, delta) of mechanisms that run one after the other: the two sums, exactly.

    parts: a pair (epsilon_i >= 0, delta_i in [0, 1]) for each mechanism. A mechanism may depend on
    the outputs of earlier ones.
    Returns the sum of the epsilons and the sum of the deltas, the latter at most 1.
    Source: Dwork and Roth 2014, Theorem 3.16.

    >>> from exactdp.accounting import composition
    >>> print(*composition.basic(parts=[("0.1", "1e-6"), ("0.25", 0)]))
    [0.35, 0.35] [1e-6, 1e-6]
    """
    listed = [(non_negative("epsilon", e), probability("delta", d)) for e, d in parts]
    epsilon = sum((e for e, _ in listed), Fraction(0))
    delta = sum((d for _, d in listed), Fraction(0))
    return Enclosure.exact(epsilon), Enclosure.exact(min(delta, Fraction(1)))


def optimal(*, k: int, epsilon: Real, delta: Real = 0, total_epsilon: Real) -> Enclosure:
    """The smallest delta at total_epsilon for any k mechanisms that are (epsilon, delta)-DP each.

    k: number of mechanisms, >= 1 (up to about 10^11). epsilon: of each, >= 0.
    delta: of each, in [0, 1]. total_epsilon: of all together, >= 0.
    Returns an enclosure of relative width <= 1e-12: no smaller value holds for all mechanisms.
    Raises InvalidParameter, Undecided.
    Source: Kairouz, Oh, Viswanath 2015, Theorem 3.3, at every epsilon (Murtagh, Vadhan 2016).

    >>> from exactdp.accounting import composition
    >>> print(composition.optimal(k=100, epsilon="0.1", delta="1e-8", total_epsilon=4))
    [3.522308847e-5, 3.522308848e-5]
    """
    copies, loss = integer("k", k, least=1), non_negative("epsilon", epsilon)
    each, total = probability("delta", delta), non_negative("total_epsilon", total_epsilon)
    if each == 1:
        return Enclosure.exact(1)
    least = _first(copies, loss, total)
    if least > copies and not each:
        return Enclosure.exact(0)

    def compute() -> arb:
        part = _randomized_response(copies, loss, total, least)
        lost = -(copies * (-ball(each)).log1p()).expm1()  # 1 - (1 - delta)^k
        return lost + (1 - lost) * part

    return refine(compute).clamped(0, 1)


def zcdp_delta(*, rhos: Iterable[Real], epsilon: Real, rule: str = zcdp.DEFAULT_RULE) -> Enclosure:
    """The delta at epsilon of a composition of rho-zCDP mechanisms (zero-concentrated DP).

    rhos: of the mechanisms, each >= 0. epsilon: of all together, >= 0.
    rule: as in :func:`exactdp.accounting.zcdp.delta`.
    Source: Bun and Steinke 2016, Lemma 1.7.

    >>> from exactdp.accounting import composition
    >>> print(composition.zcdp_delta(rhos=["0.01"] * 5, epsilon=1))
    [0.0003857091637, 0.0003857091638]
    """
    total = sum((non_negative("rhos", rho) for rho in rhos), Fraction(0))
    return zcdp.delta(rho=total, epsilon=epsilon, rule=rule)


def discrete_gaussian(*, k: int, sigma2: Real, epsilon: Real, sensitivity: int = 1) -> Enclosure:
    """The exact delta of k integer queries, each with discrete Gaussian noise of its own.

    k: number of queries, >= 1. sigma2: parameter of the noise, > 0. epsilon: of all together, >= 0.
    sensitivity: how far one user moves each query, an integer >= 1.
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: as in :func:`exactdp.accounting.discrete_gaussian.delta_many`.

    >>> from exactdp.accounting import composition
    >>> print(composition.discrete_gaussian(k=10**6, sigma2=10**8, epsilon="0.35"))
    [6.958764078e-6, 6.958764079e-6]
    """
    copies = integer("k", k, least=1)
    shift = integer("sensitivity", sensitivity, least=1)
    groups = Counter({(shift, positive("sigma2", sigma2)): copies})
    loss = non_negative("epsilon", epsilon)
    return refine(lambda: many(groups, loss)).clamped(0, 1)


def _first(copies: int, loss: Fraction, total: Fraction) -> int:
    """The smallest l with (2 l - k) epsilon > total_epsilon; k + 1 where there is none."""
    if copies * loss <= total:
        return copies + 1
    return int((total + copies * loss) / (2 * loss)) + 1


def _randomized_response(copies: int, loss: Fraction, total: Fraction, least: int) -> arb:
    """The divergence at total of k randomized responses, the worst (epsilon, 0)-DP mechanisms.

    A mean over the binomial number of true answers. The sum starts at the likeliest number that
    contributes and goes outwards. On either side the ratio of successive masses decreases, so the
    rest is at most a geometric series.
    """
    if least > copies:
        return arb(0)
    each, sure = ball(loss), ball(total)
    fall = (-each).exp()  # e^epsilon itself may leave Arb's exponents
    top = max(least, min(copies, int((copies / (1 + fall)).mid().floor().fmpz())))
    _visitable(min(copies - least, isqrt(copies * (ctx.prec + 16))))

    def part(true: int) -> arb:
        return -(sure - (2 * true - copies) * each).expm1()

    ways = arb(copies + 1).lgamma() - arb(top + 1).lgamma() - arb(copies - top + 1).lgamma()
    highest = (ways - (copies - top) * each - copies * fall.log1p()).exp()
    result = highest * part(top)
    for step, last in ((1, copies), (-1, least)):
        mass = highest
        for true in range(top, last, step):
            up = (copies - true) / (fall * (true + 1))
            ratio = up if step > 0 else true * fall / (copies - true + 1)
            mass *= ratio
            result += mass * part(true + step)
            rest = mass * ratio / (1 - ratio)
            if ratio < 1 and rest < result * arb(2) ** -ctx.prec:
                result += rest * arb(0.5, 0.5)
                break
            _visitable(abs(true - top))
    return result


def _visitable(terms: int) -> None:
    if terms > _MOST_TERMS:
        raise Undecided(f"the optimal composition rule has {terms} terms, more than {_MOST_TERMS}")


__dir__ = own_names(__name__)
