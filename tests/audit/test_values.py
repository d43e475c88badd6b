"""Outputs of common types become values that are equal in every process; others are refused."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
import threading
from collections import Counter, OrderedDict, namedtuple
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.audit import Event, audit
from exactdp.audit.outputs.batch import Outputs, as_outputs
from exactdp.audit.outputs.copies import fingerprint
from exactdp.audit.outputs.features import column
from exactdp.audit.values import common, encoded, types_of
from tests.audit.mechanisms import Colour, Point, Told

Pair = namedtuple("Pair", "a b")


class Flags(enum.IntFlag):
    ONE = 1


class Titled(list[int]):
    def __init__(self, items: list[int], title: str | None = None) -> None:
        super().__init__(items)
        self.title = title


def distinct() -> list[list[Any]]:
    """Groups of values that an observer can tell apart, whatever Python's == says."""
    return [
        [1, 1.0, True, "1", b"1", Decimal(1), Fraction(1), 1 + 0j, np.float32(1), np.int64(1)],
        [0.0, -0.0, 0, False, None, "", b"", (), [], {}, set()],
        [Colour.RED, Colour.GREEN, "Colour.RED", Flags(8), Flags(16)],
        [date(2024, 1, 1), date(2024, 1, 2), datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC),
         "2024-01-01"],
        [timedelta(1), timedelta(0, 1), timedelta(0, 0, 1), time(1), time(2)],
        [1 + 2j, 2 + 1j, complex("nan"), np.complex64(3)],
        [Decimal("1.0"), Decimal("1.00"), Decimal("NaN"), Decimal("Infinity"), Decimal("-0")],
        [Point(1, 2), Point(1, 3), Point(1.0, 2), Point(0.0, 2), Point(-0.0, 2), Pair(1, 2)],
        [(1, 2), [1, 2], {1, 2}, frozenset({1, 2}), {1: 2}, {1.0, 2}, {1.0: 2}, {np.int64(1): 2}],
        [{np.int64(1), 2}, {1, np.int64(2)}, range(2), [0, 1], Titled([0, 1]), Titled([0, 1], "a")],
        [ValueError("a"), ValueError("b"), TypeError("a"), ValueError("a", 1), ValueError(1)],
        [{"a": ({"b": 1},)}, {"a": ({"b": 2},)}, {"a": {"b": 1}}, {"a": ({"b": 1, "c": 0},)}],
        [OrderedDict(a=1, b=2), {"a": 1, "b": 2}, {"b": 2, "a": 1}, Counter("ab")],
        [np.array([1, 2]), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([[1], [2]])],
        [np.array(["a", None], dtype=object), np.array(["a", "b"]), np.array([b"a"]),
         np.array([["a", None]], dtype=object)],
        [np.array([0.0, 1]), np.array([-0.0, 1]), np.array([1, 0.0])],
        [np.datetime64("2024-01-01"), np.datetime64("2024-01-01T00"), np.timedelta64(1, "s"),
         np.timedelta64(1, "ms")],
        [np.longdouble(1) + np.finfo(np.longdouble).eps, np.longdouble(1), np.float16(1)],
        [np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.ma.array([1, 2], mask=[0, 1])],
        [2**53, 2**53 + 1, 2**64 + 1, 2**64, float(2**64), np.uint64(2**64 - 1)],
        [float("nan"), float("inf"), None, "nan", UUID(int=1), UUID(int=2), int, float],
    ]  # fmt: skip


def seen(value: Any) -> tuple[str, str]:
    """All that events can look at: the value, the types, and the order of keys."""
    order = common(tuple(value)) if isinstance(value, dict) else ()
    return json.dumps([encoded(common(value)), encoded(order)]), types_of(value)


