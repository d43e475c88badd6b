"""Choices that let the checker prove a claim: a rule, a grid, an order.

Floats choose here; they prove nothing. Each bound is computed by the checker itself, and then
compared with the certified enclosure of the library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.certify.hints import log, minimum
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.statement import checker
from exactdp.statement.grids import grids
from exactdp.statement.parts import starts_of
from exactdp.statement.releases import Release, loss_of

Rule = dict[str, Any]

#: A rule, and the upper bound of delta that the checker computes by it.
Bound = tuple[Rule, Fraction]

_NO_RULE = (
    "the checker has no rule for these releases together; compose the promise of one of them "
    "instead, with exactdp.statement.of(guarantee)"
)

#: A grid is refined until the upper bound of delta exceeds the library's by at most this share.
_CLOSE = Fraction(1, 100)

#: Other rules are tried if the bound exceeds the library's by more than this share.
_SHARP = Fraction(1, 20)

#: A grid whose check takes more than this share of the allowed work is not refined: the next one
#: takes about three times as much.
_DEAR = Fraction(1, 4)


@dataclass(frozen=True)
class Composition:
    """Releases whose delta is asked for.

    neighbours: as in a statement. one_pair: one pair of neighbours attains all runs, so delta has a
    lower bound. claims: so many claims share the work that a checker does.
    """

    releases: list[Release]
    neighbours: str
    one_pair: bool = False
    claims: int = 1

    @cached_property
    def loss(self) -> pld.Pld | None:
        """The privacy loss; None if a release is known only by its rho."""
        return loss_of(self.releases, self.neighbours)

    @property
    def units(self) -> int:
        """The work of a checker for one of the claims, but for what every claim needs."""
        return checker.most_work() * 9 // 10 // self.claims

    @property
    def attained(self) -> bool:
        """Whether one pair of neighbours attains all runs, so that there are lower bounds."""
        return self.one_pair or sum(release["times"] for release in self.releases) == 1

    def bound(self, rule: Rule, epsilon: Fraction, *, upper: bool) -> Fraction | None:
        """The checker's bound of delta; None if the rule proves nothing."""
        if not upper and not self.attained:
            return None
        return checker.bound(
            self.releases, self.neighbours, rule, epsilon, upper=upper, units=self.units
        )


@dataclass(frozen=True)
class Derived:
    """A rule, and the bounds of delta that the checker computes by it; None: it proves none."""

    rule: Rule
    at_most: Fraction | None
    at_least: Fraction | None


def delta_bounds(what: Composition, epsilon: Fraction) -> list[Derived]:
    """The best rule for an upper bound of delta, and for a lower bound: one rule, or two.

    Raises Undecided if no rule proves a bound, or if the checker and the library disagree.
    """
    return _with_below(what, epsilon, _above(what, epsilon))


def agrees(
    loss: pld.Pld, epsilon: Fraction, at_most: Fraction | None, at_least: Fraction | None
) -> None:
    """Compare bounds with the library's enclosure. Raises Undecided if they contradict it."""
    enclosure = loss.delta(epsilon)
    if (at_most is not None and at_most < enclosure.lower) or (
        at_least is not None and at_least > enclosure.upper
    ):
        raise Undecided(
            f"the checker bounds delta by {float(at_least or 0):.6g} and {float(at_most or 1):.6g},"
            f" the library by {enclosure}: one of both is wrong; please report this"
        )


def least_epsilon(what: Composition, delta: Fraction) -> tuple[Fraction, list[Derived]]:
    """About the least epsilon at which the checker proves at most this delta, and the bounds of
    delta.

    Raises Undecided if there is none.
    """
    epsilon = _known_epsilon(what, delta)
    if epsilon is not None:
        return epsilon, delta_bounds(what, epsilon)
    epsilon = _first_epsilon(what, delta)
    above = _above(what, epsilon)
    for _ in range(12):
        rule, most = above[0]
        if most <= delta:
            return epsilon, _with_below(what, epsilon, above)
        excess = log(most / delta)
        epsilon = _rounded(epsilon + Fraction(max(1.3 * excess / _slope(what, epsilon), 1e-6)))
        above = _bounds([rule], what, epsilon) or above
    raise Undecided(f"the checker proves delta <= {float(delta):.6g} at no epsilon that was tried")


def _known_epsilon(what: Composition, delta: Fraction) -> Fraction | None:
    """The epsilon of promises whose deltas add up to delta, or the largest loss for delta = 0."""
    if delta and _sum_of_deltas(what.releases) == delta:
        return _sum_of_epsilons(what.releases)
    if delta:
        return None
    largest = None if what.loss is None else what.loss.largest_loss()
    if largest is None:
        raise Undecided("losses are unbounded: only a delta > 0 has an epsilon")
    return _rounded(largest.upper)


def _above(what: Composition, epsilon: Fraction) -> list[Bound]:
    """Rules with their upper bounds of delta, the best first. Raises Undecided without any."""
    bounds = _bounds(_closed(what.releases, epsilon), what, epsilon)
    if not bounds and what.loss is not None:
        bounds = _by_grid(what, what.loss, epsilon)
    if not bounds or not _is_sharp(bounds[0][1], what.loss, epsilon):
        bounds += _bounds(_sums(what, epsilon), what, epsilon)
    if not bounds:
        raise Undecided(_NO_RULE)
    return sorted(bounds, key=lambda each: each[1])


