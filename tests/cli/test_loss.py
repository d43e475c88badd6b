from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp.accounting import composition, pld
from tests.cli.test_accounting import run

SGD = ["sgd", "--rate", "0.1"]


def test_epsilon_and_delta_of_training_agree() -> None:
    given = [*SGD, "--noise-multiplier", "2", "--steps", "16"]
    code, text, err = run(*given, "--delta", "1e-5", "--json")
    assert (code, err) == (0, "")
    epsilon = json.loads(text)["epsilon"]
    exact = pld.sgd(noise_multiplier=2, rate="0.1", steps=16)
    assert exact.delta(epsilon["upper"]).lower <= Fraction(1, 10**5)
    delta = json.loads(run(*given, "--epsilon", epsilon["upper"], "--json")[1])["delta"]
    assert float(delta["lower"]) <= 1e-5


def test_the_most_steps() -> None:
    given = [*SGD, "--noise-multiplier", "2", "--epsilon", "1", "--delta", "1e-5"]
    report = json.loads(run(*given, "--json")[1])
    assert report["parameters"] == {"steps": "16"}
    assert float(report["delta"]["upper"]) <= 1e-5 < float(report["refuted"]["delta"]["lower"])
    assert "refuted" in run(*given)[1]


@pytest.mark.parametrize("more", [[], ["--steps", "3"], ["--delta", "2", "--steps", "3"]])
def test_three_are_wanted(more: list[str]) -> None:
    code, text, err = run(*SGD, "--noise-multiplier", "2", *more)
    assert (code, text) == (2, "")
    assert len(err.splitlines()) == 1


def test_a_file_of_mechanisms(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    file.write_text(
        '{"mechanism": "approximate", "epsilon": 0.1, "delta": 1e-8, "times": 60}\n\n'
        '{"mechanism": "approximate", "epsilon": "0.1", "delta": "1e-8", "times": 40}\n'
    )
    code, text, err = run("compose", str(file), "--epsilon", "4", "--json")
    assert (code, err) == (0, "")
    exact = composition.optimal(k=100, epsilon="0.1", delta="1e-8", total_epsilon=4)
    found = json.loads(text)["delta"]
    assert Fraction(found["lower"]) <= exact.upper
    assert exact.lower <= Fraction(found["upper"])
    assert "Example: exactdp compose" in run("compose", "--help")[1]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "line 1"),
        ('{"mechanism": "magic"}', "magic"),
        ('{"mechanism": "gaussian"}', "gaussian with sigma"),
        ('{"mechanism": "gaussian", "sigma": 1, "q": 1}', "q in line 1"),
        ('{"mechanism": "gaussian", "sigma": 1, "rate": 2}', "rate must be"),
        ("", "at least one mechanism"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, complaint: str) -> None:
    file = tmp_path / "steps.jsonl"
    file.write_text(line + "\n")
    code, _, err = run("compose", str(file), "--delta", "1e-5")
    assert code == 2
    assert complaint in err


@pytest.mark.slow
def test_the_picture(tmp_path: Path) -> None:
    out = tmp_path / "epsilon.svg"
    given = ["--noise-multiplier", "2", "--rate", "0.1", "--steps", "20", "--delta", "1e-5"]
    code, _, err = run(
        "figure", "epsilon-over-steps", *given, "--points", "3", "--output", str(out)
    )
    assert (code, err) == (0, "")
    assert "<svg" in out.read_text()[:2000]