@pytest.mark.parametrize("values", distinct(), ids=lambda values: str(values[0])[:30])
def test_what_can_be_told_apart_is_told_apart(values: list[Any]) -> None:
    forms = [seen(value) for value in values]
    assert len(set(forms)) == len(forms), forms
    for value in values:
        same = common(value)
        assert same == common(value)
        assert hash(same) == hash(common(value))
        event = Event.output(value)
        assert Event.from_dict(json.loads(json.dumps(event.as_dict()))) == event
        assert event.hits([value, "something else"]).tolist() == [True, False]


@pytest.mark.slow
def test_values_are_the_same_in_every_process() -> None:
    """Of values and of fingerprints, in a process with a fixed seed of hashes, unlike this one."""
    code = "from tests.audit.test_values import everything\nprint(everything())"
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    assert there.stdout == f"{everything()}\n"


def everything() -> list[Any]:
    sets = as_outputs([{"k": i, "x": {"a", f"b{i}", "c"}} for i in range(64)])
    return [fingerprint(sets), *(seen(value) for values in distinct() for value in values)]


def a_loop() -> list[Any]:
    loop: list[Any] = []
    loop += [loop, loop]
    return loop


@pytest.mark.parametrize(
    "value",
    [object(), threading.Lock(), iter([1]), lambda: 0, a_loop(), {"a": (object(),)},
     np.array([object()]), ValueError(object()), np.random.default_rng(0)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_other_values_are_refused_and_the_remedy_is_named(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="give features="):
        common(value)
    with pytest.raises(InvalidParameter, match="give features="):
        audit(lambda data, n: [value if i % 2 else 0 for i in range(n)], 0, 1, samples=500)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")

    def frame(**changes: Any) -> Any:
        return pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]} | changes)

    values = [
        frame(), frame(a=[1, 3]), frame(a=[1.0, 2.0]), frame(b=["x", None]), frame(c=0),
        frame().set_index("b"), frame().rename(columns={"a": "c"}), frame()["a"], frame()["b"],
        frame().iloc[::-1], pandas.Timestamp("2024-01-01"), pandas.Timestamp(0, tz="UTC"),
        pandas.Timedelta(1, "s"), frame().set_axis([0.0, 1.0]), pandas.Series({"names": 1}),
        pandas.DataFrame(range(10_000)), pandas.DataFrame([*range(9_999), 0]),
    ]  # fmt: skip
    assert len({seen(value) for value in values}) == len(values)
    assert seen(frame()) == seen(frame())


def test_polars_and_arrow() -> None:
    polars = pytest.importorskip("polars")

    def frame(**changes: Any) -> Any:
        return polars.DataFrame({"a": [1, 2], "b": ["x", "y"]} | changes)

    values = [frame(), frame(a=[1, 3]), frame(a=[1.0, 2.0]), frame(b=["x", None]), frame()["a"],
              frame().rename({"a": "c"}), polars.DataFrame({"a": range(10_000)}),
              polars.DataFrame({"a": [*range(9_999), 0]})]  # fmt: skip
    if pytest.importorskip("pyarrow"):
        values += [frame().to_arrow(), frame(a=[1, 3]).to_arrow(), frame()["a"].to_arrow()]
    assert len({seen(value) for value in values}) == len(values)
    with pytest.raises(InvalidParameter, match="give features="):
        common(frame().lazy())


