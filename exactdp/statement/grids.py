"""Grids for the composition of losses by the checker. Floats choose them; they prove nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.pld.losses.base import LossLaw, Order
from exactdp.balls import precision
from exactdp.enclosure import Enclosure
from exactdp.statement.releases import Release, loss_of, number

#: Limits of the checker.
_NODES, _WINDOW, _MASS_BITS = 1 << 13, 1 << 14, 160

#: The coarsest grid has about this number of nodes, and a window of about this many steps.
_FIRST_NODES, _FIRST_WINDOW = 512, 2048

#: Longest text of a step, in characters, that can still be halved several times.
_LONGEST = 40

#: The left tail of losses, which moves up: its mass matters relatively to the right tail only.
_LEFT_BITS = 40

_BITS = 64


def grids(
    releases: list[Release], neighbours: str, loss: pld.Pld, enclosure: Enclosure
) -> Iterator[dict[str, Any]]:
    """Grids from coarse to fine, within the limits of the checker.

    neighbours: as in a statement. If they have no named side, each run may have either order.
    """
    tail = _tail_of(enclosure.lower or Fraction(1, 10**30)) + 20
    runs = [loss_of([{**release, "times": 1}], "add-remove") for release in releases]
    single = tail - 8 + max(release["times"] for release in releases).bit_length()
    with precision(_BITS):
        ranges = [_range(run.orders(), single) for run in runs if run is not None]
        # at the end both tails matter only relatively to delta
        low, high = _window(loss.orders(), tail)
    if not ranges or len(ranges) < len(releases):
        return
    if neighbours in ("replace-one", "pair"):
        ranges = [(min(a, -b), max(-a, b)) for a, b in ranges]
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
    """The step of the first grid: hundreds of steps in the releases' ranges and thousands in the
    window, or a step whose multiples all losses are.

    width: of the ranges of all releases together. reach: length of the window.
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
    if any(law.bounded_density for law in laws):
        return shared / (1 << max(0, math.floor(math.log2(shared / wanted))))
    return shared


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The greatest common divisor of two rationals."""
    scale = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * scale), int(b * scale)), scale)


def _range(orders: list[Order], tail: int) -> tuple[float, float]:
    """About the least and the largest loss in the first order, except for a mass of 2^-tail."""
    ends = [max(_sketch(law, tail), default=(0.0, 0.0))[0] for ((law, _),) in orders]
    return -ends[-1], ends[0]


def _window(orders: list[Order], tail: int) -> tuple[float, float]:
    """About the least and the largest sum of all losses in any order, except for a mass of 2^-tail
    above."""
    high = max(_reach(order, tail, 1) for order in orders)
    low = max(_reach(order, _LEFT_BITS, -1) for order in orders)
    return -low, high


def _reach(order: Order, tail: int, sign: int) -> float:
    """About the largest sum of the losses, except for a mass of 2^-tail: the best Chernoff
    bound."""
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


def _tail_of(value: Fraction) -> int:
    """The bits of a probability: it is at least 2 to minus this."""
    return max(1, value.denominator.bit_length() - value.numerator.bit_length() + 1)
