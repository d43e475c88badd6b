"""The checker proves what is true, and nothing that is false."""

from __future__ import annotations

import ast
import json
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mpmath import mp, mpf

from tests.checker import fuzz
from tests.checker.examples import (
    EXAMPLES,
    FOLDER,
    Example,
    dpcheck,
    verdict,
    verdicts_in_node,
)

dpcheck_real = sys.modules["dpcheck_real"]  # which dpcheck has imported

_named = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.mark.few(11)
@_named
def test_a_true_statement_is_valid(example: Example) -> None:
    assert verdict(example.honest()) == "valid"


@pytest.mark.few(11)
@_named
def test_less_than_the_truth_is_not_proved(example: Example) -> None:
    low, high = example.truth()
    hair = Fraction(1, 10**9)
    assert verdict(example.statement(low * (1 - hair), None)) == "not proved"
    assert verdict(example.statement(None, high * (1 + hair))) == "not proved"


@pytest.mark.slow
def test_damaged_choices_do_not_prove_a_false_claim() -> None:
    rng = random.Random(7)
    for example in EXAMPLES:
        for _ in range(3):
            assert verdict(fuzz.false_claim(example, rng)) != "valid"


@pytest.mark.slow
def test_a_thousand_damaged_choices() -> None:
    rng = random.Random(8)
    texts = [json.dumps(fuzz.false_claim(rng.choice(EXAMPLES), rng)) for _ in range(1000)]
    assert fuzz.run(texts)["valid"] == 0


@pytest.mark.slow
def test_the_example_of_the_specification_is_valid() -> None:
    text = (
        (FOLDER / "SPECIFICATION.md")
        .read_text(encoding="utf-8")
        .split("```json\n")[1]
        .split("```")[0]
    )
    assert fuzz.run([text]) == {"valid": 1}


@pytest.mark.slow
@_node
def test_python_and_javascript_agree() -> None:
    texts = [json.dumps(example.honest()) for example in EXAMPLES]
    ours = [list(dpcheck.check(text.encode())) for text in texts]
    assert verdicts_in_node(texts) == [[verdict, sha256] for verdict, _, sha256 in ours]


@pytest.mark.slow
def test_damaged_texts_have_a_verdict_in_one_line() -> None:
    rng = random.Random(3)
    assert fuzz.run([fuzz.damaged(rng) for _ in range(300)])["malformed"] > 200


def _changed(change: Any) -> str:
    statement = EXAMPLES[0].honest()
    change(statement)
    return json.dumps(statement)


_MALFORMED = {
    "unknown field": _changed(lambda s: s.update(more=1)),
    "missing field": _changed(lambda s: s.pop("unit")),
    "unknown parameter": _changed(lambda s: s["releases"][0].update(tau="1")),
    "unknown mechanism": _changed(lambda s: s["releases"][0].update(mechanism="magic")),
    "no direction": _changed(lambda s: [s["claims"][0].pop(n) for n in ("at_most", "at_least")]),
    "no releases": _changed(lambda s: s.update(releases=[])),
    "a float": _changed(lambda s: s["releases"][0].update(times=1.0)),
    "a number for a text": _changed(lambda s: s["releases"][0].update(sigma=1)),
    "a truth value for a number": _changed(lambda s: s["releases"][0].update(times=True)),
    "NaN": _changed(lambda s: s["releases"][0].update(times=float("nan"))),
    "a long number": _changed(lambda s: s["releases"][0].update(sigma="1" * 61)),
    "a sign": _changed(lambda s: s["releases"][0].update(sigma="+1")),
    "a divisor of 0": _changed(lambda s: s["releases"][0].update(sigma="1/0")),
    "other digits": _changed(lambda s: s["releases"][0].update(sigma="\u0661")),
    "sampling of replaced rows": _changed(
        lambda s: [s["unit"].update(neighbours="replace-one"), s["releases"][0].update(rate="0.1")]
    ),
    "a law of sum 1.1": _changed(
        lambda s: s.update(
            releases=[
                {"mechanism": "finite-law", "times": 1, "outcomes": [["1", "0.6"], ["0", "0.5"]]}
            ]
        )
    ),
    "a field twice": _changed(lambda s: None).replace('"of":', '"of": "row", "of":'),
    "half a character": _changed(lambda s: s["premises"].append("\ud800")),
    "nothing": "",
    "deep": "[" * 100_000,
    "large": " " * (1 << 20) + "1",
}