#: Each is found by another family of features; the other groups above differ in value or types.
LEAKS: list[tuple[Any, Any]] = [
    (Colour.RED, Colour.GREEN),
    (Point(1, 2), Point(1, 3)),
    (ValueError("a"), 3),
    (({"a": ({"b": 1},)},), ({"a": ({"b": 2},)},)),
    ({"a": {1, 2}}, {"a": {1, 3}}),
    (1, 1.0),
    (0.0, -0.0),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (2**90, 2**90 + 1),
    (np.zeros((2, 2)), np.eye(2)),
    ((float("nan"), 1), (float("nan"), 2)),
    ("the answer is no", "the answer is yes"),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("values", LEAKS, ids=lambda values: str(values)[:30])
def test_a_leak_in_values_of_any_type_is_found(values: tuple[Any, Any]) -> None:
    report = audit(Told(3, values), 0, 1, samples=3000)
    assert report.violation
    again = Event.from_dict(json.loads(json.dumps(report.event.as_dict())))
    side = report.direction == "left"
    assert again.hits(list(values) if side else [*values[::-1]]).tolist() == [True, False]


WIDE = st.integers(-(2**80), 2**80) | st.integers(-5, 5) | st.floats(allow_nan=False) | st.none()


@given(st.lists(WIDE, min_size=1, max_size=6), WIDE.filter(lambda v: v is not None))
def test_numbers_compare_exactly_whatever_stands_beside_them(values: list[Any], cut: Any) -> None:
    """Python compares integers with floats exactly; so do events, in batches of any type."""
    for relation, holds in (("at least", lambda v: v >= cut), ("at most", lambda v: v <= cut)):
        event = Event(("number", 0), relation, cut)
        expected = [v is not None and holds(v) for v in values]
        assert event.hits(values).tolist() == expected
        assert [bool(event.hits([v])[0]) for v in values] == expected
    for modulus in (2, 13, 2**40):
        whole = [v for v in values if isinstance(v, int)]
        residues = column(as_outputs([(v,) for v in whole]), ("residue", ("number", 0), modulus))
        assert residues.tolist() == [v % modulus for v in whole]
        if whole:
            single = column(as_outputs(whole), ("residue", ("number", 0), modulus))
            assert single.tolist() == [v % modulus for v in whole]


def test_batches_of_different_types_keep_them_when_joined() -> None:
    batches = [as_outputs([1, 2]), as_outputs([1.0, -0.0]), as_outputs(np.array([1.0, 2.0]))]
    joined = Outputs.joined(batches)
    assert joined.types == ["int", "int", "float", "float", "float64", "float64"]
    assert joined.types == [one for batch in batches for one in batch.types]
    assert Outputs.joined([as_outputs([1]), as_outputs([2])]).matrix is not None


def test_types_and_values_do_not_depend_on_the_batch() -> None:
    arrays = [np.array([0.0, 1]), np.array([-0.0, 1]), np.array([2.0, 1])]
    for outputs in ([1.5, -0.0], arrays, [np.array([3]), np.array([4])], [np.float32(1)] * 2):
        together = as_outputs(outputs)
        assert together.matrix is not None
        assert together.types == [types_of(one) for one in outputs]
        assert together.items == [common(one) for one in outputs]


def test_a_hit_does_not_depend_on_the_batch_for_nested_outputs() -> None:
    mixed = [{"a": ("two words 17", 1)}, ("x", b"\x07"), {"a": {("b", 1), ("b", 2)}}, 2**70, -0.0,
             Point(1, 2), "17 words", None]  # fmt: skip
    features = [
        ("types",), ("value",), ("value", "a"), ("number", "a", 1),
        ("value", "x"), ("word", ("value", "a", 0), "words"), ("word", ("value",), "words"),
        ("number in text", ("value", "a", 0), 0), ("length", ("value", 1)), ("number", 1, 0),
        ("negative zero", ("number", 0)),
    ]  # fmt: skip
    for feature in features:
        together = column(as_outputs(mixed), feature).tolist()
        alone = [column(as_outputs([one]), feature)[0] for one in mixed]
        assert repr(together) == repr(
            [one.item() if hasattr(one, "item") else one for one in alone]
        )
    assert column(as_outputs(mixed), ("word", ("value", "a", 0), "words")).sum() == 1
    assert column(as_outputs(mixed), ("number in text", ("value", "a", 0), 0)).tolist()[0] == 17
    assert column(as_outputs(mixed), ("value", "y")).tolist()[5] == 2
    assert column(as_outputs(mixed), ("number", 1, 0)).tolist()[1] == 7
