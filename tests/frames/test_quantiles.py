"""Quantiles by key: every reading, on every engine, against plain Python; and their privacy."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import narwhals as nw
import polars as pl
import pytest

from exactdp import mechanisms
from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from exactdp.frames import CountsAndQuantiles, KeyedHash, Mean, Quantile, Sum, release, release_by
from exactdp.frames.cells import cells_of
from exactdp.frames.question import read_question
from exactdp.frames.reading import Reading
from exactdp.samplers import SeededSource
from tests.frames.reference import ENGINES, Row, chosen, frame_of, listed
from tests.frames.test_values import rows_of, share_and_weight

F = Fraction
_CALL: dict[str, Any] = {"user": "uid", "by": "url"}
_TARGET: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


def points_of(reading: Reading, amounts: list[Any]) -> list[int]:
    """Where the values of one user for one key count."""
    if reading.of != "rows":
        share, weight = share_and_weight(reading, amounts)
        return [share] * weight
    steps = sorted(rows_of(reading, amounts))
    n, w = len(steps), min(len(steps), reading.most or 1)
    return [steps[(2 * i + 1) * n // (2 * w)] for i in range(w)]


def random_reading(seed: int) -> tuple[list[Row], Reading, int]:
    """Rows with gaps, repetitions and far values; a reading; and a number of keys per user."""
    rng = random.Random(seed)
    step = rng.choice([F(1), F(1, 2), F(1, 10)])
    low = rng.choice([0, -4, 2]) * step
    of = rng.choice(["rows", "rows", "users", "sums"])
    most = rng.choice([1, 2, 3, 50]) if of == "rows" else None
    missing: Any = rng.choice(["drop", "drop", low])
    reading = Reading(low, low + rng.choice([1, 5, 12]) * step, step, of, missing, most)
    far = [None, math.nan, -99, 99, math.inf]
    rows = [
        (
            rng.choice([None, *range(6)]),
            rng.choice([None, "a", "b", "é"]),
            rng.choice([*far, *(x / 4 for x in range(-9, 40))]),
        )
        for _ in range(rng.choice([0, 3, 40, 150]))
    ]
    return rows, reading, rng.choice([1, 2, 3])


def counted(rows: list[Row], reading: Reading, k: int, keyed: KeyedHash) -> dict[Any, Any]:
    """Key -> point, from 0 on -> number of values, in plain Python."""
    amounts: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    for user, key, amount in rows:
        amounts[user, key].append(amount)
    true: dict[Any, Counter[int]] = {key: Counter() for key in ("a", "b", "é")}
    low = int(reading.low / reading.step)
    for user, keys in chosen(rows, k, keyed).items():
        for (key,) in keys:
            true[key].update(point - low for point in points_of(reading, amounts[user, key]))
    return true


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(200))
def test_every_engine_places_values_as_plain_python(seed: int) -> None:
    rows, reading, k = random_reading(seed)
    keyed = KeyedHash.draw(SeededSource(seed))
    true = counted(rows, reading, k, keyed)
    for engine in ENGINES:
        frame = frame_of(engine, rows, "integers", amount="numbers")
        question = read_question(frame, **_CALL, passes=1 + seed % 2)
        cells = cells_of(question, "amount", reading, k, keyed)
        assert cells.of_keys(true) == true, engine


def crowd() -> list[Row]:
    """400 users, each with two rows for "a" and one for "b"; the values are far from each other."""
    rows: list[Row] = []
    for user in range(400):
        value = 20 if user % 4 else 70
        rows += [(user, "a", value), (user, "a", value), (user, "b", value + 1)]
    return rows


@pytest.mark.few(2)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_release_has_the_quantiles(engine: str) -> None:
    """Three quarters of the values are 20, the others 70, and epsilon is large: each quantile is
    off with a probability below e^-30."""
    frame = frame_of(engine, crowd(), "integers")
    quantiles = {"amount": Quantile(["0.5", "0.9", "0.125"], 0, 100, of="rows", most=2)}
    out = release(frame, **_CALL, k=2, epsilon=16, delta="1e-6", quantiles=quantiles)
    held = out.frame.compute() if engine == "dask" else out.frame
    schema = nw.from_native(held).collect_schema()
    columns = ["amount_q12_5", "amount_q50", "amount_q90"]
    assert schema.names() == ["url", "count", *columns]
    assert all(schema[name] == nw.Int64 for name in columns)
    assert [row[2:] for row in listed(out.frame)] == [(20, 20, 70), (21, 21, 71)]
    assert out.errors.keys() == set(columns)
    assert all(len(set(bound)) == 1 and bound[0] < 20 for bound in out.errors.values())
    assert out.guarantee.checked[-1] == (
        "quantiles of amount over at most 2 rows, each within [0, 100]"
    )


def test_the_guarantee_names_the_values_of_one_user_that_it_needs() -> None:
    """With more of them the choices would lose more than is proved."""
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    frame = frame.with_columns(pay=pl.col("amount") * 2)
    quantiles = {
        "amount": Quantile(["0.5", "0.9"], 0, 100, of="rows", most=3),
        "pay": Quantile("0.5", 0, 200, of="users"),
    }
    out = release(frame, **_CALL, k=2, **_TARGET, quantiles=quantiles)
    assert out.guarantee.neighbours == (
        "add-remove neighbours: one user added or removed, changing at most k = 2 counters by one "
        "each, and at most so many values for each key: 3 for amount_q50 and amount_q90, 1 for "
        "pay_q50"
    )
    bounds = {bound["what"]: bound["at_most"] for bound in out.bounds}
    assert bounds["values of amount of one user for one key that count"] == 3
    assert bounds["values of pay of one user for one key that count"] == 1


def test_known_keys_are_all_released_and_a_key_without_values_is_uniform() -> None:
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    quantiles = {"amount": Quantile("0.5", 0, 100, "0.5", of="users")}
    out = release(frame, **_CALL, k=3, **_TARGET, keys=["a", "b", "z"], quantiles=quantiles)
    assert out.frame["url"].to_list() == ["a", "b", "z"]
    assert out.frame["amount_q50"].dtype == pl.Float64
    assert all(0 <= value <= 100 for value in out.frame["amount_q50"])


def test_bounds_enclose_the_quantiles() -> None:
    """Each bound fails with a probability of at most 5 %, and here of far less."""
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    quantiles = {"amount": Quantile("0.5", 0, 100, of="users", interval=True)}
    out = release(frame, **_CALL, k=2, epsilon=8, delta="1e-6", quantiles=quantiles)
    for low, middle, high in out.frame.select(pl.selectors.starts_with("amount_q50")).rows():
        assert low <= middle or middle <= high
    rows = {row["url"]: row for row in out.frame.to_dicts()}
    assert rows["a"]["amount_q50_low"] <= 20 <= rows["a"]["amount_q50_high"]
    assert rows["b"]["amount_q50_low"] <= 21 <= rows["b"]["amount_q50_high"]
    assert out.errors.keys() == {"amount_q50"}


def test_quantiles_beside_sums_and_means_of_the_same_column() -> None:
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    out = release(
        frame,
        **_CALL,
        k=2,
        **_TARGET,
        means={"amount": Mean(0, 100, of="users", missing=0)},
        quantiles={"amount": Quantile("0.5", 0, 100, of="users")},
    )
    assert out.frame.columns == ["url", "count", "amount", "amount_q50"]
    assert [bound["what"] for bound in out.bounds] == [
        "keys of one user",
        "absolute mean of amount, less 50, of one user for one key",
        "values of amount of one user for one key that count",
    ]


def test_a_checker_recomputes_the_guarantee_and_trusts_no_promise() -> None:
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    quantiles = {"amount": Quantile(["0.25", "0.5"], 0, 100, of="users")}
    out = release(frame, **_CALL, k=2, **_TARGET, quantiles=quantiles)
    statement = out.statement
    assert [each["mechanism"] for each in statement.fields["releases"]] == ["finite-law"] * 2
    assert [each["times"] for each in statement.fields["releases"]] == [1, 4]
    (claim,) = statement.fields["claims"]
    assert F(claim["epsilon"]) == 1
    assert F(claim["at_most"]) <= F("1e-6")
    verdict = str(statement.check())
    assert verdict.startswith("valid: 1 claim follows")
    assert "trust" not in verdict


@pytest.mark.parametrize("listed_keys", [None, 4])
def test_the_guarantee_covers_the_composition_and_uses_most_of_the_target(
    listed_keys: int | None,
) -> None:
    """The same counts and choices, composed by their exact curves, have a smaller delta."""
    counts: Any = mechanisms.GSHM.for_target(k=3, epsilon="0.5", delta="5e-7")
    loss = pld.gshm(k=3, sigma=counts.sigma, tau=counts.tau)
    if listed_keys:
        counts = mechanisms.KnownKeys.for_target(k=3, epsilon="0.5", delta="5e-7")
        loss = pld.discrete_gaussian(sigma2=counts.sigma2).composed(3)
    quantiles = {"v": Quantile(["0.5", "0.9"], 0, 9, of="users")}
    both = CountsAndQuantiles.for_target(counts, quantiles, **_TARGET)
    choices = pld.exponential(epsilon=both.width).composed(6)
    whole = pld.Pld((*loss.steps, *choices.steps), pld.ADD_REMOVE, "test")
    assert both.runs == 6
    assert whole.delta(1).lower <= both.guarantee.delta.upper <= F("1e-6")
    assert both.guarantee.delta.upper > F("8e-7")
    assert both.width > F("0.5") / 6  # more than what is left of epsilon by addition


def test_a_budget_pays_for_counts_and_quantiles_before_noise_is_drawn() -> None:
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    quantiles = {"amount": Quantile("0.5", 0, 100, of="users")}
    paid: list[Any] = []
    counts = mechanisms.GSHM.for_target(k=2, epsilon="0.5", delta="5e-7")
    both = CountsAndQuantiles.for_target(counts, quantiles, **_TARGET)

    class Silent(SeededSource):
        def inverse_cdf(self, cdf: Any) -> int:
            assert paid
            return super().inverse_cdf(cdf)

    out = release_by(
        frame, **_CALL, mechanism=both, source=Silent(1), pay=paid.append, quantiles=quantiles
    )
    assert paid == [out.guarantee]
    assert out.guarantee.epsilon == 1


def test_choices_of_other_quantiles_are_refused() -> None:
    """A mechanism for one value of a user is none for five, nor is one for counts alone."""
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    columns = {"amount": Quantile("0.5", 0, 100, of="users")}
    more = {"amount": Quantile("0.5", 0, 100, of="rows", most=5)}
    counts = mechanisms.GSHM.for_target(k=2, epsilon="0.5", delta="5e-7")
    both = CountsAndQuantiles.for_target(counts, columns, **_TARGET)
    for quantiles, mechanism in ((more, both), ({}, both), (columns, counts)):
        with pytest.raises(InvalidParameter, match=r"quantiles|mechanism"):
            release_by(
                frame,
                **_CALL,
                mechanism=mechanism,
                source=SeededSource(1),
                quantiles=quantiles,
            )
    wide = {**both.columns, "other": replace(both.columns["amount_q50"], epsilon=9)}
    with pytest.raises(InvalidParameter, match="choices of one epsilon"):
        replace(both, columns=wide)


_HALF: dict[str, Any] = {"epsilon": "0.5", "delta": "5e-7"}


@pytest.mark.parametrize(
    ("counts", "name"),
    [
        (mechanisms.TopK.for_target(top=3, **_HALF), "counts"),
        (mechanisms.SIPS.for_target(k=2, counts="1/2", **_HALF), "counts"),
        (mechanisms.PartitionSelection.for_target(k=2, **_HALF), "counts"),
        (mechanisms.GSHM.for_target(k=2, epsilon=1, delta="5e-7"), "epsilon"),
    ],
)
def test_counts_that_cannot_share_a_target_are_refused(counts: Any, name: str) -> None:
    """Users without a bound on their keys, selections, and counts that need all of epsilon."""
    quantiles = {"amount": Quantile("0.5", 0, 100, of="users")}
    with pytest.raises(InvalidParameter) as refusal:
        CountsAndQuantiles.for_target(counts, quantiles, epsilon=1, delta="1e-6")
    assert refusal.value.name == name


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ({"quantiles": {"amount": 0.5}}, "quantiles['amount']"),
        ({"quantiles": {"amount": Mean(0, 9, of="users")}}, "quantiles['amount']"),
        ({"quantiles": [1]}, "quantiles"),
        ({"quantiles": {"none": Quantile("0.5", 0, 9, of="users")}}, "quantiles"),
        ({"share": 1}, "share"),
        ({"share": 0}, "share"),
        ({"selection": "sips"}, "selection"),
        ({"top": 3, "k": None}, "top"),
    ],
)
def test_impossible_questions_are_refused(question: dict[str, Any], name: str) -> None:
    frame = pl.DataFrame(crowd(), schema=["uid", "url", "amount"], orient="row")
    call = {"k": 2, "quantiles": {"amount": Quantile("0.5", 0, 9, of="users")}, **question}
    with pytest.raises(InvalidParameter) as refusal:
        release(frame, **_CALL, **_TARGET, **call)
    assert refusal.value.name == name


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"q": "1.1"}, "q"),
        ({"q": "0.33333"}, "q"),
        ({"q": []}, "q"),
        ({"of": None}, "of"),
        ({"of": "rows"}, "most"),
        ({"low": 9}, "low, high"),
        ({"interval": 1}, "interval"),
        ({"missing": 70}, "missing"),
    ],
)
def test_impossible_quantiles_are_refused(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        Quantile(**{"q": "0.5", "low": 0, "high": 9, "of": "users", **arguments})
    assert refusal.value.name == name


def test_a_question_without_a_reading_names_all_readings() -> None:
    with pytest.raises(InvalidParameter, match=r"over all rows.*over users.*over users"):
        Quantile("0.5", 0, 9)


def test_sums_say_nothing_of_quantiles() -> None:
    assert Sum(0, 9, of="users").described("v") == "sums of v over users: means within [0, 9]"
