"""Choices that let the checker prove a claim: a rule, a grid, an order.

Floats choose here; they prove nothing. Each bound is computed by the checker itself, and then
compared with the certified enclosure of the library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.certify.hints import log, minimum
from exactdp.accounting.pld.laws.base import LossLaw, Order
from exactdp.balls import precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.statement import checker
from exactdp.statement.releases import Release, loss_of, number

__all__ = ["Derived", "agrees", "delta_bounds", "least_epsilon", "tail_of"]

Rule = dict[str, Any]

#: A grid is refined until the upper bound of delta exceeds the library's by at most this share.
_CLOSE = Fraction(1, 100)

#: No grid is refined whose check took so many seconds of the processor: the next one takes about
#: three times as long, for each of two directions, and the checker stops after 50.
_SLOW = 4.0

#: Limits of the checker.
_NODES, _WINDOW, _MASS_BITS, _STARTS = 1 << 13, 1 << 14, 160, 512

#: Grids begin with about so many nodes.
_FIRST_NODES, _FIRST_WINDOW = 512, 2048

#: Characters of a step that can be halved some times.
_LONGEST = 40

#: The left tail of losses, which moves up: its mass matters relatively to the right tail only.
_LEFT_BITS = 40

_BITS = 64


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
    found = [made for rule in _closed(releases) if (made := _by(rule, releases, epsilon))]
    if loss is not None and not found:
        enclosure = loss.delta(epsilon)
        found += _by_grid(releases, loss, epsilon, enclosure)
    if not _is_by_curve(found):
        found += [
            made for rule in _sums(releases, epsilon) if (made := _by(rule, releases, epsilon))
        ]
    above = [made for made in found if made.at_most is not None]
    if not above:
        raise Undecided("no rule of the checker bounds delta of these releases")
    best = min(above, key=lambda made: made.at_most or 0)
    below = [made for made in found if made.at_least]
    sharpest = max(below, key=lambda made: made.at_least or 0, default=best)
    if loss is not None:
        agrees(loss, epsilon, best.at_most, sharpest.at_least)
    if sharpest is best:
        return [best]
    return [Derived(best.rule, best.at_most, None), Derived(sharpest.rule, None, sharpest.at_least)]


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


def least_epsilon(releases: list[Release], neighbours: str, delta: Fraction) -> Fraction:
    """An epsilon, about the least, at which the checker proves at most this delta.

    Raises Undecided if there is none.
    """
    if all("epsilon" in made or "scale" in made for made in releases):
        basic = [made for made in [_by({"rule": "basic"}, releases, Fraction(10**9))] if made]
        if basic and basic[0].at_most is not None and basic[0].at_most == delta:
            return _sum_of_epsilons(releases)
    loss = loss_of(releases, neighbours)
    if not delta:
        largest = None if loss is None else loss.largest_loss()
        if largest is None:
            raise Undecided("losses are unbounded: only a delta > 0 has an epsilon")
        return _rounded(largest.upper)
    epsilon = _first_epsilon(releases, loss, delta)
    for _ in range(12):
        found = delta_bounds(releases, neighbours, epsilon)[0].at_most
        if found is not None and found <= delta:
            return epsilon
        excess = log((found or Fraction(1)) / delta)
        epsilon = _rounded(epsilon + Fraction(max(1.3 * excess / _slope(loss, epsilon), 1e-6)))
    raise Undecided(f"the checker proves delta <= {float(delta):.6g} at no epsilon that was tried")


def tail_of(value: Fraction) -> int:
    """The bits of a probability: it is at least 2 to minus this."""
    return max(1, value.denominator.bit_length() - value.numerator.bit_length() + 1)


def _is_by_curve(found: list[Derived]) -> bool:
    return any(made.rule["rule"] in ("curve", "overlaps") for made in found)


def _by(rule: Rule, releases: list[Release], epsilon: Fraction) -> Derived | None:
    """The bounds by a rule; None if it proves nothing."""
    above = checker.bound(releases, rule, epsilon, upper=True)
    below = checker.bound(releases, rule, epsilon, upper=False)
    return None if above is None and below is None else Derived(rule, above, below)


def _closed(releases: list[Release]) -> Iterator[Rule]:
    """Rules without a loss of sharpness."""
    first, *others = releases
    if first["mechanism"] == "correlated-sparse-histogram" and not others and first["times"] == 1:
        yield {"rule": "overlaps", "starts": _starts(first["k"])}
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


def _by_grid(
    releases: list[Release], loss: pld.Pld, epsilon: Fraction, enclosure: Enclosure
) -> list[Derived]:
    """Bounds by composition on grids: ever finer ones, as long as that takes seconds."""
    best: Derived | None = None
    for rule in _grids(releases, loss, enclosure):
        begun = checker.seconds()
        above = checker.bound(releases, rule, epsilon, upper=True)
        if above is None:
            break
        if best is None or best.at_most is None or above < best.at_most:
            best = Derived(rule, above, None)
        slow = checker.seconds() - begun > _SLOW
        if slow or (best.at_most or 0) <= enclosure.upper * (1 + _CLOSE):
            break
    if best is None:
        return []
    return [
        Derived(best.rule, best.at_most, checker.bound(releases, best.rule, epsilon, upper=False))
    ]


def _grids(releases: list[Release], loss: pld.Pld, enclosure: Enclosure) -> Iterator[Rule]:
    """Grids from coarse to fine, within the limits of the checker."""
    tail = tail_of(enclosure.lower or Fraction(1, 10**30)) + 20
    runs = [loss_of([{**made, "times": 1}], "add-remove") for made in releases]
    single = tail - 8 + max(made["times"] for made in releases).bit_length()
    with precision(_BITS):
        ranges = [_range(run.orders(), single) for run in runs if run is not None]
        # at the end both tails matter only relatively to delta
        low, high = _window(loss.orders(), tail)
    if not ranges or len(ranges) < len(releases):
        return
    bits = min(_MASS_BITS, max(64, tail + 48))
    step = _first_step(loss, sum(b - a for a, b in ranges), high - low)
    while True:
        nodes = [[math.floor(a / step) - 1, math.ceil(b / step) + 1] for a, b in ranges]
        window = [math.floor(low / step) - 1, math.ceil(high / step) + 1]
        window = [min(window[0], *(a for a, _ in nodes)), max(window[1], *(b for _, b in nodes))]
        size = sum(b - a + 1 for a, b in nodes)
        if size > _NODES or window[1] - window[0] >= _WINDOW:
            return
        text = number("step", step)
        yield {"rule": "grid", "step": text, "mass_bits": bits, "nodes": nodes, "window": window}
        step /= 2


def _first_step(loss: pld.Pld, width: float, reach: float) -> Fraction:
    """A step for some hundreds of nodes and some thousands of the window, or one on which all
    losses lie.

    width: of all releases alone. reach: of the window.
    """
    wanted = Fraction(2) ** math.floor(math.log2(max(width / _FIRST_NODES, reach / _FIRST_WINDOW)))
    laws = [law for step, _ in loss.steps for law in (step.removed, step.added)]
    shared = Fraction(0)
    for law in laws:
        if law.unit is None:
            return wanted
        shared = _common(shared, law.unit / 2)
    if shared < wanted or len(str(shared)) > _LONGEST:
        return wanted
    if any(law.between_marks for law in laws):
        return shared / (1 << max(0, math.floor(math.log2(shared / wanted))))
    return shared


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The greatest common divisor of two rationals."""
    scale = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * scale), int(b * scale)), scale)


