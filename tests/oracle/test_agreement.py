"""The library's own calculators against every vector."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp.accounting.calculator import Evaluated, calculator
from exactdp.accounting.certify import inversion
from exactdp.audit.numbers import certified
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.oracle import vectors
from exactdp.oracle.vectors import Vector

#: A million terms each.
LONG = ("composition-041", "composition-042")

#: Compositions on a grid, which take seconds together; some are always asked.
TRAINING = [v.id for v in vectors.load("sampled_gaussian") if int(v.parameters["k"]) > 1]
EVENTS = [v.id for i, v in enumerate(vectors.load("events")) if i % 32]
ALLOCATED = [v.id for i, v in enumerate(vectors.load("allocation")) if i not in (7, 8)]
GRIDS = (*TRAINING, *EVENTS, *ALLOCATED)

#: Where the width of the answer can be asked for: of a calculator, and of what certified computes.
CALCULATED = {
    "analytic_gaussian": "gaussian",
    "gshm": "gshm",
    "discrete_gaussian": "discrete-gaussian",
    "discrete_laplace": "discrete-laplace",
}
ADJUSTABLE = ("thresholds", "discrete_laplace", "discrete_gaussian")


def agrees(vector: Vector, width: Fraction) -> bool:
    answer = certified.answer(vector.group, vector.question, vector.parameters)
    return within(answer, vector, width)


def within(answer: Enclosure, vector: Vector, width: Fraction) -> bool:
    meets = answer.lower <= vector.most and vector.least <= answer.upper
    return meets and answer.upper - answer.lower <= width * max(answer.upper, Fraction(0))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", vectors.GROUPS)
def test_every_vector(name: str) -> None:
    chosen = [vector for vector in vectors.load(name) if vector.id not in (*LONG, *GRIDS)]
    wide = {"sampling": Fraction(1, 10**5), "noisy_max": Fraction(1, 10**8)}
    wide |= dict.fromkeys(("sampled_gaussian", "events", "allocation"), Fraction(1, 10**3))
    wide["power"] = Fraction(1, 10**3)
    wide["shuffled"] = Fraction(1, 5)  # two bounds, of which the worst data sets are not known
    width = wide.get(name, Fraction(3, 10**12))
    assert [v.id for v in chosen if not agrees(v, width)] == []


@pytest.mark.slow
@pytest.mark.parametrize("identifier", LONG)
def test_a_million_terms(identifier: str) -> None:
    assert agrees(vectors.find(identifier), Fraction(1, 10**12))


@pytest.mark.slow
@pytest.mark.parametrize("identifier", GRIDS)
def test_compositions_on_grids(identifier: str) -> None:
    vector = vectors.find(identifier)
    relative = (
        Fraction(1, 10**3) if vector.question == "delta" else Fraction(1, 10**3) / vector.least
    )
    assert agrees(vector, relative)


@pytest.mark.parametrize("name", ADJUSTABLE)
def test_deltas_to_thirty_digits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certified, "WIDTH", Fraction(1, 10**31))
    questions = ("cdf",) if name in CALCULATED else ("delta", "cdf")
    chosen = [v for v in vectors.load(name) if v.question in questions]
    assert chosen
    assert [v.id for v in chosen if not agrees(v, Fraction(1, 10**30))] == []


@pytest.mark.parametrize("name", CALCULATED)
def test_deltas_of_calculators_to_thirty_digits(name: str) -> None:
    entry = calculator(CALCULATED[name])
    for vector in vectors.load(name):
        if vector.question == "delta":
            mechanism = entry(**vector.parameters)
            assert isinstance(mechanism, Evaluated)
            delta = refine(mechanism.evaluate, relative_width=Fraction(1, 10**31))
            assert within(delta, vector, Fraction(1, 10**30)), vector.id


@pytest.mark.parametrize("identifier", ["analytic_gaussian-057", "analytic_gaussian-084"])
def test_calibrations_to_thirty_digits(identifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inversion, "WIDTH", Fraction(1, 10**31))
    assert agrees(vectors.find(identifier), Fraction(1, 10**30))
