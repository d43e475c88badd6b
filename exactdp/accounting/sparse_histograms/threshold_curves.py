"""Threshold against noise: the certified points behind the pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from exactdp.accounting import csh, gshm
from exactdp.accounting.calculator import calculator
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.sparse_histograms.analysis import Analysis
from exactdp.accounting.sparse_histograms.calibration import best_sigma, calibrate_threshold
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, choice, delta_target, integer, non_negative

#: The curves of Figure 3 of the CSH paper (Lebeda and Retschmeier), and the exact one.
CURVES = tuple((name, a) for name in ("gshm", "csh") for a in calculator(name).compared)

#: Mechanism -> the name of the parameter of its calculator that bounds the counters.
_BOUND = {"gshm": "k", "csh": "sparsity"}

#: The noise at the end of a curve is 1 + _SPAN times the noise at its start.
_SPAN = Fraction(2, 5)
#: A line whose distance from the curve is below this share of the curve's height looks the same.
_UNSEEN = 0.0005


@dataclass(frozen=True)
class CurvePoint:
    """The smallest threshold (certified) at a total noise per counter."""

    noise: Enclosure
    calibration: Calibration


@dataclass(frozen=True)
class Saving:
    """Best thresholds at one sparsity, by (mechanism, analysis)."""

    sparsity: int
    tau: dict[tuple[str, str], Fraction]

    def saved(self, analysis: str = "exact") -> Fraction:
        """How much lower the threshold of the CSH is than the exact GSHM's, as a fraction."""
        return 1 - self.tau["csh", analysis] / self.tau["gshm", "exact"]


def threshold_curve(
    mechanism: str, analysis: str, *, sparsity: int, epsilon: Real, delta: Real, points: int = 24
) -> Iterator[CurvePoint]:
    """Smallest thresholds for several sigma, from the sigma with the lowest one to 1.4 times that.

    mechanism: "gshm" or "csh". analysis: an analysis of this mechanism. sparsity: largest number of
    non-zero counters of the whole histogram, which is what users of the GSHM may contribute to.
    epsilon, delta: as in calibrate. points: the largest number of points, >= 2.
    Yields the two ends first, then points where the curve bends, in no order; fewer than `points`
    when straight lines between them are close enough to the curve for a picture.
    """
    count, number = integer("points", points, least=2), integer("sparsity", sparsity, least=1)
    loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
    chosen = _analysis(mechanism, analysis, number)
    bound = _BOUND[mechanism]
    least = best_sigma(chosen, number, loss, target)

    def at(place: Fraction) -> CurvePoint:
        """The point at a place from 0 (the least noise) to 1 (the most)."""
        calibration = calibrate_threshold(
            mechanism,
            chosen,
            k=number,
            epsilon=loss,
            target=target,
            sigma=least if not place else Fraction(f"{float(least * (1 + _SPAN * place)):.6g}"),
            resolution="1e-6",
            given={bound: Fraction(number)},
        )
        noise = calculator(mechanism).total_noise(**{bound: number}, sigma=calibration.sigma)
        return CurvePoint(noise, calibration)

    return _where_it_bends(at, count)


def _where_it_bends(at: Callable[[Fraction], CurvePoint], count: int) -> Iterator[CurvePoint]:
    """Both ends, then repeatedly the middle of the piece that seems to bend most."""
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
        # Half of a smooth curve is a quarter as far from its chord. Both halves of the whole curve
        # are always examined, because an S-shaped curve crosses its chord in the middle.
        expected = math.inf if len(known) == 3 else off / 4
        heappush(pieces, (-expected, left, middle))
        heappush(pieces, (-expected, middle, right))


def savings(*, epsilon: Real, delta: Real, sparsities: tuple[int, ...]) -> Iterator[Saving]:
    """Best thresholds of every curve for each sparsity; users may contribute to all counters."""
    for number in sparsities:
        tau = {}
        for mechanism, analysis in CURVES:
            calibration = calculator(mechanism).calibrate(
                **{_BOUND[mechanism]: number},
                epsilon=epsilon,
                delta=delta,
                analysis=analysis,
                resolution="1e-6",
            )
            tau[mechanism, analysis] = Fraction(calibration.tau or 0)
        yield Saving(number, tau)


def _analysis(mechanism: str, name: str, k: int) -> Analysis:
    if mechanism == "gshm":
        return gshm.ANALYSES[choice("analysis", name, tuple(gshm.ANALYSES))]
    return csh.calibrated_analysis(name, k)
