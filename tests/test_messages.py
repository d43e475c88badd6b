"""What is put in wrongly is named: the option, the vector, the place and the allowed range."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp import audit as audits
from exactdp.accounting import pld
from exactdp.errors import Described, InvalidParameter
from exactdp.local.report_formats import Numbers
from exactdp.mechanisms import (
    ALP,
    GSHM,
    Combined,
    DenseLaplace,
    GSHMWithSums,
    HistogramALP,
    SignedALP,
    StabilityHistogram,
    Threshold,
)
from exactdp.samplers import GeoSample, SeededSource, SystemSource
from exactdp.samplers.bernoulli import BinaryRandomizedResponse


def _fair(data: int, n: int) -> Any:
    draw = random.Random(data)
    return [draw.randrange(2) for _ in range(n)]


ALARMS: list[Callable[[str], object]] = [
    lambda alpha: audits.audit(_fair, 0, 1, samples=200, alpha=alpha),
    lambda alpha: next(iter(audits.watch(_fair, 0, 1, samples=2000, alpha=alpha))),
    lambda alpha: audits.audit_pairs(_fair, [(0, 1)], samples=2000, alpha=alpha),
    lambda alpha: audits.one_run(canaries=100, guesses=50, correct=49, alpha=alpha),
]


@pytest.mark.parametrize("ask", ALARMS)
@pytest.mark.parametrize("alpha", ["1e-400", "1e-101", "1", "0"])
def test_a_false_alarm_has_a_probability_that_can_be_compared(
    ask: Callable[[str], object], alpha: str
) -> None:
    with pytest.raises(InvalidParameter, match="alpha must be >= 1e-100 and < 1, got"):
        ask(alpha)


def test_the_least_false_alarm_is_taken() -> None:
    assert not audits.audit(_fair, 0, 0, samples=200, alpha="1e-100").violation
    assert audits.one_run(canaries=100, guesses=50, correct=49, alpha="1e-100").epsilon_lower == 0


UNKNOWN: dict[str, Callable[[], object]] = {
    "private": lambda: audits.private(_fair, 0, 1, epsilon=1, max_run=5),  # type: ignore[call-arg]
    "calibrate_sgd": lambda: pld.calibrate_sgd(
        rate="0.1", steps=2, epsilon=1, delta="1e-5", samplings="poisson"  # type: ignore[call-arg]
    ),
    "most_steps": lambda: pld.most_steps(
        noise_multiplier=1, rate="0.1", epsilon=1, delta="1e-5", neighbors="add-remove"  # type: ignore[call-arg]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_option_names_the_function_that_was_called(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument"):
        UNKNOWN[name]()


MAKERS: dict[str, Any] = {
    "alp": ALP(d=10, k=3, s=20, largest=50, epsilon=1),
    "signed": SignedALP(d=10, k=3, s=20, largest=50, epsilon=1),
    "histogram": HistogramALP(d=10, k=3, s=20, largest=50, epsilon=1),
    "dense": DenseLaplace(d=10, k=3, largest=50, epsilon=1),
    "threshold": Threshold(d=10, k=3, largest=50, epsilon=1, t=20),
}
WRITTEN: list[Any] = [
    [0, 3, 0, 7],
    (0, 3, 0, 7),
    np.array([0, 3, 0, 7]),
    np.array([0, 3, 0, 7], np.uint8),
    np.array([0.0, 3.0, 0.0, 7.0]),
    np.array([0, 3, 0, 7], object),
    ["0", "3", 0.0, Fraction(7)],
]


@pytest.mark.parametrize("name", MAKERS)
def test_a_list_and_an_array_are_vectors(name: str) -> None:
    same = MAKERS[name].checked({1: 3, 3: 7})
    for vector in WRITTEN:
        entries = MAKERS[name].checked(vector)
        assert dict(zip(entries.ids.tolist(), entries.numerators.tolist(), strict=True)) == {
            1: 3,
            3: 7,
        }
        assert entries.denominator == same.denominator == 1


def test_projections_take_lists_and_short_floats_are_the_decimals_they_print() -> None:
    assert (
        0 <= ALP(d=10, k=3, s=20, largest=50, epsilon=1).project([0, 1, 2], SystemSource())[2] <= 50
    )
    both = Combined.of(d=1000, k=2, largest=1000, epsilon=2)
    assert 0 <= both.project(np.array([0, 1, 2]), SystemSource())[2] <= 1000
    entries = ALP(d=10, k=3, s=20, largest=50, epsilon=1).checked(np.array([0.1], np.float32))
    assert Fraction(int(entries.numerators[0]), entries.denominator) == Fraction(1, 10)


NO_VECTORS: list[tuple[Any, str]] = [
    (5, "got int"),
    ("abc", "got str"),
    ({1, 2}, "got set"),
    (np.zeros((2, 2)), r"got ndarray of shape \(2, 2\)"),
    ([1, 2, 3, 4], "at most k = 3, got 4 non-zero entries"),
    ([0] * 10 + [1], "id must be >= 0 and < d = 10, got 10"),
    ([1, [2]], r"vector\[1\] must be a number"),
    ([float("nan")], r"vector\[0\] must be a finite number"),
]


@pytest.mark.parametrize(("vector", "message"), NO_VECTORS)
def test_what_is_no_vector_is_refused_in_words(vector: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ALP(d=10, k=3, s=20, largest=50, epsilon=1).project(vector, SystemSource())


COUNTED: list[Callable[[Any], object]] = [
    lambda counts: GSHM(1, 2, 30, 1, "0.1").release(counts, SystemSource()),
    lambda counts: StabilityHistogram(GeoSample(n=3, epsilon=1), 9, 2, "0.5").release(
        counts, SystemSource()
    ),
    lambda counts: GSHMWithSums.for_target(k=1, epsilon=1, delta="1e-3").release_sums(
        {1: 5}, counts, SystemSource()
    ),
]


@pytest.mark.parametrize("ask", COUNTED)
@pytest.mark.parametrize("counts", [[0, 1, 2], np.array([0, 1, 2]), 3])
def test_counts_are_a_mapping_since_a_list_could_hold_rows(
    ask: Callable[[Any], object], counts: Any
) -> None:
    with pytest.raises(InvalidParameter, match="a mapping of elements to numbers; counts_of_rows"):
        ask(counts)


MESSAGES: list[tuple[Callable[[], object], str]] = [
    (
        lambda: Numbers((1024,)).rows([3, 5000]),
        "reports[1] must be an integer >= 0 and < 1024, got 5000",
    ),
    (
        lambda: Numbers((7, 9)).rows([[3, 8], [6, 9]]),
        "reports[1][1] must be an integer >= 0 and < 9, got 9",
    ),
    (
        lambda: SeededSource(1).below_each(np.array([5, 0])),
        "sizes[1] must be an integer >= 1 and <= 4611686018427387904, got 0",
    ),
    (
        lambda: SeededSource(1).uneven_coins(np.array([1, 9]), 8),
        "numerators[1] must be an integer >= 0 and <= 8, got 9",
    ),
    (
        lambda: BinaryRandomizedResponse(p="0.1").sample_many(np.array([0, 2]), SeededSource(1)),
        "bits must be an array of 0s and 1s, got 2",
    ),
]


@pytest.mark.parametrize(("ask", "message"), MESSAGES)
def test_a_message_shows_the_value_and_its_place(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        ask()
    assert str(caught.value) == message


def test_words_are_not_quoted_and_cannot_steer_a_terminal() -> None:
    error = InvalidParameter("file", Described("a\x1b[2J b\n c\xe9"), "readable")
    assert str(error) == r"file must be readable, got a\x1b[2J b\n c\xe9"
