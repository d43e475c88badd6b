"""Audits of stated numbers against values computed with mpmath (the conformance vectors)."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from exactdp.audit.numbers.claimed import audit_number
from exactdp.errors import InvalidParameter
from exactdp.oracle import vectors

#: One vector of every mechanism and quantity.
CASES = [
    "analytic_gaussian-003",
    "analytic_gaussian-057",
    "analytic_gaussian-085",
    "gshm-006",
    "gshm-044",
    "csh-004",
    "csh-038",
    "thresholds-001",
    "thresholds-025",
    "thresholds-058",
    "discrete_gaussian-046",
    "discrete_laplace-032",
    "zcdp-003",
    "zcdp-025",
    "composition-004",
    "composition-016",
    "composition-029",
    "composition-046",
    "composition-060",
]


@pytest.mark.parametrize("identifier", CASES)
def test_verdicts(identifier: str) -> None:
    vector = vectors.find(identifier)
    for factor, verdict in (
        (Fraction(999, 1000), "unsafe"),
        (1 + Fraction(1, 10**10), "exact"),
        (Fraction(1001, 1000), "loose"),
    ):
        report = audit_number(
            mechanism=vector.group,
            quantity=vector.question,
            parameters=vector.parameters,
            claimed=vector.most * factor,
        )
        assert report.verdict == verdict
        assert report.safe == (verdict != "unsafe")
        assert report.true.lower <= vector.most
        assert vector.least <= report.true.upper
        if verdict != "exact":
            assert report.relative is not None
            assert abs(report.relative - Fraction(1, 1000)) < Fraction(1, 10**9)
        if vector.question != "delta":
            target = Fraction(vector.parameters["delta"])
            assert report.delta is not None
            assert (report.delta.lower > target) == (verdict == "unsafe")
        assert report.verdict in report.text()
        assert json.loads(json.dumps(report.as_dict()))["verdict"] == verdict


def test_thresholds_of_integers() -> None:
    parameters = {"noise": "geometric", "scale": 1, "comparison": ">=", "k": 1, "delta": "1e-5"}
    for claimed, verdict in ((12, "unsafe"), (13, "exact"), (14, "loose")):
        report = audit_number(
            mechanism="thresholds", quantity="tau", parameters=parameters, claimed=claimed
        )
        assert report.verdict == verdict
        assert report.true.lower == report.true.upper == 13


def test_a_float_counts_as_it_is() -> None:
    vector = vectors.find("analytic_gaussian-003")
    nearest = float(vector.least)
    for claimed in (nearest, math.nextafter(nearest, 0), math.nextafter(nearest, 1)):
        report = audit_number(
            mechanism="analytic_gaussian",
            quantity="delta",
            parameters=vector.parameters,
            claimed=claimed,
        )
        assert report.safe == (Fraction(claimed) >= vector.most)


def test_zero_and_tiny_numbers() -> None:
    report = audit_number(
        mechanism="analytic_gaussian",
        quantity="delta",
        parameters={"epsilon": 1, "sigma": 128},
        claimed=0.0,
    )
    assert report.verdict == "unsafe"
    assert report.relative == 1
    enough = audit_number(
        mechanism="analytic_gaussian",
        quantity="epsilon",
        parameters={"delta": "0.5", "sigma": 1},
        claimed=0,
    )
    assert enough.verdict == "exact"
    assert "exact: epsilon = 0" in enough.text()


def test_more_than_enough_of_nothing() -> None:
    report = audit_number(
        mechanism="discrete_laplace",
        quantity="delta",
        parameters={"scale": 1, "epsilon": 1},
        claimed="1e-9",
    )
    assert (report.verdict, report.relative) == ("loose", None)


def renyi_by_hand(order: float, p: float, q: float) -> float:
    return math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (
        order - 1
    )


def test_a_quarter_of_the_rho_of_permute_and_flip_is_refuted() -> None:
    """opendp #2911: epsilon^2/8 is enough for the exponential mechanism, not for permute-and-flip.

    By hand: of two options, the one whose utility is behind by g D has probability e^(-g/2)/2 at
    epsilon = 1, for a sensitivity D; a user may move the first option from D behind to D ahead.
    """
    exponential = {"noise": "exponential", "budget": 1}
    report = audit_number(
        mechanism="noisy_max", quantity="rho", parameters=exponential, claimed="0.125"
    )
    behind = math.exp(-0.5) / 2
    by_hand = max(renyi_by_hand(order, 1 - behind, behind) / order for order in (1.001, 1.2, 2))
    assert report.verdict == "unsafe"
    assert 0.125 < float(report.true.lower) <= by_hand * 1.001 <= float(report.true.upper)
    assert report.true.upper < Fraction(1, 2)  # pure epsilon = 1 implies it
    gumbel = {"noise": "gumbel", "budget": 1, "k": 3}
    for claimed, verdict in (("0.375", "loose"), ("0.366", "unsafe"), ("0.37", "undecided")):
        report = audit_number(
            mechanism="noisy_max", quantity="rho", parameters=gumbel, claimed=claimed
        )
        assert report.verdict == verdict


def test_a_target_out_of_reach() -> None:
    parameters = {"k": 10, "sigma": 1, "epsilon": "0.5", "delta": "1e-9", "analysis": "exact"}
    with pytest.raises(InvalidParameter, match="delta must be a delta that some value"):
        audit_number(mechanism="gshm", quantity="tau", parameters=parameters, claimed=100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mechanism": "laplacian"}, "mechanism must be one of"),
        ({"quantity": "tau"}, "quantity must be one of"),
        ({"quantity": "pmf"}, "quantity must be one of"),
        ({"claimed": math.nan}, "claimed must be a finite number"),
        ({"claimed": "much"}, "claimed must be"),
        ({"tolerance": -1}, "tolerance must be >= 0"),
        ({"parameters": {"epsilon": 1}}, "parameters must be with a value for sigma"),
        ({"parameters": {"epsilon": -1, "sigma": 1}}, "epsilon must be"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "mechanism": "analytic_gaussian",
        "quantity": "delta",
        "parameters": {"epsilon": 1, "sigma": 1},
        "claimed": "0.1",
    }
    with pytest.raises(InvalidParameter, match=message):
        audit_number(**{**arguments, **change})  # type: ignore[arg-type]
