"""exactdp audit vectors: lists, single vectors, questions and verdicts on answers from anywhere."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from exactdp.oracle.vectors import GROUPS, load, select
from tests.cli.test_accounting import run

CHOICE = ["--group", "zcdp", "--question", "delta"]


def test_groups() -> None:
    code, out, _ = run("audit", "vectors", "list", "--json")
    assert code == 0
    assert [entry["group"] for entry in json.loads(out)] == list(GROUPS)
    assert "analytic_gaussian" in run("audit", "vectors", "list")[1]


def test_list_by_flag() -> None:
    flag = load("gshm").tests[0].flags[0]
    code, out, _ = run("audit", "vectors", "list", "--group", "gshm", "--flag", flag, "--json")
    assert code == 0
    listed = json.loads(out)
    assert listed
    assert all(flag in entry["flags"] for entry in listed)


def test_show() -> None:
    code, out, _ = run("audit", "vectors", "show", "gshm-001")
    assert code == 0
    assert "at least" in out
    entry = json.loads(run("audit", "vectors", "show", "gshm-001", "--json")[1])
    assert entry["id"] == "gshm-001"
    assert set(entry["expected"]) == {"lower", "upper"}


def answers(factor: float) -> str:
    lines = []
    for vector in select(group="zcdp", question="delta"):
        value = float(vector.safe_from if factor < 1 else vector.most) * factor
        lines.append(json.dumps({"id": vector.id, "value": value.hex()}))
    return "\n".join(lines)


@pytest.mark.parametrize(("factor", "code"), [(1.01, 0), (0.99, 1)])
def test_answers_from_a_stream(
    factor: float, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    questions = run("audit", "vectors", "questions", *CHOICE)[1].splitlines()
    assert {json.loads(line)["question"] for line in questions} == {"delta"}
    monkeypatch.setattr("sys.stdin", io.StringIO(answers(factor)))
    page = tmp_path / "report.html"
    arguments = ["--stdin-jsonl", *CHOICE, "--html", str(page)]
    exit_code, out, _ = run("audit", "vectors", "run", *arguments, "--json")
    assert ("zcdp-001" in page.read_text(encoding="utf-8")) == (code == 1)
    counts = json.loads(out)["counts"]
    normal = [v for v in select(group="zcdp", question="delta") if v.least > 1e-300]
    if code == 0:
        assert counts["loose"] >= len(normal)
    else:
        assert counts["unsafe"] >= len(normal)
        assert exit_code == 1


def test_export(tmp_path: Path) -> None:
    path = tmp_path / "gshm.json"
    assert run("audit", "vectors", "export", "gshm", "--output", str(path))[0] == 0
    assert json.loads(path.read_text(encoding="utf-8"))["group"] == "gshm"
    assert run("audit", "vectors", "export", "schema", "--output", str(tmp_path / "s.json"))[0] == 0
    for arguments in ([], ["--output", "-"]):
        code, out, _ = run("audit", "vectors", "export", "gshm", *arguments)
        assert (code, json.loads(out)) == (0, json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["list", "--group", "x"], "group must be"),
        (["list", "--flag", "x"], "flag must be"),
        (["show", "gshm-999"], "id must be"),
        (["run"], "adapter must be given"),
        (["run", "--adapter", "exactdp", "--stdin-jsonl"], "adapter must be given"),
        (["run", "--adapter", "x"], "adapter must be"),
        (["export", "x", "--output", "x.json"], "group must be"),
        (["export", "gshm", "--output", "x.txt"], "output must be"),
    ],
)
def test_bad_input(arguments: list[str], named: str) -> None:
    code, out, err = run("audit", "vectors", *arguments)
    assert (code, out) == (2, "")
    assert named in err


def test_a_line_that_is_not_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hello"))
    code, _, err = run("audit", "vectors", "run", "--stdin-jsonl", *CHOICE)
    assert code == 2
    assert "line 1" in err


@pytest.mark.slow
def test_a_library_that_aborts_is_a_crash_of_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line asks adapters in a process of their own."""
    from exactdp.oracle import isolated

    names: list[str] = []

    def run_isolated(name: str, vectors: object, **_: object) -> object:
        names.append(name)
        return original(name, vectors, timeout=60)

    original = isolated.run_isolated
    monkeypatch.setattr(isolated, "run_isolated", run_isolated)
    code, _, _ = run("audit", "vectors", "run", "--adapter", "exactdp", *CHOICE)
    assert (code, names) == (0, ["exactdp"])


@pytest.mark.parametrize(
    ("name", "group"), [("gaussian", "analytic_gaussian"), ("discrete-laplace", "discrete_laplace")]
)
def test_groups_by_the_names_of_other_commands(name: str, group: str) -> None:
    same = [run("audit", "vectors", "list", "--group", x, "--json")[1] for x in (name, group)]
    assert same[0] == same[1] != ""
    noise = "sigma=3" if name == "gaussian" else "scale=2"
    claim = ["--claim", "epsilon=1", "--set", "delta=1e-5", "--set", noise]
    outcomes = [run("audit", "number", x, *claim) for x in (name, group)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] in (0, 1)
