"""Choices that let the checker prove a claim: a rule, a grid, an order.

Floats choose here; they prove nothing. Each bound is computed by the checker itself, and then
compared with the certified enclosure of the library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.certify.hints import log, minimum
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.statement import checker
from exactdp.statement.grids import grids
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

#: Seconds of the processor. A grid whose check took longer is not refined: the next grid takes
#: about three times as long, for each of two directions, and the checker stops after 50 seconds.
_SLOW = 4.0


#: Most parts of the checker for a correlated histogram.
_STARTS = 512


@dataclass(frozen=True)
class Derived:
    """A rule, and the bounds of delta that the checker computes by it; None: it proves none."""

    rule: Rule
    at_most: Fraction | None
    at_least: Fraction | None


def delta_bounds(releases: list[Release], neighbours: str, epsilon: Fraction) -> list[Derived]:
    """The best rule for an upper bound of delta, and for a lower bound: one rule, or two.

    Raises Undecided if no rule proves a bound, or if the checker and the library disagree.
    """
    loss = loss_of(releases, neighbours)
    return _with_below(releases, loss, epsilon, _above(releases, loss, epsilon))


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


def least_epsilon(
    releases: list[Release], neighbours: str, delta: Fraction
) -> tuple[Fraction, list[Derived]]:
    """An epsilon, about the least, at which the checker proves at most this delta; and the bounds.

    Raises Undecided if there is none.
    """
    loss = loss_of(releases, neighbours)
    epsilon = _known_epsilon(releases, loss, delta)
    if epsilon is not None:
        return epsilon, delta_bounds(releases, neighbours, epsilon)
    epsilon = _first_epsilon(releases, loss, delta)
    above = _above(releases, loss, epsilon)
    for _ in range(12):
        rule, most = above[0]
        if most <= delta:
            return epsilon, _with_below(releases, loss, epsilon, above)
        excess = log(most / delta)
        epsilon = _rounded(epsilon + Fraction(max(1.3 * excess / _slope(loss, epsilon), 1e-6)))
        above = _bounds([rule], releases, epsilon) or above
    raise Undecided(f"the checker proves delta <= {float(delta):.6g} at no epsilon that was tried")


def _known_epsilon(
    releases: list[Release], loss: pld.Pld | None, delta: Fraction
) -> Fraction | None:
    """The epsilon of promises whose deltas add up to delta, or the largest loss for delta = 0."""
    pure = all("epsilon" in made or "scale" in made for made in releases)
    most = checker.bound(releases, {"rule": "basic"}, Fraction(10**9), upper=True)
    if pure and most == delta:
        return _sum_of_epsilons(releases)
    if delta:
        return None
    largest = None if loss is None else loss.largest_loss()
    if largest is None:
        raise Undecided("losses are unbounded: only a delta > 0 has an epsilon")
    return _rounded(largest.upper)


def _above(releases: list[Release], loss: pld.Pld | None, epsilon: Fraction) -> list[Bound]:
    """Rules with their upper bounds of delta, the best first. Raises Undecided without any."""
    found = _bounds(_closed(releases), releases, epsilon)
    if not found and loss is not None:
        found = _by_grid(releases, loss, epsilon)
    if not found or not _is_sharp(found[0][1], loss, epsilon):
        found += _bounds(_sums(releases, epsilon), releases, epsilon)
    if not found:
        raise Undecided(_NO_RULE)
    return sorted(found, key=lambda each: each[1])


def _bounds(rules: Iterable[Rule], releases: list[Release], epsilon: Fraction) -> list[Bound]:
    bounds = [(rule, checker.bound(releases, rule, epsilon, upper=True)) for rule in rules]
    return [(rule, most) for rule, most in bounds if most is not None]


def _is_sharp(most: Fraction, loss: pld.Pld | None, epsilon: Fraction) -> bool:
    return loss is not None and most <= loss.delta(epsilon).upper * (1 + _SHARP)


def _with_below(
    releases: list[Release], loss: pld.Pld | None, epsilon: Fraction, above: list[Bound]
) -> list[Derived]:
    """The best rule with its lower bound; or with that of a grid, if it has none."""
    rule, most = above[0]
    grids = [other for other, _ in above if other["rule"] == "grid"]
    for other in [rule, *grids]:
        least = checker.bound(releases, other, epsilon, upper=False)
        if least:
            break
    if loss is not None:
        agrees(loss, epsilon, most, least)
    if other is rule or not least:
        return [Derived(rule, most, least)]
    return [Derived(rule, most, None), Derived(other, None, least)]


def _closed(releases: list[Release]) -> Iterator[Rule]:
    """Rules without a loss of sharpness."""
    first, *others = releases
    if first["mechanism"] == "correlated-sparse-histogram" and not others and first["times"] == 1:
        yield {"rule": "overlaps", "starts": _starts(first["sparsity"])}
        return
    yield {"rule": "curve"}


def _sums(releases: list[Release], epsilon: Fraction) -> Iterator[Rule]:
    """Rules that add up an epsilon, or a divergence of one order."""
    yield {"rule": "basic"}

    def bound_of(log_s: float) -> float:
        order = 1 + round(math.exp(log_s), 2)
        rule = {"rule": "renyi", "order": repr(order)}
        found = checker.bound(releases, rule, epsilon, upper=True) if order > 1 else None
        return log(found) if found else math.inf

    whole = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
    orders = {a: bound_of(math.log(a - 1)) for a in whole}
    best = min(orders, key=lambda a: orders[a])
    if orders[best] == math.inf:
        return
    near = range(max(2, best - best // 3), best + best // 2 + 1)
    order = min(near, key=lambda a: bound_of(math.log(a - 1))) if len(near) < 40 else best
    yield {"rule": "renyi", "order": str(order)}
    if not any("rate" in made for made in releases):
        exact = 1 + math.exp(minimum(bound_of, math.log(best) - 2, math.log(best) + 1, 1e-2))
        yield {"rule": "renyi", "order": repr(max(round(exact, 2), 1.01))}


def _starts(k: int) -> list[int]:
    """All j up to some hundreds, then parts that grow: the bound of a part takes both its ends."""
    if k < _STARTS:
        return list(range(k + 1))
    half = _STARTS // 2
    # j = k shares all keys, and parts near both ends are small
    points = {round(k * (i / half) ** 2 / 2) for i in range(half)}
    points |= {k - round(k * (i / half) ** 2 / 2) for i in range(half)}
    return sorted(points | {0, k})


def _by_grid(releases: list[Release], loss: pld.Pld, epsilon: Fraction) -> list[Bound]:
    """The bound by composition on grids: ever finer ones, as long as that takes seconds."""
    enclosure = loss.delta(epsilon)
    best: list[Bound] = []
    for rule in grids(releases, loss, enclosure):
        begun = checker.seconds()
        most = checker.bound(releases, rule, epsilon, upper=True)
        if most is None:
            break
        best = sorted([*best, (rule, most)], key=lambda each: each[1])[:1]
        slow = checker.seconds() - begun > _SLOW
        if slow or best[0][1] <= enclosure.upper * (1 + _CLOSE):
            break
    return best


def _first_epsilon(releases: list[Release], loss: pld.Pld | None, delta: Fraction) -> Fraction:
    if loss is not None:
        return _rounded(loss.epsilon(delta).upper)
    rho = sum(_rho(made) * made["times"] for made in releases)
    return _rounded(rho + Fraction(2 * math.sqrt(float(rho) * -log(delta))))


def _rho(made: Release) -> Fraction:
    found = checker.quantity(
        [{**made, "times": 1}], {"measure": "rho", "derivation": {"rule": "sum"}}, upper=True
    )
    if found is None:
        raise Undecided("one of the releases is known by its rho, and another one has none")
    return found


def _slope(loss: pld.Pld | None, epsilon: Fraction) -> float:
    """About how fast -ln delta rises with epsilon."""
    if loss is None:
        return 1.0
    step = max(epsilon / 100, Fraction(1, 1000))
    near, far = (loss.delta(at).upper for at in (epsilon, epsilon + step))
    return max(log(near / far) / float(step), 0.5) if near and far else 10.0


def _sum_of_epsilons(releases: list[Release]) -> Fraction:
    total = Fraction(0)
    for made in releases:
        own = made.get("epsilon") or Fraction(made["sensitivity"]) / Fraction(made["scale"])
        total += Fraction(own) * made["times"]
    return total


def _rounded(epsilon: Fraction) -> Fraction:
    """Rounded up to six digits."""
    return Fraction(Enclosure.exact(epsilon).decimal_upper(6))
