"""Answers that hide their content where an equality by parts does not look."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass, make_dataclass

import numpy as np

from tests.audit.programs.case import Group, coin

ANSWERS = Group()

Point = namedtuple("Point", "a")


class Labelled(Point):
    """A named tuple with room for more, as every subclass without __slots__ has."""


@ANSWERS.sinner(delta=1)
def label_on_a_tuple(x, rng):
    """An attribute of a named tuple's subclass."""
    answer = Labelled(1)
    answer.label = x
    return answer


@ANSWERS.twin
def label_on_a_tuple_twin(x, rng):
    return Point(coin(x, rng))


@dataclass
class Rows(list):
    """A list with a name."""

    name: str = ""


@ANSWERS.sinner(delta=1)
def list_with_fields(x, rng):
    """A dataclass that is a list: its fields are not all of it."""
    rows = Rows("counts")
    rows.append(x)
    return rows


@ANSWERS.twin
def list_with_fields_twin(x, rng):
    @dataclass
    class Named:
        rows: list
        name: str = ""

    return Named([coin(x, rng)], "counts").rows


@ANSWERS.sinner(delta=1)
def made_up_member(x, rng):
    """Members of two enumerations of one name, with other values."""
    return enum.Enum("Answer", {"COUNT": x + 5}).COUNT


@ANSWERS.twin
def made_up_member_twin(x, rng):
    return 5 + coin(x, rng)


@ANSWERS.sinner(delta=1)
def made_up_class(x, rng):
    """A class made for the answer, which holds the answer."""
    return make_dataclass("Answer", [], namespace={"count": x})()


@ANSWERS.twin
def made_up_class_twin(x, rng):
    return ("Answer", coin(x, rng))


@ANSWERS.sinner(delta=1)
def names_of_columns(x, rng):
    """A structured array under other column names."""
    return np.array([(1,)], dtype=[("positive" if x else "negative", np.int64)])


@ANSWERS.twin
def names_of_columns_twin(x, rng):
    return np.array([1 + coin(x, rng)], dtype=np.int64)


@ANSWERS.sinner(delta=1, exceptions="outcome")
def note_on_an_error(x, rng):
    """A note added to an exception is shown with it."""
    error = ValueError("refused")
    error.add_note(f"count is {x}")
    raise error


@ANSWERS.twin
def note_on_an_error_twin(x, rng):
    raise ValueError("refused")


@ANSWERS.sinner(delta=1, exceptions="outcome")
def attribute_of_an_error(x, rng):
    """So is an attribute, to whoever catches it."""
    error = ValueError("refused")
    error.count = x
    raise error


@ANSWERS.twin
def attribute_of_an_error_twin(x, rng):
    if coin(x, rng):
        raise ValueError("refused")
    return 0


@ANSWERS.sinner(delta=1, exceptions="outcome")
def cause_of_an_error(x, rng):
    """And the cause is printed first."""
    raise ValueError("refused") from KeyError(x)


@ANSWERS.twin
def cause_of_an_error_twin(x, rng):
    if coin(x, rng):
        raise ValueError("refused") from None
    return 0


@ANSWERS.sinner(delta=1)
def view_of_memory(x, rng):
    """A view shows what was changed behind it."""
    data = bytearray([x])
    return memoryview(data)


@ANSWERS.twin
def view_of_memory_twin(x, rng):
    return bytes(memoryview(bytearray([coin(x, rng)])))


@ANSWERS.sinner(delta=1, apart=0.9, exceptions="outcome")
def message_of_an_error(x, rng):
    """With exceptions as outcomes, the message counts too."""
    raise ValueError(f"count is {x}")


@ANSWERS.twin
def message_of_an_error_twin(x, rng):
    if coin(x, rng):
        raise ValueError("count is private")
    return 0


@ANSWERS.sinner(delta=1, apart=0.9, exceptions="outcome")
def error_by_value(x, rng):
    """Raised by one, returned by the other."""
    if x:
        raise ValueError
    return ("raised", "ValueError")


@ANSWERS.twin
def error_by_value_twin(x, rng):
    if coin(x, rng):
        raise ValueError
    return "ValueError"


@dataclass
class Slotted:
    """With room for more than its fields."""

    __slots__ = ("a", "hidden")
    a: int


@ANSWERS.sinner(delta=1)
def slot_of_a_dataclass(x, rng):
    """A slot that is no field."""
    answer = Slotted(1)
    answer.hidden = x
    return answer


@ANSWERS.twin
def slot_of_a_dataclass_twin(x, rng):
    return Point(coin(x, rng))


@ANSWERS.sinner(delta=1)
def metadata_of_a_dtype(x, rng):
    """A dtype may carry what nobody writes."""
    return np.zeros(1, np.dtype("i8", metadata={"count": x}))


@ANSWERS.twin
def metadata_of_a_dtype_twin(x, rng):
    return np.full(1, coin(x, rng), np.dtype([("count", "i8")]))


@ANSWERS.sinner(delta=1, exceptions="outcome")
def value_in_an_error(x, rng):
    """And an exception has attributes in C."""
    error = StopIteration("refused")
    error.value = x
    raise RuntimeError("refused") from error


@ANSWERS.twin
def value_in_an_error_twin(x, rng):
    raise RuntimeError("refused") from StopIteration(coin(x, rng))
