from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp.accounting import composition, pld
from tests.cli.test_accounting import run

SGD = ["sgd", "--rate", "0.1"]


def test_epsilon_and_delta_of_training_agree() -> None:
    command = [*SGD, "--noise-multiplier", "2", "--steps", "16"]
    code, text, err = run(*command, "--delta", "1e-5", "--json")
    assert (code, err) == (0, "")
    epsilon = json.loads(text)["epsilon"]
    exact = pld.sgd(noise_multiplier=2, rate="0.1", steps=16)
    assert exact.delta(epsilon["upper"]).lower <= Fraction(1, 10**5)
    delta = json.loads(run(*command, "--epsilon", epsilon["upper"], "--json")[1])["delta"]
    assert float(delta["lower"]) <= 1e-5


@pytest.mark.slow
def test_the_most_steps() -> None:
    command = [*SGD, "--noise-multiplier", "2", "--epsilon", "1", "--delta", "1e-5"]
    report = json.loads(run(*command, "--json")[1])
    assert report["parameters"] == {"steps": "16"}
    assert float(report["delta"]["upper"]) <= 1e-5 < float(report["refuted"]["delta"]["lower"])
    assert "refuted" in run(*command)[1]


@pytest.mark.parametrize("more", [[], ["--steps", "3"], ["--delta", "2", "--steps", "3"]])
def test_three_are_wanted(more: list[str]) -> None:
    code, text, err = run(*SGD, "--noise-multiplier", "2", *more)
    assert (code, text) == (2, "")
    assert len(err.splitlines()) == 1


def test_a_file_of_mechanisms(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    file.write_text(
        '{"mechanism": "approximate", "epsilon": 0.1, "delta": 1e-8, "times": 60}\n\n'
        '{"mechanism": "approximate", "epsilon": "0.1", "delta": "1e-8", "times": 40}\n',
        encoding="utf-8",
    )
    code, text, err = run("compose", str(file), "--epsilon", "4", "--json")
    assert (code, err) == (0, "")
    exact = composition.optimal(k=100, epsilon="0.1", delta="1e-8", total_epsilon=4)
    delta = json.loads(text)["delta"]
    assert Fraction(delta["lower"]) <= exact.upper
    assert exact.lower <= Fraction(delta["upper"])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "line 1"),
        ('{"mechanism": "magic"}', "magic"),
        ('{"mechanism": "gaussian"}', "gaussian with sigma"),
        ('{"mechanism": "gshm", "k": 3, "sigma": 2}', "gshm with k, sigma, tau"),
        (
            '{"mechanism": "csh", "sparsity": 3, "sigma": 2, "tau": 1, "contributions": 9}',
            "contributions",
        ),
        ('{"mechanism": "gaussian", "sigma": 1, "q": 1}', "q in line 1"),
        ('{"mechanism": "gaussian", "sigma": 1, "rate": 2}', "rate must be"),
        ("", "at least one mechanism"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, complaint: str) -> None:
    file = tmp_path / "steps.jsonl"
    file.write_text(line + "\n", encoding="utf-8")
    code, _, err = run("compose", str(file), "--delta", "1e-5")
    assert code == 2
    assert complaint in err


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("flags", "loss"),
    [
        (["--neighbours", "replace-one"], pld.gaussian(sigma=2).sampled("0.1").replaced()),
        (["--sampling", "batches"], pld.gaussian(sigma=2).batched("0.1")),
    ],
)
def test_training_for_other_neighbours(flags: list[str], loss: pld.Pld) -> None:
    command = [*SGD, "--noise-multiplier", "2", "--steps", "4", "--epsilon", "1", *flags]
    code, text, err = run(*command, "--json")
    assert (code, err) == (0, "")
    report = json.loads(text)
    exact = loss.composed(4).delta(1)
    assert Fraction(report["delta"]["upper"]) >= exact.lower
    assert Fraction(report["delta"]["lower"]) <= exact.upper
    assert report["neighbours"] == pld.REPLACE_ONE


@pytest.mark.slow
def test_the_noise_of_batches_meets_the_upper_bound() -> None:
    command = [*SGD, "--steps", "4", "--epsilon", "1", "--delta", "1e-3", "--sampling", "batches"]
    report = json.loads(run(*command, "--json")[1])
    noise = report["parameters"]["noise_multiplier"]
    loss = pld.sgd(
        noise_multiplier=noise, rate="0.1", steps=4, sampling="batches", neighbours="replace-one"
    )
    assert loss.delta(1).upper <= Fraction(1, 1000) < loss.delta(1).upper * Fraction(101, 100)


