"""Outputs that compare equal and are not the same, or the other way round."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from tests.audit.programs.case import Group, Program, coin

OUTPUTS = Group()


@OUTPUTS.sinner(delta=1, apart=0.9)
def sign_of_zero(x, rng):
    """-0.0 == 0.0."""
    return -0.0 if x else 0.0


@OUTPUTS.twin
def sign_of_zero_twin(x, rng):
    return -0.0 if coin(x, rng) else 0.0


@OUTPUTS.sinner(delta=1, apart=0.9)
def truth_for_one(x, rng):
    """True == 1, and their hashes agree."""
    return bool(1) if x else 1


@OUTPUTS.twin
def truth_for_one_twin(x, rng):
    return bool(1) if coin(x, rng) else 1


@OUTPUTS.sinner(delta=1, apart=0.9)
def float_for_int(x, rng):
    """1.0 == 1."""
    return (3, 1.0) if x else (3, 1)


@OUTPUTS.twin
def float_for_int_twin(x, rng):
    return (3, 1.0) if coin(x, rng) else (3, 1)


@OUTPUTS.sinner(delta=1, apart=0.9)
def trailing_zeros(x, rng):
    """Decimal('1.0') == Decimal('1.00')."""
    return Decimal("1.0") if x else Decimal("1.00")


@OUTPUTS.twin
def trailing_zeros_twin(x, rng):
    return Decimal("1.0") if coin(x, rng) else Decimal("2.0")


@OUTPUTS.sinner(delta=1, apart=0.9)
def fraction_for_int(x, rng):
    """Fraction(1) == 1."""
    return Fraction(1) if x else 1


@OUTPUTS.twin
def fraction_for_int_twin(x, rng):
    return Fraction(1) if coin(x, rng) else 1


@OUTPUTS.sinner(delta=0)
def not_a_number(x, rng):
    """NaN is not equal to itself: two equal laws seem to have nothing in common."""
    return float("nan") if rng.randrange(2) else 0.0


@OUTPUTS.twin
def not_a_number_twin(x, rng):
    return repr(float("nan")) if rng.randrange(2) else 0.0


@OUTPUTS.sinner(delta=1, apart=0.9)
def order_of_keys(x, rng):
    """Two dictionaries are equal whatever the order in which they were filled."""
    return {"a": 1, "b": 2} if x else {"b": 2, "a": 1}


@OUTPUTS.twin
def order_of_keys_twin(x, rng):
    return {"a": coin(x, rng), "b": 2}


@OUTPUTS.sinner(delta=1, apart=0.9)
def kind_of_sequence(x, rng):
    """A list for one, a tuple for the other."""
    return [1, 2] if x else (1, 2)


@OUTPUTS.twin
def kind_of_sequence_twin(x, rng):
    return [1, coin(x, rng)]


@OUTPUTS.sinner(delta=1, apart=0.9)
def dictionary_or_pairs(x, rng):
    """A dictionary for one, the set of its items for the other."""
    return {"a": 1} if x else frozenset({("a", 1)})


@OUTPUTS.twin
def dictionary_or_pairs_twin(x, rng):
    return {"a": 1} if coin(x, rng) else frozenset({("b", 1)})


@OUTPUTS.sinner(delta=1, apart=0.9)
def array_dtypes(x, rng):
    """An array of ints for one, of floats for the other."""
    return np.array([1, 2]) if x else np.array([1.0, 2.0])


@OUTPUTS.twin
def array_dtypes_twin(x, rng):
    return np.array([1, 2]) * coin(x, rng)


@OUTPUTS.sinner(delta=1, apart=0.9)
def empty_shapes(x, rng):
    """An empty array of another shape."""
    return np.zeros((0, 2)) if x else np.zeros(0)


@OUTPUTS.twin
def empty_shapes_twin(x, rng):
    return np.zeros(coin(x, rng))


@OUTPUTS.maker(apart=0.9)
def answer_changed_afterwards() -> Program:
    """The same object is returned again and rewritten: what was kept of it changes as well."""

    class Answer:
        def __init__(self) -> None:
            self.value = 0

        def __repr__(self) -> str:
            return f"Answer({self.value})"

    answer = Answer()

    def program(x, rng):
        answer.value = x if rng.randrange(100) else 1 - x
        return answer

    return program


@OUTPUTS.twin_maker
def answer_changed_afterwards_twin() -> Program:
    def program(x, rng):
        answer = []
        answer.append(coin(x, rng))
        return answer

    return program


@OUTPUTS.sinner()
def lazy_answer(x, rng):
    """A generator has not drawn anything yet."""
    return (x + rng.gauss(0, 1e-3) for _ in range(1))


@OUTPUTS.twin
def lazy_answer_twin(x, rng):
    return [coin(x, rng) for _ in range(1)]


@OUTPUTS.sinner()
def function_as_answer(x, rng):
    """Nor has a function; the one below even shares a hash with nothing."""
    return lambda: coin(x, rng)


@OUTPUTS.twin
def function_as_answer_twin(x, rng):
    return (lambda: coin(x, rng))()


@OUTPUTS.sinner()
def identity_only(x, rng):
    """An object without __eq__ equals no other; a private one must not be refuted for that."""

    class Reply:
        def __init__(self, value: int) -> None:
            self.value = value

    return Reply(coin(x, rng))


@OUTPUTS.twin
def identity_only_twin(x, rng):
    @dataclass(frozen=True)
    class Reply:
        value: int

    return Reply(coin(x, rng)).value


class Sly:
    """Equal to everything of its class."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sly)

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return f"Sly({self.value})"


