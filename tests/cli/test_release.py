from __future__ import annotations

from pathlib import Path

import pytest

from exactdp.statement import Statement
from tests.cli.test_accounting import run


@pytest.mark.parametrize(
    ("name", "flags", "ending"),
    [
        ("basic", ["--universe", "40"], "csv"),
        ("stability", ["--universe", "40", "--delta", "1e-3"], "csv"),
        ("sparse", ["--text", "8"], "csv"),
        ("padded", ["--universe", "90", "--length", "21"], "csv"),
        ("fixed-time-sparse", ["--universe", "41"], "csv"),
        ("compact", ["--universe", "1000", "--beta", "0.1"], "edph"),
    ],
)
def test_release_and_query(tmp_path: Path, name: str, flags: list[str], ending: str) -> None:
    counts, out = tmp_path / "in.csv", tmp_path / f"out.{ending}"
    counts.write_text("element,count\n3,9\n7,11\n", encoding="utf-8")
    arguments = ["release", name, str(counts), "--epsilon", "1", *flags, "--output", str(out)]
    code, text, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "guarantee: (1, 0" in text
    statement = Statement.read((tmp_path / f"out.{ending}.statement.json").read_bytes())
    assert statement.fields["unit"]["neighbours"] == "replace-one"
    assert statement.check().verdict == "valid"
    code, answer, err = run("release", "query", str(out), "7")
    assert (code, err) == (0, "")
    assert 0 <= int(answer) <= 20
    code, _, err = run(*arguments)
    assert code == 2
    assert "does not exist yet" in err
    for command in ("show", "check"):
        code, _, err = run("statement", command, str(out))
        assert code == 2
        assert f"that of this release is {out}.statement.json" in err


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "bound"), [("gshm", "--k"), ("csh", "--top"), ("top-k", "--top")])
def test_thresholded_releases(tmp_path: Path, name: str, bound: str) -> None:
    counts, out = tmp_path / "in.csv", tmp_path / "out.csv"
    counts.write_text('element,count\nb,5000\n"a, quoted",4000\nc,0\n', encoding="utf-8")
    arguments = ["release", name, str(counts), bound, "10", "--delta", "1e-5"]
    code, text, err = run(*arguments, "--epsilon", "0.35", "--output", str(out))
    assert (code, err) == (0, "")
    assert "guarantee: (0.35, " in text
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "element,count"
    assert lines[1].startswith('"a, quoted",')
    assert len(lines) == 3
    statement = Statement.read((tmp_path / "out.csv.statement.json").read_bytes())
    assert statement.fields["claims"][0]["epsilon"] == "0.35"
    assert run(*arguments, "--epsilon", "0.35", "--output", str(out))[0] == 2


@pytest.mark.parametrize(
    ("content", "flags", "message"),
    [
        ("element,count\n1,2\n1,3\n", ["--universe", "9"], "listed once"),
        ("element,count\n1,x\n", ["--universe", "9"], "count of 1 must be an integer"),
        ("element,count\n12,3\n", ["--universe", "9"], "element must be < universe"),
        ("element,count\n1,2,3\n", ["--universe", "9"], "must be 2 cells, got 3"),
        ("a,b\n", ["--universe", "9"], "header element,count"),
        ("", ["--universe", "9"], "header element,count"),
        ("element,count\n1,2\n", [], "universe must be given"),
        ("element,count\n1,2\n", ["--universe", "9", "--text", "3"], "not both"),
        ("element,count\nlong text,2\n", ["--text", "3"], "longest"),
        ("element,count\n1,0\n", ["--universe", "9"], "n must be an integer >= 1"),
        ("element,count\n1,2\n", ["--universe", "9", "--epsilon", "2"], "given once"),
    ],
)
def test_bad_counts(tmp_path: Path, content: str, flags: list[str], message: str) -> None:
    counts, out = tmp_path / "in.csv", tmp_path / "out.csv"
    counts.write_text(content, encoding="utf-8")
    code, text, err = run(
        "release", "basic", str(counts), "--epsilon", "1", *flags, "--output", str(out)
    )
    assert (code, text) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [counts]


def test_bad_queries(tmp_path: Path) -> None:
    damaged = tmp_path / "x.edph"
    damaged.write_bytes(b"EXDPCH nonsense")
    for arguments, message in (
        (["release", "query", str(tmp_path / "no.csv"), "1"], "a file that exists"),
        (["release", "query", str(damaged), "1"], "a file of exactdp"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert message in err
