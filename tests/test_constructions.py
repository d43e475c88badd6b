"""Public classes refuse values of the wrong type, size or order, by the name of the field."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp import Enclosure, InvalidParameter
from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld import Pld
from exactdp.audit import ApproximateDP, Event
from exactdp.law import Law
from exactdp.local import Certificate, CompressiveResponse, RandomizedResponse, State
from exactdp.mechanisms import SizedALP
from exactdp.oracle import Evidence
from exactdp.statement import Statement

_WHO = pld.ADD_REMOVE
_STEPS = pld.gaussian(sigma=1).steps
_STEP = _STEPS[0][0]
_RESPONSE = RandomizedResponse(4, 1)
_COUNTS = np.zeros(4, np.int64)


def _guarantee(**changed: Any) -> Callable[[], object]:
    fields: dict[str, Any] = {"epsilon": "0.5", "delta": 0, "neighbours": _WHO, "source": "a test"}
    return lambda: Guarantee(**{**fields, **changed})


def _pld(steps: Any = _STEPS, neighbours: Any = _WHO, source: Any = "a test") -> object:
    return Pld(steps, neighbours, source)


def _event(feature: Any, relation: str = "equals", value: Any = 1) -> object:
    return Event(feature, relation, value)


def _enclosure(lower: Any, upper: Any) -> object:
    return Enclosure(lower, upper)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: _enclosure("10", "9"), "upper must be >= lower, which is 10, got 9"),
    (lambda: _enclosure(0.2, 0.1), "upper must be >= lower, which is 0.2, got 1/10"),
    (lambda: _enclosure("x", 1), "lower must be a number, got 'x'"),
    (lambda: _enclosure(0, None), "upper must be a number, got None"),
    (lambda: _enclosure(0, True), "upper must be a number, got True"),
    (lambda: _enclosure(float("nan"), 1), "lower must be a finite number, got nan"),
    (
        lambda: _enclosure(0, np.array([0.5])),
        "upper must be a number (int, Fraction, Decimal, text or float, not numpy.ndarray), "
        "got [0.5]",
    ),
    (
        lambda: _enclosure(Fraction(10) ** 9000, 0),
        "upper must be >= lower, which is 1e9000, got 0",
    ),
    (_guarantee(epsilon=-1), "epsilon must be >= 0, got -1"),
    (_guarantee(epsilon="x"), "epsilon must be a number >= 0, got 'x'"),
    (_guarantee(delta=2), "delta must be >= 0 and <= 1, got 2"),
    (_guarantee(delta="x"), "delta must be a number >= 0 and <= 1, got 'x'"),
    (
        _guarantee(delta=Enclosure(0, 2)),
        "delta must be an enclosure of a number >= 0 and <= 1, got [0, 2]",
    ),
    (
        _guarantee(delta=Enclosure(-1, 0)),
        "delta must be an enclosure of a number >= 0 and <= 1, got [-1, 0]",
    ),
    (_guarantee(neighbours=""), "neighbours must be a text that is not empty, got ''"),
    (_guarantee(neighbours=1), "neighbours must be a text that is not empty, got 1"),
    (_guarantee(source=None), "source must be a text that is not empty, got None"),
    (_guarantee(e_epsilon=2), "e_epsilon must be at most e^epsilon, got 2"),
    (_guarantee(e_epsilon="0.5"), "e_epsilon must be >= 1, got '0.5'"),
    (_guarantee(checked="a fact"), "checked must be a tuple of texts, got 'a fact'"),
    (_guarantee(checked=5), "checked must be a tuple of texts, got 5"),
    (lambda: _pld(()), "steps must be a tuple of pairs of a step and a number of runs, got ()"),
    (lambda: _pld(3), "steps must be a tuple of pairs of a step and a number of runs, got 3"),
    (
        lambda: _pld((("x", 1),)),
        "steps[0] must be a step, exactdp.accounting.pld.losses.base, got 'x'",
    ),
    (lambda: _pld(((_STEP, 0),)), "times must be an integer >= 1, got 0"),
    (lambda: _pld(neighbours=0), "neighbours must be a text that is not empty, got 0"),
    (lambda: _pld(source=""), "source must be a text that is not empty, got ''"),
    (lambda: ApproximateDP(-1), "epsilon must be >= 0 and <= 1e100, got -1"),
    (lambda: _event(3), "feature must be a name and its arguments, such as ('number', 0), got 3"),
    (lambda: _event(()), "feature must be a name and its arguments, such as ('number', 0), got ()"),
    (lambda: _event(("all",), "", (1,)), "value must be a tuple of events, got (1,)"),
    (lambda: _event(("all",), "", 1), "value must be a tuple of events, got 1"),
    (
        lambda: Evidence("guessed", "x"),
        "method must be one of 'exact', 'statistical', 'recorded', got 'guessed'",
    ),
    (lambda: Evidence("exact", ""), "text must be a text that is not empty, got ''"),
    (lambda: Statement(5), "fields must be of the type Mapping, got 5"),  # type: ignore[arg-type]
    (
        lambda: Law([1]),  # type: ignore[arg-type]
        "weights must be a mapping of outcomes to probabilities, got [1]",
    ),
    (
        lambda: State("x", _COUNTS, 0),  # type: ignore[arg-type]
        "mechanism must be a local mechanism, got 'x'",
    ),
    (
        lambda: State(_RESPONSE, [0], 0),  # type: ignore[arg-type]
        "counts must be an array of integers, got [0]",
    ),
    (lambda: State(_RESPONSE, _COUNTS, -1), "n must be an integer >= 0, got -1"),
    (
        lambda: Certificate(_RESPONSE, (0,)),  # type: ignore[arg-type]
        f"mechanism must be of the type SetLaw, got {_RESPONSE}",
    ),
    (
        lambda: SizedALP(size=0.5, epsilon=1),  # type: ignore[arg-type]
        "size must be of the type PrivateSize, got 0.5",
    ),
]


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_wrong_values_are_refused(i: int) -> None:
    make, message = WRONG[i]
    with pytest.raises(InvalidParameter) as error:
        print(make())  # what is not refused shows with the failure
    assert str(error.value) == message


def test_ends_are_read_as_parameters_are() -> None:
    for enclosure in (
        _enclosure("9", "10"),
        _enclosure(9.0, 10),
        Enclosure(Fraction(9), Fraction(10)),
    ):
        assert isinstance(enclosure, Enclosure)
        assert (enclosure.lower, enclosure.upper) == (9, 10)
        assert (type(enclosure.lower), type(enclosure.upper)) == (Fraction, Fraction)


def test_an_enclosure_is_neither_true_nor_false() -> None:
    for enclosure in (Enclosure.exact(0), Enclosure.exact(1), Enclosure(-1, 1)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"neither true nor false: compare its \.lower or"):
            bool(enclosure)


def test_a_guarantee_holds_exact_numbers() -> None:
    guarantee = _guarantee(epsilon=0.5, delta="1e-5", e_epsilon=1.5, checked=["a fact"])()
    assert isinstance(guarantee, Guarantee)
    assert (guarantee.epsilon, guarantee.delta) == (Fraction(1, 2), Enclosure.exact("1e-5"))
    assert (guarantee.e_epsilon, guarantee.checked) == (Fraction(3, 2), ("a fact",))
    assert (guarantee * 2).epsilon == 1
    assert hash(guarantee) == hash(guarantee * 1)


def test_a_certificate_is_checked_however_it_is_made() -> None:
    mechanism = CompressiveResponse(40, 16, 1)
    with pytest.raises(InvalidParameter, match=r"^support must be 1 to 8 distinct values, got 2"):
        Certificate(mechanism, (0, 0))
    with pytest.raises(InvalidParameter, match=r"^value must be >= 0 and < k = 40"):
        Certificate(mechanism, (0, 40))
    assert Certificate(mechanism, (0, 1)) == Certificate.of(mechanism, [0, 1])
