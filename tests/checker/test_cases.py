"""Statements that a checker once accepted although false, or never finished; and their cost."""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp, mpf

from tests.checker import fuzz
from tests.checker.examples import EXAMPLES, FOLDER, Statement, dpcheck, verdicts_in_node

_CASES = Path(__file__).with_name("cases")
_WORK = "not proved: the claims need more than 1600000 units of work"

#: Case -> the verdict with its reason.
_VERDICTS = {
    "orders": "not proved: claim 1, at_most, fails",
    "fractional-sensitivity": "malformed: sensitivity: that of integers is a whole number",
    "tiny-rate": "valid: 1 claim follows",
    "tiny-step": "not proved: the masses add up to more than 2",
    "few-bits": _WORK,
    "promise": "valid: 1 claim follows; taken on trust: release 1 (a stated guarantee)",
    "false-claim": "not proved: claim 1, at_most, fails",
}


def _said(statement: Statement | bytes) -> str:
    """The verdict and its reason; asserts that both checkers give the same verdict."""
    data = statement if isinstance(statement, bytes) else json.dumps(statement).encode()
    verdict, reason, sha256 = dpcheck.check(data)
    if shutil.which("node"):
        assert verdicts_in_node([data.decode()]) == [[verdict, sha256]]
    return f"{verdict}: {reason}"


def _statement(
    releases: list[dict[str, Any]], *claims: dict[str, Any], neighbours: str = "add-remove"
) -> Statement:
    statement = EXAMPLES[0].honest()
    statement["unit"]["neighbours"] = neighbours
    each = [{"times": 1, **release} for release in releases]
    return {**statement, "releases": each, "claims": list(claims)}


def _delta(rule: str, epsilon: str, most: str, **choices: Any) -> dict[str, Any]:
    derivation = {"rule": rule, **choices}
    return {"measure": "delta", "epsilon": epsilon, "at_most": most, "derivation": derivation}


def _gaussian(**fields: Any) -> dict[str, Any]:
    return {"mechanism": "gaussian", "sigma": "1", "sensitivity": "1", **fields}


@pytest.mark.parametrize("name", _VERDICTS)
def test_verdicts(name: str) -> None:
    assert _said((_CASES / f"{name}.json").read_bytes()) == _VERDICTS[name]


def _outcomes(count: int) -> Statement:
    """Outcomes with odd denominators of 25 digits, about a megabyte."""
    rng = random.Random(1)
    odd = [rng.randrange(10**24, 10**25) | 1 for _ in range(count)]
    pairs = [[f"1/{n}", f"1/{n}"] for n in odd]
    return _statement([{"mechanism": "finite-law", "outcomes": pairs}], _delta("curve", "1", "1"))


def _grid(times: int, bits: int, nodes: list[int], window: list[int]) -> Statement:
    choices = {"step": "1/8192", "mass_bits": bits, "nodes": [nodes], "window": window}
    return _statement([_gaussian(times=times)], _delta("grid", "1", "1", **choices))


_COSTLY: dict[str, Callable[[], Statement]] = {
    "odd denominators": lambda: _outcomes(15_000),
    "many claims": lambda: _statement(
        [{"mechanism": "discrete-gaussian", "sigma2": "1e6", "sensitivity": "1"}] * 100,
        *[_delta("renyi", "1", "1", order="511.5")] * 3000,
    ),
    "large laws": lambda: _statement(
        [{"mechanism": "discrete-gaussian", "sigma2": "1e6", "sensitivity": "1"}],
        *[_delta("curve", "1", "1")] * 100,
    ),
    "large orders": lambda: _statement(
        [_gaussian(rate="0.5")] * 300, _delta("renyi", "1", "1", order="511.5")
    ),
    "a wide window": lambda: _grid(10**9, 160, [-10, 10], [-8000, 8000]),
    "many nodes": lambda: _grid(10**9, 160, [-4000, 4000], [-10, 10]),
    "few bits": lambda: _grid(10**9, 16, [-4000, 4000], [-8000, 8000]),
    "sums without a short denominator": lambda: _statement(
        [_gaussian(sigma=f"{10**27 + 2 * i + 1}/7") for i in range(400)],
        *[{"measure": "rho", "at_most": "1", "derivation": {"rule": "sum"}}] * 300,
    ),
    "starts": lambda: _statement(
        [{"mechanism": "correlated-sparse-histogram", "sparsity": 10**6, "sigma": "9", "tau": "9"}],
        _delta("overlaps", "1", "1", starts=list(range(100_000))),
    ),
    "a far node": lambda: _statement(
        [_gaussian()],
        _delta("grid", "1", "1", step="1", mass_bits=16, nodes=[[5000, 5000]], window=[0, 1]),
    ),
}


