"""Fields of dataclasses that are read exactly: what they hold, refuse, copy, and tell mypy."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from fractions import Fraction
from inspect import signature

import pytest

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.parameters import positive


@frozen
class Noise:
    sigma: Number = number(positive)
    k: int = whole(least=1, most=9)
    size: int | None = whole(least=2, default=None)


@frozen(kw_only=True)
class Shifted(Noise):
    shift: Number = number(positive, default="1e-5")

    def __post_init__(self) -> None:
        if self.shift > self.sigma:
            raise InvalidParameter("shift", self.shift, "<= sigma")


@pytest.mark.parametrize("value", ["0.35", 0.35, Decimal("0.35"), Fraction(7, 20), "7/20"])
def test_fields_hold_exact_numbers(value: object) -> None:
    noise = Noise(value, Decimal(3))  # type: ignore[arg-type]
    assert (noise.sigma, type(noise.sigma)) == (Fraction(7, 20), Fraction)
    assert (noise.k, type(noise.k), noise.size) == (3, int, None)
    assert noise == Noise("0.35", 3)
    assert hash(noise) == hash(Noise("0.35", 3))
    assert repr(noise) == "Noise(sigma=Fraction(7, 20), k=3, size=None)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 1), "sigma must be > 0, got 0"),
        (("x", 1), "sigma must be a number > 0, got 'x'"),
        ((1, 0), "k must be an integer >= 1, got 0"),
        ((1, 10), "k must be an integer >= 1 and <= 9, got 10"),
        ((1, None), "k must be an integer >= 1, got None"),
        ((1, 1, 1), "size must be an integer >= 2, got 1"),
    ],
)
def test_wrong_values_are_refused_by_the_name_of_the_field(
    values: tuple[object, ...], message: str
) -> None:
    with pytest.raises(InvalidParameter) as error:
        Noise(*values)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_a_subclass_inherits_fields_and_reads_them_first() -> None:
    assert [field.name for field in fields(Shifted)] == ["sigma", "k", "size", "shift"]
    assert Shifted(1, 1).shift == Fraction(1, 10**5)
    with pytest.raises(InvalidParameter, match="shift must be <= sigma"):
        Shifted("1e-6", 1)
    with pytest.raises(TypeError, match="sigma"):
        Shifted(k=1)  # type: ignore[call-arg]


def test_objects_are_copied_replaced_and_frozen() -> None:
    noise = Shifted(2, 1, shift="0.5")
    for same in (copy.copy(noise), copy.deepcopy(noise), pickle.loads(pickle.dumps(noise))):  # noqa: S301
        assert same == noise
        assert same.sigma == 2
    assert replace(noise, sigma="3").sigma == Fraction(3)
    with pytest.raises(FrozenInstanceError):
        noise.sigma = 3


def test_help_shows_the_types_that_users_may_pass() -> None:
    types = {name: held.annotation for name, held in signature(Shifted).parameters.items()}
    assert types == {"sigma": "Real", "k": "int", "size": "int | None", "shift": "Real"}
