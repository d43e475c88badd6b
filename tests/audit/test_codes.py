"""Every value has a code that is the same everywhere, or the audit says that it has none."""

from __future__ import annotations

import enum
import json
import re
import threading
from array import array
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.audit import Event, audit
from exactdp.audit.events.codes import decoded, encoded, text_of
from exactdp.audit.events.features import column
from exactdp.audit.events.forms import form
from exactdp.audit.events.outputs import Outputs, as_outputs
from exactdp.audit.events.plain import plain
from tests.audit.processes import printed
from tests.thinned import thinned


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntFlag):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Point:
    x: float
    y: float = field(repr=False)


class Slotted:
    __slots__ = ("__secret", "shown")

    def __init__(self, secret: int) -> None:
        self.shown, self.__secret = 1, secret


class Bare:
    def __init__(self, value: int) -> None:
        self.value = value


class Quiet(Bare):
    def __repr__(self) -> str:
        return "Quiet()"


Pair = namedtuple("Pair", "a b")
UTC = UTC


class Text(str):
    pass


class Number(int):
    pass


class Shaped(np.ndarray[Any, Any]):
    pass


def tagged(value: Any, tag: Any) -> Any:
    value.tag = tag
    return value


def because(cause: Any, context: Any = None) -> Exception:
    error = ValueError("a")
    error.__cause__, error.__context__, error.__suppress_context__ = cause, context, False
    return error


def distinct() -> list[list[Any]]:
    """Groups of values that an observer can tell apart, whatever Python's == says."""
    return [
        [1, 1.0, True, "1", b"1", Decimal(1), Fraction(1), 1 + 0j, np.float32(1), np.int64(1)],
        [0.0, -0.0, 0, False, None, "", b"", (), [], {}, set()],
        [Colour.RED, Colour.GREEN, Level.LOW, Level.LOW | Level.HIGH, Level(0), "RED"],
        [date(2024, 1, 1), date(2024, 1, 2), datetime(2024, 1, 1)],
        [datetime(2024, 1, 1, tzinfo=zone) for zone in (None, UTC, ZoneInfo("Europe/Paris"))],
        [datetime(2024, 1, 1), datetime(2024, 1, 1, fold=1), datetime(2024, 1, 1, 0, 0, 0, 1)],
        [timedelta(1), timedelta(0, 1), timedelta(0, 0, 1), time(1), time(2)],
        [1 + 2j, 2 + 1j, complex("nan"), np.complex64(3)],
        [Decimal("1.0"), Decimal("1.00"), Decimal("NaN"), Decimal("Infinity"), Decimal("-0")],
        [Point(1, 2), Point(1, 3), Pair(1, 2), (1, 2), [1, 2], SimpleNamespace(x=1, y=2)],
        [Slotted(1), Slotted(2), Bare(1), Bare(2), Quiet(1), Quiet(2)],
        [ValueError("a"), ValueError("b"), TypeError("a"), ValueError("a", 1), KeyError("a")],
        [{"a": ({"b": 1},)}, {"a": ({"b": 2},)}, {"a": {"b": 1}}, {"a": ({"b": 1, "c": 0},)}],
        [{1, 2}, frozenset({1, 3}), {(1, 2), (1, 3)}, {(1, 2)}, {1: 2}],
        [OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), Counter("ab"), deque([1]), range(3)],
        [np.array([1, 2]), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([[1], [2]])],
        [np.array(["a", None], dtype=object), np.array(["a", "b"]), np.array([b"a"])],
        [np.datetime64("2024-01-01"), np.datetime64("2024-01-01T00"), np.timedelta64(1, "s")],
        [np.longdouble(1) + np.finfo(np.longdouble).eps, np.longdouble(1), np.float16(1)],
        [np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.ma.array([1, 2], mask=[0, 1])],
        [2**53, 2**53 + 1, 2**64 + 1, 2**64, float(2**64), np.uint64(2**64 - 1)],
        [float("nan"), float("inf"), None, "nan"],
        [UUID(int=1), UUID(int=2), PurePosixPath("a"), PurePosixPath("b"), int, float, Ellipsis],
    ]  # fmt: skip