@OUTPUTS.sinner(delta=1, apart=0.9)
def lying_equality(x, rng):
    """An __eq__ that says yes."""
    return Sly(x)


@OUTPUTS.twin
def lying_equality_twin(x, rng):
    return Sly(coin(x, rng)).value


class Tagged(int):
    """An int with a label on it."""

    label = 0

    def __repr__(self) -> str:
        return f"Tagged({int(self)}, {self.label})"


@OUTPUTS.sinner(delta=1, apart=0.9)
def labelled_number(x, rng):
    """Equal as numbers, told apart by an attribute."""
    answer = Tagged(rng.randrange(2))
    answer.label = x
    return answer


@OUTPUTS.twin
def labelled_number_twin(x, rng):
    answer = Tagged(coin(x, rng))
    answer.label = 5
    return int(answer)


@dataclass(frozen=True)
class Count:
    """Compares by value, though a field may be left out of the comparison."""

    value: int
    note: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Count) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


@OUTPUTS.sinner(delta=1, apart=0.9)
def field_left_out(x, rng):
    """A field that takes no part in __eq__."""
    return Count(1, "positive" if x else "negative")


@OUTPUTS.twin
def field_left_out_twin(x, rng):
    return (Count(coin(x, rng), "either").value, "either")


@OUTPUTS.sinner(delta=1, apart=0.9)
def same_moment(x, rng):
    """The same instant in two time zones is equal."""
    east = datetime.timezone(datetime.timedelta(hours=1))
    noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    return noon.astimezone(east) if x else noon


@OUTPUTS.twin
def same_moment_twin(x, rng):
    east = datetime.timezone(datetime.timedelta(hours=1))
    noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    return (noon.astimezone(east) if coin(x, rng) else noon).isoformat()


class Grade(enum.IntEnum):
    LOW = 0
    HIGH = 1


@OUTPUTS.sinner(delta=1, apart=0.9)
def member_or_number(x, rng):
    """An IntEnum member for one, its number for the other."""
    return Grade.HIGH if x else 1


@OUTPUTS.twin
def member_or_number_twin(x, rng):
    return Grade.HIGH.name if coin(x, rng) else "LOW"


@OUTPUTS.sinner()
def drawn_when_hashed(x, rng):
    """An answer that draws when it is compared."""

    class Late:
        def __eq__(self, other: object) -> bool:
            return rng.randrange(2) == 0

        def __hash__(self) -> int:
            return 0

    return Late()


@OUTPUTS.twin
def drawn_when_hashed_twin(x, rng):
    return hash(coin(x, rng))
