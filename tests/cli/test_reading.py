"""Whatever is in a file that is read, there is one line of complaint, which names it."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.fuzz.files import good
from tests.cli.test_accounting import run

COMPOSE = ["compose", "{}", "--epsilon", "1"]
RATINGS = ["local", "sparse", "report", "{}", "--d", "9", "--k", "3", "--epsilon", "1"]
RATINGS += ["--level", "user"]
REPLAY = ["audit", "replay", "exactdp:discrete-laplace", "{}", "--set", "scale=1"]
REPLAY += ["--left", "0", "--right", "1"]
REPORT = ["local", "report", "{}", "--k", "9", "--epsilon", "1", "--mechanism", "compressive"]
DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("call", "content", "message"),
    [
        (
            COMPOSE,
            b'{"mechanism": [1]}',
            "mechanism in line 1 of file must be one of above-threshold",
        ),
        (COMPOSE, b'{"mechanism": "gaussian", "sigma": \xff}', "UTF-8 text"),
        (
            COMPOSE,
            b'\n{"mechanism": "gaussian", "sigma": ' + DEEP,
            "line 2 of file must be one JSON",
        ),
        (COMPOSE, b"[1]", "one JSON object"),
        (
            COMPOSE,
            b'{"mechanism": "gaussian", "sigma": 1, "times": 1%s}' % (b"0" * 30),
            "times must be an integer >= 1 and <= 1e18",
        ),
        (
            COMPOSE,
            b'{"mechanism": "discrete-laplace", "epsilon": 1, "sensitivity": 1000000000000}',
            "sensitivity must be an integer >= 1 and <= 1e5",
        ),
        (
            ["compose", "{}", "--epsilon", "1e9000"],
            b'{"mechanism": "gaussian", "sigma": 1}',
            "epsilon must be >= -1e300 and <= 1e300",
        ),
        (RATINGS, b"user,item,value\na,0," + b"1" * 200_000, "field larger"),
        (RATINGS, b"user,item,value\n\xff,0,1\n", "UTF-8 text"),
        (RATINGS, b"user,item,value\na,0\n", "line 2 of file must be 3 cells, got 2"),
        (RATINGS, b"user,item,value\na,0,1\na,0,1\n", "item of user 'a' must be listed once"),
        (RATINGS, b"\xef\xbb\xbfuser;item;value\n", "with the header user,item,value"),
        (REPLAY, b"\xff", "UTF-8 text"),
        (REPLAY, DEEP, "report must be JSON"),
        (
            [*REPORT, "--m", "4", "--seed", "9" * 5000],
            b"1\n",
            "seed must be an integer >= 0 and <= 2^256",
        ),
    ],
)
def test_odd_files(tmp_path: Path, call: list[str], content: bytes, message: str) -> None:
    path, out = tmp_path / "file", tmp_path / "out.edl"
    path.write_bytes(content)
    words = [word.format(path) for word in call]
    writes = ["--output", str(out)] if "report" in call else []
    code, text, err = run(*words, *writes)
    assert (code, text) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not out.exists()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"alpha": "0.01"', b'"alpha": 1e400', "AuditReport.as_dict()"),
        (b'"bounds": {', b'"bounds": {"nu": "1e400000000", ', "AuditReport.as_dict()"),
        (b'["number", 0]', b'["bit", 3]', "that can be asked of such outputs"),
    ],
)
def test_odd_reports(tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
    path = tmp_path / "report.json"
    content = re.sub(rb'"tuple": \[.*?\]', b'"tuple": ["number", 0]', good("report.json"))
    path.write_bytes(content.replace(old, new))
    assert path.read_bytes() != content
    code, text, err = run(*(word.format(path) for word in REPLAY))
    assert (code, text) == (2, "")
    assert message in err


@pytest.mark.parametrize("content", [b'{"id": "zcdp-001", "value": \xff}\n', DEEP])
def test_odd_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        code, text, err = run("audit", "vectors", "run", "--stdin-jsonl", "--group", "zcdp")
    assert (code, text) == (2, "")
    assert err.count("\n") == 1


def test_a_state_of_more_reports_than_there_can_be(tmp_path: Path) -> None:
    from exactdp.local.mechanism import STATE

    path = tmp_path / "state.edl"
    header, payload = STATE.unpack(good("subsetstate.edl"))
    path.write_bytes(STATE.pack({**header, "n": "9" * 5000}, bytes(payload)))
    code, text, err = run("local", "estimate", str(path))
    assert (code, text) == (2, "")
    assert "n must be <= 2^62" in err


def test_what_no_column_explains_is_estimated_as_nothing(tmp_path: Path) -> None:
    """Counters that are all alike: the pursuit of columns ends before its first step."""
    from exactdp.local.mechanism import STATE

    reports, path = tmp_path / "reports.edl", tmp_path / "state.edl"
    reports.write_bytes(good("compressive.edl"))
    assert run("local", "aggregate", str(reports), "--output", str(path))[0] == 0
    header, payload = STATE.unpack(path.read_bytes())
    cells = len(payload) // 8
    alike = (1).to_bytes(8, "little") * cells
    path.write_bytes(STATE.pack({**header, "n": cells}, alike))
    code, text, err = run("local", "estimate", str(path), "--json")
    assert (code, err) == (0, "")
    assert [row["share"] for row in json.loads(text)] == pytest.approx([1 / 9] * 9)