def alike() -> list[list[Any]]:
    """Groups of values that Python calls equal, or whose difference is out of sight."""
    return [
        [{1}, {1.0}, {True}, {np.float32(1)}, frozenset({1}), frozenset({1.0})],
        [Point(1, 2), Point(1.0, 2), Point(True, 2), Point(1, Point(2, 3)),
         Point(1, Point(2.0, 3))],
        [Point(0.0, [1]), Point(-0.0, [1]), Point(0.0, (1,)), Point(0, [1]), Point(0, [1.0])],
        [Point({"a": 1, "b": 2}, 0), Point({"b": 2, "a": 1}, 0), SimpleNamespace(a=1.0)],
        [Bare(1), Bare(1.0), Bare(True), Bare(2**60), Bare(float(2**60)), SimpleNamespace(a=1)],
        [ValueError(1), ValueError(1.0), because(KeyError(1)), because(KeyError(2)),
         because(None, KeyError(1)), because(None, KeyError(2))],
        [deque([1]), deque([1.0]), deque([1], maxlen=2), array("i", [1]), array("l", [1])],
        [array("d", [0.0]), array("d", [-0.0]), complex(0, 0.0), complex(0, -0.0)],
        [MappingProxyType({"a": 1}), MappingProxyType({"a": 1.0}), {"a": 1}.keys(),
         {"b": 1}.keys()],
        [MappingProxyType({"a": 1, "b": 1}), MappingProxyType({"b": 1, "a": 1})],
        [ChainMap({"a": 1}), ChainMap({}, {"a": 1}), ChainMap({"a": 1.0})],
        [defaultdict(int, a=1), defaultdict(list, a=1), {"a": 1}, Counter(a=1)],
        [tagged(Text("a"), 1), tagged(Text("a"), 2), Text("a"), "a", tagged(Text("a"), 1.0)],
        [tagged(Number(1), 1), tagged(Number(1), 2), Number(1), 1, True, np.bool_(True)],
        [tagged(np.zeros(2).view(Shaped), i) for i in (1, 2)],
        [np.array([1, "a"], dtype=object), np.array([1.0, "a"], dtype=object)],
        [np.array([0.0, 1]), np.array([-0.0, 1]), np.array([0.0, 1], dtype=complex),
         np.array([complex(0, -0.0), 1])],
        [np.zeros(1, dtype=[("a", int)]), np.zeros(1, dtype=[("b", int)])],
        [np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 3], mask=[0, 1])],
        [float("nan"), -float("nan"), np.array([np.nan, 1]), np.array([-np.nan, 1])],
        [re.compile("a" * 300), re.compile("a" * 299 + "b"), re.compile("a"),
         re.compile("a", re.I)],
        [b"abcd", memoryview(b"abcd"), memoryview(b"abcd").cast("i"),
         memoryview(b"abcd").cast("B", (2, 2))],
        [time(1), time(1, fold=1), time(1, tzinfo=UTC), slice(1), slice(1.0)],
        [timezone(timedelta(0), "A"), timezone(timedelta(hours=1), "A")],
    ]  # fmt: skip


def seen(value: Any) -> tuple[str, str]:
    """All that events can look at: the code, and the types."""
    return text_of(plain(value)), form(value)


@pytest.mark.parametrize("values", alike(), ids=lambda values: str(values[0])[:30])
def test_events_tell_what_equality_does_not(values: list[Any]) -> None:
    """A code and a form as events compare them: by equality, in which 1 is 1.0 and True."""
    found = [(plain(value), form(value)) for value in values]
    assert all(found[i] != found[j] for i in range(len(found)) for j in range(i)), found
    assert found == [(plain(value), form(value)) for value in values]


@pytest.mark.parametrize(
    "values", thinned(values[:2] for values in alike()), ids=lambda v: str(v[0])[:30]
)
def test_a_leak_that_equality_does_not_show_is_found(values: list[Any]) -> None:
    rng = np.random.default_rng(3)
    one, other = values
    report = audit(lambda data, n: told(data, n, rng, (one, other)), 0, 1, samples=2000)
    assert report.violation


@pytest.mark.parametrize("values", distinct(), ids=lambda values: str(values[0])[:30])
def test_what_can_be_told_apart_has_different_codes(values: list[Any]) -> None:
    codes = [seen(value) for value in values]
    assert len(set(codes)) == len(codes), codes
    for value in values:
        code = plain(value)
        assert code == plain(value)
        assert hash(code) == hash(plain(value))
        assert text_of(decoded(json.loads(json.dumps(encoded(code))))) == text_of(code)
        event = Event.output(value)
        assert Event.from_dict(json.loads(json.dumps(event.as_dict()))) == event
        assert event.hits([value]).tolist() == [True]
        assert event.hits([value, object, "something else"]).tolist() == [True, False, False]


