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
    assert compiled.assumptions().count("Axioms:") == 5


def test_nothing_is_admitted() -> None:
    for file in compiled.FOLDER.glob("*.v"):
        words = set(
            re.findall(r"\w+", re.sub(r"\(\*.*?\*\)", "", file.read_text(), flags=re.DOTALL))
        )
        assert not words & {"Admitted", "admit", "Axiom", "Parameter", "Conjecture"}, file.name


@pytest.mark.parametrize("name", RULES)
def test_true_claims_are_valid_and_smaller_ones_are_not(name: str) -> None:
    assert compiled.verdict(json.dumps(_upper(name))) == "valid"
    less = _upper(name, _truth(name) * (1 - _HAIR))
    assert compiled.verdict(json.dumps(less)) == "not proved"


@pytest.mark.parametrize(
    "release",
    [
        {"mechanism": "zcdp", "times": 5, "rho": "0.01"},
        {"mechanism": "discrete-gaussian", "times": 5, "sigma2": "200", "sensitivity": "2"},
    ],
    ids=lambda release: str(release["mechanism"]),
)
def test_delta_from_a_divergence_of_a_whole_order(release: dict[str, Any]) -> None:
    with mp.workdps(40):  # rho is 0.05 in all
        a = mpf(11)
        delta = mp.exp((a - 1) * (a / 20 - 1)) * (1 - 1 / a) ** (a - 1) / a
        claimed = {hair: mp.nstr(delta * (1 + hair * mpf("1e-12")), 30) for hair in (1, -1)}
    statement = _upper("zcdp-to-delta") | {"releases": [release]}
    statement["claims"][0]["derivation"]["order"] = "11"
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
        statement = example.honest()
        statement["claims"][0].pop("at_least", None)
        if "at_most" in statement["claims"][0]:
            ours = compiled.verdict(json.dumps(statement))
            assert ours in ("no rule yet", dpcheck.check(json.dumps(statement).encode())[0])


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
    with pytest.raises(InvalidParameter, match="laplace"):
        theorem(Statement.read(json.dumps(_upper("laplace"))))