def test_batches_are_for_replace_one_neighbours() -> None:
    command = [*SGD, "--noise-multiplier", "2", "--steps", "4", "--epsilon", "1"]
    code, text, err = run(*command, "--sampling", "batches", "--neighbours", "add-remove")
    assert (code, text) == (2, "")
    assert "'replace-one' for batches" in err


@pytest.mark.slow
def test_a_file_for_other_neighbours(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    file.write_text(
        '{"mechanism": "gaussian", "sigma": 3, "rate": 0.1}\n'
        '{"mechanism": "gaussian", "sigma": 3, "rate": 0.1, "sampling": "batches"}\n'
        '{"mechanism": "randomized-response", "epsilon": 0.1}\n',
        encoding="utf-8",
    )
    code, text, err = run(
        "compose", str(file), "--epsilon", "1", "--neighbours", "replace-one", "--json"
    )
    assert (code, err) == (0, "")
    noise = pld.gaussian(sigma=3)
    exact = (
        noise.sampled("0.1")
        .replaced()
        .then(noise.batched("0.1"))
        .then(pld.randomized_response(epsilon="0.1", neighbours=pld.REPLACE_ONE))
        .delta(1)
    )
    delta = json.loads(text)["delta"]
    assert Fraction(delta["upper"]) >= exact.lower
    assert Fraction(delta["lower"]) <= exact.upper
    assert "for batches" in run("compose", str(file), "--epsilon", "1")[2]


def test_a_file_for_a_group(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    file.write_text(
        '{"mechanism": "gaussian-mixture", "sigma": 2, "sensitivities": [0, 1], '
        '"weights": [0.5, "0.5"]}\n',
        encoding="utf-8",
    )
    text = run("compose", str(file), "--epsilon", "6", "--group", "2", "--json")[1]
    assert (
        json.loads(text)["neighbours"]
        == "add-remove neighbours in groups of 2: all users of the group take part or not"
    )
    file.write_text(
        '{"mechanism": "gaussian-mixture", "sigma": 2, "sensitivities": 3}\n', encoding="utf-8"
    )
    code, _, err = run("compose", str(file), "--epsilon", "1")
    assert (code, len(err.splitlines())) == (2, 1)


@pytest.mark.slow
def test_only_one_pair_gives_a_statement_of_several_runs_lower_bounds(tmp_path: Path) -> None:
    steps = tmp_path / "steps.jsonl"
    steps.write_text('{"mechanism": "gaussian", "sigma": 10, "times": 100}\n', encoding="utf-8")
    training = [*SGD, "--noise-multiplier", "2", "--steps", "16"]
    for command in (training, ["compose", str(steps)]):
        for flags in ([], ["--one-pair"]):
            file = tmp_path / f"{command[0]}{len(flags)}.json"
            assert run(*command, "--epsilon", "1", "--statement", str(file), *flags)[0] == 0
            (claim,) = json.loads(file.read_text(encoding="utf-8"))["claims"]
            assert ("at_least" in claim) == bool(flags)
            assert run("statement", "check", str(file))[0] == 0
        code, _, err = run(*command, "--epsilon", "1", "--one-pair")
        assert (code, err) == (
            2,
            "exactdp: one_pair must be given with --statement, got no --statement\n",
        )


@pytest.mark.parametrize(
    "call",
    [
        "sgd --noise-multiplier 100 --rate 0.01 --steps 1 --delta 0.1",
        "epsilon gaussian --sigma 30 --delta 0.1",
        "epsilon zcdp --rho 0.01 --delta 0.5",
    ],
)
def test_a_delta_that_is_met_without_epsilon_is_named(call: str) -> None:
    assert "\ndelta is already met at epsilon 0\n" in run(*call.split())[1]
    assert "already" not in run(*call.replace("0.1", "1e-9").replace("0.5", "1e-9").split())[1]


def test_a_relative_width() -> None:
    call = "sgd --noise-multiplier 2 --rate 0.1 --steps 16"
    for target, width in (("--delta 1e-5", "1e-6"), ("--epsilon 1", "1e-5")):
        code, out, _ = run(*f"{call} {target} --relative-width {width} --json".split())
        assert code == 0
        report = json.loads(out)
        ends = {
            k: Fraction(v) for k, v in report["epsilon" if "delta" in target else "delta"].items()
        }
        assert ends["upper"] - ends["lower"] <= Fraction(width) * ends["lower"] * Fraction(11, 10)
    options = [*SGD, "--epsilon", "1", "--delta", "0.1", "--steps", "2"]
    code, _, err = run(*options, "--relative-width", "1")
    assert code == 2
    assert "relative_width must be left out for noise or steps" in err
