"""A calculator is defined in one place; everything else follows."""

from __future__ import annotations

import inspect
import json
import math
import runpy
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from exactdp.accounting.calculator import CALCULATORS, calculator
from exactdp.audit.numbers.certified import answer, mechanisms, quantities
from exactdp.audit.numbers.claimed import audit_number
from exactdp.errors import InvalidParameter
from tests.accounting import laplace_calculator as laplace
from tests.cli.test_accounting import run

_REFERENCE = Path(__file__).parents[2] / "docs" / "_ext" / "calculators.py"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line in the table of calculators, for a module that lies below exactdp.accounting."""
    monkeypatch.setitem(import_module("sys").modules, "exactdp.accounting.by_sigma", laplace)
    monkeypatch.setitem(CALCULATORS, "laplace-by-sigma", "by_sigma.Laplace")


def expected(sigma: float, epsilon: float) -> float:
    """delta by summing (p - e^epsilon q)_+ over a fine grid."""
    scale, step = sigma / math.sqrt(2), 1e-4
    total = 0.0
    for i in range(-200_000, 200_000):
        x = (i + 0.5) * step
        p, q = (math.exp(-abs(x - move) / scale) for move in (0, 1))
        total += max(p - math.exp(epsilon) * q, 0) * step / (2 * scale)
    return total


@pytest.mark.slow
@pytest.mark.usefixtures("added")
def test_a_new_calculator_has_commands() -> None:
    titles = {"delta": "Compute", "check": "Prove", "calibrate": "Find the least"}
    for verb, title in {**titles, "epsilon": "Compute epsilon"}.items():
        assert "The Laplace mechanism." in run(verb, "--help")[1]
        text = run(verb, "laplace-by-sigma", "--help")[1]
        assert title in text
        assert "--json" in text
        example = text.split("Example: exactdp ")[1].split()
        code, out, err = run(*example, "--json")
        assert code == (verb == "check")  # refuted: delta is 1e-5 in every example
        assert not err
        assert json.loads(out)["mechanism"] == "laplace-by-sigma"
    report = json.loads(
        run("delta", "laplace-by-sigma", "--sigma", "2", "--epsilon", "0.5", "--json")[1]
    )
    assert float(report["delta"]["upper"]) == pytest.approx(expected(2, 0.5), rel=1e-6)
    assert report["parameters"] == {"sigma": "2"}
    flags = ["--sigma", "2", "--epsilon", "0.5", "--sensitivity", "1", "--delta"]
    assert run("check", "laplace-by-sigma", *flags, "0.2")[0] == 0
    assert run("check", "laplace-by-sigma", *flags, "0.09")[0] == 1


@pytest.mark.usefixtures("added")
def test_a_new_calculator_answers_audits_of_numbers() -> None:
    assert "laplace-by-sigma" in mechanisms()
    assert quantities("laplace-by-sigma") == ("delta", "sigma", "epsilon")
    least = answer("laplace-by-sigma", "sigma", {"epsilon": "0.5", "delta": "0.1"})
    assert float(least.upper) == pytest.approx(math.sqrt(2) / (0.5 - 2 * math.log(0.9)), rel=1e-9)
    for factor, verdict in ((0.99, "unsafe"), (1.01, "loose")):
        audited = audit_number(
            mechanism="laplace-by-sigma",
            quantity="sigma",
            parameters={"epsilon": "0.5", "delta": "0.1"},
            claimed=float(least.upper) * factor,
        )
        assert audited.verdict == verdict


@pytest.mark.usefixtures("added")
def test_a_new_calculator_has_a_place_in_the_reference() -> None:
    text = runpy.run_path(str(_REFERENCE))["reference"]()
    assert "* - ``laplace-by-sigma``\n     - the Laplace mechanism\n" in text
    assert ".. automodule:: exactdp.accounting.by_sigma\n" in text


@pytest.mark.parametrize("name", CALCULATORS)
def test_the_functions_of_a_module_have_the_parameters_of_delta(name: str) -> None:
    """The commands offer the parameters of delta to check; the API's check must take them, too."""
    entry = calculator(name)
    assert entry.name == name
    module = import_module(entry.__module__)
    functions = {verb: getattr(module, verb) for verb in ("delta", "check", "guarantee")}
    if name == "top-k":  # a second calculator of its module
        functions = {"delta": module.delta_without_base}
    inputs = _parameters(functions["delta"])
    assert {n: p is inspect.Parameter.empty for n, p in inputs.items()} == entry.parameters()
    if "check" in functions:
        assert _parameters(functions["guarantee"]) == inputs
        claimed = _parameters(functions["check"])
        assert claimed.pop("delta") is inspect.Parameter.empty
        assert claimed == inputs
    wanted = _parameters(entry.calibrate)
    assert {n: wanted[n] for n in wanted.keys() & inputs.keys() - {"sigma"}} == {
        n: inputs[n] for n in wanted.keys() & inputs.keys() - {"sigma"}
    }
    answers = {"delta": "Enclosure", "check": "Check", "guarantee": "Guarantee"}
    for verb, function in functions.items():
        assert inspect.signature(function).return_annotation == answers[verb]
        assert function.__doc__