@pytest.mark.few(2)
@pytest.mark.parametrize("text", _MALFORMED.values(), ids=_MALFORMED)
def test_malformed(text: str) -> None:
    assert fuzz.run([text]) == {"malformed": 1}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("many nodes", {"nodes": [[-5000, 5000]]}),
        ("wide window", {"window": [-9999, 9999]}),
        ("huge step", {"step": "1e300"}),
        ("tiny step", {"step": "1e-300"}),
        ("far nodes", {"nodes": [[10**9 - 5, 10**9]]}),
    ],
)
def test_dear_choices_are_refused_at_once(name: str, change: dict[str, Any]) -> None:
    grid = next(example for example in EXAMPLES if example.name == "grid-gaussian").honest()
    grid["claims"][0]["derivation"].update(change)
    assert fuzz.run([json.dumps(grid)]) == {"not proved": 1}


def test_the_command_line(tmp_path: Path) -> None:
    path, honest = tmp_path / "statement.json", EXAMPLES[0].honest()
    programs = [[sys.executable, str(FOLDER / "dpcheck.py")]]
    if shutil.which("node"):
        programs.append(["node", str(FOLDER / "dpcheck.mjs")])
    for code, word, text in (
        (0, b"valid", json.dumps(honest).encode()),
        (1, b"not proved", json.dumps(EXAMPLES[1].statement(Fraction(0), None)).encode()),
        (2, b"malformed", b"\xff"),
    ):
        path.write_bytes(text)
        for program in programs:
            done = subprocess.run([*program, str(path)], capture_output=True)
            assert (done.returncode, done.stdout.count(b"\n"), done.stderr) == (code, 1, b"")
            assert done.stdout.startswith(word + b": ")


@pytest.mark.parametrize("name", [path.name for path in FOLDER.glob("*.py")])
def test_the_file_is_short_and_has_integers_and_fractions_only(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            modules = []
        assert all(m in sys.stdlib_module_names or m.startswith("dpcheck") for m in modules)
        assert not isinstance(node, ast.Div)
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not (isinstance(node, ast.Name) and node.id in ("float", "eval", "exec"))


@pytest.mark.slow
def test_the_schema_says_the_same() -> None:
    schema = json.loads((FOLDER / "statement.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    for example in EXAMPLES:
        validator.validate(example.honest())
    # what only the sums, the sizes and the text of the JSON show
    beyond = {"a law of sum 1.1", "a field twice", "half a character", "a float", "large", "deep"}
    for name, text in _MALFORMED.items():
        if name not in beyond | {"nothing", "NaN", "sampling of replaced rows"}:
            assert not validator.is_valid(json.loads(text)), name


def _encloses(real: Any, truth: mpf) -> bool:
    return mpf(real.lo) / dpcheck_real.ONE <= truth <= mpf(real.hi) / dpcheck_real.ONE


@pytest.mark.parametrize(
    "x", ["1e-30", "0.001", "0.5", "1", "2.5", "7", "18.99", "19.01", "40", "300"]
)
def test_functions_enclose_what_mpmath_has(x: str) -> None:
    number = Fraction(x)
    plus = dpcheck_real.real(number)
    minus = dpcheck_real.NOTHING - plus
    with mp.workdps(400):
        truth = mpf(number.numerator) / number.denominator
        assert _encloses(plus.exp(), mp.exp(truth))
        assert _encloses(minus.exp(), mp.exp(-truth))
        assert _encloses(plus.log(), mp.log(truth))
        assert _encloses(plus.sqrt(), mp.sqrt(truth))
        assert _encloses(plus.tail(), mp.erfc(truth / mp.sqrt(2)) / 2)
        assert _encloses(minus.tail(), mp.erfc(-truth / mp.sqrt(2)) / 2)
        assert _encloses(dpcheck_real.ROOT_2PI, mp.sqrt(2 * mp.pi))
        wide = dpcheck_real.Real(plus.lo, plus.hi + (dpcheck_real.ONE >> 8))
        for point in (truth, truth + mpf(1) / 256):
            assert _encloses(wide.exp(), mp.exp(point))
            assert _encloses(wide.tail(), mp.erfc(point / mp.sqrt(2)) / 2)
        assert _encloses(wide.log(), mp.log(truth + mpf(1) / 256))