def test_codes_are_the_same_in_every_process() -> None:
    code = (
        "from tests.audit.test_codes import distinct, seen\n"
        "print([seen(value) for values in distinct() for value in values])"
    )
    assert len(printed(code)) == 1


def a_loop() -> list[Any]:
    loop: list[Any] = []
    loop += [loop, loop]
    return loop


@pytest.mark.parametrize(
    "value",
    [object(), threading.Lock(), iter([1]), (i for i in ()), re.match("(a)b", "ab"),
     lambda: 0, Bare(object()), a_loop(), {"a": (object(),)},  # type: ignore[arg-type]
     np.array([object()]), ValueError(object()), np.random.default_rng(0)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_has_no_code_is_refused(value: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"address|contains itself|made of"):
        plain(value)
    with pytest.raises(InvalidParameter, match=r"address|contains itself|made of"):
        audit(lambda data, n: [value if i % 2 else 0 for i in range(n)], 0, 1, samples=500)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")

    def frame(**changes: Any) -> Any:
        return pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]} | changes)

    values = [
        frame(), frame(a=[1, 3]), frame(a=[1.0, 2.0]), frame(b=["x", None]), frame(c=0),
        frame().set_index("b"), frame().rename(columns={"a": "c"}), frame()["a"], frame()["b"],
        frame().iloc[::-1], pandas.Timestamp("2024-01-01"), pandas.Timestamp(0, tz="UTC"),
        pandas.Timestamp(1), pandas.NaT, pandas.NA, pandas.Timedelta(1), pandas.Timedelta(2),
        pandas.DataFrame(range(10_000)), pandas.DataFrame([*range(9_999), 0]),
        frame(a=pandas.Categorical([1, 2], categories=[1, 2, 3])),
        frame(a=pandas.Categorical([1, 2])),
        frame().set_axis([0.0, 1.0]), frame().rename_axis("i"), frame().rename_axis(columns="c"),
        pandas.Categorical(["a", "b"], categories=["b", "a"]),
        pandas.MultiIndex.from_tuples([(1, 2)]),
        pandas.MultiIndex.from_tuples([(1, 2)], names=["a", "b"]), pandas.Series({"names": 1}),
        pandas.Index([1, 2]), pandas.Interval(0, 1), pandas.Categorical(["a", "b"]),
    ]  # fmt: skip
    assert len({text_of(plain(value)) for value in values}) == len(values)
    assert text_of(plain(frame())) == text_of(plain(frame()))
    noted = [frame(), frame()]
    noted[1].attrs["source"] = "somewhere"
    zeros = [pandas.Series([zero], dtype=object) for zero in (0.0, -0.0, 0, False)]
    for values in (noted, zeros, [pandas.Series([zero]) for zero in (0.0, -0.0)]):
        assert len({seen(value) for value in values}) == len(values)


def test_polars() -> None:
    polars = pytest.importorskip("polars")

    def frame(**changes: Any) -> Any:
        return polars.DataFrame({"a": [1, 2], "b": ["x", "y"]} | changes)

    values = [frame(), frame(a=[1, 3]), frame(a=[1.0, 2.0]), frame(b=["x", None]), frame()["a"],
              frame().rename({"a": "c"}), polars.DataFrame({"a": range(10_000)}),
              polars.DataFrame({"a": [*range(9_999), 0]})]  # fmt: skip
    assert len({text_of(plain(value)) for value in values}) == len(values)
    with pytest.raises(InvalidParameter, match="address"):
        plain(frame().lazy())


def told(data: int, n: int, rng: np.random.Generator, values: tuple[Any, Any]) -> list[Any]:
    """Randomised response with the wrong odds, in values of any kind."""
    lies = rng.random(n) < 0.1
    return [values[int(bool(lie) != bool(data))] for lie in lies]