@pytest.mark.parametrize("name", _COSTLY)
def test_costly_statements_are_refused_before_any_work(name: str) -> None:
    """By both checkers, in less than three seconds of processor time each."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    assert not _said(_COSTLY[name]()).startswith("valid")
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    assert all(b.ru_utime - a.ru_utime < 3 for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        '"' + "a" * ((1 << 20) - 2) + '"',
        '"' + "a" * ((1 << 20) - 1),  # without an end
        '{"format": "dp-statement/1, "unit": "' + "\\\\" * 1000 + "a" * 1000,
        "[" * (1 << 20),
    ],
)
def test_long_strings_and_deep_lists(text: str) -> None:
    assert _said(text.encode()).startswith("malformed")


@pytest.mark.few(6)
@pytest.mark.parametrize("rule", ["curve", "basic", "renyi", "sum", "grid", "overlaps"])
@pytest.mark.parametrize("mechanism", ["discrete-laplace", "discrete-gaussian"])
def test_the_move_of_integers_is_whole_whatever_the_rule(mechanism: str, rule: str) -> None:
    noise = {"sigma2": "4"} if mechanism == "discrete-gaussian" else {"scale": "2"}
    choices = {
        "renyi": {"order": "2"},
        "overlaps": {"starts": [0]},
        "grid": {"step": "1", "mass_bits": 16, "nodes": [[-1, 1]], "window": [-1, 1]},
    }.get(rule, {})
    claim = _delta(rule, "1", "1", **choices)
    for move, verdict in (("0.5", "malformed"), ("3/2", "malformed")):
        release = {"mechanism": mechanism, "sensitivity": move, **noise}
        assert _said(_statement([release], claim)).startswith(verdict)
    release = {"mechanism": mechanism, "sensitivity": "2.0", **noise}
    assert not _said(_statement([release], claim)).startswith("malformed")


@pytest.mark.slow
def test_a_composition_has_a_lower_side_only_with_one_pair() -> None:
    """Two counts of disjoint groups, sigma 1, epsilon 1: .1269; with one user in both .2862."""
    claim = _delta("curve", "1", "1")
    sums = {"derivation": {"rule": "sum"}, "at_most": "1000", "at_least": "1e-9"}
    claims = [{**claim, "at_least": "0.2862"}]
    claims += [{"measure": "rho", **sums}, {"measure": "mu", **sums}]
    claims += [{"measure": "renyi", "order": "2", **sums}]
    for each in claims:
        for releases in ([_gaussian()] * 2, [_gaussian(times=2)]):
            statement = _statement(releases, each)
            assert _said(statement).startswith("valid")
            for unit in ({}, {"one_pair": False}):
                statement["unit"] = {"neighbours": "add-remove", "of": "user", "bounds": [], **unit}
                assert "needs one_pair" in _said(statement)
    alone = _statement([_gaussian()], {**claim, "at_least": "0.1269"})
    del alone["unit"]["one_pair"]
    assert _said(alone).startswith("valid")
    error = {"measure": "type-two", "type_one": "0.1", "epsilon": "1", "at_least": "0.1"}
    both = _statement([_gaussian()] * 2, {**error, "derivation": {"rule": "curve"}})
    del both["unit"]["one_pair"]
    assert _said(both).startswith("valid")


@pytest.mark.few(2)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one", "zero-out", "pair"])
def test_orders_matter_where_no_side_has_a_name(neighbours: str) -> None:
    law = [["0.5", "0.35"], ["0.49", "0.63"], ["0.01", "0.02"]]
    choices = {"step": "1/512", "mass_bits": 82, "nodes": [[-356, 356]], "window": [-720, 720]}
    release = {"mechanism": "finite-law", "times": 2, "outcomes": law}
    named = neighbours in ("add-remove", "zero-out")
    for most in ("0.000142", "0.00095"):  # of one order, and less than that of two
        said = _said(
            _statement([release], _delta("grid", "0.95", most, **choices), neighbours=neighbours)
        )
        assert said.startswith("valid" if named else "not proved")
    symmetric = {"mechanism": "randomized-response", "times": 3, "epsilon": "0.1"}
    choices = {"step": "0.1", "mass_bits": 100, "nodes": [[-1, 1]], "window": [-3, 3]}
    p = (
        mp.e ** mpf("0.1") / (1 + mp.e ** mpf("0.1"))
    ) ** 3  # all three answers are the likelier ones
    truth = p - mp.e ** mpf("0.2") * (1 / (1 + mp.e ** mpf("0.1"))) ** 3
    for share, verdict in (("1.0000000001", "valid"), ("0.9999999999", "not proved")):
        most = f"{round(truth * mpf(share) * 10**40)}e-40"
        claim = _delta("grid", "0.2", most, **choices)
        assert _said(_statement([symmetric], claim, neighbours=neighbours)).startswith(verdict)


def test_the_former_field_of_a_correlated_histogram() -> None:
    release = {"mechanism": "correlated-sparse-histogram", "k": 10, "sigma": "18", "tau": "132"}
    claim = _delta("overlaps", "0.35", "1", starts=[0])
    assert (
        _said(_statement([release], claim)) == "malformed: releases: the field sparsity is missing"
    )


def test_a_tiny_delta_of_a_histogram() -> None:
    release = {"mechanism": "gaussian-sparse-histogram", "k": 1, "sigma": "10", "tau": "500"}
    assert _said(_statement([release], _delta("curve", "1.8", "6.147613406e-72"))).startswith(
        "valid"
    )


_PROMISES = {
    1: "release 1 (a stated guarantee)",
    3: "releases 1, 2, 3 (stated guarantees)",
    7: "releases 1, 2, 3, 4, 5 and 2 more (stated guarantees)",
}


@pytest.mark.parametrize("count", _PROMISES)
def test_promises_are_named(count: int) -> None:
    promises = [{"mechanism": "zcdp", "rho": f"0.00{i + 1}"} for i in range(count)]
    claim = {"measure": "rho", "at_most": "1", "derivation": {"rule": "sum"}}
    said = _said(_statement([*promises, _gaussian(sigma="9")], claim))
    assert said == f"valid: 1 claim follows; taken on trust: {_PROMISES[count]}"


def _renyi(order: str, most: str) -> dict[str, Any]:
    derivation = {"rule": "sum"}
    return {"measure": "renyi", "order": order, "at_most": most, "derivation": derivation}


def test_a_divergence_is_at_most_epsilon() -> None:
    """Of order 50: the bound by rho is 25 epsilon^2 = 1.5625, epsilon is .25, the truth .2382."""
    response = {"mechanism": "randomized-response", "epsilon": "0.25"}
    for most, verdict in (("0.25", "valid"), ("0.238", "not proved")):
        assert _said(_statement([response], _renyi("50", most))).startswith(verdict)


def test_zcdp_beside_a_delta() -> None:
    """(0, .1)-DP reveals all with probability .1; order 2 adds e^(2 rho - 1)/4, rho = .02."""
    releases = [{"mechanism": "approximate", "epsilon": "0", "delta": "0.1"}]
    releases += [{"mechanism": "zcdp", "rho": "0.02"}]
    truth = mpf("0.1") + mp.exp(mpf("-0.96")) / 4
    for share, verdict in (("1.000001", "valid"), ("0.999999", "not proved")):
        most = str(Fraction(round(truth * mpf(share) * 10**12), 10**12))
        assert _said(_statement(releases, _delta("renyi", "1", most, order="2"))).startswith(
            verdict
        )
    rho = {"measure": "rho", "at_most": "0.02", "derivation": {"rule": "sum"}}
    assert _said(_statement(releases, {**rho, "delta": "0.1"})).startswith("valid")
    for delta in ({"delta": "0.09"}, {}):
        assert "deltas of the releases" in _said(_statement(releases, {**rho, **delta}))
    noise = {**rho, "at_most": "0.5", "at_least": "0.5"}
    assert _said(_statement([_gaussian()], noise)).startswith("valid")
    assert "no lower side" in _said(_statement([_gaussian()], {**noise, "delta": "0.1"}))


def test_orders_that_are_not_whole() -> None:
    """Sampled Gaussian noise, order 3.5: the integral by quadrature, and the chord of 3 and 4."""
    rate, order = mpf("0.1"), mpf("3.5")

    def power(a: mpf) -> mpf:
        def density(z: mpf) -> mpf:
            return mp.npdf(z) * (1 - rate + rate * mp.exp(z - mpf("0.5"))) ** a

        return mp.log(mp.quad(density, [-12, -4, 0, 4, 12]))

    truth = power(order) / (order - 1)
    chord = (power(mpf(3)) + power(mpf(4))) / 2 / (order - 1)
    assert truth < chord < order / 2  # the last is a rho, of noise that is not sampled
    release = _gaussian(rate="0.1")
    for most, verdict in ((chord * mpf("1.0001"), "valid"), (truth * mpf("0.9999"), "not proved")):
        claim = _renyi("3.5", f"{round(most * 10**12)}e-12")
        assert _said(_statement([release], claim)).startswith(verdict)


def test_names_of_fields_have_one_order() -> None:
    """By code points: U+1F600 comes after U+FF21, and in UTF-16 before it."""
    text = '{"\\ud83d\\ude00": 1, "\\uff21": 2, "a": 3}'
    ours = dpcheck.check(text.encode())
    form = '{"a":3,"\uff21":2,"\U0001f600":1}'
    assert ours[2] == dpcheck.hashlib.sha256(form.encode()).hexdigest()
    if shutil.which("node"):
        assert verdicts_in_node([text]) == [["malformed", ours[2]]]


@pytest.mark.parametrize("name", ["\\ud800", "\\udc00\\ud800", "a\\ud800b"])
def test_names_with_half_a_character(name: str) -> None:
    base = EXAMPLES[0].honest()
    text = json.dumps(base).replace('"of"', f'"{name}"')
    assert fuzz.run([text]) == {"malformed": 1}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_command_line_reads_no_more_than_a_megabyte() -> None:
    for program in ([sys.executable, FOLDER / "dpcheck.py"], ["node", FOLDER / "dpcheck.mjs"]):
        done = subprocess.run([*program, "/dev/zero"], capture_output=True, text=True, timeout=60)
        assert done.stdout.startswith("malformed: more than 1048576 bytes")
