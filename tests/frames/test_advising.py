"""Advice: noise beside what a bound leaves out, from public data, a prior, or a noisy look."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest

from exactdp import InvalidParameter, frames
from exactdp.accounting import pld
from exactdp.accounting.pld import Exhausted
from exactdp.mechanisms import GSHM
from exactdp.samplers import SeededSource
from tests.frames.reference import Row, few, frame_of

TARGET = {"epsilon": 1, "delta": "1e-6"}
PLAIN = {"user": "uid", "by": "url"}


def some(sizes: dict[int, int]) -> list[Row]:
    """Users with numbers of keys: number of keys -> number of users."""
    rows, user = [], 0
    for size, users in sizes.items():
        for _ in range(users):
            user += 1
            rows += [(user, f"k{i}", 0) for i in range(size)]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("engine", few("polars", "pandas"))
def test_public_data_are_read_exactly(engine: str) -> None:
    frame = frame_of(engine, some({1: 30, 4: 10, 12: 5}), "integers")
    advice = frames.advise(frame, **PLAIN, **TARGET, public=True, count=100)
    # 30 + 40 + 60 pairs; k = 3 leaves out 10 + 45
    lost = {row.k: row.left_out for row in advice.bounds}
    assert lost[3] == Fraction(10 + 45, 130)
    assert lost[10] == Fraction(10, 130)
    assert max(lost) == 12
    assert lost[12] == 0
    for row in advice.bounds:
        mechanism = GSHM.for_target(k=row.k, **TARGET)
        assert (row.noise, row.above) == (mechanism.accuracy("0.05").per_query, 1 + mechanism.tau)
        assert row.error == row.noise + 100 * lost[row.k]
    assert advice.best == min(advice.bounds, key=lambda row: row.error)
    assert advice.guarantee is None


@pytest.mark.slow
def test_nothing_is_read_for_free() -> None:
    class Untouchable:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"{name} was read")

    for more in ({}, {"prior": {1: 2, 5: 1}}):
        advice = frames.advise(Untouchable(), **PLAIN, **TARGET, **more)
        assert advice.guarantee is None
    assert "say how many keys users have" in frames.advise(**TARGET).said
    known = frames.advise(**TARGET, listed=3, prior={1: 1})
    assert [row.k for row in known.bounds] == [1]
    assert known.bounds[0].above is None


@pytest.mark.slow
def test_a_noisy_look_costs_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """2000 users with 2 keys and 1000 with 12: k = 2 leaves out 10000 of 16000 pairs."""
    monkeypatch.setattr("exactdp.frames.advising.require_secure", lambda source: None)
    frame = frame_of("polars", some({2: 2000, 12: 1000}), "integers")
    budget = pld.Budget(epsilon="0.2", delta=0)
    call = {**PLAIN, **TARGET, "spend": "0.2", "most": 30, "source": SeededSource(3)}
    advice = frames.advise(frame, **call, budget=budget)
    assert str(advice.guarantee).startswith("(0.2, 0)-DP for add-remove neighbours")
    lost = {row.k: float(row.left_out or 0) for row in advice.bounds}
    assert abs(lost[2] - 0.62) < 0.08  # 12 keys count as (11 + 15)/2, noise has scale 5
    assert lost[30] < 0.02
    left = GSHM.for_target(k=2, epsilon="0.8", delta="1e-6").accuracy("0.05").per_query
    assert next(row.noise for row in advice.bounds if row.k == 2) == left
    with pytest.raises(Exhausted):
        frames.advise(frame, **call, budget=budget)


def test_the_look_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """One user more changes one of the noisy numbers, by one."""
    from exactdp.frames import advising

    scales = []

    def silent(self: Any, source: Any) -> int:
        scales.append(self.scale)
        return 0

    monkeypatch.setattr(advising.DiscreteLaplace, "sample", silent)
    numbers = []
    for sizes in ({1: 5, 9: 4}, {1: 5, 9: 4, 70: 1}):
        frame = frame_of("polars", some(sizes), "integers")
        numbers.append(
            advising._noisy(frame, "uid", "url", Fraction(1, 2), 20, SeededSource(1), None)
        )
    changed = [b - a for a, b in zip(*(n.values() for n in numbers), strict=True)]
    assert sorted(changed) == [0] * (len(changed) - 1) + [1]
    assert set(scales) == {2}  # of noise with epsilon = 1/2 for a change of 1
    assert len(numbers[0]) == 8  # ranges up to 1, 2, 3, 5, 7, 10, 15, 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": {}}, "prior must be"),
        ({"prior": {0: 1}}, "prior must be"),
        ({"prior": {2: -1}}, "prior must be"),
        ({"prior": {1: 1}, "public": True}, "public must be given alone"),
        ({"spend": 1}, "spend must be"),
        ({"spend": "0.1", "most": 1}, "most must be"),
        ({"count": 0}, "count must be"),
    ],
)
def test_questions_without_an_answer(change: dict[str, Any], message: str) -> None:
    frame = pl.DataFrame({"uid": [1], "url": ["a"]})
    with pytest.raises(InvalidParameter, match=message):
        frames.advise(frame, **PLAIN, **{**TARGET, **change})


def test_advice_counts_the_noise_of_sums_and_means() -> None:
    """The noise of counts grows as that of the release does, and the errors are those of a release
    whose mean lies at an end of its range."""
    means = {"hdl": frames.Mean(0, 200, of="rows", most=2)}
    sums = {"cost": frames.Sum(0, 10, "0.01", of="users", missing=0)}
    plain = frames.advise(**TARGET, prior={2: 1})
    advice = frames.advise(**TARGET, prior={2: 1}, means=means, sums=sums, count=500)
    assert advice.best.k == 2
    assert advice.best.noise > plain.best.noise
    assert [name for name, *_ in advice.tables[2][2]] == ["cost", "hdl"]
    rows = [(u, "a", 200, "1.5") for u in range(500) for _ in range(2)]
    frame = pl.DataFrame(rows, ["uid", "url", "hdl", "cost"], orient="row").cast(
        {"cost": pl.Float64}
    )
    out = frames.release(frame, user="uid", by="url", k=2, **TARGET, means=means, sums=sums)
    (of_mean,), (of_sum,) = out.errors["hdl"], out.errors["cost"]
    assert of_mean < advice.errors["hdl"][1]  # of twice as many values
    assert of_sum == advice.errors["cost"][1]
    assert "cost" in str(advice)
