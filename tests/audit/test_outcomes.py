"""What a reader sees of an outcome is in its key, or the audit of code refuses the outcome.

Every row is a function of a bit whose outcomes for 0 and 1 a reader can tell apart, whatever ==
says. The program shows the outcome of its bit or, by the toss of a coin, that of 0: it is refuted
if the outcomes are told apart, and would be proved if they were taken for one.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime as dt
import enum
import functools
import itertools
import math
import pathlib
import re
import struct
import types
import uuid
import weakref
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from exactdp.audit import foreign_law, private
from exactdp.audit.code.outcomes import key_of
from exactdp.audit.plain import plain_text
from exactdp.errors import ExactDPError, NotPlain

NAN = math.nan
LIST = [1]


def nan_with(payload: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", (0x7FF8 << 48) + payload))[0]


def fraction_of(numerator: Any) -> Fraction:
    return Fraction(numerator, 3)


def read_only(bit: int) -> np.ndarray:
    array = np.zeros(2)
    array.flags.writeable = not bit
    return array


#: On the list: what differs for the two bits is told apart.
TOLD_APART: dict[str, Callable[[int], Any]] = {
    "None, False": lambda bit: False if bit else None,
    "True, 1": lambda bit: 1 if bit else True,
    "1, 1.0": lambda bit: 1.0 if bit else 1,
    "sign of a zero": lambda bit: -0.0 if bit else 0.0,
    "sign of a NaN": lambda bit: -NAN if bit else NAN,
    "payload of a NaN": nan_with,
    "sign of an imaginary zero": lambda bit: complex(0, -0.0 if bit else 0.0),
    "integer of 5000 digits": lambda bit: 10**5000 + bit,
    "text, bytes": lambda bit: b"a" if bit else "a",
    "text of numpy": lambda bit: np.str_("a") if bit else "a",
    "half of a pair of surrogates": lambda bit: "\ud800" if bit else "\\ud800",
    "tuple, list": lambda bit: [1] if bit else (1,),
    "order of a dictionary": lambda bit: {"a": 1, "b": 2} if bit else {"b": 2, "a": 1},
    "type of a key": lambda bit: {1: 0} if bit else {True: 0},
    "one list twice": lambda bit: [LIST, list(LIST) if bit else LIST],
    "one array twice": lambda bit: (lambda a: (a, a.copy() if bit else a))(np.zeros(1)),
    "numerator of a fraction": lambda bit: fraction_of(np.int64(1) if bit else 1),
    "digits of a decimal": lambda bit: Decimal("1.0" if bit else "1.00"),
    "payload of a decimal NaN": lambda bit: Decimal("NaN1" if bit else "NaN"),
    "date, its midnight": lambda bit: dt.datetime(2024, 1, 1) if bit else dt.date(2024, 1, 1),
    "fold of a datetime": lambda bit: dt.datetime(2024, 1, 1, fold=bit),
    "fold of a time": lambda bit: dt.time(1, fold=bit),
    "name of a zone": lambda bit: dt.datetime(
        2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(0), "Z") if bit else dt.UTC
    ),
    "microsecond of a timedelta": lambda bit: dt.timedelta(1, 0, bit),
    "boolean of numpy": lambda bit: np.bool_(True) if bit else True,
    "float of numpy": lambda bit: np.float64(1) if bit else 1.0,
    "float32, float64": lambda bit: np.float32(1) if bit else np.float64(1),
    "sign of a NaN of numpy": lambda bit: np.float32(-NAN if bit else NAN),
    "int64, long long": lambda bit: np.longlong(1) if bit else np.int64(1),
    "unit of a timedelta64": lambda bit: np.timedelta64(60, "s") if bit else np.timedelta64(1, "m"),
    "unit of a datetime64": lambda bit: np.datetime64("2024-01-01", "s" if bit else "D"),
    "not a time, of two units": lambda bit: np.datetime64("NaT", "s" if bit else "D"),
    "order of an array": lambda bit: np.zeros((2, 2), order="F" if bit else "C"),
    "order of bytes": lambda bit: np.zeros(1, ">i8" if bit else "<i8"),
    "C type of an array": lambda bit: np.zeros(1, np.longlong if bit else np.int64),
    "shape of an empty array": lambda bit: np.zeros((0, 2 + bit)),
    "array without dimensions": lambda bit: np.array(1.0) if bit else np.float64(1),
    "flag of an array": read_only,
    "sign of a NaN in an array": lambda bit: np.array([-NAN if bit else NAN]),
}  # fmt: skip


class Text(str):
    __slots__ = ("extra",)


def text_with(bit: int) -> Text:
    text = Text("a")
    text.extra = bit
    return text


class Whole(int):
    pass


class Double(float):
    pass


class Colour(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


class Flags(enum.IntFlag):
    ONE = 1


class Pair(NamedTuple):
    left: int


@dataclasses.dataclass(frozen=True)
class Report:
    value: int


def with_attribute(thing: Any, bit: int) -> Any:
    thing.extra = bit
    return thing


def of_a_local_class(bit: int) -> Any:
    class Local:
        value = bit

    return Local()


class EqualsAll:
    def __init__(self, bit: int) -> None:
        self.bit = bit

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> Any:
        return EqualsAll, (0,)

    def __repr__(self) -> str:
        return "EqualsAll()"


class Integral(type):
    """Classes that claim to be int."""

    def __eq__(cls, other: object) -> bool:
        return other is int or other is cls

    def __hash__(cls) -> int:
        return hash(int)


class Claims(metaclass=Integral):
    def __init__(self, bit: int) -> None:
        self.bit = bit

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return int

    def __format__(self, form: str) -> str:
        return "1"

    def __deepcopy__(self, memo: Any) -> int:
        return 1


def closure(bit: int) -> Callable[[], int]:
    return lambda: bit


def field_names(bit: int) -> Any:
    return collections.namedtuple("Fields", "a b" if bit else "a c")(1, 2)


class Zone(dt.tzinfo):
    def __init__(self, bit: int = 0) -> None:
        self.bit = bit

    def utcoffset(self, when: dt.datetime | None) -> dt.timedelta:
        return dt.timedelta(0)


def view(bit: int) -> Any:
    return np.array([1, int(bit)])[:1]


def dtype_with_metadata(bit: int) -> Any:
    return np.zeros(1, np.dtype("i8", metadata={"extra": bit}))


def path_with_text(bit: int) -> pathlib.PurePath:
    """Python writes text into a path when somebody asks for it; here two texts differ."""
    path = pathlib.PurePosixPath("a")
    path._str = "ab"[bit]  # type: ignore[attr-defined]
    return path


#: Not on the list -> the type, and what to return instead.
REFUSED: dict[str, tuple[Callable[[int], Any], str]] = {
    "fields of a named tuple": (field_names, "Fields .*_asdict"),
    "named tuple": (Pair, "Pair .*_asdict"),
    "text with slots": (text_with, "Text .*plain number or text"),
    "subclass of int": (lambda bit: with_attribute(Whole(1), bit), "Whole .*plain number or text"),
    "subclass of float": (lambda bit: with_attribute(Double(1), bit), "Double "),
    "member of an Enum": (lambda bit: with_attribute(Colour.RED, bit), r"Colour .*x\.name"),
    "member of an IntEnum": (lambda bit: Number.ONE if bit else 1, r"type tests.*Number .*x\.name"),
    "flag": (lambda bit: Flags(8 if bit else 16), "Flags "),
    "data class": (Report, "Report .*dataclasses.asdict"),
    "object of a local class": (of_a_local_class, "Local "),
    "object that equals all": (EqualsAll, "EqualsAll "),
    "object that claims to be an int": (Claims, "Claims "),
    "class": (lambda bit: Colour if bit else Report, r"x\.__name__"),
    "default of a defaultdict": (lambda bit: collections.defaultdict(closure(bit)), r"dict\(x\)"),
    "ordered dictionary": (lambda bit: with_attribute(collections.OrderedDict(), bit), r"dict\(x"),
    "counter": (lambda bit: with_attribute(collections.Counter("a"), bit), r"dict\(x\)"),
    "proxy of a dictionary": (lambda bit: types.MappingProxyType({"a": bit}), r"dict\(x\)"),
    "order of a set": (lambda bit: {8, 0} if bit else {0, 8}, r"type set .*sorted\(x\)"),
    "frozen set": (lambda bit: frozenset((8, 0) if bit else (0, 8)), r"sorted\(x\)"),
    "keys of a dictionary": (lambda bit: {"a": bit}.keys(), r"sorted\(x\)"),
    "values of a dictionary": (lambda bit: {"a": bit}.values(), "dict_values "),
    "range with another stop": (lambda bit: range(0, 3 + bit, 5), r"type range .*list\(x\)"),
    "deque": (lambda bit: collections.deque([1], maxlen=1 + bit), r"list\(x\)"),
    "array.array": (lambda bit: array.array("q" if bit else "l", [1]), "array.array "),
    "bytearray": (lambda bit: bytearray([bit]), r"bytes\(x\)"),
    "memoryview": (lambda bit: memoryview(bytes([1, bit]))[:1], r"bytes\(x\)"),
    "slice": (lambda bit: slice(bit), "slice "),
    "Ellipsis": (lambda bit: NotImplemented if bit else ..., "numbers, texts"),
    "iterator": (lambda bit: iter([bit]), "list_iterator "),
    "generator": (lambda bit: (each for each in [bit]), "type generator "),
    "count": (lambda bit: itertools.count(bit), "itertools.count "),
    "closure": (closure, "type function "),
    "method of C": ((lambda bit: [bit].pop), "builtin_function_or_method "),
    "partial": (lambda bit: functools.partial(closure, bit), "functools.partial "),
    "module": (lambda bit: math if bit else struct, "type module "),
    "weak reference": (lambda bit: weakref.ref(Report if bit else Pair), "weakref"),
    "safety of a UUID": (
        lambda bit: uuid.UUID(int=1, is_safe=uuid.SafeUUID.safe if bit else uuid.SafeUUID.unsafe),
        r"UUID .*str\(x\)",
    ),
    "path": (path_with_text, r"Path .*str\(x\)"),
    "zone of the program": (lambda bit: dt.datetime(2024, 1, 1, tzinfo=Zone(bit)), "Zone "),
    "exception": (lambda bit: OSError(2, "no", str(bit)), r"FileNotFoundError .*str\(x\)"),
    "view of an array": (view, "ndarray that is a view .*np.array"),
    "metadata of a dtype": (dtype_with_metadata, "ndarray with dtype"),
    "array of objects": (lambda bit: np.array([closure(bit)]), "ndarray with dtype object"),
    "array with fields": (lambda bit: np.zeros(1, [("ab"[bit], int)]), "ndarray with dtype"),
    "record of numpy": (lambda bit: np.zeros(1, [("ab"[bit], int)])[0], "void "),
    "masked array": (lambda bit: np.ma.array([1, bit], mask=[0, 1]), "MaskedArray "),
    "long double": (lambda bit: np.longdouble(bit), "longdouble "),
    "array of long doubles": (lambda bit: np.zeros(1 + bit, np.longdouble), "ndarray with dtype"),
}  # fmt: skip


def verdict(show: Callable[[int], Any], **options: Any) -> str:
    """The verdict on a program that shows the outcome of its bit, or by a coin that of 0."""
    arguments = {"epsilon": 0, "progress": False} | options
    try:
        return private(lambda bit, rng: show(bit * rng.randrange(2)), 0, 1, **arguments).verdict
    except ExactDPError as error:
        return f"not exact: {error}"


@pytest.mark.few(12)
@pytest.mark.parametrize("name", TOLD_APART)
def test_what_a_reader_sees_of_a_plain_value_is_told_apart(name: str) -> None:
    assert verdict(TOLD_APART[name]) == "refuted"


def test_plain_values_that_are_equal_are_one_outcome() -> None:
    """All of them at once: a key that always differs would refute this."""
    everything = {name: show for name, show in TOLD_APART.items() if name != "flag of an array"}
    assert verdict(lambda bit: [show(0) for show in everything.values()]) == "proved"
    assert verdict(lambda bit: [show(1) for show in everything.values()]) == "proved"


@pytest.mark.few(16)
@pytest.mark.parametrize("name", REFUSED)
def test_outcomes_of_other_types_are_not_exact(name: str) -> None:
    show, said = REFUSED[name]
    reason = verdict(show)
    assert reason.startswith("not exact: outcomes of type ")
    assert re.search(said, reason), reason


@pytest.mark.parametrize("name", REFUSED)
def test_they_are_not_exact_inside_of_other_values(name: str) -> None:
    show, _ = REFUSED[name]
    for wrapped in ((1, [show(1)]), {"a": {"b": show(1)}}):
        with pytest.raises(NotPlain):
            plain_text(wrapped)


def test_data_frames_are_not_exact() -> None:
    """With attributes beside their columns, and indexes, categories and blocks of memory."""
    pandas, polars = (pytest.importorskip(name) for name in ("pandas", "polars"))
    for frame in (pandas.DataFrame({"a": [1]}), polars.DataFrame({"a": [1]})):
        assert re.search(r"DataFrame .*return x\.to_dict\(\)", verdict(lambda bit, x=frame: x))
    assert verdict(lambda bit: frame.to_dict(as_series=False)) == "proved"


def test_an_outcome_that_contains_itself_is_not_exact() -> None:
    def show(bit: int) -> list[Any]:
        loop: list[Any] = [bit]
        loop.append(loop)
        return loop

    assert verdict(show).startswith("not exact: an outcome contains itself")


# -- exceptions that are raised --------------------------------------------------------------------


class Own(Exception):
    pass


def raised_with(kind: type[BaseException], *arguments: Any, **attributes: Any) -> None:
    error = kind(*arguments)
    for name, value in attributes.items():
        setattr(error, name, value)
    raise error


def with_note(bit: int) -> None:
    error = ValueError()
    error.add_note(str(bit))
    raise error


def caused(bit: int) -> None:
    raise ValueError from KeyError(bit)


def while_another(bit: int) -> None:
    try:
        raise KeyError(bit)
    except KeyError:
        raise ValueError  # noqa: B904


def at_another_line(bit: int) -> None:
    if bit:
        raise ValueError
    raise ValueError


RAISED: dict[str, tuple[Callable[[int], Any], str]] = {
    "class": (lambda bit: raised_with(KeyError if bit else IndexError), "refuted"),
    "argument": (lambda bit: raised_with(ValueError, bit), "refuted"),
    "type of an argument": (lambda bit: raised_with(ValueError, True if bit else 1), "refuted"),
    "attribute": (lambda bit: raised_with(ValueError, extra=bit), "refuted"),
    "note": (with_note, "refuted"),
    "cause": (caused, "refuted"),
    "context": (while_another, "refuted"),
    "line": (at_another_line, "refuted"),
    "column": (lambda bit: (bit and raised_with(ValueError)) or raised_with(ValueError), "refuted"),
    "filename": (lambda bit: raised_with(OSError, 2, "no", filename=str(bit)), "refuted"),
    "value": (lambda bit: raised_with(StopIteration, value=bit), "refuted"),
    "name": (lambda bit: raised_with(NameError, name=str(bit)), "refuted"),
    "object without an attribute": (lambda bit: Report(bit).other, "not exact: .*Report"),
    "class of the program": (lambda bit: raised_with(Own, bit), r"not exact: .*Own .*str\(x\)"),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", RAISED)
def test_what_a_reader_sees_of_an_exception_is_told_apart(name: str) -> None:
    show, expected = RAISED[name]
    assert re.match(expected, verdict(show, exceptions="outcome"))


def test_equal_exceptions_are_one_outcome() -> None:
    def show(bit: int) -> None:
        raise ValueError("no") from KeyError(1)

    assert verdict(show, exceptions="outcome") == "proved"


def test_each_of_several_calls_is_read_when_it_returns() -> None:
    """The list that the first call has returned is emptied by the second one."""

    def program(bit: int, rng: Any, kept: list[int] = []) -> list[int]:  # noqa: B006
        calls = kept.pop() if kept else 0
        kept[:] = [bit * rng.randrange(2) if calls == 0 else 0]
        return kept

    assert private(program, 0, 1, epsilon=0, calls=2, progress=False).verdict == "refuted"


def test_the_law_of_a_plain_value_holds_the_value() -> None:
    law = foreign_law(lambda rng: (1, [Decimal("1.0"), np.int64(rng.randrange(2))]), progress=False)
    assert law[(1, (Decimal(1), 1))] == Fraction(1, 2)
    assert key_of([1]) != key_of((1,))
