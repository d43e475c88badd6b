"""exactdp proofs: selection, JSON, HTML and errors."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from exactdp_proofs.registry import ledger

from exactdp.cli.main import main


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
    return int(stop.value.code or 0), out.getvalue(), err.getvalue()


@pytest.mark.slow
def test_json_has_the_promised_fields() -> None:
    code, out, _ = run("proofs", "BV-Lemma-2.9", "--json")
    assert code == 0
    (entry,) = (record for record in json.loads(out) if record["id"] == "BV-Lemma-2.9")
    promised = "id entry paper item statement verdict severity evidence seconds"
    assert set(promised.split()) <= set(entry)
    assert (entry["id"], entry["verdict"], entry["severity"]) == (
        "BV-Lemma-2.9",
        "refuted",
        "unsafe",
    )


@pytest.mark.slow
def test_one_claim_for_people() -> None:
    code, out, _ = run("proofs", "bv-lemma-2.9")
    assert code == 0
    for part in ("refuted, unsafe", "2/3", "corrected: Given", "evidence: ", ">>>", " statements:"):
        assert part in out


@pytest.mark.slow
def test_list() -> None:
    chosen = ["--paper", "bv", "--verdict", "refuted", "--severity", "unsafe"]
    code, out, _ = run("proofs", "--list", *chosen, "--json")
    assert code == 0
    listed = json.loads(out)
    assert "BV-Lemma-2.9" in [entry["id"] for entry in listed]
    assert {(entry["verdict"], entry["severity"]) for entry in listed} == {("refuted", "unsafe")}
    assert "BV-Lemma-2.9" in run("proofs", "--list", "BV-Lemma")[1]


class _Tags(HTMLParser):
    """Checks that tags are balanced and nothing is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert "src" not in attributes
        assert tag != "link"
        if tag == "article":
            self.ids.append(str(attributes["id"]))
        if tag == "a":
            self.links.append(str(attributes["href"]).removeprefix("#"))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_html(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    code, out, _ = run("proofs", "BV-Lemma-2.9", "--html", str(path))
    assert code == 0
    assert f"written to {path}" in out
    text = path.read_text(encoding="utf-8")
    page = _Tags()
    page.feed(text)
    assert not page.open
    assert page.ids[0] == "BV-Lemma-2.9", "errata come first"
    assert len(page.ids) >= 2
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.links) <= set(page.ids), "a link within the page leads nowhere"
    assert not re.search(r"https?://", text)
    assert "&gt;&gt;&gt; from fractions" in text
    assert 'data-severity="unsafe"' in text
    assert 'data-kind="severity" data-value="unsafe"' in text


@pytest.mark.slow
def test_a_link_to_what_was_not_run_is_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "one.html"
    assert run("proofs", "BV-Lemma-2.9-Markov-property", "--html", str(path))[0] == 0
    page = _Tags()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.links == page.ids == ["BV-Lemma-2.9-Markov-property"]


def test_slow_ones_are_run_only_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import exactdp_proofs.command as command

    runs: list[list[str]] = []
    monkeypatch.setattr(command, "_run", lambda parts, _: runs.append([p.id for p in parts]) or [])
    slow = [part.id for part in ledger() if part.slow]
    assert "slow ones were left out" in run("proofs")[1]
    assert "slow ones were left out" not in run("proofs", "--all")[1]
    run("proofs", slow[0])
    assert set(runs[1]) - set(runs[0]) == set(slow)
    assert slow[0] in runs[2]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["BV-Lemma-99"], "ID must be"),
        (["--paper", "XX"], "paper must be one of BV"),
        (["--verdict", "maybe"], "verdict must be one of"),
        (["--severity", "bad"], "severity must be one of"),
        (["BV-Lemma-2.9", "--workers", "0"], "workers must be"),
        (["BV-Lemma-2.9", "--html", "report.txt"], "html must be"),
    ],
)
def test_bad_input(arguments: list[str], named: str) -> None:
    code, out, err = run("proofs", *arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1


def test_python_without_docstrings_has_no_statements() -> None:
    command = [sys.executable, "-OO", "-m", "exactdp", "proofs", "BV-Figure-2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Python removes docstrings under -OO" in done.stderr
