"""exactdp audit: by name or by path, with a verdict, evidence and an exit code."""

from __future__ import annotations

import json
import signal
import sys
from fractions import Fraction
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_accounting import run

LAPLACE = ["exactdp:discrete-laplace", "--set", "scale=1", "--left", "0", "--right", "1"]


COINS = np.random.default_rng(1)


def leaky(dataset: dict[str, int], n: int) -> list[frozenset[str]]:
    """Releases the keys of a histogram with their coins, but one key always."""
    coins = COINS.random(n) < 0.5
    return [frozenset(key for key in dataset if key == "always" or coin) for coin in coins]


def test_violation() -> None:
    code, out, _ = run("audit", *LAPLACE, "--epsilon", "0.8", "--samples", "100000", "--json")
    assert code == 1
    report = json.loads(out)
    assert report["target"] == "exactdp:discrete-laplace"
    assert report["verdict"] == "violation"


def test_no_violation_is_not_a_pass() -> None:
    code, out, _ = run("audit", *LAPLACE, "--epsilon", "1", "--samples", "20000")
    assert code == 0
    assert "no violation found of being (1, 0)-private" in out
    assert "pass" not in out.lower()


def test_a_command_that_fails_is_no_verdict(tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text("import time; time.sleep(9)", encoding="utf-8")
    command = ["--command", f"{sys.executable} {program}", "--timeout", "0.5"]
    code, out, err = run("audit", "run", *command, "--left", "1", "--right", "2", "--epsilon", "1")
    assert (code, out) == (2, "")
    assert "took longer than 0.5 s" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_watch_until_a_violation() -> None:
    code, out, _ = run("audit", "watch", *LAPLACE, "--epsilon", "0.5")
    assert code == 1
    assert "violation: not (0.5, 0)-private" in out
    code, out, _ = run("audit", "watch", *LAPLACE, "--epsilon", "1", "--samples", "2000", "--json")
    assert code == 0
    assert json.loads(out)["samples"] <= 2000


calls = count(1)


def interrupted(dataset: int, n: int) -> object:
    """A noisy count at whose 20th call the user has had enough."""
    if next(calls) == 20:
        signal.raise_signal(signal.SIGINT)
    return dataset + np.random.default_rng().geometric(0.6, n)


def at_once(dataset: int, n: int) -> object:
    return signal.raise_signal(signal.SIGINT)


def test_watch_until_ctrl_c() -> None:
    arguments = ["--left", "0", "--right", "1", "--epsilon", "1", "--delta", "0.7", "--json"]
    code, out, _ = run("audit", "watch", "tests.cli.test_audit:interrupted", *arguments)
    assert code == 0
    report = json.loads(out)
    assert report["verdict"] == "no violation found"
    assert Fraction(1, 10) < Fraction(report["bounds"]["delta"]) < Fraction(7, 10)
    code, out, err = run("audit", "watch", "tests.cli.test_audit:at_once", *arguments)
    assert (code, out) == (130, "")
    assert err.strip() == "exactdp: interrupted; unfinished work is lost"


@pytest.mark.slow
def test_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text("[0, 0]\n[0, 1]\n\n[1, 1]\n[0, 2]\n", encoding="utf-8")
    arguments = [*LAPLACE[:3], "--pairs", str(file), "--samples", "8000"]
    code, out, _ = run("audit", "pairs", *arguments, "--epsilon", "1", "--json")
    assert code == 1
    report = json.loads(out)
    assert (report["left"], report["right"], report["pairs"]) == ("0", "2", 4)
    assert run("audit", "pairs", *arguments, "--epsilon", "2")[0] == 0
    file.write_text("[0, 1, 2]\n", encoding="utf-8")
    code, out, err = run("audit", "pairs", *arguments, "--epsilon", "1")
    assert (code, out) == (2, "")
    assert "pairs must be" in err
    arguments[arguments.index(str(file))] = "missing.jsonl"
    code, out, err = run("audit", "pairs", *arguments, "--epsilon", "1")
    assert (code, out) == (2, "")
    assert err == "exactdp: pairs must be a file that exists, got 'missing.jsonl'\n"


def test_one_run() -> None:
    counts = ["--canaries", "1000", "--guesses", "100", "--correct", "95", "--delta", "1e-5"]
    code, out, _ = run("audit", "one-run", *counts, "--alpha", "0.05")
    assert code == 0
    assert "at least 2.17185, with confidence 0.95" in out
    assert "if training is Gaussian DP: mu is at least 0." in out
    assert run("audit", "one-run", *counts, "--epsilon", "2.5")[0] == 0
    code, out, _ = run("audit", "one-run", *counts, "--epsilon", "1", "--json")
    assert code == 1
    assert json.loads(out)["violation"] is True


@pytest.mark.slow
def test_other_promises() -> None:
    for promise, code in (("zcdp:rho=0.2", 1), ("gdp:mu=1.5", 0), ("profile:0=0.1,1=0", 1)):
        exit_code, out, _ = run(
            "audit", *LAPLACE, "--promise", promise, "--samples", "40000", "--json"
        )  # fmt: skip
        assert exit_code == code, promise
        assert json.loads(out)["promise"]["promise"] == promise.partition(":")[0]


@pytest.mark.slow
def test_a_function_by_path(tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    data = ["--left", '{"always": 1, "a": 1}', "--right", '{"a": 1}']
    arguments = [*data, "--epsilon", "5", "--delta", "0.5"]
    code, out, _ = run(
        "audit", "tests.cli.test_audit:leaky", *arguments, "--samples", "5000", "--html", str(page)
    )
    assert code == 1
    assert "always" in out
    text = page.read_text(encoding="utf-8")
    assert "<html" in text
    assert "http://" not in text
    assert "https://" not in text


def failing(dataset: int, n: int) -> object:
    """A target with a mistake of its own."""
    return [1 // dataset] * n


@pytest.mark.slow
def test_a_target_that_raises_is_its_own_mistake() -> None:
    target = f"{__name__}:failing"
    data = ["--left", "0", "--right", "1", "--epsilon", "1"]
    code, out, err = run("audit", target, *data, "--workers", "2")
    assert (code, out) == (2, "")
    assert f"{target} raised ZeroDivisionError: " in err
    assert f"in {__name__}, line" in err


@pytest.mark.slow
def test_replay(tmp_path: Path) -> None:
    first = run("audit", *LAPLACE, "--epsilon", "0.8", "--samples", "100000", "--json")[1]
    report = tmp_path / "report.json"
    report.write_text(first, encoding="utf-8")
    arguments = ["audit", "replay", LAPLACE[0], str(report), *LAPLACE[1:]]
    code, out, _ = run(*arguments, "--samples", "50000", "--json")
    again = json.loads(out)
    assert code == 1
    assert again["event"] == json.loads(first)["event"]
    honest = [*arguments[:5], "scale=2", *arguments[6:]]
    assert run(*honest, "--samples", "50000")[0] == 0


@pytest.mark.parametrize(
    ("sigma", "verdict", "code"), [("7.4819", "unsafe", 1), ("7.5", "loose", 0)]
)
def test_a_stated_number(sigma: str, verdict: str, code: int) -> None:
    target = ["--set", "epsilon=1", "--set", "delta=1e-15"]
    arguments = ["audit", "number", "analytic_gaussian", "--claim", f"sigma={sigma}", *target]
    exit_code, out, _ = run(*arguments, "--json")
    assert exit_code == code
    assert json.loads(out)["verdict"] == verdict
    assert run(*arguments)[1].startswith(verdict)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nothing", "--left", "0", "--right", "1", "--epsilon", "1"], "target must be"),
        ([*LAPLACE], "epsilon must be"),
        ([*LAPLACE[:3], "--right", "1", "--epsilon", "1"], "left must be"),
        ([*LAPLACE, "--left", "{", "--epsilon", "1"], "left must be JSON"),
        ([*LAPLACE, "--epsilon", "-1"], "epsilon must be"),
        ([*LAPLACE, "--epsilon", "1", "--samples", "0"], "samples must be"),
        ([*LAPLACE, "--epsilon", "1", "--promise", "zcdp:rho=1"], "promise must be"),
        ([*LAPLACE, "--promise", "zcdp"], "promise must be KIND"),
        ([*LAPLACE, "--promise", "magic:rho=1"], "promise must be one of"),
        ([*LAPLACE, "--promise", "zcdp:rho=-1"], "rho must be"),
        ([*LAPLACE, "--epsilon", "1", "--alpha", "2"], "alpha must be"),
        ([*LAPLACE, "--epsilon", "1", "--set", "scale"], "set must be"),
        ([*LAPLACE, "--epsilon", "1", "--html", "x.pdf"], "html must be"),
        (["replay", LAPLACE[0], "x.json", *LAPLACE[1:]], "report must be"),
        (["replay", LAPLACE[0], "pyproject.toml", *LAPLACE[1:]], "report must be JSON"),
        (["number", "analytic_gaussian"], "claim must be"),
        (["run", "--left", "0", "--right", "1", "--epsilon", "1"], "target must be"),
        (["run", *LAPLACE, "--command", "true", "--epsilon", "1"], "target must be"),
        (["run", "--command", "true", *LAPLACE[1:], "--epsilon", "1"], "set must be"),
        (["one-run", "--canaries", "3", "--guesses", "4", "--correct", "1"], "guesses must be"),
        (["one-run", "--canaries", "3", "--guesses", "2"], "correct must be"),
        (["number", "nothing", "--claim", "sigma=1"], "mechanism must be"),
        (["number", "gshm", "--claim", "rho=1"], "quantity must be"),
        (["number", "gshm", "--claim", "tau=1", "--set", "k=2"], "must be"),
    ],
)
def test_bad_input(arguments: list[str], named: str) -> None:
    code, out, err = run("audit", *arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1
