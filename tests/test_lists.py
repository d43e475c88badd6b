"""The lists that name mechanisms agree, and a missing name fails with the place that lacks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from exactdp import statement
from exactdp.accounting import pld
from exactdp.accounting.calculator import CALCULATORS, calculator
from exactdp.accounting.calculator import parameters as parameters_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.pld.calculators import loss_of
from exactdp.audit.numbers.certified import mechanisms as audited
from exactdp.audit.numbers.certified import named
from exactdp.cli import parameters, steps
from exactdp.cli.composition import compose
from exactdp.errors import InvalidParameter
from exactdp.frames import candidates
from exactdp.local import report_files
from exactdp.oracle.vectors import GROUPS
from exactdp.statement.releases import LAWS

ROOT = Path(__file__).parents[1]

#: Law of a loss -> values of its parameters. A new law needs a line here.
PARAMETERS: dict[str, dict[str, Any]] = {
    "gaussian": {"sigma": 2},
    "gaussian-mixture": {"sigma": 2, "sensitivities": [0, 1], "weights": ["0.7", "0.3"]},
    "discrete-gaussian": {"sigma2": 9},
    "discrete-laplace": {"epsilon": "0.5"},
    "laplace": {"scale": 2},
    "randomized-response": {"epsilon": "0.5"},
    "exponential": {"epsilon": "0.5"},
    "noisy-max": {"epsilon": "0.5"},
    "gaussian-noisy-max": {"sigma": 9, "options": 3},
    "above-threshold": {"sigma": 9, "threshold_sigma": 9, "queries": 4},
    "approximate": {"epsilon": "0.5", "delta": "1e-6"},
    "gshm": {"k": 3, "sigma": 9, "tau": 60},
    "csh": {"sparsity": 3, "sigma": 9, "tau": 60},
    "repeat-and-select": {"run": pld.laplace(scale=2), "mean": 3},
}

#: Laws for which the checkers of statements have no rule.
NOT_STATED = {"gaussian-noisy-max", "above-threshold", "repeat-and-select"}


def _words(option: parameters.Option) -> set[str]:
    """The names that the help of an option allows."""
    return set(re.split(r", | or ", option.allowed))


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("accounting/calculator.py", CALCULATORS),
        ("cli/steps.py", steps.mechanisms()),
        ("statement/releases.py", LAWS),
        ("audit/numbers/certified.py", audited()),
        ("frames/candidates.py", {*candidates.MECHANISMS, *candidates.SELECTIONS}),
        ("local/report_files.py", report_files.MECHANISMS),
    ],
)
def test_a_name_is_spelled_with_dashes(place: str, names: Any) -> None:
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == [], (
        place
    )


def test_a_calculator_has_the_name_of_its_line_and_a_place_in_the_face() -> None:
    stub = files("exactdp.accounting").joinpath("__init__.pyi").read_text(encoding="utf-8")
    for name, where in CALCULATORS.items():
        assert calculator(name).name == name, "accounting/calculator.py"
        module = where.rpartition(".")[0].rpartition(".")[2]
        assert f"import {module} as {module}\n" in stub, "accounting/__init__.pyi"


@pytest.mark.parametrize("name", CALCULATORS)
def test_a_parameter_of_a_calculator_is_known(name: str) -> None:
    entry = calculator(name)
    for each in {**entry.parameters(), **parameters_of(entry.calibrate)}:
        option = getattr(parameters, each.upper(), None)
        assert isinstance(option, parameters.Option), f"cli/parameters.py: {each.upper()}"
    for each in entry.falls_with.keys() - {"epsilon"}:  # calibrations find these
        assert hasattr(Calibration, each), f"accounting/calibration.py: {each}"


def test_a_calibration_lists_the_parameters_that_it_has() -> None:
    calibration = calculator("gaussian").calibrate(epsilon=1, delta="1e-5")
    place = "accounting/calibration.py: _PARAMETERS"
    assert [name for name in dir(calibration) if not hasattr(calibration, name)] == [], place


@pytest.mark.parametrize("name", steps.mechanisms())
def test_a_law_is_known_where_losses_are_used(name: str) -> None:
    assert name in PARAMETERS, "tests/test_lists.py: PARAMETERS"
    law: Callable[..., Any] = steps.mechanisms()[name]
    assert f" {name} (" in " ".join(str(compose.help).split()), "cli/composition.py: help"
    loss = law(**PARAMETERS[name])
    if name in NOT_STATED:
        with pytest.raises(InvalidParameter, match="a mechanism that a privacy statement can name"):
            statement.of(loss, epsilon=1)
    else:
        fields = statement.of(loss, epsilon=1).fields
        assert fields["releases"][0]["mechanism"] in LAWS, "statement/releases.py: LAWS"


@pytest.mark.parametrize("name", CALCULATORS)
def test_a_calculator_and_a_law_of_one_name_have_the_same_delta(name: str) -> None:
    """A statement about delta of a calculator is one about the loss of this name."""
    if name in steps.mechanisms():
        instance = calculator(name)(**{**calculator(name).example, "epsilon": "0.5"})
        delta, loss = instance.delta(), loss_of(instance)
        assert loss.count == 1
        of_loss = loss.delta("0.5", relative_width="1e-6")
        assert of_loss.lower <= delta.upper, name
        assert delta.lower <= of_loss.upper, name


def test_statements_name_the_mechanisms_of_the_specification() -> None:
    text = (ROOT / "checker" / "SPECIFICATION.md").read_text(encoding="utf-8")
    for name in LAWS:
        assert f"`{name}`" in text or f'"{name}"' in text, "checker/SPECIFICATION.md"


def test_a_group_of_vectors_is_answered_by_audits_of_its_name() -> None:
    for group in GROUPS:
        assert named(group) in audited(), "audit/numbers/certified.py"


def test_help_lists_the_mechanisms_that_a_command_takes() -> None:
    place = "cli/parameters.py"
    assert _words(parameters.MECHANISM_COUNTS) == set(candidates.MECHANISMS), place
    assert _words(parameters.MECHANISM_KEYS) == {*candidates.SELECTIONS, "auto"}, place
    assert _words(parameters.SELECTION) == set(candidates.ROUNDS), place
    assert _words(parameters.MECHANISM) == set(report_files.MECHANISMS), place


@pytest.mark.parametrize(("former", "name"), [("csh", "top-k"), ("known", "known-keys")])
def test_frames_take_the_names_of_version_0_3(former: str, name: str) -> None:
    question: dict[str, Any] = {"top": 2} if name == "top-k" else {"k": 2, "listed": 3}
    target = candidates.Target(1, "1e-3", **question)
    before, now = (candidates.mechanism_for(each, target)[0] for each in (former, name))
    assert before == now
