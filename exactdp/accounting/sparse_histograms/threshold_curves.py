"""Threshold against noise: the certified points behind the pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.sparse_histograms import csh, gshm
from exactdp.accounting.sparse_histograms.analysis import Analysis
from exactdp.accounting.sparse_histograms.calibration import best_sigma, calibrate_threshold
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, choice, delta_target, integer, non_negative

#: The curves of the CSH paper's Figure 3, and the exact one.
CURVES = (
    ("gshm", "add-the-deltas"),
    ("gshm", "exact"),
    ("csh", "add-the-deltas"),
    ("csh", "published"),
    ("csh", "exact"),
)

#: A curve ends at so much more noise than it begins with, as a part of that.
_SPAN = Fraction(2, 5)
#: Where lines stray less than this from the curve, as a part of its height, nobody sees it.
_UNSEEN = 0.0005


@dataclass(frozen=True)
class CurvePoint:
    """The smallest threshold (certified) at a total noise per counter."""

    noise: Enclosure
    calibration: Calibration


@dataclass(frozen=True)
class Saving:
    """Best thresholds at one sparsity, by (mechanism, analysis)."""

    k: int
    tau: dict[tuple[str, str], Fraction]

    def saved(self) -> Fraction:
        """How much lower the exact CSH threshold is than the exact GSHM's, as a fraction."""
        return 1 - self.tau["csh", "exact"] / self.tau["gshm", "exact"]


def threshold_curve(
    mechanism: str, analysis: str, *, k: int, epsilon: Real, delta: Real, points: int = 24
) -> Iterator[CurvePoint]:
    """Smallest thresholds for noise from the sigma that allows the lowest one to 1.4 times that.

    mechanism: "gshm" or "csh"; analysis: one of its own. points: the most points, >= 2. The rest
    as in calibrate. The two ends come first, then points where the curve bends, in no order; fewer
    than asked for when straight lines between them are close enough to the curve for a picture.
    """
    count, sparsity = integer("points", points, least=2), integer("k", k, least=1)
    loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
    chosen = _analysis(mechanism, analysis, sparsity)
    least = best_sigma(chosen, sparsity, loss, target)

    def at(place: Fraction) -> CurvePoint:
        """Of the curve from 0, the least noise, to 1."""
        found = calibrate_threshold(
            mechanism,
            chosen,
            k=sparsity,
            epsilon=loss,
            target=target,
            sigma=least if not place else Fraction(f"{float(least * (1 + _SPAN * place)):.6g}"),
            resolution="1e-6",
        )
        return CurvePoint(_noise(mechanism, sparsity, found), found)

    return _where_it_bends(at, count)


def _where_it_bends(at: Callable[[Fraction], CurvePoint], count: int) -> Iterator[CurvePoint]:
    """Both ends, then again and again the middle of the piece that seems to bend most."""
    known: dict[Fraction, CurvePoint] = {}

    def height(place: Fraction) -> float:
        return float(Fraction(known[place].calibration.tau or 0))

    for place in (Fraction(0), Fraction(1)):
        known[place] = at(place)
        yield known[place]
    pieces = [(-math.inf, Fraction(0), Fraction(1))]
    while len(known) < count:
        bend, left, right = heappop(pieces)
        if -bend <= _UNSEEN * abs(height(Fraction(1)) - height(Fraction(0))):
            return
        middle = (left + right) / 2
        known[middle] = at(middle)
        yield known[middle]
        off = abs(height(middle) - (height(left) + height(right)) / 2)
        # Half as long, a smooth curve is a quarter as far from its chord. Both halves of the
        # whole are looked at in any case: an S crosses its chord in the middle.
        expected = math.inf if len(known) == 3 else off / 4
        heappush(pieces, (-expected, left, middle))
        heappush(pieces, (-expected, middle, right))


def savings(*, epsilon: Real, delta: Real, sparsities: tuple[int, ...]) -> Iterator[Saving]:
    """Best thresholds of every curve for each sparsity."""
    for k in sparsities:
        tau = {}
        for mechanism, analysis in CURVES:
            run = gshm.calibrate if mechanism == "gshm" else csh.calibrate
            found = run(k=k, epsilon=epsilon, delta=delta, analysis=analysis, resolution="1e-6")
            tau[mechanism, analysis] = Fraction(found.tau or 0)
        yield Saving(k, tau)


def _analysis(mechanism: str, name: str, k: int) -> Analysis:
    if mechanism == "gshm":
        return gshm.ANALYSES[choice("analysis", name, tuple(gshm.ANALYSES))]
    return csh.calibrated_analysis(name, k)


def _noise(mechanism: str, k: int, found: Calibration) -> Enclosure:
    """The standard deviation of all noise on one counter."""
    if mechanism == "gshm":
        return Enclosure.exact(found.sigma)
    return csh.total_noise(k=k, sigma=found.sigma)