SMALL: list[tuple[Any, Any]] = [
    (Colour.RED, Colour.GREEN),
    (date(2024, 1, 1), date(2024, 1, 2)),
    (timedelta(1), timedelta(2)),
    (1 + 2j, 1 + 3j),
    (Point(1, 2), Point(1, 3)),
    (Bare(1), Bare(2)),
    (Decimal("1.0"), Decimal("1.00")),
    (ValueError("a"), KeyError("a")),
    (ValueError("a"), 3),
    (({"a": ({"b": 1},)},), ({"a": ({"b": 2},)},)),
    ({"a": {1, 2}}, {"a": {1, 3}}),
    (b"ab", b"ac"),
    (1, 1.0),
    (0.0, -0.0),
    (True, 1),
    ([1, 2], (1, 2)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (2**53, 2**53 + 1),
    (2**90, 2**90 + 1),
    (np.uint64(2**64 - 1), np.uint64(2**64 - 2)),
    (np.zeros((2, 2)), np.eye(2)),
    (np.zeros(2), np.zeros(2, dtype=np.float32)),
    (np.zeros(2), np.zeros(3)),
    (float("nan"), float("inf")),
    ((float("nan"), 1), (float("nan"), 2)),
    (Fraction(1, 3), 1 / 3),
    ("the answer is no", "the answer is yes"),
    (None, ()),
]


@pytest.mark.parametrize("values", thinned(SMALL), ids=lambda values: str(values)[:30])
def test_a_leak_in_values_of_any_kind_is_found(values: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(3)
    report = audit(lambda data, n: told(data, n, rng, values), 0, 1, samples=4000)
    assert report.violation
    again = Event.from_dict(json.loads(json.dumps(report.event.as_dict())))
    side = report.direction == "left"
    assert again.hits(list(values) if side else [*values[::-1]]).tolist() == [True, False]


def test_frames_are_told_apart() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    values = tuple(pandas.DataFrame({"a": range(100), "b": [*range(99), i]}) for i in (0, 1))
    report = audit(lambda data, n: told(data, n, rng, values), 0, 1, samples=4000)
    assert report.violation


WIDE = st.integers(-(2**80), 2**80) | st.integers(-5, 5) | st.floats(allow_nan=False) | st.none()


@given(st.lists(WIDE, min_size=1, max_size=6), WIDE.filter(lambda v: v is not None))
def test_numbers_compare_exactly_whatever_stands_beside_them(values: list[Any], cut: Any) -> None:
    """Python compares integers with floats exactly; so do events, in batches of any type."""
    for relation, holds in (("at least", lambda v: v >= cut), ("at most", lambda v: v <= cut)):
        event = Event(("coordinate", 0), relation, cut)
        expected = [v is not None and holds(v) for v in values]
        assert event.hits(values).tolist() == expected
        assert [bool(event.hits([v])[0]) for v in values] == expected
    for modulus in (2, 13, 2**40):
        whole = [v for v in values if isinstance(v, int)]
        found = column(as_outputs([(v,) for v in whole]), ("residue", ("coordinate", 0), modulus))
        assert found.tolist() == [v % modulus for v in whole]
        if whole:
            single = column(as_outputs(whole), ("residue", ("coordinate", 0), modulus))
            assert single.tolist() == [v % modulus for v in whole]


def test_batches_of_different_types_keep_them_when_joined() -> None:
    parts = [as_outputs([1, 2]), as_outputs([1.0, -0.0]), as_outputs(np.array([1.0, 2.0]))]
    joined = Outputs.joined(parts)
    assert joined.forms == ["int", "int", "float", "-0.0", "float64", "float64"]
    assert joined.forms == [one for part in parts for one in part.forms]
    assert Outputs.joined([as_outputs([1]), as_outputs([2])]).matrix is not None


def test_a_hit_does_not_depend_on_the_batch_for_nested_outputs() -> None:
    mixed = [{"a": ("two words 17", 1)}, ("x", b"\x07"), {"a": {("b", 1), ("b", 2)}}, 2**70, -0.0,
             Point(1, 2), "17 words", None]  # fmt: skip
    features = [
        ("form",), ("whole",), ("leaf", ("a",)), ("leaf number", ("a", 1)), ("leaf", ("x",)),
        ("word", ("a", 0), "words"), ("word", (), "words"), ("text number", ("a", 0), 0),
        ("text length", (1,)), ("leaf number", (1, 0)), ("negative zero", ("coordinate", 0)),
    ]  # fmt: skip
    for feature in features:
        together = column(as_outputs(mixed), feature).tolist()
        alone = [column(as_outputs([one]), feature)[0] for one in mixed]
        assert repr(together) == repr(
            [one.item() if hasattr(one, "item") else one for one in alone]
        )
    assert column(as_outputs(mixed), ("word", ("a", 0), "words")).sum() == 1
    assert column(as_outputs(mixed), ("text number", ("a", 0), 0)).tolist()[0] == 17
    assert column(as_outputs(mixed), ("leaf", ("y",))).tolist()[5] == 2
