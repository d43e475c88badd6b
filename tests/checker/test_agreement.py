"""Both checkers compute the same numbers, to the last bit, and count the same work."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.checker.examples import EXAMPLES, Statement, dpcheck

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def _in_node(statements: list[Statement]) -> list[list[list[Any]]]:
    program = Path(__file__).with_name("bounds.mjs")
    text = json.dumps(statements)
    done = subprocess.run(["node", str(program)], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-300:]
    return json.loads(done.stdout)


def _bound(claim: dict[str, Any], fields: dict[str, Any], upper: bool) -> str:
    named = fields["unit"]["neighbours"] in ("add-remove", "zero-out")
    releases = fields["releases"]
    try:
        if claim["measure"] == "delta":
            at = claim["epsilon"]
            number = dpcheck.delta(releases, claim["derivation"], at, upper, named)
        else:
            number = dpcheck.quantity(claim, releases, upper, named)
    except dpcheck.Stop as stop:
        return str(stop.args[1])
    number = Fraction(number)
    return f"{number.numerator}/{number.denominator}"


def _in_python(statement: Statement) -> list[list[Any]]:
    fields = dpcheck.read("statement", statement)
    return [
        [
            dpcheck.work(claim, fields["releases"]),
            *(_bound(claim, fields, up) for up in (True, False)),
        ]
        for claim in fields["claims"]
    ]


def _compare(statements: list[Statement]) -> int:
    """The number of bounds. Raises AssertionError where the checkers differ."""
    bounds = 0
    for statement, theirs in zip(statements, _in_node(statements), strict=True):
        ours = _in_python(statement)
        assert ours == theirs, json.dumps(statement)
        bounds += sum("/" in bound for _, *each in ours for bound in each)
    return bounds


@pytest.mark.slow
def test_every_example() -> None:
    assert _compare([example.honest() for example in EXAMPLES]) > 40


def _number(rng: random.Random) -> str:
    mantissa = rng.choice(["1", "2.5", "7", "0.3", "1.0000001", "123456789"])
    return mantissa + rng.choice(["", "", "", "e-1", "e-3", "e-80", "e-999", "e3", "e90"])


def _release(rng: random.Random) -> Statement:
    """Any mechanism, with parameters of every size."""
    number, whole = _number(rng), str(rng.choice([1, 1, 2, 10]))
    mechanism = rng.choice(list(dpcheck.VARIANTS["mechanism"]))
    values: dict[str, Any] = {
        "sigma": number,
        "sigma2": rng.choice(["1/3", "4", number]),
        "scale": rng.choice(["1/3", "2", number]),
        "sensitivity": whole if mechanism.startswith("discrete") else _number(rng),
        "rate": rng.choice(["1", "0.5", "0.01", "1e-40", "1e-999"]),
        "epsilon": rng.choice(["0", "0.1", "1", number]),
        "rho": rng.choice(["0", "0.1", number]),
        "delta": rng.choice(["0", "1e-6", "1e-70", "1"]),
        "tau": rng.choice(["0", "5", "500", number]),
        "k": rng.choice([1, 2, 10, 10**9]),
        "sparsity": rng.choice([1, 2, 10, 10**9]),
        "outcomes": rng.choice(
            [
                [["0.5", "0.35"], ["0.49", "0.63"], ["0.01", "0.02"]],
                [["1e-25", "0"], ["0.9999999999999999999999999", "1"]],
                [["0.3", "0.01"], ["0.7", "0.99"]],
                [["0", "1"], ["1", "0"]],
            ]
        ),
    }
    names = [name.rstrip("?") for name in dpcheck.VARIANTS["mechanism"][mechanism].split()]
    if rng.random() < 0.5 and "rate" in names:
        names.remove("rate")
    times = rng.choice([1, 1, 2, 7])
    return {"mechanism": mechanism, "times": times, **{name: values[name] for name in names}}


def _claim(rng: random.Random, releases: list[Statement]) -> Statement:
    rule: Statement = {
        "rule": rng.choice(["curve", "curve", "basic", "renyi", "grid", "overlaps", "sum"])
    }
    if rule["rule"] == "renyi":
        rule["order"] = rng.choice(["1.5", "2", "7.25", "31", "1.000000001", "511.5", "600"])
    if rule["rule"] == "overlaps":
        rule["starts"] = rng.choice([[0], [0, 1], [0, 1, 2], [1], []])
    if rule["rule"] == "grid":
        reach = rng.choice([1, 3, 20])
        nodes = [[-rng.randint(0, reach), rng.randint(0, reach)] for _ in releases]
        rule |= {
            "step": rng.choice(["1/10", "1", "1e-40", "1e-300", "3"]),
            "mass_bits": rng.choice([16, 17, 64, 160]),
            "nodes": nodes,
            "window": [-rng.randint(0, 3 * reach), rng.randint(0, 3 * reach)],
        }
    epsilon = rng.choice(["0", "0.1", "1.8", "40", "4000", "1e999"])
    heads: list[Statement] = [{"measure": "delta", "epsilon": epsilon}] * 4
    heads += [
        {"measure": "type-two", "epsilon": epsilon, "type_one": rng.choice(["0", "0.1", "1"])}
    ]
    if rule["rule"] == "sum":
        heads = [{"measure": "rho"}, {"measure": "rho", "delta": rng.choice(["0", "1e-5", "1"])}]
        heads += [
            {"measure": "mu"},
            {"measure": "renyi", "order": rng.choice(["1.5", "2", "9.75"])},
        ]
    return {**rng.choice(heads), "derivation": rule, "at_most": "1", "at_least": "0"}


def _random_statement(rng: random.Random) -> Statement:
    statement = EXAMPLES[0].honest()
    releases = [_release(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    relations = ["add-remove"] * 2
    if not any({"rate", "tau"} & release.keys() for release in releases):
        relations = ["add-remove", "replace-one", "zero-out", "pair"]
    statement["unit"]["neighbours"] = rng.choice(relations)
    return {**statement, "releases": releases, "claims": [_claim(rng, releases)]}


def test_statements_with_parameters_of_every_size() -> None:
    rng = random.Random(4)
    assert _compare([_random_statement(rng) for _ in range(220)]) > 60


@pytest.mark.slow
def test_many_statements_with_parameters_of_every_size() -> None:
    rng = random.Random(5)
    assert _compare([_random_statement(rng) for _ in range(6500)]) > 2000
