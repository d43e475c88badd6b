"""Every command that is shown could be pasted: click takes it, and nothing was typeset."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sybil import Document

from exactdp.cli.examples import examples
from tests.cli.test_accounting import run
from tests.docs.check_site import problems
from tests.docs.commands import all_commands, calls, refusal
from tests.docs.steps import Command, blocks
from tests.docs.test_pages import MADE, PAGES

EXAMPLES = [(path, line) for path, command in all_commands() for _, line in examples(command)]
WRITTEN = [page for page in PAGES if page.name not in MADE and "_build" not in page.parts]


def test_every_command_has_an_example() -> None:
    without = {path for path, command in all_commands() if not hasattr(command, "commands")} - {
        path for path, _ in EXAMPLES
    }
    assert without <= {(), ("audit", "targets")}


@pytest.mark.parametrize(("path", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_of_help(path: tuple[str, ...], line: str) -> None:
    assert calls(line)
    assert refusal(line) == ""
    _, out, _ = run(*path, "--help")
    assert any(shown.endswith(f": {line}") for shown in out.splitlines()), "wrapped"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_commands_of_a_page(page: Path) -> None:
    steps = [step for region in blocks(Document.parse(str(page))) for step in region.parsed]
    lines = [step.line for step in steps if isinstance(step, Command)]
    inline = re.findall(r"(?<!`)`(exactdp [^`]* --[^`]*)`", page.read_text(encoding="utf-8"))
    for line in lines + inline:
        assert refusal(line) == "", line


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("exactdp calibrate gshm \u2013k 1", "typographic"),
        ("exactdp calibrate gshm --kk 1", "No such option"),
        ("exactdp calibrate gshm --k 1", "missing --epsilon"),
        ("exactdp calibrat gshm", "No such command"),
        ("true | exactdp audit vectors run --json-lines", "No such option"),
    ],
)
def test_what_is_refused(line: str, why: str) -> None:
    assert why in refusal(line)


def test_a_site_with_typeset_commands_has_problems(tmp_path: Path) -> None:
    shown = "".join(f"<pre>$ {line}</pre>".replace("&", "&amp;") for _, line in EXAMPLES)
    head = '<html lang="en"><title>t</title><h1>h</h1>'
    page = tmp_path / "index.html"
    page.write_text(head + shown)
    assert problems(tmp_path) == []
    page.write_text(head + shown.replace("--k 51914", "\u2013k 51914"))
    check_again = problems.__globals__["_read"].cache_clear
    check_again()
    found = problems(tmp_path)
    assert any("typographic" in problem for problem in found)
    assert any("an example is not on any page" in problem for problem in found)
