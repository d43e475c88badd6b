"""No release from rows rests on a bound of the number of keys that nobody enforces."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import polars as pl
import pytest

from exactdp.frames import Sum, advise, release, release_by
from exactdp.frames.candidates import _TABLE, Target, mechanism_for
from exactdp.mechanisms import CSH, TopK, TopKWithBase, TopKWithSums
from exactdp.mechanisms.thresholded.shared_gaussian import CorrelatedNoise
from exactdp.samplers import SeededSource

TWELVE = pl.DataFrame(
    {"uid": [u for u in range(500) for _ in range(12)], "url": [*range(12)] * 500}
)


@pytest.mark.parametrize("name", _TABLE)
def test_no_mechanism_by_its_name_assumes_a_sparse_histogram(name: str) -> None:
    target = Target(
        1, "1e-6", k=3, top=3, listed=4 if name in ("known-keys", "correlated-gaussian") else None
    )
    mechanism, _ = mechanism_for(name, target)
    assert not isinstance(mechanism, CSH)
    assert "never has more" not in mechanism.guarantee.neighbours


@pytest.mark.parametrize("kind", [TopK, TopKWithBase, TopKWithSums])
def test_the_noise_is_added_to_no_more_counters_than_it_was_made_for(
    monkeypatch: pytest.MonkeyPatch, kind: type[TopK]
) -> None:
    mechanism = kind.for_target(top=3, epsilon=1, delta="1e-6")
    sizes = []
    plain = CorrelatedNoise.add_to

    def watched(self: Any, values: Any, source: Any) -> Any:
        sizes.append(len(list(values)))
        return plain(self, values, source)

    monkeypatch.setattr(CorrelatedNoise, "add_to", watched)
    sums = {"amount": Sum(-1, 1, of="sums")} if kind is TopKWithSums else None
    for keys in (2, 3, 4, 12):  # of 500, 480, 460, ... users
        rows = TWELVE.filter((pl.col("url") < keys) & (pl.col("uid") >= 20 * pl.col("url")))
        rows = rows.with_columns(amount=pl.lit(1))
        release_by(
            rows, user="uid", by="url", mechanism=mechanism, source=SeededSource(1), sums=sums
        )
    assert sizes == [2, 3, 3, 3]


def test_what_is_left_after_the_subtraction_is_sparse_and_moves_in_one_direction() -> None:
    """All neighbours of small histograms, by enumeration; any number of counters changes."""
    mechanism = TopK(2, 3, 12, 1, "0.1")

    def left(counts: tuple[int, ...]) -> list[int]:
        base = mechanism._base({x: c for x, c in enumerate(counts) if c})
        return [max(0, c - base) for c in counts]

    for counts in product(range(4), repeat=4):
        for size in range(1, 5):
            for changed in combinations(range(4), size):
                more = tuple(c + (x in changed) for x, c in enumerate(counts))
                before, after = left(counts), left(more)
                assert sum(c > 0 for c in before) <= 2
                moves = {b - a for a, b in zip(before, after, strict=True)}
                assert moves <= {0, 1} or moves <= {0, -1}
                touched = [x for x in range(4) if before[x] or after[x]]
                assert len(touched) <= 2


def test_two_mechanisms_that_answer_other_questions_and_the_advice() -> None:
    """Twelve keys of 500 users each: the GSHM releases all of them, the CSH none."""
    target: dict[str, Any] = {"user": "uid", "by": "url", "epsilon": 1, "delta": "1e-6"}
    assert len(release(TWELVE, **target, k=3, mechanism="gshm").frame) == 12
    assert len(release(TWELVE, **target, top=3, mechanism="top-k").frame) == 0
    with_base = release(TWELVE, **target, top=3, mechanism="top-k-with-base")
    assert len(with_base.frame) == 0
    assert with_base.base is not None
    assert 400 < with_base.base < 600
    advice = advise(epsilon=1, delta="1e-6", prior={3: 1})
    lines = {each.mechanism: each for each in advice.mechanisms}
    assert advice.best.k == 3
    assert lines["gshm"].left_out == 0
    for name in ("top-k", "top-k-with-base"):
        assert lines[name].left_out is None
        assert lines[name].cells[-1] == "all but 3 keys"
        assert lines[name].cells[3] == "any number of counters"
    assert lines["gshm"].cells[2:4] == ["one user added or removed", "at most k = 3 counters"]
    assert "If more than 3 keys share the largest count, both release none" in str(advice)
