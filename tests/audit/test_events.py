"""Events: hits are exact and vectorised, and what is written down is what is read back."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.audit import Event
from exactdp.audit.outputs.batch import Outputs, as_outputs
from exactdp.audit.outputs.features import column
from exactdp.audit.values import Table, decoded, encoded

VECTORS = np.array([[1.0, 2.0, 2.0], [3.0, -1.0, 0.0], [0.0, 0.0, 5.0]])
TUPLES = [(None, True, 3.5), (False, None), (None, None, None), "text", 7]
TABLES = [{"a": 1, "b": 2.5}, {}, {"b": 4.0}, {"c": 1}]


def hits(outputs: Any, feature: tuple[Any, ...], relation: str, value: Any) -> list[int]:
    return [int(one) for one in Event(feature, relation, value).hits(outputs)]


@pytest.mark.parametrize(
    ("feature", "relation", "value", "expected"),
    [
        (("number", 0), "at least", 1, [1, 1, 0]),
        (("number", 1), "at most", 0, [0, 1, 1]),
        (("number", 2), "equals", 2.0, [1, 0, 0]),
        (("difference", 0, 1), "at least", 0, [0, 1, 1]),
        (("sum", 0, 1), "in", (2.0, 3.0), [1, 1, 0]),
        (("ratio", 2, 1), "undefined", None, [0, 0, 1]),
        (("argmax",), "equals", 0, [0, 1, 0]),
        (("argmin",), "equals", 1, [0, 1, 0]),
        (("total",), "at least", 5, [1, 0, 1]),
        (("largest",), "at most", 3, [1, 1, 0]),
        (("smallest",), "at least", 0, [1, 0, 1]),
        (("spread",), "at least", 4, [0, 1, 1]),
        (("norm",), "equals", 9.0, [1, 0, 0]),
        (("number", 0), "in intervals", ((0.5, 2.0), (0, 2)), [0, 1, 1]),
        (("number", 0), "not in", (1.0,), [0, 1, 1]),
        (("number", 9), "undefined", None, [1, 1, 1]),
        (("value",), "equals", (0.0, 0.0, 5.0), [0, 0, 1]),
        (("absolute", ("number", 0), 2.0), "at most", 1, [1, 1, 0]),
    ],
)
def test_events_of_vectors(
    feature: tuple[Any, ...], relation: str, value: Any, expected: list[int]
) -> None:
    assert hits(VECTORS, feature, relation, value) == expected


def test_order_patterns_tell_permutations_signs_and_ties_apart() -> None:
    assert len(set(column(as_outputs(VECTORS), ("order",)).tolist())) == 2
    assert len(set(column(as_outputs(VECTORS), ("signs",)).tolist())) == 3
    ties = column(as_outputs(VECTORS), ("ties",))
    assert len(set(ties.tolist())) == 3
    assert ties[1] == ()


@pytest.mark.parametrize(
    ("feature", "relation", "value", "expected"),
    [
        (("value",), "equals", "text", [0, 0, 0, 1, 0]),
        (("kinds",), "equals", ("none", "none", "none"), [0, 0, 1, 0, 0]),
        (("first", "none"), "equals", 0, [1, 0, 1, 0, 0]),
        (("first", "true"), "equals", 1, [1, 0, 0, 1, 1]),
        (("count", "none"), "at least", 1, [1, 1, 1, 0, 0]),
        (("prefix", 2), "in", ((None, True), (None, None)), [1, 0, 1, 0, 0]),
        (("value", 1), "equals", None, [0, 1, 1, 1, 1]),
        (("number", 2), "at least", 3, [1, 0, 0, 0, 0]),
        (("number", 0), "at least", 5, [0, 0, 0, 0, 1]),
        (("length", ("value",)), "equals", 3, [1, 0, 1, 0, 0]),
    ],
)
def test_events_of_tuples_with_holes(
    feature: tuple[Any, ...], relation: str, value: Any, expected: list[int]
) -> None:
    assert hits(TUPLES, feature, relation, value) == expected


@pytest.mark.parametrize(
    "tables", [TABLES, [frozenset(table.items()) for table in TABLES]], ids=["dict", "frozenset"]
)
def test_events_of_sparse_histograms(tables: list[Any]) -> None:
    assert Event.present("a").hits(tables).tolist() == [True, False, False, False]
    assert hits(tables, ("number", "b"), "at least", 3) == [0, 0, 1, 0]
    assert hits(tables, ("number", "b"), "undefined", None) == [0, 1, 0, 1]
    assert hits(tables, ("length", ("value",)), "equals", 0) == [0, 1, 0, 0]
    assert hits(tables, ("total",), "at least", 3.5) == [1, 0, 1, 0]
    assert hits(tables, ("foreign keys", "a", "b"), "at least", 1) == [0, 0, 0, 1]
    assert hits(tables, ("keys",), "equals", frozenset({"b"})) == [0, 0, 1, 0]
    assert hits(tables, ("value",), "equals", frozenset({("c", 1)})) == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("outputs", "name", "text"),
    [
        (np.array([[3, -1, 2, 0, 0]]), "signs",
         "coordinate 1 negative, coordinates 0, 2 positive, the others zero"),
        (np.array([[3.5, 1, 2]]), "signs", "all positive"),
        (np.array([[3, 1, 3, 1]]), "ties", "0 = 2, 1 = 3"),
        (np.array([[3, 1, 2]]), "ties", "none"),
        (np.array([[3, 1, 2]]), "order", "1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11"),
        ([(7, None, 1)], "signs", "all positive"),
    ],
)  # fmt: skip
def test_cases_are_described_by_what_they_say(outputs: Any, name: str, text: str) -> None:
    """The texts are written by hand from the outputs; the numbers come from the columns."""
    value = column(as_outputs(outputs), (name,)).tolist()[0]
    assert str(Event((name,), "equals", value)).endswith(f": {text}")
    assert str(Event((name,), "in", (value, value))).endswith(f": {{{text}; {text}}}")


def test_a_likelihood_ratio_is_that_of_the_densities() -> None:
    rng = np.random.default_rng(1)
    outputs = rng.normal(0, 3, (50, 2))
    fits = ((0.0, 1.0), (2.0, 1.5)), ((1.0, 1.0), (2.0, 3.0))
    features = (("number", 0), ("number", 1))
    for law, power in (("Laplace", 1), ("Gaussian", 2)):
        here, there = (
            -sum(
                abs((outputs[:, i] - mean) / scale) ** power / power + math.log(scale)
                for i, (mean, scale) in enumerate(side)
            )
            for side in fits
        )
        ratios = column(as_outputs(outputs), ("likelihood ratio", law, features, *fits))
        assert np.allclose(ratios, here - there, atol=2e-9)
        event = Event(("likelihood ratio", law, features, *fits), "at least", 0.5)
        assert Event.from_dict(json.loads(json.dumps(event.as_dict()))) == event
        assert f"log-likelihood ratio of {law} noise on coordinate 0 (0 or 1, scale 1), " in str(
            event
        )


def test_events_combine() -> None:
    low, high = Event(("number", 0), "at least", 1), Event(("number", 0), "at most", 2)
    assert Event.all_of(low, high).hits(np.array([0, 1, 2, 3])).tolist() == [0, 1, 1, 0]
    both = Event.any_of(Event.all_of(low, high), Event.output(0))
    assert both.hits(np.array([0, 1, 2, 3])).tolist() == [True, True, True, False]
    assert Event.from_dict(json.loads(json.dumps(both.as_dict()))) == both
    assert str(Event.all_of(low, high)) == "(coordinate 0 >= 1) and (coordinate 0 <= 2)"


def test_events_that_are_yes_or_no_read_so() -> None:
    for relation, value, answer in (
        ("at most", 0, "no"),
        ("at least", 1, "yes"),
        ("equals", 1, "yes"),
    ):
        assert str(Event(("has", "b"), relation, value)) == f"key 'b' is present: {answer}"
    reached = ("reachable", ("number", 0), "log of a uniform", 1.0, 3.0)
    text = "coordinate 0 can be 1 + noise of scale 3 ('log of a uniform'): no"
    assert str(Event(reached, "equals", 0)) == text
    assert str(Event(("has", "b"), "at least", 0)) == "whether key 'b' is present >= 0"
    bases = (("is", ("value",), "tea"), ("difference", 0, 1), *[("number", i) for i in range(6)])
    text = str(Event(("combination", bases, (-1.25, 0.5, *[0.1] * 6)), "at least", 1.17606592))
    assert text.startswith("-1.25 [the output is 'tea'] + 0.5 (coordinate 0 - coordinate 1) + 0.1 ")
    assert text.endswith(" and 2 more terms >= 1.17607")
    assert str(Event(("number", 0), "undefined", None)) == "coordinate 0 is not a number"


def test_a_hit_does_not_depend_on_the_batch() -> None:
    mixed = [None, 3, (None, True), {"a": 1}, "x", 2.5]
    for event in (
        Event(("number", 0), "at least", 2),
        Event(("value", 0), "equals", None),
        Event(("has", "a"), "equals", 1),
        Event(("first", "none"), "equals", 0),
        Event(("length", ("value",)), "equals", 1),
        Event(("argmax",), "equals", 0),
    ):
        together = event.hits(mixed).tolist()
        assert together == [bool(event.hits([one])[0]) for one in mixed], event
    for name in ("signs", "ties", "order", "argmax", "argmin", "total", "largest", "norm"):
        for batch in (mixed, TUPLES, TABLES):
            together = column(as_outputs(batch), (name,)).tolist()
            assert together == [column(as_outputs([one]), (name,))[0] for one in batch], name


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.fractions()
    | st.floats(allow_nan=False) | st.binary(max_size=4),
    lambda inner: st.tuples(inner, inner) | st.dictionaries(inner, inner, max_size=3).map(Table),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.slow
@given(values)
def test_values_survive_json(value: Any) -> None:
    again = decoded(json.loads(json.dumps(encoded(value))))
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize("entry", [{}, {"feature": 3, "relation": "in", "value": None}, {"x": 1}])
def test_what_is_no_event_is_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Event.from_dict(entry)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="relation"):
        Event(("number", 0), "is about", 1)
    with pytest.raises(InvalidParameter, match="feature"):
        Event(("smell",), "at least", 1).hits(np.array([1]))
    with pytest.raises(InvalidParameter, match="value"):
        encoded(object())


@given(st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_granularity_is_the_exact_power_of_two(x: float) -> None:
    def feature(name: str, *more: Any) -> int:
        return int(column(as_outputs([x]), (name, ("number",), *more))[0])

    k = feature("granularity", 0.0)
    if not x:
        assert k == 2000
        return
    odd = Fraction(x) / Fraction(2) ** k
    assert odd.denominator == 1
    assert odd.numerator % 2 == 1
    assert 0 <= feature("zero bits") <= 53
    assert feature("low bits", 4) == np.array([x]).view(np.int64)[0] % 16


@pytest.mark.parametrize("recipe", ["log of a uniform", "log of twice a uniform"])
def test_reachable_values(recipe: str) -> None:
    rng = np.random.default_rng(3)
    if recipe == "log of a uniform":
        noise = np.where(rng.random(4000) < 0.5, 1, -1) * np.log(1 - rng.random(4000))
    else:
        noise = rng.laplace(0, 1, 4000)
    feature = ("reachable", ("number", 0), recipe, 1.0, 1.0)
    own = column(as_outputs(1.0 + noise), feature).mean()
    other = column(as_outputs(0.0 + noise), feature).mean()
    assert own > 0.98
    assert other < own - 0.1


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        ([1, 2, 3], (3, 1)),
        ([1.5, 2.5], (2, 1)),
        (np.zeros((4, 2)), (4, 2)),
        (np.array([True, False]), (2, 1)),
        ([np.zeros(3), np.ones(3)], (2, 3)),
        (np.zeros((4, 2, 3)), (4, 6)),
        ([np.zeros((2, 2), dtype=np.int8)] * 3, (3, 4)),
        ([np.float32(1), np.float32(2)], (2, 1)),
    ],
)
def test_numbers_become_a_matrix(raw: Any, shape: tuple[int, int]) -> None:
    matrix = Outputs(raw).matrix
    assert matrix is not None
    assert matrix.shape == shape


@pytest.mark.parametrize("raw", [[1, None], [(1, 2), (3, 4)], [2**70], ["a"], [True, False]])
def test_other_outputs_stay_objects(raw: list[Any]) -> None:
    assert Outputs(raw).matrix is None
    assert Outputs(raw).items == raw


def test_wrong_outputs_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="2 outputs where 3"):
        as_outputs([1, 2], 3)
    with pytest.raises(InvalidParameter, match="run"):
        as_outputs(5)
    with pytest.raises(InvalidParameter, match="single value"):
        as_outputs(np.zeros(()))


def test_numbers_of_any_kind() -> None:
    odd = [(Fraction(1, 2),), (10**400,), (-(10**400),), ("x",), (np.float32(2),)]
    numbers = column(as_outputs(odd), ("number", 0)).tolist()
    assert numbers[:3] == [0.5, 10**400, -(10**400)]
    assert math.isnan(numbers[3])
    assert numbers[4] == 2
