"""exactdp audit: by name or by path, with a verdict, evidence and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_accounting import run

LAPLACE = ["exactdp:discrete-laplace", "--set", "scale=1", "--left", "0", "--right", "1"]


def leaky(dataset: dict[str, int], n: int) -> list[frozenset[str]]:
    """Releases the keys of a histogram with their coins, but one key always."""
    coins = np.random.default_rng(len(dataset)).random(n) < 0.5
    return [frozenset(key for key in dataset if key == "always" or coin) for coin in coins]


def test_violation() -> None:
    code, out, _ = run("audit", *LAPLACE, "--epsilon", "0.8", "--samples", "100000", "--json")
    assert code == 1
    found = json.loads(out)
    assert found["target"] == "exactdp:discrete-laplace"
    assert found["verdict"] == "violation"


def test_no_violation_is_not_a_pass() -> None:
    code, out, _ = run("audit", *LAPLACE, "--epsilon", "1", "--samples", "20000")
    assert code == 0
    assert "no violation found of being (1, 0)-private" in out
    assert "pass" not in out.lower()


def test_other_promises() -> None:
    for promise, code in (("zcdp:rho=0.2", 1), ("gdp:mu=1.5", 0), ("profile:0=0.1,1=0", 1)):
        found, out, _ = run(
            "audit", *LAPLACE, "--promise", promise, "--samples", "40000", "--json"
        )  # fmt: skip
        assert found == code, promise
        assert json.loads(out)["promise"]["promise"] == promise.partition(":")[0]


def test_a_function_by_path(tmp_path: Path) -> None:
    page = tmp_path / "audit.html"
    arguments = ["--left", '{"always": 1}', "--right", "{}", "--epsilon", "5", "--delta", "0.5"]
    code, out, _ = run(
        "audit", "tests.cli.test_audit:leaky", *arguments, "--samples", "5000", "--html", str(page)
    )
    assert code == 1
    assert "always" in out
    text = page.read_text(encoding="utf-8")
    assert "<html" in text
    assert "http://" not in text
    assert "https://" not in text


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


def test_two_workers() -> None:
    code, _, __ = run(
        "audit", *LAPLACE, "--epsilon", "0.5", "--samples", "100000", "--workers", "2"
    )
    assert code == 1


def test_targets() -> None:
    assert "opendp:laplace" in run("audit", "targets")[1]
    assert json.loads(run("audit", "targets", "--json")[1])[0]["parameters"] == ["scale"]


@pytest.mark.parametrize(
    ("sigma", "verdict", "code"), [("7.4819", "unsafe", 1), ("7.5", "loose", 0)]
)
def test_a_stated_number(sigma: str, verdict: str, code: int) -> None:
    target = ["--set", "epsilon=1", "--set", "delta=1e-15"]
    arguments = ["audit", "number", "analytic_gaussian", "--claim", f"sigma={sigma}", *target]
    found, out, _ = run(*arguments, "--json")
    assert found == code
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
