"""Gaussian and Laplace noise in the extracted checker, and as theorems for Rocq."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from exactdp.statement import Statement
from exactdp.statement.theorem import theorem
from tests.checker import fuzz
from tests.checker.examples import EXAMPLES, Example, dpcheck
from tests.checker.rocq import compiled

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(compiled.missing() is not None, reason=str(compiled.missing())),
]

CONTINUOUS = ("gaussian", "gaussians-composed", "laplace", "laplace-sampled", "basic")
ON_A_GRID = ("grid-gaussian", "grid-sampled", "grid-together")


def _example(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name == name)


def _claim(release: dict[str, Any], epsilon: str, at_most: str, **derivation: Any) -> str:
    """A statement with one release and one claim."""
    statement = _example("gaussian").statement(Fraction(1, 2), None)
    statement["releases"] = [{"times": 1} | release]
    rule = derivation or {"rule": "curve"}
    claim = {"measure": "delta", "epsilon": epsilon, "at_most": at_most, "derivation": rule}
    statement["claims"] = [claim]
    return json.dumps(statement)


@pytest.mark.parametrize("name", CONTINUOUS + ON_A_GRID)
def test_both_bounds_of_an_example_are_valid_and_sharper_ones_are_not(name: str) -> None:
    example = _example(name)
    assert compiled.verdict(json.dumps(example.honest())) == "valid"
    low, high = example.truth()
    hair = Fraction(1, 10**9)
    for sharper in ((low * (1 - hair), None), (None, high * (1 + hair))):
        if sharper[0] is not None or name != "basic":
            assert compiled.verdict(json.dumps(example.statement(*sharper))) == "not proved"


def _gaussian(mu: mpf, epsilon: mpf) -> mpf:
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def _laplace(mu: mpf, epsilon: mpf) -> mpf:
    return max(mpf(0), 1 - mp.exp((epsilon - mu) / 2))


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "6"])
@pytest.mark.parametrize("sensitivity", ["0.05", "1", "7.5"])
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_the_curve_to_fifty_decimals(mechanism: str, sensitivity: str, epsilon: str) -> None:
    size, curve = ("sigma", _gaussian) if mechanism == "gaussian" else ("scale", _laplace)
    release = {"mechanism": mechanism, size: "2", "sensitivity": sensitivity}
    with mp.workdps(80):
        digits = int(curve(mpf(sensitivity) / 2, mpf(epsilon)) * 10**50)
    assert compiled.verdict(_claim(release, epsilon, f"{digits + 1}e-50")) == "valid"
    if digits:
        assert compiled.verdict(_claim(release, epsilon, f"{digits - 1}e-50")) == "not proved"
    for number, verdict in ((max(digits - 1, 0), "valid"), (digits + 2, "not proved")):
        below = json.loads(_claim(release, epsilon, "1"))
        del below["claims"][0]["at_most"]
        below["claims"][0]["at_least"] = f"{number}e-50" if number else "0"
        assert compiled.verdict(json.dumps(below)) == verdict


@pytest.mark.parametrize(
    ("sigma", "epsilon"), [("15.9", "1.25"), ("12", "3.5"), ("0.05", "240"), ("0.02", "1240")]
)
def test_the_precision_follows_the_claim(sigma: str, epsilon: str) -> None:
    release = {"mechanism": "gaussian", "sigma": sigma, "sensitivity": "1"}
    with mp.workdps(1200):
        truth = _gaussian(1 / mpf(sigma), mpf(epsilon))
        claims = {hair: mp.nstr(truth * (1 + hair * mpf("1e-9")), 30) for hair in (1, -1)}
    for hair, verdict in ((1, "valid"), (-1, "not proved")):
        number = claims[hair].replace("e-0", "e-")
        assert compiled.verdict(_claim(release, epsilon, number)) == verdict


@pytest.mark.parametrize("more", [{}, {"times": 5}, {"rate": "0.5"}], ids=str)
def test_a_delta_that_is_below_every_number_of_the_format(more: dict[str, Any]) -> None:
    release = {"mechanism": "gaussian", "sigma": "3000", "sensitivity": "1"} | more
    assert compiled.verdict(_claim(release, "1", "1e-900")) == "valid"


def test_an_order_that_is_far_too_large() -> None:
    promise = {"mechanism": "zcdp", "rho": "1e-9"}
    assert compiled.verdict(_claim(promise, "1", "1e-900", rule="renyi", order="1e5")) == "valid"


def test_a_second_error_that_is_almost_one() -> None:
    release = {"mechanism": "gaussian", "sigma": "15", "sensitivity": "1"}
    with mp.workdps(80):
        delta = _gaussian(1 / mpf(15), mpf("0.9"))  # 10^-42; 1 - 10^-57 is the largest number < 1
        bounds = [int((1 - delta * factor) * 10**56) for factor in (mpf("1.001"), mpf("0.999"))]
    statement = json.loads(_claim(release, "0.9", "1"))
    claim = {"measure": "type-two", "epsilon": "0.9", "type_one": "0"} | {
        "derivation": {"rule": "curve"}
    }
    for bound, valid in zip(bounds, (True, False), strict=True):
        statement["claims"] = [claim | {"at_least": f"0.{bound}"}]
        assert (compiled.verdict(json.dumps(statement)) == "valid") == valid


def test_delta_from_the_divergence_of_gaussian_noise() -> None:
    with mp.workdps(40):  # mu^2/2 is 5/(2 10^2) in all
        a = mpf(11)
        delta = mp.exp((a - 1) * (a / 40 - 1)) * (1 - 1 / a) ** (a - 1) / a
        claims = {hair: mp.nstr(delta * (1 + hair * mpf("1e-12")), 30) for hair in (1, -1)}
    release = {"mechanism": "gaussian", "times": 5, "sigma": "5", "sensitivity": "0.5"}
    for hair, verdict in ((1, "valid"), (-1, "not proved")):
        statement = _claim(release, "1", claims[hair], rule="renyi", order="11")
        assert compiled.verdict(statement) == verdict


@pytest.mark.parametrize("order", ["2", "3.5"])
def test_rho_and_divergence_of_gaussian_noise(order: str) -> None:
    statement = json.loads(_claim({"mechanism": "gaussian", "times": 3}, "1", "1"))
    statement["releases"][0] |= {"sigma": "2", "sensitivity": "1.5"}
    rho = 3 * Fraction(9, 32)
    measures = [
        ({"measure": "rho"}, rho),
        ({"measure": "renyi", "order": order}, Fraction(order) * rho),
    ]
    for fields, bound in measures:
        for claimed, verdict in ((bound, "valid"), (bound * Fraction(999, 1000), "not proved")):
            claim = {**fields, "derivation": {"rule": "sum"}, "at_most": str(claimed)}
            statement["claims"] = [claim]
            assert compiled.verdict(json.dumps(statement)) == verdict
            assert dpcheck.check(json.dumps(statement).encode())[0] == verdict


_TWO = [  # mu^2 is 3 (3/4)^2 + 1/100 = 1.6975
    {"mechanism": "gaussian", "times": 3, "sigma": "2", "sensitivity": "1.5"},
    {"mechanism": "gaussian", "times": 1, "sigma": "10", "sensitivity": "1"},
]


def _mu(bound: str, neighbours: str = "add-remove", side: str = "at_most") -> str:
    statement = json.loads(_claim({"mechanism": "gaussian"}, "1", "1"))
    statement["unit"] |= {"neighbours": neighbours, "one_pair": True}
    claim = {"measure": "mu", "derivation": {"rule": "sum"}, side: bound}
    return json.dumps(statement | {"releases": _TWO, "claims": [claim]})


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_squares_of_mu_add_up(neighbours: str) -> None:
    root = mp.sqrt(mpf("1.6975"))
    for side, sign in (("at_most", 1), ("at_least", -1)):
        for hair, verdict in ((mpf("1e-12"), "valid"), (-mpf("1e-12"), "not proved")):
            text = _mu(mp.nstr(root * (1 + sign * hair), 15), neighbours, side)
            assert compiled.verdict(text) == verdict
            assert dpcheck.check(text.encode())[0] == verdict


def test_a_mu_of_other_mechanisms_has_no_rule() -> None:
    statement = json.loads(_mu("9"))
    statement["releases"] = [{"mechanism": "laplace", "times": 1, "scale": "1", "sensitivity": "1"}]
    assert compiled.verdict(json.dumps(statement)) == "no rule yet"


@pytest.mark.slow
def test_a_mu_is_a_theorem_and_one_percent_less_is_not() -> None:
    for side, proved, false in (("at_most", "1.303", "1.29"), ("at_least", "1.302", "1.316")):
        assert compiled.accepts(theorem(Statement.read(_mu(proved, side=side))))
        assert not compiled.accepts(theorem(Statement.read(_mu(false, side=side))))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_squares_of_a_thousand_gaussian_runs_add_up(neighbours: str) -> None:
    release = {"mechanism": "gaussian", "times": 1000, "sigma": "50", "sensitivity": "3"}
    with mp.workdps(80):
        digits = int(_gaussian(mp.sqrt(1000) * 3 / 50, mpf(2)) * 10**50)
    for claimed, verdict in ((digits + 1, "valid"), (digits - 1, "not proved")):
        statement = json.loads(_claim(release, "2", f"{claimed}e-50"))
        statement["unit"]["neighbours"] = neighbours
        assert compiled.verdict(json.dumps(statement)) == verdict


def test_what_has_no_rule_yet() -> None:
    gaussian = {"mechanism": "gaussian", "sigma": "4", "sensitivity": "1"}
    sampled = json.loads(_claim(gaussian | {"rate": "0.5"}, "1", "0.1"))
    claim = {"measure": "renyi", "order": "2", "at_most": "1", "derivation": {"rule": "sum"}}
    sampled["claims"] = [claim]
    assert compiled.verdict(json.dumps(sampled)) == "no rule yet"


def test_damaged_choices_do_not_prove_a_false_claim() -> None:
    rng = random.Random(12)
    for _ in range(60):
        text = json.dumps(fuzz.false_claim(_example(rng.choice(CONTINUOUS)), rng))
        assert compiled.verdict(text) != "valid"


_STEPS = {"mechanism": "gaussian", "times": 100, "sigma": "1", "sensitivity": "1", "rate": "0.01"}
_GRID = {"rule": "grid", "step": "1/128", "mass_bits": 48, "nodes": [[-3, 277]]}


def _training(at_most: str) -> str:
    return _claim(_STEPS, "0.718465", at_most, **_GRID, window=[-409, 396])


def test_the_claim_of_a_hundred_sampled_steps_is_sharp_for_its_grid() -> None:
    assert compiled.verdict(_training("1.0602e-5")) == "valid"  # delta is 1.0000e-5
    assert compiled.verdict(_training("1.0496e-5")) == "not proved"


@pytest.mark.slow
def test_a_hundred_sampled_steps_are_a_theorem_and_one_percent_less_is_not() -> None:
    assert compiled.accepts(theorem(Statement.read(_training("1.0602e-5"))))
    assert not compiled.accepts(theorem(Statement.read(_training("1.0496e-5"))))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "gaussians-composed", "laplace", "laplace-sampled"])
def test_a_theorem_compiles_and_a_claim_one_percent_too_small_does_not(name: str) -> None:
    example = _example(name)
    truth = example.truth()[1]
    for factor, accepted in ((Fraction(1001, 1000), True), (Fraction(99, 100), False)):
        claim = Statement.read(json.dumps(example.statement(truth * factor, None)))
        assert compiled.accepts(theorem(claim)) == accepted
        below = Statement.read(json.dumps(example.statement(None, truth * (2 - factor))))
        assert compiled.accepts(theorem(below)) == accepted


@pytest.mark.slow
def test_a_lower_bound_on_a_grid_is_a_theorem() -> None:
    steps = _STEPS | {"times": 4, "rate": "0.5"}
    statement = json.loads(_claim(steps, "1", "1", **_GRID, window=[-409, 396]))
    statement["claims"][0]["derivation"] |= {"step": "1/8", "nodes": [[-10, 30]]}
    statement["unit"]["one_pair"] = True
    del statement["claims"][0]["at_most"]
    for bound, accepted in (("0.15", True), ("0.18", False)):
        statement["claims"][0]["at_least"] = bound
        assert compiled.accepts(theorem(Statement.read(json.dumps(statement)))) == accepted
