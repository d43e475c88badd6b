"""The vectors as data: valid, narrow, explained, and what the committed scripts make."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from exactdp.errors import InvalidParameter
from exactdp.oracle import vectors

REPOSITORY = Path(__file__).resolve().parents[2]

#: Positions whose vectors are made again, cheap ones.
SAMPLES = {
    "analytic_gaussian": (14, 27, 42, 57, 89),
    "gshm": (7, 22, 36, 43),
    "csh": (10, 23, 38),
    "thresholds": (3, 8, 21, 25, 44, 50, 58, 66, 76),
    "discrete_gaussian": (1, 16, 21, 35, 41, 49, 63, 70),
    "discrete_laplace": (2, 13, 27, 35, 39, 45),
    "zcdp": (4, 24, 33),
    "composition": (11, 22, 26, 34, 45, 50, 57, 61),
}


@pytest.mark.parametrize("name", vectors.GROUPS)
def test_files_follow_the_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(vectors.schema())
    validator.check_schema(vectors.schema())
    assert list(validator.iter_errors(vectors.document(name))) == []


@pytest.mark.parametrize("name", vectors.GROUPS)
def test_files_are_consistent(name: str) -> None:
    content = vectors.document(name)
    vectors.validate(content)
    assert content["group"] == name
    assert (REPOSITORY / content["generator"]["script"]).is_file()
    expected = [f"{name}-{place:03d}" for place in range(1, len(content["tests"]) + 1)]
    assert [test["id"] for test in content["tests"]] == expected
    used = {flag for test in content["tests"] for flag in test["flags"]}
    assert used == set(content["notes"])
    assert {test["question"] for test in content["tests"]} == set(content["questions"])


def test_there_are_enough_and_they_are_narrow() -> None:
    found = vectors.select()
    assert len(found) >= 300
    assert len({vector.id for vector in found}) == len(found)
    for vector in found:
        assert vector.most - vector.least <= vector.most / 10**30, vector.id


def test_no_question_is_put_twice() -> None:
    asked = [
        json.dumps([v.group, v.question, dict(v.parameters)], sort_keys=True)
        for v in vectors.select()
    ]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("name", vectors.GROUPS)
def test_generating_a_sample_gives_the_file(name: str) -> None:
    pytest.importorskip("mpmath")
    from exactdp.oracle.generate.common import document

    group = import_module(f"exactdp.oracle.generate.{name}").GROUP
    made = document(group, lambda place: place in SAMPLES[name])
    kept = vectors.document(name)
    chosen = [kept["tests"][place - 1] for place in SAMPLES[name]]
    assert made["tests"] == chosen
    for key in ("group", "format", "description", "questions", "source", "generator"):
        assert made[key] == kept[key]
    assert made["notes"].items() <= kept["notes"].items()


@pytest.mark.slow
@pytest.mark.parametrize("name", vectors.GROUPS)
def test_generating_everything_gives_the_file(name: str) -> None:
    from exactdp.oracle.generate.common import document

    group = import_module(f"exactdp.oracle.generate.{name}").GROUP
    assert document(group) == vectors.document(name)


def test_generators_do_not_import_the_calculators() -> None:
    pytest.importorskip("mpmath")
    code = (
        "import sys, importlib\n"
        f"for name in {vectors.GROUPS!r}:\n"
        "    importlib.import_module('exactdp.oracle.generate.' + name)\n"
        "bad = ('exactdp.accounting', 'exactdp.samplers', 'exactdp.balls', 'flint',\n"
        "       'exactdp.proofs_check', 'exactdp.mechanisms')\n"
        "print([name for name in sys.modules if name.startswith(bad)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_finding_and_showing() -> None:
    vector = vectors.find("thresholds-025")
    assert vector.parameters["comparison"] == ">="
    assert vector.least < vector.most < Fraction(134, 10_000)
    text = vectors.show("thresholds-025")
    assert "0.0134, not 0.0049" in text
    assert "WeakThreshold" in text
    assert all(v.question == "tau" for v in vectors.select(group="gshm", question="tau"))
    assert len(vectors.select(flag="BelowDouble")) >= 15


@pytest.mark.parametrize("name", ["thresholds-999", "nothing", "", "gshm-1"])
def test_unknown_ids(name: str) -> None:
    with pytest.raises(InvalidParameter, match="id must be"):
        vectors.find(name)


def test_unknown_group() -> None:
    with pytest.raises(InvalidParameter, match="group must be one of"):
        vectors.load("gauss")


def test_questions_as_lines() -> None:
    lines = list(vectors.vectors_as_jsonl(group="zcdp"))
    assert len(lines) == len(vectors.load("zcdp"))
    first = json.loads(lines[0])
    assert set(first) == {"id", "group", "question", "parameters"}


def test_validation_names_what_is_wrong() -> None:
    content = vectors.document("zcdp")
    content["tests"][0]["flags"] = ["Unheard"]
    with pytest.raises(InvalidParameter, match="zcdp-001 flag must be explained"):
        vectors.validate(content)
    content = vectors.document("zcdp")
    content["tests"][1]["expected"] = {"lower": "2", "upper": "1"}
    with pytest.raises(InvalidParameter, match="zcdp-002 lower must be <= upper"):
        vectors.validate(content)
