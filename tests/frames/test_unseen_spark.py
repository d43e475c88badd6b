"""Changes that must not show, on Spark: collations, views, partitions, and the types' ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from exactdp import frames
from exactdp.frames import bounding, counting
from exactdp.mechanisms.thresholded import mechanism
from tests.frames.test_unseen import _collated, _plain
from tests.frames.unseen import NAMES, RELEASES, ROWS, Row, fixed_noise, rows, seen

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

_SCHEMA = "uid string, url string, day date, amount bigint"


@pytest.fixture(scope="module")
def session() -> Any:
    sql = pytest.importorskip("pyspark.sql")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield spark
    spark.stop()


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with fixed_noise(monkeypatch):
        yield


def _frame(session: Any, visits: list[Row]) -> Any:
    return session.createDataFrame(visits, _SCHEMA)


def _collated_frame(collation: str) -> Callable[[Any, list[Row]], Any]:
    def make(session: Any, visits: list[Row]) -> Any:
        frame = _frame(session, visits)
        texts = [f"collate({name}, '{collation}') AS {name}" for name in NAMES[:2]]
        return frame.selectExpr(*texts, *NAMES[2:])

    return make


def _view(session: Any, visits: list[Row]) -> Any:
    _frame(session, visits).createOrReplaceTempView("kept")
    return session.sql("SELECT * FROM kept")


COLLATIONS = [
    "UTF8_LCASE",
    "UNICODE",
    "UNICODE_CI",
    "UNICODE_AI",
    "UNICODE_CI_AI",
    "UTF8_BINARY_RTRIM",
]
KINDS: dict[str, Callable[[Any, list[Row]], Any]] = {
    "plain": _frame,
    "view": _view,
    "parts": lambda session, visits: _frame(session, visits).repartition(7),
    "one part": lambda session, visits: _frame(session, visits).coalesce(1),
    **{name: _collated_frame(name) for name in COLLATIONS},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("release", ["sums", "csh"])
def test_types_collations_and_pieces(session: Any, release: str, kind: str) -> None:
    assert seen(release, KINDS[kind](session, rows())) == _plain(release)


@pytest.mark.parametrize("release", [name for name in RELEASES if name != "sums"])
def test_every_release(session: Any, release: str) -> None:
    assert seen(release, KINDS["UNICODE_CI_AI"](session, rows())) == _plain(release)


@pytest.mark.parametrize("change", ROWS)
def test_rows_that_mean_the_same(session: Any, change: str) -> None:
    assert seen("sums", _frame(session, ROWS[change](rows()))) == _plain("sums")


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_settings(session: Any, ansi: str) -> None:
    before = session.conf.get("spark.sql.ansi.enabled")
    session.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert seen("sums", _frame(session, rows())) == _plain("sums")
        test_values_out_of_range_are_missing(session)
    finally:
        session.conf.set("spark.sql.ansi.enabled", before)


def test_values_out_of_range_are_missing(session: Any) -> None:
    far = ["make_date(0, 12, 31)", "make_date(-5, 1, 1)", "date_add(DATE '9999-12-31', 1)"]
    ends = ["DATE '0001-01-01'", "DATE '9999-12-31'"]
    amounts = ["DOUBLE('NaN')", "DOUBLE('Infinity')", "-1e308D", "0.25D", "CAST(NULL AS DOUBLE)"]
    days = [*far, *ends]
    parts = [
        f"SELECT {i} AS uid, 'a' AS url, {day} AS day, {amount} AS amount"
        for i, (day, amount) in enumerate(zip(days, amounts, strict=True))
    ]
    frame = session.sql(" UNION ALL ".join(parts))
    assert frames.count_users(frame, user="uid", by="day").counts == {date.min: 1, date.max: 1}
    totals = frames.count_users(
        frame, user="uid", by="url", sums={"amount": frames.Sum(-4, 4, "0.25", of="sums")}
    )
    assert totals.sums == {"a": (1,)}


def test_unsorted_output_is_noticed(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "sorted", list, raising=False)
    monkeypatch.setattr(mechanism, "in_order", list)
    with pytest.raises(AssertionError):
        assert seen("counts", _frame(session, ROWS["permuted"](rows()))) == _plain("counts")


@pytest.mark.parametrize("kind", ["UTF8_LCASE", "UNICODE_CI_AI"])
def test_collated_keys_are_noticed(
    session: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounding, "canonical", _collated)
    assert seen("csh", _frame(session, rows())) == _plain("csh")
    with pytest.raises(AssertionError):
        assert seen("csh", KINDS[kind](session, rows())) == _plain("csh")


@pytest.mark.parametrize("kind", ["DATE '{}'", "TIMESTAMP_NTZ '{} 23:59:59'"])
def test_periods_of_dates_and_times(session: Any, kind: str) -> None:
    """A week ends on Sunday."""
    days = [date(2013, 1, 31), date(2013, 2, 3), date(2013, 2, 4), date(2012, 12, 31)]
    parts = [f"SELECT {i} AS uid, {kind.format(day)} AS at" for i, day in enumerate(days)]
    frame = session.sql(" UNION ALL ".join(parts))
    expected = {
        "week": {date(2012, 12, 31): 1, date(2013, 1, 28): 2, date(2013, 2, 4): 1},
        "month": {date(2012, 12, 1): 1, date(2013, 1, 1): 1, date(2013, 2, 1): 2},
    }
    for period, counts in expected.items():
        assert frames.count_users(frame, user="uid", by=f"{period}:at").counts == counts
