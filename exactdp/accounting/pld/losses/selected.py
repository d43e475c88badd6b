"""The curve of the best of a random number of runs, from the curve of one run.

Let P and Q be the laws of one run, f(x) = E x^K for the number K of runs, and F and G the
probabilities under P and under Q that a run is worse than a given output. The best of K runs has
the law f'(F) dP against f'(G) dQ. Worse outputs are an event, so (F, G) is on or above the curve
G = g(F) of the best tests, in whatever order outputs are compared, and for x = e^epsilon

    delta <= E_P (f'(F) - x f'(g(F)) dQ/dP)+.

F is uniform. With a cut c of F, f'(F) is at most f'(c) plus what is above that, and

    delta <= u + E_P Phi(x dQ/dP), u = 1 - f(c) - f'(c)(1 - c),
    Phi(w) = max over F <= c of (f'(F) - w f'(g(F)))+.

Phi is convex and falls, so its chords are a sum of p_k (1 - w/t_k)+, and E_P (1 - x/t dQ/dP)+ is
delta of one run at epsilon - ln t. Phi(w) is 0 from w = max f'(F)/f'(g(F)) on; so much does
selection add to the largest loss. Where one run is known by a finite pair, a piece of g between two
vertices is a line. There f'(G) as a function of f'(F) either has a ratio f'(F)/f'(G) that rises, so
that the last point is the best one for every w, or is convex, so that the first point and the
tangent there up to the last f'(F) are below it.
Proofs: docs/explanation/repeated-selection.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from flint import arb

from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.losses.curves import KnownCurve, Point, kinks
from exactdp.accounting.pld.losses.repetitions import Repetitions
from exactdp.balls import ball, enclosure, precision

_BITS = 192

#: Between two points of g, ln f' grows by at most this number.
_GROWTH = 0.05

#: Most nodes of Phi above 1; the least node is below e^-_LEAST. The cuts: parts of the largest f'.
_NODES, _LEAST = 256, 3
_CUTS = tuple(4.0**-k for k in range(6))


@dataclass(frozen=True)
class EndingCurve(KnownCurve):
    """A known curve whose last point lies between two nodes."""

    end: Fraction

    @property
    def unit(self) -> None:
        return None

    @property
    def losses(self) -> list[Fraction]:
        return [*super().losses[:-1], self.end]


@dataclass(frozen=True)
class _Place:
    """f'(F) and f'(G) at a point of g, with 1 - F; or a point on a tangent, with None."""

    p: arb
    q: arb
    above: arb | None = None


def selected(one: KnownCurve, runs: Repetitions, *, whole: bool) -> KnownCurve:
    """The curve of the best of all runs. whole: whether `one` ends at the largest loss."""
    with precision(_BITS):
        places = _places(one, runs)
        added = enclosure(max((x.p / x.q).upper() for x in places).log()).upper
        end = one.losses[-1] + added
        stride = max(1, math.ceil(added / (one.step * _NODES)))
        unit = stride * one.step
        parts = list(_parts(places, runs, unit, added))
        values = cache(lambda i: _value(one, i * stride))
        deltas = [Fraction(1)]
        for i in range(math.ceil(end / unit) + 1):
            sums = [
                sum((x.p * values(i - int(x.exact or 0)) for x in weights), u)
                for u, weights in parts
            ]
            deltas.append(min(deltas[-1], enclosure(min(x.upper() for x in sums)).upper))
        if not whole:
            return KnownCurve(unit, tuple(deltas[1:]))
        never = enclosure(runs.some(one.infinite(_BITS)[0])).upper
        return EndingCurve(unit, (*deltas[1:-1], never), end)


def _places(one: KnownCurve, runs: Repetitions) -> list[_Place]:
    """Points of g and of its tangents, by rising F."""
    above_p, above_q = arb(0), one.infinite(_BITS)[1]
    pieces = [(above_p, above_q, arb(0), arb(0))]
    for outcome in one.outcomes(_BITS):  # at F = 1 are the least losses
        growth = (runs.slope(above_p) / runs.slope(above_p + outcome.p)).log()
        count = max(1, math.ceil(float(growth.mid()) / _GROWTH))
        p, q = outcome.p / count, outcome.q / count
        for _ in range(count):
            above_p, above_q = above_p + p, above_q + q
            pieces.append((above_p, above_q, p, q))
    places = []
    for above_p, above_q, p, q in reversed(pieces):
        first, other = runs.slope(above_p), runs.slope(above_q)
        places.append(_Place(first, other, above_p))
        if p > 0:
            last = runs.slope(above_p - p)
            rise = runs.bend(above_q) * other * q / (runs.bend(above_p) * first * p)
            places.append(_Place(last, other + rise * (last - first)))
    return places


def _parts(
    places: list[_Place], runs: Repetitions, unit: Fraction, added: Fraction
) -> Iterator[tuple[arb, list[Outcome]]]:
    """For every cut: u, and the parts of Phi; `p` is p_k, and `loss` ln t_k in units."""
    ends = {i: x.above for i, x in enumerate(places) if x.above is not None}
    cuts = {next(i for i in ends if not places[i].p < c * places[-1].p) for c in _CUTS}
    points: dict[int, list[Point]] = {
        cut: [(Fraction(0), arb(0), places[cut].p.upper())] for cut in cuts
    }
    last = math.floor(added / unit) + 1
    for node in [*_below_one(unit), *range(last)]:
        w, highest = ball(node * unit).exp(), arb(0)
        for i, place in enumerate(places):
            highest = highest.max(place.p - w * place.q)
            if i in points:
                points[i].append((Fraction(node), w, highest.upper()))
    for cut, known in points.items():
        known.append((Fraction(last), ball(last * unit).exp(), arb(0)))
        rest = runs.some(ends[cut]) - places[cut].p * ends[cut]
        yield rest.max(arb(0)), kinks(known)[0]


def _below_one(unit: Fraction) -> list[int]:
    """Nodes from e^-_LEAST to below 1, ever closer."""
    nodes = [-1]
    while nodes[-1] * unit > -_LEAST:
        nodes.append(nodes[-1] - max(1, -nodes[-1] // 8))
    return nodes[::-1]


def _value(one: KnownCurve, index: int) -> arb:
    """An upper bound of delta of one run at a node of its curve."""
    if index >= 0:
        return ball(one.deltas[min(index, len(one.deltas) - 1)])
    x = ball(index * one.step).exp()
    return 1 - x + x * _value(one, -index)
