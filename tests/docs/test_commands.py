"""Every command that is shown could be pasted: click takes it, and nothing was typeset."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sybil import Document

from exactdp.cli.prepared import examples
from tests.cli.test_accounting import run
from tests.docs.check_site import problems
from tests.docs.commands import all_commands, calls, refusal
from tests.docs.steps import Command, blocks
from tests.docs.written import PAGES

EXAMPLES = [(path, line) for path, command in all_commands() for _, line in examples(command)]


def test_every_command_has_an_example() -> None:
    without = {path for path, command in all_commands() if not hasattr(command, "commands")} - {
        path for path, _ in EXAMPLES
    }
    assert without <= {(), ("audit", "targets")}


def test_a_command_has_a_help_text_with_its_examples() -> None:
    for path, command in all_commands():
        code, out, _ = run(*path, "--help")
        assert (code, "Usage: " + " ".join(["exactdp", *path]) in out) == (0, True)
        assert command.help
        for _, line in examples(command):
            assert calls(line)
            assert refusal(line) == ""
            assert re.search(f": {re.escape(line)}$", out, re.MULTILINE), f"wrapped: {line}"


def test_commands_of_a_page() -> None:
    for page in PAGES:
        steps = [step for region in blocks(Document.parse(str(page))) for step in region.parsed]
        lines = [step.line for step in steps if isinstance(step, Command)]
        inline = re.findall(r"(?<!`)`(exactdp [^`]* --[^`]*)`", page.read_text(encoding="utf-8"))
        for line in lines + inline:
            assert refusal(line) == "", (page.name, line)


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
    code = "".join(f"<pre>$ {line}</pre>".replace("&", "&amp;") for _, line in EXAMPLES)
    head = '<html lang="en"><title>t</title><h1>h</h1>'
    page = tmp_path / "index.html"
    page.write_text(head + code, encoding="utf-8")
    assert problems(tmp_path) == []
    page.write_text(head + code.replace("--k 51914", "\u2013k 51914"), encoding="utf-8")
    check_again = problems.__globals__["_read"].cache_clear
    check_again()
    faults = problems(tmp_path)
    assert any("typographic" in problem for problem in faults)
    assert any("an example is not on any page" in problem for problem in faults)
