"""exactdp risk: the numbers of the library, formulas, and refuted neighbours of calibrations."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from exactdp.accounting import gshm_sums, stability, zcdp
from exactdp.accounting.calculator import calculator
from exactdp.accounting.pld.calculators import loss_of
from exactdp.errors import Undecided
from tests.cli.test_accounting import run

SGD = "risk sgd --rate 0.01 --noise-multiplier 1 --steps 1000"


def answer(call: str) -> Any:
    code, out, err = run(*call.split(), "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def ends(call: str) -> dict[str, tuple[float, float]]:
    return {
        each["risk"]: (float(each["enclosure"]["lower"]), float(each["enclosure"]["upper"]))
        for each in answer(call)["risks"]
    }


def test_risks_of_gaussian_noise_are_its_formulas() -> None:
    """The trade-off curve of Gaussian noise is G_mu, mu = 1/sigma (Dong, Roth, Su 2022)."""
    normal, mu, prior, rate = NormalDist(), 1 / 2, 0.3, 0.01

    def power(alpha: float) -> float:
        return normal.cdf(mu + normal.inv_cdf(alpha))

    cut = mu / 2 + math.log((1 - prior) / prior) / mu
    right = prior * normal.cdf(mu - cut) + (1 - prior) * normal.cdf(cut)
    expected = {
        "advantage": 2 * normal.cdf(mu / 2) - 1,
        "power": power(rate),
        "precision": prior * power(rate) / (prior * power(rate) + (1 - prior) * rate),
        "accuracy": right,
        "reconstruction": power(0.2),
    }
    rates = f"--prior {prior} --false-alarms {rate} --baseline 0.2 --relative-width 1e-9"
    bounds = ends(f"risk gaussian --sigma 2 {rates}")
    for name, value in expected.items():
        low, high = bounds[name]
        assert low * (1 - 1e-9) <= value <= high * (1 + 1e-9), name
        assert high - low <= 1e-8


def test_the_example_of_training() -> None:
    """A power of 9.368e-6 at 1e-6; from a curve of 20 points, within 1.2 %."""
    low, high = ends(f"{SGD} --false-alarms 1e-6")["power"]
    assert low <= 9.368e-6 <= high * 1.012
    assert high - low <= 1e-3 * high
    text = run(*SGD.split())[1]
    assert "Bayes risk" in text
    assert "neighbours: add-remove neighbours" in text


def test_a_promise_has_the_risk_of_randomised_response() -> None:
    """(epsilon, 0)-DP: the worst mechanism tells the truth with e^epsilon/(1 + e^epsilon)."""
    growth = math.exp(1)
    bounds = ends("risk promise --epsilon 1 --prior 0.5")
    assert bounds["accuracy"] == pytest.approx(2 * [growth / (1 + growth)], rel=1e-3)
    assert bounds["power"] == pytest.approx(2 * [growth * 0.001], rel=1e-3)
    flipped = ends(f"risk randomized-response --flip {1 / (1 + growth):.17f} --prior 0.5")
    assert flipped["accuracy"][1] == pytest.approx(bounds["accuracy"][1], rel=1e-9)
    assert "reconstruction" not in flipped  # no side is without the user


@pytest.mark.parametrize(
    ("call", "name", "most", "check"),
    [
        ("risk gaussian --at-most advantage=0.1", "sigma", "0.1", "risk gaussian --sigma {}"),
        ("risk laplace --at-most power=0.01", "scale", "0.01", "risk laplace --scale {}"),
        ("risk promise --at-most accuracy=0.6", "epsilon", "0.6", "risk promise --epsilon {}"),
        (
            "risk promise --delta 1e-6 --at-most reconstruction=0.2",
            "epsilon",
            "0.2",
            "risk promise --delta 1e-6 --epsilon {}",
        ),
        (
            "risk sgd --rate 0.01 --noise-multiplier 1 --at-most power=2e-6 --false-alarms 1e-6",
            "steps",
            "2e-6",
            "risk sgd --rate 0.01 --noise-multiplier 1 --false-alarms 1e-6 --steps {}",
        ),
        (
            "risk sgd --rate 0.1 --steps 10 --at-most precision=0.6 --prior 0.1",
            "noise_multiplier",
            "0.6",
            "risk sgd --rate 0.1 --steps 10 --prior 0.1 --noise-multiplier {}",
        ),
    ],
)
def test_a_calibration_keeps_the_risk_and_its_neighbour_does_not(
    call: str, name: str, most: str, check: str
) -> None:
    report = answer(call)
    measure = report["calibration"]["risk"]
    value = report["parameters"][name]
    own = {"sigma": "noise", "scale": "noise", "noise_multiplier": "noise", "steps": "runs"}
    neighbour = report["calibration"]["refuted"][own.get(name, name)]
    narrow = " --relative-width 1e-4"
    assert ends(check.format(value) + narrow)[measure][1] <= float(most)
    assert ends(check.format(neighbour) + narrow)[measure][0] > float(most)
    assert abs(Fraction(neighbour) - Fraction(value)) <= max(Fraction(value) / 1000, Fraction(1))


@pytest.mark.parametrize("name", ["top-k-with-base", "sums", "csh-sums", "gshm", "zcdp"])
def test_the_risk_of_a_curve_is_the_least_line_above(name: str) -> None:
    """The power at alpha is the minimum over epsilon of delta(epsilon) + e^epsilon alpha."""
    example = {"rho": "0.05"} if name == "zcdp" else calculator(name).example
    parameters = {each: value for each, value in example.items() if each != "epsilon"}
    delta = zcdp.delta if name == "zcdp" else calculator(name)

    def at(epsilon: float) -> float:
        value = delta(**parameters, epsilon=f"{epsilon:.9f}")
        return (value if name == "zcdp" else value.delta()).float_upper()

    words = " ".join(f"--{each} {value}" for each, value in parameters.items())
    bounds = ends(f"risk {name} {words} --false-alarms 0.001")
    assert bounds["advantage"][1] == pytest.approx(at(0), rel=1e-9)
    low, high = 0.0, 5.0
    for _ in range(60):
        left, right = (low + (high - low) * part for part in (0.4, 0.6))
        lines = [at(x) + math.exp(x) * 0.001 for x in (left, right)]
        low, high = (low, right) if lines[0] < lines[1] else (left, high)
    assert bounds["power"][1] == pytest.approx(at(low) + math.exp(low) * 0.001, rel=1e-3)
    assert bounds["power"][1] >= (at(low) + math.exp(low) * 0.001) * (1 - 1e-6)
    if name != "gshm":  # only an upper bound of delta is known
        assert bounds["advantage"][0] == 0


def test_of_a_curve_several_releases_are_refused() -> None:
    sums = gshm_sums.GshmSums(k=10, columns=1, sigma=50, tau=243, epsilon=0)
    with pytest.raises(Undecided, match="a single release"):
        loss_of(sums).composed(2).delta(1)


def test_where_noise_depends_on_epsilon_a_risk_is_that_of_its_promise() -> None:
    own = ends("risk stability --n 100 --threshold 20 --epsilon 1")
    delta = stability.delta(n=100, epsilon=1, threshold=20).upper
    promised = ends(f"risk promise --epsilon 1 --delta {delta}")
    assert own["advantage"] == promised["advantage"]
    assert own["power"] == promised["power"]


def test_noise_that_is_too_small_for_any_threshold() -> None:
    code, _, err = run(*["risk", "gshm", "--k", "10", "--sigma", "1", "--at-most", "advantage=0.2"])
    assert code
    assert "sigma must be larger: at this one no tau is enough" in err


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("steps.jsonl").write_text(
        '{"mechanism": "gaussian", "sigma": 20, "times": 100}\n', encoding="utf-8"
    )
    whole = ends("risk gaussian --sigma 2")
    for name, (low, high) in ends("risk compose steps.jsonl").items():
        assert low <= whole[name][1]
        assert whole[name][0] <= high
    run(*["delta", "gaussian", "--sigma", "2", "--epsilon", "1", "--statement", "s.json"])
    stated = ends("risk statement s.json")
    assert stated == whole
    run(*["release", "budget", "b.json", "--epsilon", "1", "--delta", "1e-6"])
    assert (
        ends("risk budget b.json")["advantage"]
        == ends("risk promise --epsilon 1 --delta 1e-6")["advantage"]
    )


def test_phases_compose() -> None:
    one = answer("sgd --noise-multiplier 2 --rate 0.1 --steps 30 --delta 1e-5")["epsilon"]
    same = answer("sgd --noise-multiplier 2,2 --rate 0.1 --steps 10,20 --delta 1e-5")["epsilon"]
    assert same == one
    more = answer("sgd --noise-multiplier 2,1 --rate 0.1 --steps 10,20 --delta 1e-5")["epsilon"]
    assert float(more["lower"]) > float(one["upper"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("risk laplace", "scale must be a number > 0, or left out with --at-most, got nothing"),
        ("risk laplace --at-most odds=1", "at_most must be one of 'advantage'"),
        ("risk laplace --at-most advantage", "at_most must be a number"),
        ("risk laplace --at-most advantage=1", "at_most must be > 0"),
        ("risk laplace --scale 1 --at-most advantage=0.1", "at_most must be given where a param"),
        ("risk sgd --rate 0.1", "noise_multiplier must be given, or steps"),
        ("risk gaussian --sigma 1 --prior 2", "prior must be > 0 and < 1"),
        ("sgd --noise-multiplier 1,2 --rate 0.1 --steps 1,2,3 --delta 1e-5", "or 3, one for each"),
        ("sgd --noise-multiplier 1,2 --rate 0.1 --steps 10 --delta 1e-5", "one for each phase"),
        ("risk sgd --noise-multiplier 1,2 --rate 0.1 --at-most advantage=0.1", "for each phase"),
        ("risk stability --n 3 --threshold 2", "epsilon must be a number >= 0, got nothing"),
        (
            "risk stability --n 9 --threshold 2 --epsilon 1 --at-most advantage=0.5",
            "at_most must be left out: no parameter of this mechanism is calibrated to a risk",
        ),
    ],
)
def test_bad_input(call: str, message: str) -> None:
    code, out, err = run(*call.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
