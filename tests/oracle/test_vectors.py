"""The vectors as data: valid, narrow, and explained."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from exactdp.errors import InvalidParameter
from exactdp.oracle import vectors

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.few(3)
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
    tests = vectors.all_tests(content)
    assert [test["id"] for test in tests] == [f"{name}-{i:03d}" for i in range(1, len(tests) + 1)]
    used = {flag for test in tests for flag in test["flags"]}
    assert used == set(content["notes"])
    assert {test["question"] for test in tests} == set(content["questions"])


def wycheproof(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What a reader of Wycheproof's files does, knowing nothing of ours."""
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (path.parent / content["schema"]).is_file()
    tests = [(g["type"], test) for g in content["testGroups"] for test in g["tests"]]
    assert content["numberOfTests"] == len(tests)
    assert len({test["tcId"] for _, test in tests}) == len(tests)
    assert all(content["notes"][flag]["description"] for _, t in tests for flag in t["flags"])
    return tests


@pytest.mark.parametrize("name", vectors.GROUPS)
def test_a_wycheproof_reader_finds_its_way(name: str) -> None:
    tests = wycheproof(REPOSITORY / "exactdp" / "oracle" / "vectors" / f"{name}.json")
    assert {test["id"] for _, test in tests} == {vector.id for vector in vectors.load(name)}
    assert all(type_ == test["question"] for type_, test in tests)


def test_flags_of_small_deltas_are_true() -> None:
    """The notes say how small: far below 1e-16, or from 1e-17 to 1e-12."""
    flagged = {"TinyDelta": 0, "SmallDelta": 0}
    for vector in vectors.select():
        delta = vector.upper if vector.question == "delta" else vector.parameters.get("delta")
        for flag in set(vector.flags) & set(flagged):
            assert delta is not None
            low, high = {"TinyDelta": ("0", "1e-17"), "SmallDelta": ("1e-17", "1e-12")}[flag]
            assert Fraction(low) < Fraction(delta) <= Fraction(high), vector.id
            flagged[flag] += 1
    assert flagged["SmallDelta"] >= 13
    assert flagged["TinyDelta"] >= 60


def test_there_are_enough_and_they_are_narrow() -> None:
    selected = vectors.select()
    assert len(selected) >= 300
    assert len({vector.id for vector in selected}) == len(selected)
    for vector in selected:
        assert vector.most - vector.least <= vector.most / 10**30, vector.id


def test_no_question_is_put_twice() -> None:
    questions = [
        json.dumps([v.group, v.question, dict(v.parameters)], sort_keys=True)
        for v in vectors.select()
    ]
    assert len(set(questions)) == len(questions)


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
    vectors.all_tests(content)[0]["flags"] = ["Unheard"]
    with pytest.raises(InvalidParameter, match="zcdp-001 flag must be explained"):
        vectors.validate(content)
    content = vectors.document("zcdp") | {"numberOfTests": 7}
    with pytest.raises(InvalidParameter, match="numberOfTests must be"):
        vectors.validate(content)
    content = vectors.document("zcdp")
    content["testGroups"][0]["type"] = "tau"
    with pytest.raises(InvalidParameter, match="question must be tau"):
        vectors.validate(content)
    content = vectors.document("zcdp")
    vectors.all_tests(content)[3]["id"] = "zcdp-003"
    with pytest.raises(InvalidParameter, match="id must be that of test 4"):
        vectors.validate(content)
    content = vectors.document("zcdp")
    vectors.all_tests(content)[1]["expected"] = {"lower": "2", "upper": "1"}
    with pytest.raises(InvalidParameter, match="zcdp-002 lower must be <= upper"):
        vectors.validate(content)