@pytest.mark.few(4)
@pytest.mark.parametrize("name", [n for n in CALCULATORS if "epsilon" in calculator(n).falls_with])
@pytest.mark.parametrize("target", ["1e-3", "1e-7"])
def test_epsilon_inverts_delta(name: str, target: str) -> None:
    """Both ends of epsilon, at which delta is computed anew, are on the right side.

    delta falls by at most what epsilon rises by.
    """
    entry = calculator(name)
    noise = {n: v for n, v in entry.example.items() if n != "epsilon"}
    if "tau" in noise:
        noise["tau"] = str(2 * float(noise["tau"]))
    at = entry.least_epsilon(**noise, delta=target)
    assert 0 < at.width <= at.upper / 10**12
    low, high = (entry(**noise, epsilon=end).delta() for end in (at.lower, at.upper))
    assert low.upper > Fraction(target) >= high.lower
    assert low.upper < Fraction(target) * (1 + Fraction(1, 10**9)) + at.width


@pytest.mark.parametrize(("name", "function"), [(n, "epsilon") for n in ("gaussian", "csh")])
def test_a_module_has_epsilon_beside_delta(name: str, function: str) -> None:
    entry = calculator(name)
    noise = {n: v for n, v in entry.example.items() if n != "epsilon"}
    answer_of = getattr(import_module(entry.__module__), function)
    assert str(answer_of(**noise, delta="1e-3")) == str(entry.least_epsilon(**noise, delta="1e-3"))


def test_a_delta_that_no_epsilon_keeps_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="delta must be a delta that some value"):
        calculator("gshm").least_epsilon(k=3, sigma=9, tau=1, delta="1e-5")
    with pytest.raises(InvalidParameter, match="does not depend on epsilon, unlike stability"):
        calculator("stability").least_epsilon(n=3, threshold=9, delta="1e-5")


def _parameters(function: Callable[..., object]) -> dict[str, object]:
    return {n: p.default for n, p in inspect.signature(function).parameters.items()}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CALCULATORS)
def test_the_api_the_command_and_the_audit_agree(name: str) -> None:
    entry = calculator(name)
    delta = entry(**entry.example).delta()
    flags = [text for option, value in entry.example.items() for text in (f"--{option}", value)]
    report = json.loads(run("delta", name, *flags, "--json")[1])
    assert report["delta"] == delta.as_dict()
    audited = answer(name, "delta", entry.example)
    assert (audited.lower, audited.upper) == (delta.lower, delta.upper)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "least"),
    [("stability", "threshold"), ("discrete-gshm", "tau"), ("discrete-csh", "tau")],
)
def test_an_audit_finds_the_threshold_of_a_calibration(name: str, least: str) -> None:
    """Two searches: the audit's by bisection from 0, and the calibration's from a guess."""
    entry = calculator(name)
    values = {**entry.example, "delta": "1e-5"}
    del values[least]
    fixed = {n: v for n, v in values.items() if n in inspect.signature(entry.calibrate).parameters}
    assert answer(name, least, values).upper == getattr(entry.calibrate(**fixed), least)


def test_an_audit_refuses_an_unknown_parameter() -> None:
    values = {"sigma": 2, "epsilon": 1, "sensitvity": 3}
    with pytest.raises(InvalidParameter, match="sensitvity"):
        answer("analytic_gaussian", "delta", values)
