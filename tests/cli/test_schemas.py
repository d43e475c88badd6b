"""What --json prints has the schema that --json-schema prints, for every kind of command."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from exactdp.accounting.calculator import CALCULATORS
from exactdp.cli.prepared import examples
from exactdp.cli.schemas import schema_of
from tests.cli.fuzz.calls import CALLS, COSTLY
from tests.cli.fuzz.files import good, named
from tests.cli.test_accounting import run
from tests.cli.test_registry import EVERY

VERBS = ("calibrate", "check", "delta", "epsilon", "risk")

MORE = [
    "delta csh --sparsity 2 --sigma 9 --tau 50 --epsilon 1",
    "calibrate sparse-histograms --sparsity 2 --epsilon 1 --delta 1e-3",
    "sgd --noise-multiplier 1 --rate 0.1 --steps 10 --delta 1e-5",
    "sgd --noise-multiplier 1 --rate 0.1 --epsilon 3 --delta 1e-5",
    "delta zcdp --rho 0.5 --epsilon 3",
    "epsilon zcdp --rho 2.56 --delta 1e-10",
    "risk sgd --noise-multiplier 1 --rate 0.1 --steps 10",
    "risk compose {steps} --at-most advantage=0.999999",
    "risk promise --delta 1e-6 --at-most accuracy=0.6",
    "risk zcdp --rho 2.56",
    "risk budget {new}.json",
    "risk statement {statement}",
    "calibrate zcdp --epsilon 1 --delta 1e-6 --rule simple",
    "figure savings --epsilon 1 --delta 1e-3 --sparsities 1",
    "figure alp --epsilon 5 --output {new}.svg",
    "release advise --epsilon 1 --delta 1e-6 --prior 1:1",
    "release plan {queries} --epsilon 1 --delta 1e-3 --engine presto --output {new}.sql",
    "release budget {new}.json --epsilon 1 --delta 1e-6",
    "release cut {rows} --user u --by k --k 1 --public-data",
    "audit targets",
    "audit vectors list",
    "audit vectors list --group zcdp",
    "audit vectors questions --group zcdp",
    "audit vectors show gshm-001",
    "audit vectors export zcdp",
    "statement explain",
    "statement explain exact-csh",
    "statement show {statement}",
    "statement check {statement}",
    "statement add {statement} {statement} --output {new}.json",
    "proofs --list --paper BV",
    "figure csh --sparsity 2 --epsilon 1 --delta 1e-3 --points 2 --output {new}.svg",
    "figure seen --sparsity 2 --epsilon 1 --delta 1e-3 --output {new}.svg",
    "figure epsilon-over-steps --noise-multiplier 1 --rate 0.1 --steps 4 --delta 1e-5 --points 2 "
    "--output {new}.svg",
    "release dense-laplace {counts} --k 9 --epsilon 1 --largest 9 --universe 9 "
    "--output {new}.sketch",
    "release max-projection {counts} --k 9 --epsilon 1 --largest 9 --rows 9 --text 3 "
    "--output {new}.sketch",
    "release threshold {counts} --k 9 --epsilon 1 --largest 999 --text 3 --output {new}.csv",
    "release top-k {rows} --user u --by k --top 1 --epsilon 1 --delta 1e-6 --output {new}.csv",
    "audit run exactdp:discrete-laplace --set scale=1 --left 0 --right 1 --epsilon 2 --samples 300",
    "audit pairs exactdp:discrete-laplace --set scale=1 --epsilon 2 --pairs {pairs} --samples 400",
    "audit watch exactdp:discrete-laplace --set scale=9 --left 0 --right 1 --epsilon 2 "
    "--samples 1000",
    "audit replay exactdp:discrete-laplace {report} --set scale=1 --left 0 --right 1 --samples 300",
    "audit vectors run --group zcdp --adapter exactdp",
    "statement lint {deployment}",
    "statement theorem {responses} --output {new}.v",
]


def leaf(call: str) -> str:
    """The words that name the command of a call."""
    words = call.split()
    return next(p for n in (3, 2, 1) if (p := " ".join(words[:n])) in EVERY)


#: The commands of the calculators, by their own examples.
CALCULATED = [
    examples(command)[0][1].removeprefix("exactdp ")
    for path, command in EVERY.items()
    if path.partition(" ")[0] in VERBS and path.partition(" ")[2] in CALCULATORS
]
CHOSEN = {
    leaf(call): call
    for call in [*CALCULATED, *CALLS, *COSTLY]
    if "<" not in call and "replay" not in call
}


def test_every_command_is_called_here() -> None:
    """A new command needs a call in this module, or in tests/cli/fuzz/calls.py."""
    called = {*CHOSEN, *map(leaf, MORE)}
    assert called == {path for path, each in EVERY.items() if not isinstance(each, click.Group)}


@pytest.mark.few(13)
@pytest.mark.parametrize("call", [*CHOSEN.values(), *MORE])
def test_json(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {**named(), "new": "new", "statement": "s.json"}
    if "{statement}" in call:
        claim = ["delta", "gaussian", "--sigma", "4", "--epsilon", "1"]
        assert run(*claim, "--statement", "s.json")[0] == 0
    if call.startswith("risk budget"):
        assert run(*["release", "budget", "new.json", "--epsilon", "1", "--delta", "1e-6"])[0] == 0
    for name, file in named().items():
        if f"{{{name}}}" in call:
            Path(file).write_bytes(good(file))
    words = [word for word in call.format(**files).split() if word != "--json"]
    _, out, err = run(*words, "--json")
    assert err == ""
    schema = json.loads(run(*words[: len(leaf(call).split())], "--json-schema")[1])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(out), closed(schema))


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name, unless it says what they hold."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if "required" in inner else inner


def test_every_command_has_a_schema_and_takes_json() -> None:
    for path, command in EVERY.items():
        if not isinstance(command, click.Group):
            assert schema_of(path)["title"] == f"exactdp {path} --json"
            assert "as_json" in {parameter.name for parameter in command.params}, path
            with contextlib.suppress(SystemExit):
                command.main(["--json-schema"], standalone_mode=False)


def test_a_wrong_answer_is_refused() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"element": "7", "value": 7}, closed(schema_of("release query")))