def _range(orders: list[Order], tail: int) -> tuple[float, float]:
    """About the logarithms of the ratio of the first order, but for a mass of 2^-tail."""
    ends = [max(_sketch(law, tail), default=(0.0, 0.0))[0] for ((law, _),) in orders]
    return -ends[-1], ends[0]


def _window(orders: list[Order], tail: int) -> tuple[float, float]:
    """About where the sum of all losses lies, but for a mass of 2^-tail above, in any order."""
    high = max(_reach(order, tail, 1) for order in orders)
    low = max(_reach(order, _LEFT_BITS, -1) for order in orders)
    return -low, high


def _reach(order: Order, tail: int, sign: int) -> float:
    """How far the sum of the losses reaches: the best Chernoff bound."""
    sketches = [([(sign * loss, mass) for loss, mass in _sketch(law, tail)], n) for law, n in order]

    def reach(log_s: float) -> float:
        s = math.exp(log_s)
        spent = sum(
            n * _log_sum([s * loss + mass for loss, mass in cells]) for cells, n in sketches
        )
        return (spent + tail * math.log(2)) / s

    return max(reach(minimum(reach, -12.0, 7.0, 1e-2)), 0.0)


def _sketch(law: LossLaw, tail: int) -> list[tuple[float, float]]:
    return [(loss, mass) for loss, mass in law.sketch(tail) if math.isfinite(loss)]


def _log_sum(logs: list[float]) -> float:
    most = max(logs, default=0.0)
    return most + math.log(sum(math.exp(x - most) for x in logs)) if logs else 0.0


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
