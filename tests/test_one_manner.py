"""Every mechanism answers the same questions by the same names."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from exactdp import local, mechanisms
from exactdp.accounting.guarantee import Guarantee
from exactdp.errors import InvalidParameter
from exactdp.local import sparse
from exactdp.local.compressive import SetResponse
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.public_matrices import RandomColumns
from exactdp.mechanism import Mechanism, Simulated
from exactdp.mechanisms import PartitionSelection
from exactdp.mechanisms.histograms.mechanism import HistogramMechanism
from exactdp.mechanisms.key_sets.rounds import KeyRounds
from exactdp.mechanisms.known_keys import ListedCounts
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.mechanisms.thresholded.mechanism import Thresholded
from exactdp.samplers import FastSample, SeededSource, SystemSource

#: How far off an answer is: the names of this question.
_ERRORS = ("accuracy", "error", "variance", "probabilities", "chance", "half")

#: Built of mechanisms that have epsilon, or named in the arguments of those.
BUILT = (mechanisms.Combined,)


def _classes() -> dict[str, type]:
    """All public classes that release; mypy compares their methods with exactdp.mechanism."""
    rooms = (mechanisms, local, sparse)
    named = {name: getattr(room, name) for room in rooms for name in room.__all__}
    return {
        name: kind
        for name, kind in named.items()
        if inspect.isclass(kind) and not inspect.isabstract(kind) and hasattr(kind, "release")
    }


CLASSES = _classes()


def test_names_of_methods_and_parameters() -> None:
    for name, kind in CLASSES.items():
        assert Mechanism in kind.__mro__, f"{name}: a subclass of Mechanism or Simulated"
        assert any(hasattr(kind, question) for question in _ERRORS), name
        makers = [getattr(kind, maker, None) for maker in ("of", "for_target")]
        taken = [inspect.signature(maker).parameters for maker in (kind, *makers) if maker]
        assert any("epsilon" in names for names in taken) or kind in BUILT, name
        assert not {"beta", "u"} & taken[0].keys(), name  # the largest value is called largest


ROWS: dict[str, Any] = {"n": 2, "epsilon": 1, "universe": 5}
FEW: dict[str, Any] = {**ROWS, "n": 1}
NOISY: dict[str, Any] = {"k": 1, "epsilon": 20, "delta": "0.1"}
EASY: dict[str, Any] = {"epsilon": 20, "delta": "0.1"}
KEYS: dict[str, Any] = {"k": 1, "epsilon": 1, "delta": "0.1"}
SPARSE: dict[str, Any] = {"d": 3, "k": 1, "largest": 2, "epsilon": 1}
ALP: dict[str, Any] = {**SPARSE, "s": 3, "alpha": 3, "steps": 1}
SETS = {"user 1": ["a"], "user 2": ["a"]}
m, s = mechanisms, sparse

#: Every mechanism at a size at which its law can be listed.
SMALL: dict[str, Callable[[], Any]] = {
    "BasicHistogram": lambda: m.BasicHistogram.of(**FEW),
    "StabilityHistogram": lambda: m.StabilityHistogram.of(**ROWS, delta="0.1"),
    "KeepHeavy": lambda: m.KeepHeavy.of(**ROWS),
    "KeepHeavySampled": lambda: m.KeepHeavySampled.of(**ROWS),
    "KeepHeavyResampled": lambda: m.KeepHeavyResampled.of(**FEW, failure="0.5"),
    "SparseHistogram": lambda: m.SparseHistogram.of(**FEW, distance="1e-3"),
    "FixedTimeSparseHistogram": lambda: m.FixedTimeSparseHistogram.of(**FEW),
    "PureSparseHistogram": lambda: m.PureSparseHistogram.of(**ROWS),
    "PaddedSparseHistogram": lambda: m.PaddedSparseHistogram(
        FastSample(n=1, epsilon=2, gamma_inverse=2, bits=9), 4, 99, 1, 0, 2
    ),
    "CompactHistogram": lambda: m.CompactHistogram(
        FastSample(n=1, epsilon=8, gamma_inverse=2, bits=4), 2, 9, 5
    ),
    "GSHM": lambda: m.GSHM.for_target(**NOISY),
    "CSH": lambda: m.CSH.for_target(sparsity=1, **EASY),
    "TopK": lambda: m.TopK.for_target(top=1, **EASY),
    "TopKWithBase": lambda: m.TopKWithBase.for_target(top=1, epsilon=60, delta="0.1"),
    "GSHMWithSums": lambda: m.GSHMWithSums.for_target(**NOISY, largest=[1]),
    "TopKWithSums": lambda: m.TopKWithSums.for_target(top=1, **EASY, largest=[1]),
    "KnownKeys": lambda: m.KnownKeys.for_target(**NOISY),
    "CorrelatedGaussian": lambda: m.CorrelatedGaussian.for_target(**NOISY, keys=1),
    "PartitionSelection": lambda: m.PartitionSelection.for_target(**KEYS),
    "WeightedGaussian": lambda: m.WeightedGaussian.for_target(**KEYS),
    "SIPS": lambda: m.SIPS.for_target(**KEYS),
    "MAD2R": lambda: m.MAD2R(1, (Fraction(2),) * 2, (Fraction(4),) * 2, 20, "0.9", grid=2),
    "ExponentialMechanism": lambda: m.ExponentialMechanism(epsilon=1),
    "PermuteAndFlip": lambda: m.PermuteAndFlip(epsilon=1),
    "GridQuantile": lambda: m.GridQuantile(quantile="1/2", points=3, epsilon=1),
    "ALP": lambda: m.ALP(**ALP),
    "UnitEpsilonALP": lambda: m.UnitEpsilonALP(d=3, k=1, s=3, largest=6),
    "SignedALP": lambda: m.SignedALP(**{**ALP, "largest": 1}),
    "LogALP": lambda: m.LogALP(**{**ALP, "largest": 4}, start=1),
    "HistogramALP": lambda: m.HistogramALP(**SPARSE, s=3),
    "TotalALP": lambda: m.TotalALP(**{**ALP, "s": 8}, total=1),
    "DenseLaplace": lambda: m.DenseLaplace(**{**SPARSE, "d": 2}, values="counts"),
    "MaxProjection": lambda: m.MaxProjection(**SPARSE, s=2, values="counts"),
    "Threshold": lambda: m.Threshold(**SPARSE, t=1, grid=1),
    "ApproximateThreshold": lambda: m.ApproximateThreshold(
        **{**SPARSE, "largest": 9}, delta="0.5", grid=1
    ),
    "Combined": lambda: m.Combined(large=m.Threshold(**SPARSE, t=1, grid=1), small=m.ALP(**ALP)),
    "PrivateSize": lambda: m.PrivateSize(d=3, largest=2, epsilon=1),
    "SizedALP": lambda: m.SizedALP.of(d=2, largest=1, epsilon=1, rows=3),
    "RandomizedResponse": lambda: local.RandomizedResponse(k=3, epsilon=1),
    "OptimizedUnaryEncoding": lambda: local.OptimizedUnaryEncoding(k=3, epsilon=1),
    "Rappor": lambda: local.Rappor(k=3, epsilon=1),
    "PermanentRappor": lambda: local.PermanentRappor(k=3, epsilon=1, limit=2),
    "HadamardResponse": lambda: local.HadamardResponse(k=3, epsilon=1),
    "OptimizedLocalHashing": lambda: local.OptimizedLocalHashing(k=3, epsilon=1),
    "SubsetSelection": lambda: local.SubsetSelection(k=3, epsilon=1),
    "CompressiveResponse": lambda: local.CompressiveResponse(k=5, m=4, epsilon=1),
    "MatrixResponse": lambda: local.MatrixResponse(RandomColumns(k=3, m=9, seed=2), epsilon=1),
    "SparseVectorMean": lambda: local.SparseVectorMean(
        d=2, k=1, epsilon=20, level="event", grid=1, bins=1
    ),
    "OneBit": lambda: s.OneBit(d=2, k=1, epsilon=1),
    "GaussianSum": lambda: s.GaussianSum(d=1, k=1, epsilon=90, delta="0.1", clip="1/64"),
    "KFold": lambda: s.KFold(d=2, k=1, epsilon=1),
    "Sampled": lambda: s.Sampled(d=2, k=1, epsilon=1),
    "Harmony": lambda: s.Harmony(d=2, k=1, epsilon=1),
    "Pckv": lambda: s.Pckv(d=2, k=1, epsilon=1),
    "PckvUnary": lambda: s.PckvUnary(d=2, k=1, epsilon=1),
    "NaiveLaplace": lambda: s.NaiveLaplace(d=1, k=1, epsilon=4, grid=1),
    "NaiveGaussian": lambda: s.NaiveGaussian(d=1, k=1, epsilon=4, grid=1),
}

#: What a class takes, where it is not the vector {0: 1}.
DATA: dict[type, Any] = {
    Thresholded: {"a": 2},
    ListedCounts: {"a": 2},
    PartitionSelection: {"a": 1},
    KeyRounds: SETS,
    m.PermuteAndFlip: {"a": 1, "b": 0},
    m.ExponentialMechanism: {"a": 1, "b": 0},
    m.GridQuantile: {1: 2},
    FrequencyOracle: 2,
    SetResponse: 2,
}


def _data(mechanism: Any) -> Any:
    matching = [data for of, data in DATA.items() if isinstance(mechanism, of)]
    rows = getattr(mechanism, "n", None) if isinstance(mechanism, HistogramMechanism) else 1
    return matching[0] if matching else {0: rows}


def _hashes(mechanism: Any) -> Any:
    """Hash functions, where a law is for given ones."""
    if isinstance(mechanism, mechanisms.SizedALP):
        return _hashes
    if isinstance(mechanism, mechanisms.DenseLaplace):
        return mechanism.hashes(SeededSource(1))
    mechanism = getattr(mechanism, "small", mechanism)
    return UniversalHashes.draw(mechanism.levels, mechanism.d, mechanism.s, SeededSource(1))


def test_the_table_is_whole() -> None:
    assert SMALL.keys() == CLASSES.keys(), "tests/test_one_manner.py: SMALL"


@pytest.mark.few(10)
@pytest.mark.parametrize("name", SMALL)
def test_a_mechanism_publishes_and_states_its_law(name: str) -> None:
    mechanism: Any = SMALL[name]()
    assert type(mechanism).__name__ == name
    data = _data(mechanism)
    assert mechanism.release(data, SystemSource()) is not None
    with pytest.raises(InvalidParameter, match="source must be a SystemSource"):
        mechanism.release(data, SeededSource(1))
    assert isinstance(mechanism.guarantee, Guarantee)
    assert (mechanism.guarantee + mechanism.guarantee).epsilon == 2 * mechanism.guarantee.epsilon
    hashes = {} if Simulated in type(mechanism).__mro__ else {"hashes": _hashes(mechanism)}
    law = mechanism.law(data, **hashes)
    assert law.residual <= Fraction(1, 1000)
    assert law.residual + sum(p for _, p in law.items()) == 1


@pytest.mark.parametrize("name", SMALL)
def test_a_wrong_number_is_refused_by_the_name_of_its_field(name: str) -> None:
    mechanism: Any = SMALL[name]()
    for field in dataclasses.fields(mechanism):
        value = getattr(mechanism, field.name)
        if not field.init or isinstance(value, bool) or not isinstance(value, int | Fraction):
            continue
        for wrong in (-1, "x", float("nan")):
            with pytest.raises(InvalidParameter) as refusal:
                dataclasses.replace(mechanism, **{field.name: wrong})
            assert refusal.value.name == field.name


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["KnownKeys", "PartitionSelection", "CSH", "MAD2R"])
def test_a_law_is_the_one_of_the_draws(name: str) -> None:
    """200 draws: each frequency within 6 standard deviations, alpha < 1e-6."""
    mechanism, source, n = SMALL[name](), SeededSource(1), 200
    data = _data(mechanism)
    law, draws = mechanism.law(data), [mechanism.draw(data, source) for _ in range(n)]
    outcomes = [tuple(y) if isinstance(y, list) else y for y in draws]
    for y in law.support:
        p = float(law[y])
        off = abs(outcomes.count(y) / n - p)
        assert off <= 6 * (p * (1 - p) / n) ** 0.5 + float(law.residual)


def test_counts_and_sums_have_a_joint_law() -> None:
    """Its counts have the law of the release without sums, which draws no noise for them."""
    mechanism = SMALL["GSHMWithSums"]()
    both = mechanism.law_sums({"a": 2}, {"a": [1]}).map(
        lambda bins: tuple((x, y[0]) for x, y in bins)
    )
    alone = mechanism.law({"a": 2})
    off = both.residual + alone.residual
    assert all(abs(both[y] - alone[y]) <= off for y in both.support | alone.support)