def _bounds(rules: Iterable[Rule], what: Composition, epsilon: Fraction) -> list[Bound]:
    bounds = [(rule, what.bound(rule, epsilon, upper=True)) for rule in rules]
    return [(rule, most) for rule, most in bounds if most is not None]


def _is_sharp(most: Fraction, loss: pld.Pld | None, epsilon: Fraction) -> bool:
    return loss is not None and most <= loss.delta(epsilon).upper * (1 + _SHARP)


def _with_below(what: Composition, epsilon: Fraction, above: list[Bound]) -> list[Derived]:
    """The best rule with its lower bound of delta; a grid's lower bound if the best rule has
    none."""
    rule, most = above[0]
    grids = [other for other, _ in above if other["rule"] == "grid"]
    for other in [rule, *grids]:
        least = what.bound(other, epsilon, upper=False)
        if least:
            break
    if what.loss is not None:
        agrees(what.loss, epsilon, most, least)
    if other is rule or not least:
        return [Derived(rule, most, least)]
    return [Derived(rule, most, None), Derived(other, None, least)]


def _closed(releases: list[Release], epsilon: Fraction) -> Iterator[Rule]:
    """Rules without a loss of sharpness."""
    first, *others = releases
    if not others and first["times"] == 1 and (starts := starts_of(first, epsilon)):
        yield {"rule": "overlaps", "starts": starts}
        return
    yield {"rule": "curve"}


def _sums(what: Composition, epsilon: Fraction) -> Iterator[Rule]:
    """Rules that add up the releases' epsilons, or their Renyi divergences of one order."""
    yield {"rule": "basic"}

    def bound_of(log_s: float) -> float:
        order = 1 + round(math.exp(log_s), 2)
        rule = {"rule": "renyi", "order": repr(order)}
        most = what.bound(rule, epsilon, upper=True) if order > 1 else None
        return log(most) if most else math.inf

    whole = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
    orders = {a: bound_of(math.log(a - 1)) for a in whole}
    best = min(orders, key=lambda a: orders[a])
    if orders[best] == math.inf:
        return
    near = range(max(2, best - best // 3), best + best // 2 + 1)
    order = min(near, key=lambda a: bound_of(math.log(a - 1))) if len(near) < 40 else best
    yield {"rule": "renyi", "order": str(order)}
    if not any("rate" in release for release in what.releases):
        exact = 1 + math.exp(minimum(bound_of, math.log(best) - 2, math.log(best) + 1, 1e-2))
        yield {"rule": "renyi", "order": repr(max(round(exact, 2), 1.01))}


def _by_grid(what: Composition, loss: pld.Pld, epsilon: Fraction) -> list[Bound]:
    """The best bound by composition on grids: ever finer grids, until a check takes too much
    work."""
    enclosure = loss.delta(epsilon)
    best: list[Bound] = []
    for rule in grids(what.releases, what.neighbours, loss, enclosure):
        most = what.bound(rule, epsilon, upper=True)
        if most is None:
            break
        best = sorted([*best, (rule, most)], key=lambda each: each[1])[:1]
        dear = checker.work(what.releases, rule) > _DEAR * what.units
        if dear or best[0][1] <= enclosure.upper * (1 + _CLOSE):
            break
    return best


def _first_epsilon(what: Composition, delta: Fraction) -> Fraction:
    if what.loss is not None:
        return _rounded(what.loss.epsilon(delta).upper)
    rho = sum(_rho(release) * release["times"] for release in what.releases)
    stated_delta = sum(Fraction(r.get("delta", 0)) * r["times"] for r in what.releases)
    rest = max(delta - stated_delta, delta / 2)
    return _rounded(rho + Fraction(2 * math.sqrt(float(rho) * -log(rest))))


def _rho(release: Release) -> Fraction:
    """The rho beside the delta of a release."""
    claim = {"measure": "rho", "delta": "1", "derivation": {"rule": "sum"}}
    most = checker.quantity([{**release, "times": 1}], "add-remove", claim, upper=True)
    if most is None:
        raise Undecided("one of the releases is known by its rho, and another one has none")
    return most


def _slope(what: Composition, epsilon: Fraction) -> float:
    """About how fast -ln delta rises with epsilon."""
    if what.loss is None:
        return 1.0
    step = max(epsilon / 100, Fraction(1, 1000))
    near, far = (what.loss.delta(at).upper for at in (epsilon, epsilon + step))
    return max(log(near / far) / float(step), 0.5) if near and far else 10.0


def _sum_of_deltas(releases: list[Release]) -> Fraction | None:
    """The delta of all releases together, if each has an epsilon."""
    if not all("epsilon" in release or "scale" in release for release in releases):
        return None
    return sum((Fraction(r.get("delta", 0)) * r["times"] for r in releases), Fraction(0))


def _sum_of_epsilons(releases: list[Release]) -> Fraction:
    total = Fraction(0)
    for release in releases:
        own = release.get("epsilon") or Fraction(release["sensitivity"]) / Fraction(
            release["scale"]
        )
        total += Fraction(own) * release["times"]
    return total


def _rounded(epsilon: Fraction) -> Fraction:
    """Rounded up to six digits."""
    return Fraction(Enclosure.exact(epsilon).decimal_upper(6))
