"""Records of the deployments registry: what follows from them, and statements as their fields."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from mpmath import mp, mpf

from exactdp import registry, statement
from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from exactdp.registry import lint
from exactdp.registry.prose import stated
from tests.cli.test_accounting import run
from tests.reference import gaussian

_PURE = "dp_variant: {variant_name: Pure DP}"


def _record(parameters: str, *more: str, details: str = "") -> str:
    details_line = f"    privacy_parameters_details: {details!r}\n" if details else ""
    lines = "".join(f"  {line}\n" for line in more)
    loss = f"  privacy_loss:\n    privacy_parameters: {{{parameters}}}\n{details_line}"
    return f"deployment:\n{lines}{loss}"


def _verdicts(text: str) -> list[tuple[str, str]]:
    return [(finding.claim, finding.verdict) for finding in lint(text)]


@pytest.mark.slow
def test_conversions_against_their_formulas() -> None:
    """The thresholds of both conversions and of Gaussian noise, from mpmath."""
    rho, delta = mpf("2.56"), mpf(10) ** -10
    with mp.workdps(30):
        simple = rho + 2 * mp.sqrt(rho * mp.log(1 / delta))
        mu = mp.sqrt(2 * rho)

        def bound(epsilon: mpf) -> mpf:  # the best Renyi order, on a fine grid
            orders = (1 + mpf(i) / 400 for i in range(1, 4000))
            return min(
                (a - 1) * (a * rho - epsilon) + a * mp.log(1 - 1 / a) - mp.log(a - 1)
                for a in orders
            )

        optimal = mp.findroot(
            lambda e: bound(e) - mp.log(delta), (17, 17.3), solver="secant", tol=1e-6
        )
        gauss = mp.findroot(
            lambda e: mp.log(gaussian(e, mu) / delta), (16.4, 16.6), solver="secant"
        )
    assert (round(float(simple), 3), round(float(optimal), 3), round(float(gauss), 3)) == (
        17.915,
        17.158,
        16.479,
    )
    for epsilon, verdict, said in (
        ("17.92", "derivable", "2 sqrt"),
        ("17.91", "derivable", "best Renyi order"),
        ("17.16", "derivable", "best Renyi order"),
        ("17.2", "derivable", "best Renyi order"),
        ("17.15", "not derivable", "implies epsilon = 17.16; Gaussian noise"),
        ("16.48", "not derivable", "Gaussian noise of this rho has the smaller one"),
        ("16.47", "not derivable", "more than the stated one"),
    ):
        finding = lint(_record(f"rho: 2.56, epsilon: {epsilon}, delta: 1.0e-10"))[-1]
        assert (epsilon, finding.verdict) == (epsilon, verdict)
        assert said in finding.how


def test_a_number_that_was_rounded_down() -> None:
    finding = lint(_record("rho: 2.56, epsilon: 17.158, delta: 1e-10"))[-1]
    assert finding.verdict == "derivable"
    assert "rounded down: epsilon = 17.1585 is proved" in finding.how
    assert finding.missing == "the direction of rounding"


def test_sentences_with_a_conversion() -> None:
    details = (
        "- Persons: \\\\(\\rho\\\\) = 2.56 (\\\\(\\epsilon\\\\)=17.92 "
        "and \\\\(\\delta = 10^{-10}\\\\)).\n"
        "- Houses: ρ = 0.07, ε = 2.5, δ = 1 × 10^-10"
    )
    record = _record("rho: 2.63").replace(
        "{rho: 2.63}\n", "{rho: 2.63}\n    privacy_parameters_details: |\n"
    ) + "".join(f"      {line}\n" for line in details.split("\n"))
    assert _verdicts(record) == [
        ("rho = 2.63", "derivable"),  # 2.56 + 0.07
        ("epsilon = 17.92 at delta = 1e-10, from rho = 2.56", "derivable"),
        ("epsilon = 2.5 at delta = 1e-10, from rho = 0.07", "derivable"),
    ]


def test_variants() -> None:
    assert _verdicts(_record("epsilon: 1, delta: 1e-7", _PURE))[0] == (
        "delta = 1e-7",
        "contradicted",
    )
    assert _verdicts(_record("epsilon: 1, delta: 0", _PURE)) == [("epsilon = 1", "not derivable")]
    approximate = "dp_variant: {variant_name: Approximate DP}"
    missing = lint(_record("epsilon: 1", approximate))[0]
    assert (missing.claim, missing.missing) == ("delta", "privacy_loss.privacy_parameters.delta")
    assert _verdicts("deployment: {}") == [("privacy parameters", "not derivable")]
    assert _verdicts(_record("epsilon: n^2")) == [("epsilon = n^2", "not derivable")]


@pytest.mark.parametrize(
    ("details", "verdict"),
    [
        ("Laplace noise, sensitivity = 1, noise scale = 10", "derivable"),
        ("Laplace noise, sensitivity = 1, noise scale = 9", "not derivable"),
        ("noise with sensitivity = 1, noise scale = 10", "not derivable"),
        ("epsilon = 0.06 for ages and epsilon = 0.04 for names", "derivable"),
        ("epsilon = 0.06 for ages and epsilon = 0.03 for names", "not derivable"),
        ("Laplace", "not derivable"),
    ],
)
def test_details(details: str, verdict: str) -> None:
    assert _verdicts(_record("epsilon: 0.1", _PURE, details=details)) == [
        ("epsilon = 0.1", verdict)
    ]


@pytest.mark.parametrize(
    ("details", "verdict"),
    [
        ("epsilon = 0.06 for ages, epsilon = 0.04 for names", "not derivable"),
        ("epsilon = 0.06, delta = 9e-7 for ages; epsilon = 0.04, delta = 1e-7", "derivable"),
    ],
)
def test_parts_of_delta_add_up_as_well(details: str, verdict: str) -> None:
    record = _record("epsilon: 0.1, delta: 1e-6", details=details)
    assert _verdicts(record) == [("epsilon = 0.1, delta = 1e-6", verdict)]


def test_numbers_in_prose() -> None:
    text = (
        "$\\epsilon$ = 4, epsilon=0.5; \\\\(\\varepsilon = 2 \\times 10^{-3}\\\\), ε = 3 x 10**-2"
    )
    assert stated("epsilon", text) == [4, Fraction(1, 2), Fraction(1, 500), Fraction(3, 100)]
    assert stated("rho", text) == []
    assert stated("scale", "a large scale. Then = 4") == []


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "a fault in line"),
        ("- 1\n- 2", "field deployment"),
        ("", "field deployment"),
        ("deployment: &a {x: 1}\nother: *a", "an alias"),
        ("deployment: {x: 1, x: 2}", "line 1"),
        ("deployment: {[1, 2]: 3}", "line 1"),
        ("deployment: " + "[" * 30 + "]" * 30, "20 levels"),
        ("deployment: " + "[" * 5000, "no YAML|fault"),
        ("deployment: \x00", "no YAML|fault"),
        ("deployment: !!python/object/apply:os.system [ls]", "field deployment"),
    ],
)
def test_texts_that_are_no_record(text: str, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        lint(text)


def test_a_statement_as_a_record() -> None:
    """What is written for the registry is derivable by the linter, or states where it is from."""
    document = statement.of(pld.gaussian(sigma=10), delta="1e-6", unit="user-day")
    fields = yaml.safe_load(registry.fields_for(document))["deployment"]
    parameters = fields["privacy_loss"]["privacy_parameters"]
    assert parameters["delta"] == 1e-6
    assert parameters["epsilon"] == float(document.fields["claims"][0]["epsilon"])
    assert fields["dp_variant"]["variant_name"] == "Approximate DP"
    assert fields["privacy_loss"]["privacy_unit"] == "user-day"
    assert document.sha256 in fields["privacy_loss"]["privacy_parameters_details"]
    document = statement.of(pld.gaussian(sigma=10).composed(3), rho=True)
    parameters = "{rho: 0.015}"
    assert f"privacy_parameters:\n      rho: {parameters[6:11]}" in registry.fields_for(document)
    document = statement.of(pld.laplace(scale=10), delta=0)
    assert "Pure DP" in registry.fields_for(document)


def test_the_command(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(_record("rho: 0.5, epsilon: 5.3, delta: 1e-5"), encoding="utf-8")
    bad.write_text(_record("epsilon: 1, delta: 1e-7", _PURE), encoding="utf-8")
    code, text, err = run("statement", "lint", str(good))
    assert (code, err) == (0, "")
    assert "1 derivable, 1 not derivable" in text
    code, text, _ = run("statement", "lint", str(good), str(bad))
    assert code == 1
    assert "1 contradicted, 1 derivable" in text
    code, text, _ = run("statement", "lint", str(bad), "--json")
    assert '"verdict": "contradicted"' in text
