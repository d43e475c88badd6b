"""Releases as mappings, and sketches that cannot be searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from exactdp.mechanisms import (
    ALP,
    GSHM,
    Combined,
    CompactHistogram,
    DenseLaplace,
    GSHMWithSums,
    HistogramALP,
    MaxProjection,
    Release,
    StabilityHistogram,
    Threshold,
)
from exactdp.mechanisms.projections.unary_projection import Sketch
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.samplers import GeoSample, SystemSource


def _released() -> dict[str, Mapping[Any, Any]]:
    source, geo = SystemSource(), GeoSample(n=900, epsilon=1)
    sums = GSHMWithSums.for_target(k=1, epsilon=1, delta="1e-3")
    large = Threshold(d=2**40, k=2, largest=1000, epsilon=1, t=100)
    return {
        "stability": StabilityHistogram(geo, 2**30, 20, "0.5").release({3: 500, 20: 400}, source),
        "gshm": GSHM(1, 2, 30, 1, "0.1").release({3: 500, 20: 400}, source),
        "sums": sums.release_sums({3: 500, 20: 400}, {3: [5], 20: [-7]}, source),
        "threshold": large.release({3: 500, 20: 400}, source),
    }


@pytest.mark.parametrize("name", ["stability", "gshm", "sums", "threshold"])
def test_a_release_is_a_mapping(name: str) -> None:
    release = _released()[name]
    bins = release.bins  # type: ignore[attr-defined]
    plain = dict(bins)
    assert {3, 20} <= set(plain)
    assert isinstance(release, Mapping)
    assert list(release) == list(release.keys()) == sorted(plain)
    assert list(release.items()) == list(bins)
    assert list(release.values()) == [value for _, value in bins]
    assert len(release) == len(plain)
    assert release == plain
    assert dict(release) == plain
    assert release != {**plain, 3: -1}
    assert 3 in release
    assert release[3] == plain[3] == release.get(3)
    absent = next(x for x in range(50, 10**6) if x not in plain)
    assert absent not in release
    assert release[absent] == 0
    assert release.get(absent) is None
    assert release.get(absent, 7) == 7
    assert hash(release) == hash(_copy(release))


def _copy(release: Any) -> Any:
    return type(release)(*(getattr(release, name) for name in release.__dataclass_fields__))


def test_a_look_up_does_not_build_anything() -> None:
    """The pairs are gone through once, not at every look-up."""

    class Once(tuple[Any, ...]):
        read = 0

        def __iter__(self) -> Any:
            Once.read += 1
            return super().__iter__()

    guarantee = GSHM(1, 2, 30, 1, "0.1").guarantee
    release = Release(Once((x, x + 1) for x in range(1000)), guarantee)
    assert [release[x] for x in range(1000)] == list(range(1, 1001))
    assert all(x in release for x in range(1000))
    assert Once.read <= 1


VECTOR = {3: 5, 2**20: 7}
EVERYWHERE: dict[str, Callable[[], Any]] = {
    "sketch": lambda: ALP(d=2**64, k=2, s=10, largest=10, epsilon=1).project(
        VECTOR, SystemSource()
    ),
    "threshold sketch": lambda: Combined.of(d=2**40, k=2, largest=1000, epsilon=2).project(
        VECTOR, SystemSource()
    ),
    "rows": lambda: MaxProjection(d=2**64, k=2, s=10, largest=100, epsilon=1).project(
        VECTOR, SystemSource()
    ),
    "dense": lambda: DenseLaplace(d=50, k=2, largest=100, epsilon=1).project(
        {3: 5}, SystemSource()
    ),
    "compact": lambda: CompactHistogram.of(n=12, epsilon=1, universe=2**20 + 1, beta="0.1").release(
        {3: 5, 2**20: 7}, SystemSource()
    ),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_what_has_a_value_everywhere_is_neither_searched_nor_listed(name: str) -> None:
    sketch = EVERYWHERE[name]()
    assert sketch[3] is not None
    for ask in (lambda: 2**21 in sketch, lambda: list(sketch), lambda: -1 in sketch):
        with pytest.raises(TypeError, match="ask for"):
            ask()


def _plain_row(hashes: UniversalHashes, key: int, level: int) -> int:
    """The row by the formulas of the module's page, in Python's integers."""
    w = hashes.word_bits
    half, words = 1 << w // 2, [int(x) for x in hashes.words[level]]
    x = [key >> (w // 2 * i) & half - 1 for i in range(len(words) - 1)]
    total = words[-1]
    for i in range(0, len(x), 2):
        total += (x[i + 1] + words[i]) * (x[i] + words[i + 1])
    return ((total % (1 << w)) >> w // 2) * hashes.s // half


def _plain_estimate(sketch: Sketch, key: int) -> Fraction:
    """Algorithm 3 of ALP, in Python's integers, for cells of one width that are not ramps."""
    mechanism, bits = sketch.mechanism, sketch.bits.tolist()
    total, sums = 0, [0]
    for level in range(mechanism.levels):
        where = mechanism.s * level + _plain_row(sketch.hashes, key, level)
        total += 1 if bits[where // 8] >> where % 8 & 1 else -1
        sums.append(total)
    tops = [step for step, value in enumerate(sums) if value == max(sums)]
    return min(Fraction(sum(tops), len(tops)) * mechanism.cells.width, Fraction(mechanism.largest))


@pytest.mark.parametrize("d", [2**40, 2**64, 2**200])
def test_one_estimate_is_that_of_plain_integers(d: int) -> None:
    sketch = HistogramALP(d=d, k=20, s=100, largest=40, epsilon=1).project(
        {7 * i + (d - 1) // 3: i % 40 + 1 for i in range(20)}, SystemSource()
    )
    for key in [0, 1, d - 1, *((d - 1) // 3 + i for i in range(141))]:
        assert sketch[key] == _plain_estimate(sketch, key)
