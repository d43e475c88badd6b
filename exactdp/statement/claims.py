"""Claims about releases, each with the sharpest number that the checker proves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.parameters import Real, delta_target, non_negative, rational
from exactdp.statement import checker
from exactdp.statement.deriving import Composition, Derived, delta_bounds, least_epsilon
from exactdp.statement.releases import DIGITS, Release, number, rounded_up, small

Claim = dict[str, Any]

#: A lower bound is claimed only if it is at least this share of the upper bound.
_WORTH = Fraction(1, 2)

#: The largest epsilon tried for a type II error: e^700 is about the largest float.
_FARTHEST = 700.0

#: The width of an enclosure that only suggests an epsilon.
_ROUGH = Fraction(1, 10)


def claims_of(
    releases: list[Release],
    relation: str,
    *,
    one_pair: bool,
    epsilon: Real | None = None,
    delta: Real | None = None,
    order: Real | None = None,
    type_one: Real | None = None,
    rho: bool = False,
    mu: bool = False,
) -> list[Claim]:
    """The claims that were asked for, each with the sharpest number that is proved.

    one_pair: one pair of neighbours attains all runs; else only a single run has lower bounds.
    """
    claims: list[Claim] = []
    curves = sum(value is not None for value in (epsilon, delta, type_one))
    what = Composition(releases, relation, one_pair, max(curves, 1))
    if epsilon is not None:
        at = non_negative("epsilon", epsilon)
        claims += _delta_claims(delta_bounds(what, at), at)
    if delta is not None:
        target = non_negative("delta", delta) and delta_target("delta", delta)
        least, derived = least_epsilon(what, target)
        claims += _delta_claims(derived, least, target)
    if order is not None:
        alpha = rational("order", order)
        if alpha <= 1:
            raise InvalidParameter("order", order, "> 1")
        claims.append(_sum(what, {"measure": "renyi", "order": number("order", alpha)}))
    if type_one is not None:
        claims.append(_type_two(what, non_negative("type_one", type_one)))
    claims += [_sum(what, {"measure": "rho"})] if rho else []
    claims += [_sum(what, {"measure": "mu"})] if mu else []
    if not claims:
        allowed = "at least one of epsilon, delta, order, type_one, rho and mu"
        raise InvalidParameter("claims", Described("none"), allowed)
    return claims


def _delta_claims(
    derived: list[Derived], epsilon: Fraction, target: Fraction | None = None
) -> list[Claim]:
    """Claims of delta at epsilon: the bounds from above and below, by one rule or by two.

    target: claimed from above in place of a sharper number.
    """
    most = max(derivation.at_most or Fraction(0) for derivation in derived)
    claims = []
    for derivation in derived:
        sides = {}
        if derivation.at_most is not None:
            if target is not None and derivation.at_most > target:
                bound = rounded_up(derivation.at_most)
                raise Undecided(f"the checker proves delta <= {bound} at epsilon = {epsilon} alone")
            least = rounded_up(min(derivation.at_most, Fraction(1)))
            sides["at_most"] = least if target is None else number("delta", target)
        if derivation.at_least and derivation.at_least >= _WORTH * most:
            sides["at_least"] = _down(derivation.at_least)
        if sides:
            head = {"measure": "delta", "epsilon": number("epsilon", epsilon)}
            claims.append({**head, **sides, "derivation": derivation.rule})
    return claims


def _sum(what: Composition, claim: Claim) -> Claim:
    """A claim of a quantity that adds up over the releases."""
    head = {**claim, "derivation": {"rule": "sum"}}
    most = checker.quantity(what.releases, what.neighbours, head, upper=True)
    if most is None:
        raise Undecided(f"the checker knows no {claim['measure']} of one of the releases")
    least = Fraction(0)
    if what.attained:
        least = checker.quantity(what.releases, what.neighbours, head, upper=False) or least
    if claim["measure"] == "mu":  # the checker compares squares of mu
        above, below = _root(most)[1], _root(least)[0]
    else:
        above, below = most, least
    sides = {"at_most": rounded_up(above)}
    if below:
        sides["at_least"] = _down(below)
    return {**claim, **sides, "derivation": {"rule": "sum"}}


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above a square root: 2^-200 apart, or both equal to the root."""
    shift = 1 << 200
    low = Fraction(math.isqrt(square.numerator * shift**2 // square.denominator), shift)
    return low, low if low * low == square else low + Fraction(1, shift)


def _type_two(what: Composition, level: Fraction) -> Claim:
    """A claim of the least type II error at this type I error (`level`), at about the best
    epsilon."""
    if level > 1:
        raise InvalidParameter("type_one", level, ">= 0 and <= 1")
    loss = what.loss
    if loss is None:
        raise Undecided("a release is known by its rho alone, which gives no trade-off here")

    if 0 < level < 1:
        best = loss.threshold(level)
    else:  # at 0, a larger epsilon only lowers the bound further; at 1 there is no error
        best = loss.epsilon("1e-5", width=_ROUGH).upper if not level else Fraction(0)
    epsilon = Fraction(str(round(min(float(best), _FARTHEST), 4)))
    rule = delta_bounds(what, epsilon)[0].rule
    claim = {
        "measure": "type-two",
        "type_one": number("type_one", level),
        "epsilon": number("epsilon", epsilon),
        "derivation": rule,
    }
    least = checker.quantity(what.releases, what.neighbours, claim, upper=False)
    if least is None or least <= 0:
        raise Undecided("the checker proves no lower bound of the type II error")
    return {**claim, "at_least": _down(least)}


def _down(value: Fraction) -> str:
    return small(Enclosure.exact(value).decimal_lower(DIGITS), "0")
