"""Values that mechanisms do not take: the parameter is named."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from exactdp.accounting import correlated_gaussian, gshm
from exactdp.mechanisms import (
    ALP,
    CSH,
    GSHM,
    MAD2R,
    SIPS,
    ApproximateThreshold,
    BasicHistogram,
    Combined,
    CompactHistogram,
    CorrelatedGaussian,
    DenseLaplace,
    FixedTimeSparseHistogram,
    GSHMWithSums,
    HistogramALP,
    KeepHeavy,
    KeepHeavyResampled,
    LogALP,
    MaxProjection,
    PaddedSparseHistogram,
    PureSparseHistogram,
    SparseHistogram,
    StabilityHistogram,
    Threshold,
    TotalALP,
    UnitEpsilonALP,
    WeightedGaussian,
)
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.mechanisms.projections.error_law import estimate_law
from exactdp.samplers import FastSample, GeoSample, SeededSource, SystemSource
from tests.refusals import refused

SOURCE = SeededSource(1)
GEO, FAST = GeoSample(n=6, epsilon=1), FastSample(n=5, epsilon=1)
SIZE: dict[str, Any] = {"d": 1000, "k": 10, "s": 300, "largest": 60, "epsilon": 2}
DENSE: dict[str, Any] = {"d": 5, "k": 1, "largest": 100, "epsilon": 1}
PAIR: dict[str, Any] = {"d": 2**64, "k": 5, "largest": 10**6, "epsilon": 3}
KEYS = SIPS.for_target(k=5, epsilon=1, delta="1e-6")
#: A continuous calibration in a discrete release is how twice the delta leaks.
CONTINUOUS = gshm.calibrate(k=2, epsilon=3, delta="1e-10")

BAD: list[tuple[str, Callable[[], object]]] = [
    ("correlation", lambda: correlated_gaussian.delta(keys=3, sigma=2, epsilon=1, correlation=2)),
    ("delta", lambda: CorrelatedGaussian(keys=3, k=3, sigma=2, epsilon=1, delta="1e-9")),
    (
        "counts",
        lambda: CorrelatedGaussian.for_target(keys=1, k=1, epsilon=1, delta="0.1").draw({}, SOURCE),
    ),
    ("s", lambda: ALP(**{**SIZE, "s": 20})),
    ("s", lambda: ALP(**{**SIZE, "s": 2**40})),
    ("k", lambda: ALP(**{**SIZE, "d": 2})),
    ("d", lambda: ALP(**{**SIZE, "d": 2**4097})),
    ("largest", lambda: ALP(**{**SIZE, "largest": 1e12})),
    ("alpha", lambda: ALP(**SIZE, alpha=0)),
    ("steps", lambda: ALP(**SIZE, steps=3)),
    ("steps", lambda: ALP(**SIZE, steps=1 << 17)),
    ("value", lambda: ALP(**SIZE).error(-1)),
    ("value", lambda: ALP(**SIZE).error("60.1")),
    ("collision", lambda: ALP(**SIZE).error(1, "0.9")),
    ("collision", lambda: ALP(**SIZE).error(1, "-0.1")),
    ("beta", lambda: ALP(**SIZE).error_bound(0)),
    ("epsilon", lambda: UnitEpsilonALP(**SIZE)),
    ("largest", lambda: HistogramALP(**{**SIZE, "largest": "1.5"})),
    ("width", lambda: HistogramALP(**SIZE, width=0)),
    ("start", lambda: LogALP(**SIZE, start=100)),
    ("start", lambda: LogALP(**{**SIZE, "largest": 10**6}, start=10**5)),
    ("mechanism", lambda: LogALP(**SIZE).error_bound("0.1")),
    ("value", lambda: LogALP(**SIZE).factor(9)),
    ("place", lambda: estimate_law(Fraction(3), 2, Fraction(1, 5), Fraction(0))),
    ("collision", lambda: estimate_law(Fraction(1), 2, Fraction(1, 2), Fraction(0))),
    ("total", lambda: TotalALP(**SIZE, total=0)),
    ("s", lambda: TotalALP(**{**SIZE, "s": 2}, total=9)),
    ("vector", lambda: TotalALP(**SIZE, total=9).project({0: 9, 1: "0.1"}, SystemSource())),
    ("t", lambda: Threshold(**{**DENSE, "d": 2**64}, t=5)),
    ("t", lambda: Threshold(**DENSE, t=500)),
    ("k", lambda: Threshold(**{**DENSE, "k": 6}, t=5)),
    ("largest", lambda: Threshold(**{**DENSE, "largest": "0.3"}, t="0.1", grid="0.2")),
    ("values", lambda: Threshold(**DENSE, t=1, values="both")),
    ("delta", lambda: ApproximateThreshold(**DENSE, delta=0).guarantee),
    ("grid", lambda: ApproximateThreshold(**DENSE, delta="0.1", grid="0.3")),
    (
        "largest",
        lambda: ApproximateThreshold(**{**DENSE, "largest": "9.1"}, delta="0.1", grid="1/4"),
    ),
    ("largest", lambda: ApproximateThreshold(**{**DENSE, "largest": 9}, delta="1e-9")),
    ("d", lambda: DenseLaplace(**{**DENSE, "d": 10**8})),
    ("grid", lambda: DenseLaplace(**{**DENSE, "largest": 10**12}, grid="1e-6").guarantee),
    ("s", lambda: MaxProjection(**{**DENSE, "d": 10**8}, s=10**8)),
    ("t", lambda: Combined.of(d=2**64, k=5, largest=5, epsilon=3)),
    (
        "small.values",
        lambda: Combined(
            large=Threshold(**DENSE, t=1), small=HistogramALP(d=5, k=1, s=3, largest=1, epsilon=1)
        ),
    ),
    ("share", lambda: Combined.of(**PAIR, share=1)),
    ("t", lambda: Combined.of(**PAIR, t=90, delta="1e-6")),
    ("delta", lambda: Combined.of(**PAIR, delta=-1)),
    ("d", lambda: Combined.of(**{**PAIR, "d": "x"})),
    ("error", lambda: Combined.for_target(**PAIR, error="0.1")),
    ("noise", lambda: BasicHistogram("geo", 3)),
    ("universe", lambda: BasicHistogram(GEO, 2**64)),
    ("universe", lambda: KeepHeavy(GEO, 6)),
    ("universe", lambda: KeepHeavy(GEO, 2**64)),
    ("universe", lambda: PureSparseHistogram(GEO, 12)),
    ("universe", lambda: KeepHeavyResampled(GEO, 23, "0.1")),
    ("failure", lambda: KeepHeavyResampled(GEO, 30, 0)),
    ("beta", lambda: KeepHeavyResampled(GEO, 30, "0.1").accuracy("0.05")),
    ("distance", lambda: SparseHistogram(GEO, 30, 1)),
    ("threshold", lambda: StabilityHistogram(GEO, 30, -1, "0.5")),
    ("gamma_bits", lambda: FixedTimeSparseHistogram(GEO, 30, 0)),
    ("noise", lambda: PaddedSparseHistogram(GEO, 50, 9, 5, 2, 20)),
    ("length", lambda: PaddedSparseHistogram(FAST, 50, 9, 4, 2, 20)),
    ("draws", lambda: PaddedSparseHistogram(FAST, 50, 9, 5, 2, 9)),
    ("universe", lambda: PaddedSparseHistogram(FAST, 19, 9, 5, 2, 20)),
    ("threshold", lambda: PaddedSparseHistogram(FAST, 50, 9, 5, 5, 20)),
    ("n", lambda: PaddedSparseHistogram.of(n=5, epsilon=1, universe=2**64)),
    ("beta", lambda: PaddedSparseHistogram.of(n=6, epsilon=8, universe=30).accuracy("1e-30")),
    ("bits", lambda: InverseCount(GEO, 2)),
    ("period", lambda: CompactHistogram(GEO, 5, 2, 3)),
    ("bits", lambda: CompactHistogram(GEO, 4, "0.9", 3)),
    ("delta", lambda: SIPS(5, KEYS.sigmas, KEYS.thresholds, 1, "9e-7")),
    ("thresholds", lambda: SIPS(5, KEYS.sigmas, (3, 2, "0.5"), 1, "1e-6")),
    ("sigmas", lambda: SIPS(5, ("1e-9",) * 3, KEYS.thresholds, 1, "1e-6")),
    ("sigmas", lambda: WeightedGaussian(5, KEYS.sigmas, KEYS.thresholds, 1, "1e-6")),
    ("k", lambda: MAD2R.for_target(k=5000, epsilon=1, delta="1e-6")),
    ("delta", lambda: GSHM(2, CONTINUOUS.sigma, CONTINUOUS.tau or 0, 3, "1e-10")),
    ("delta", lambda: GSHM(12, "0.001", 0, 0, "1e-5")),
    ("delta", lambda: GSHM(1, 1, 1, 1, 1)),
    ("lower", lambda: GSHM(1, 1, 1, 1, "0.9", lower=3)),
    ("element", lambda: GSHM(1, 2, 6, 1, "0.5").draw({None: 3}, SOURCE)),
    ("element", lambda: GSHM(1, 2, 6, 1, "0.5").draw({float("nan"): 3}, SOURCE)),
    ("elements", lambda: GSHM(1, 2, 6, 1, "0.5").draw({"a": 3, 1: 4}, SOURCE)),
    ("counts['a']", lambda: GSHM(1, 2, 6, 1, "0.5").draw({"a": None}, SOURCE)),
    ("counts['a']", lambda: GSHM(1, 2, 6, 1, "0.5").draw({"a": 2.5}, SOURCE)),
    ("counts", lambda: CSH(1, 1, 9, 1, "0.9").draw({"a": 1, "b": 1}, SOURCE)),
    ("largest", lambda: GSHMWithSums(1, 3, 20, 1, "0.1", largest=())),
    ("largest", lambda: GSHMWithSums(1, 3, 20, 1, "0.1", largest=(0,))),
]


def test_bad_values_are_refused_by_name() -> None:
    assert [(refused(call), call) for _, call in BAD] == BAD
