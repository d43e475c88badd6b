"""Rocq accepts the theorems; the extracted checker proves nothing that is false."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from exactdp.errors import InvalidParameter
from exactdp.statement import Statement
from exactdp.statement.theorem import theorem
from tests.checker import fuzz
from tests.checker.examples import EXAMPLES, Example, dpcheck
from tests.checker.rocq import compiled
from tests.checker.test_dpcheck import _MALFORMED

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(compiled.missing() is not None, reason=str(compiled.missing())),
]

RULES = (
    "randomized-response",
    "discrete-gaussian",
    "discrete-laplace",
    "finite-law",
    "grid-response",
)
_HAIR = Fraction(1, 10**9)


def _upper(name: str, at_most: Fraction | None = None) -> dict[str, Any]:
    """The claim at_most of an example, or another number."""
    example: Example = next(e for e in EXAMPLES if e.name == name)
    honest = example.honest()
    if at_most is None:
        honest["claims"][0].pop("at_least", None)
        return honest
    return example.statement(at_most, None)


def _truth(name: str) -> Fraction:
    return next(e for e in EXAMPLES if e.name == name).truth()[0]


def test_only_the_axioms_of_the_real_numbers_are_assumed() -> None:
    allowed = {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "Classical_Prop.classic",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
    names = re.findall(r"^(\w[\w.]*)(?: |$)", compiled.assumptions(), re.MULTILINE)
    assert set(names) - {"Axioms"} <= allowed
    assert compiled.assumptions().count("Axioms:") == 16


def test_nothing_is_admitted() -> None:
    for file in compiled.FOLDER.glob("*.v"):
        words = set(
            re.findall(
                r"\w+",
                re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL),
            )
        )
        assert not words & {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"}, file.name


@pytest.mark.parametrize("name", RULES)
def test_true_claims_are_valid_on_both_sides_and_sharper_ones_are_not(name: str) -> None:
    example = next(e for e in EXAMPLES if e.name == name)
    assert compiled.verdict(json.dumps(example.honest())) == "valid"
    low, high = example.truth()
    less, more = (
        example.statement(low * (1 - _HAIR), None),
        example.statement(None, high * (1 + _HAIR)),
    )
    assert compiled.verdict(json.dumps(less)) == "not proved"
    assert compiled.verdict(json.dumps(more)) == "not proved"


def test_a_lower_bound_of_several_runs_needs_one_pair_of_neighbours() -> None:
    statement = next(e for e in EXAMPLES if e.name == "grid-response").honest()
    del statement["claims"][0]["at_most"]
    assert compiled.verdict(json.dumps(statement)) == "valid"
    statement["unit"]["one_pair"] = False
    assert compiled.verdict(json.dumps(statement)) == "not proved"


def test_a_promise_has_no_lower_side() -> None:
    statement = _upper("randomized-response")
    promise = {"mechanism": "approximate", "times": 1, "epsilon": "1", "delta": "0.1"}
    statement["releases"] = [promise]
    claim = statement["claims"][0]
    claim["at_least"] = claim.pop("at_most")
    assert compiled.verdict(json.dumps(statement)) == "no rule yet"


_DISCRETE = {"mechanism": "discrete-gaussian", "times": 3, "sigma2": "7", "sensitivity": "2"}
_RESPONSE = {"mechanism": "randomized-response", "times": 2, "epsilon": "0.5"}
_LAPLACE = {"mechanism": "discrete-laplace", "times": 1, "scale": "2", "sensitivity": "3"}
_SUMS = {  # rho, and the divergence of order 3.5, by hand
    "discrete-gaussian": (_DISCRETE, Fraction(3 * 4, 14), Fraction(7, 2) * Fraction(3 * 4, 14)),
    "response": (_RESPONSE, Fraction(2, 8), Fraction(7, 2) * Fraction(2, 8)),
    "discrete-laplace": (_LAPLACE, Fraction(9, 8), Fraction(3, 2)),  # epsilon is less than a rho
    "sampled": (_DISCRETE | {"rate": "0.01"}, Fraction(3 * 4, 14), Fraction(3)),
    "promise": (
        {"mechanism": "zcdp", "times": 5, "rho": "0.1"},
        Fraction(1, 2),
        Fraction(7, 4),
    ),
}


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("release", "rho", "divergence"), _SUMS.values(), ids=_SUMS)
def test_rho_and_divergences_add_up(
    release: dict[str, Any], rho: Fraction, divergence: Fraction, neighbours: str
) -> None:
    if "rate" in release and neighbours != "add-remove":
        return
    for fields, bound in (
        ({"measure": "rho"}, rho),
        ({"measure": "renyi", "order": "3.5"}, divergence),
    ):
        statement = _upper("randomized-response") | {"releases": [release]}
        statement["unit"]["neighbours"] = neighbours
        for claimed, verdict in ((bound, "valid"), (bound * (1 - _HAIR), "not proved")):
            claim = {**fields, "derivation": {"rule": "sum"}, "at_most": str(claimed)}
            statement["claims"] = [claim]
            assert compiled.verdict(json.dumps(statement)) == verdict
            assert dpcheck.check(json.dumps(statement).encode())[0] == verdict


@pytest.mark.parametrize("neighbours", ["add-remove", "pair"])
@pytest.mark.parametrize("type_one", ["0.1", "0.4"])
def test_second_errors_of_a_randomised_response(type_one: str, neighbours: str) -> None:
    lie = 1 / (1 + mp.exp(1))  # the second error is the line through (0, 1) and (lie, lie), or
    a = mpf(type_one)  # the line through (lie, lie) and (1, 0)
    truth = 1 - a * mp.e if a < lie else (1 - a) / mp.e
    statement = _upper("randomized-response")
    statement["unit"]["neighbours"] = neighbours
    for hair, verdict in ((-1, "valid"), (1, "not proved")):
        claim = {"measure": "type-two", "type_one": type_one, "epsilon": "1"}
        bound = mp.nstr(truth * (1 + hair * mpf("1e-10")), 14)
        statement["claims"] = [claim | {"derivation": {"rule": "curve"}, "at_least": bound}]
        assert compiled.verdict(json.dumps(statement)) == verdict


@pytest.mark.parametrize("order", ["11", "11.4", "7/3"])
@pytest.mark.parametrize(
    "release",
    [
        {"mechanism": "zcdp", "times": 5, "rho": "0.01"},
        {"mechanism": "discrete-gaussian", "times": 5, "sigma2": "200", "sensitivity": "2"},
        {"mechanism": "randomized-response", "times": 10, "epsilon": "0.1"},
        {"mechanism": "discrete-laplace", "times": 10, "scale": "20", "sensitivity": "2"},
    ],
    ids=lambda release: str(release["mechanism"]),
)
def test_delta_from_a_divergence(release: dict[str, Any], order: str) -> None:
    with mp.workdps(40):  # rho is 0.05 in all
        a = mpf(Fraction(order).numerator) / Fraction(order).denominator
        delta = mp.exp((a - 1) * (a / 20 - 1)) * (1 - 1 / a) ** (a - 1) / a
        claimed = {hair: mp.nstr(delta * (1 + hair * mpf("1e-12")), 30) for hair in (1, -1)}
    statement = _upper("zcdp-to-delta") | {"releases": [release]}
    statement["claims"][0]["derivation"]["order"] = order
    for hair, verdict in ((1, "valid"), (-1, "not proved")):
        statement["claims"][0]["at_most"] = claimed[hair]
        assert compiled.verdict(json.dumps(statement)) == verdict


def test_damaged_choices_do_not_prove_a_false_claim() -> None:
    rng = random.Random(11)
    examples = [example for example in EXAMPLES if example.name in RULES]
    for _ in range(100):
        text = json.dumps(fuzz.false_claim(rng.choice(examples), rng))
        assert compiled.verdict(text) != "valid"


def test_the_program_agrees_with_dpcheck() -> None:
    for example in EXAMPLES:
        text = json.dumps(example.honest())
        assert compiled.verdict(text) in ("no rule yet", dpcheck.check(text.encode())[0])


@pytest.mark.parametrize("text", _MALFORMED.values(), ids=_MALFORMED)
def test_malformed(text: str) -> None:
    assert compiled.verdict(text) in ("malformed", "no rule yet")


def test_each_replaced_row_has_its_own_order() -> None:
    pairs = [["0.5", "0.35"], ["0.49", "0.63"], ["0.01", "0.02"]]
    statement = _upper("finite-law", Fraction(2, 10**4))
    statement["releases"] = [{"mechanism": "finite-law", "times": 2, "outcomes": pairs}]
    grid = {"rule": "grid", "step": "1/2048", "mass_bits": 100, "nodes": [[-1500, 1500]]}
    statement["claims"][0] |= {"epsilon": "0.95", "derivation": grid | {"window": [-3000, 3000]}}
    assert compiled.verdict(json.dumps(statement)) == "valid"  # one order: delta is 1.414e-4
    statement["unit"]["neighbours"] = "replace-one"
    assert compiled.verdict(json.dumps(statement)) == "not proved"  # the truth is above 9.5e-4
    statement["claims"][0]["at_most"] = "1.76e-3"  # by the larger of both curves
    assert compiled.verdict(json.dumps(statement)) == "valid"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["discrete-gaussian", "finite-law"])
def test_a_theorem_compiles_and_a_claim_one_percent_too_small_does_not(name: str) -> None:
    at_most = _truth(name) * Fraction(1001, 1000)
    assert compiled.accepts(theorem(Statement.read(json.dumps(_upper(name, at_most)))))
    assert not compiled.accepts(
        theorem(Statement.read(json.dumps(_upper(name, _truth(name) * Fraction(99, 100)))))
    )


def test_a_claim_without_a_rule_has_no_theorem() -> None:
    with pytest.raises(InvalidParameter, match="sparse"):
        theorem(Statement.read(json.dumps(_upper("sparse-histogram-noise"))))


_HISTOGRAMS = ("sparse-histogram-discrete", "discrete-histogram")


@pytest.mark.parametrize("name", _HISTOGRAMS)
def test_sparse_histograms_with_discrete_noise(name: str) -> None:
    statement = _upper(name)
    assert compiled.verdict(json.dumps(statement)) == "valid"
    statement["claims"][0]["derivation"]["starts"][0] = 1  # no case without shared keys
    assert compiled.verdict(json.dumps(statement)) == "not proved"
    for damage in range(5):
        example = next(e for e in EXAMPLES if e.name == name)
        false = example.statement(_truth(name) * (1 - _HAIR), None)
        fuzz.damage(false["claims"][0]["derivation"], random.Random(damage))
        assert compiled.verdict(json.dumps(false)) in ("not proved", "malformed")


def test_a_sparse_histogram_has_no_lower_side_and_no_other_rule() -> None:
    statement = _upper("sparse-histogram-discrete")
    claim = statement["claims"][0]
    for other in (
        {**claim, "at_least": "0"},
        {**claim, "derivation": {"rule": "curve"}},
        {"measure": "rho", "at_most": "1", "derivation": {"rule": "sum"}},
    ):
        statement["claims"] = [other]
        assert compiled.verdict(json.dumps(statement)) == "no rule yet"
    statement["unit"]["neighbours"] = "replace-one"
    assert compiled.verdict(json.dumps(statement)) == "malformed"


@pytest.mark.slow
def test_the_sparse_histogram_of_the_readme_has_a_theorem() -> None:
    name = "sparse-histogram-discrete"
    assert compiled.accepts(theorem(Statement.read(json.dumps(_upper(name)))))
    small = _upper(name, _truth(name) * Fraction(99, 100))
    assert not compiled.accepts(theorem(Statement.read(json.dumps(small))))
