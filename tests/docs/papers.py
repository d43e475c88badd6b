"""The rows of docs/reference/papers.md: an item of a paper, a call, and what the call prints.

`python -m tests.docs.papers [PAPER ...]` writes what the calls print now into the page.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner
from exactdp_proofs.registry import ledger

from exactdp.cli.main import cli
from exactdp.mechanisms import Accuracy
from tests.docs.commands import calls

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "papers.md"

#: The first words of the page's snippet, which says what the calls can name.
_NAMES = "```python\n"

_ROW = re.compile(r"\| ([^|]+?) \| `(.+?)` \| `(.*?)`(.*) \|")

#: Entry of the ledger -> its verdict.
VERDICTS = {part.id: part.verdict for part in ledger()}


class Row(NamedTuple):
    """paper: its key. printed: the text in the page. remark: text after it."""

    paper: str
    item: str
    call: str
    printed: str
    remark: str


def rows(page: str) -> Iterator[Row]:
    """The rows of the page. Raises ValueError for a line of a table that is no row."""
    paper = ""
    for line in page.splitlines():
        if line.startswith("## "):
            paper = line[3 : line.index(":")]
        elif line.startswith("| ") and not line.startswith("| item |"):
            match = _ROW.fullmatch(line)
            if match is None:
                raise ValueError(line)
            yield Row(paper, *match.groups())


def names(page: str) -> dict[str, Any]:
    """What the snippet at the top of the page defines."""
    snippet = page.partition(_NAMES)[2].partition("```")[0]
    namespace: dict[str, Any] = {}
    for line in snippet.splitlines():
        exec(line.removeprefix(">>> "), namespace)  # noqa: S102
    return namespace


def answer(call: str, named: dict[str, Any]) -> str:
    """What a call prints: an expression its value, a command the first line of its output."""
    if not call.startswith("exactdp "):
        return _text(eval(call, dict(named)))  # noqa: S307
    (arguments,) = calls(call)
    if arguments[0] == "proofs":  # the tests of the ledger run its entries
        return f"{arguments[1]}: {VERDICTS[arguments[1]]}"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        done = CliRunner().invoke(cli, arguments)
    if done.exit_code:
        raise RuntimeError(done.output)
    return done.output.splitlines()[0]


def _text(value: Any) -> str:
    """A number with six digits, where it is not short; anything else as it prints."""
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, float) or (isinstance(value, Fraction) and value.denominator > 10**6):
        return f"{float(value):.6g}"
    if isinstance(value, Accuracy):
        errors = (value.per_query, value.per_query_above, value.simultaneous)
        return "per query {}, above {}; simultaneous {}".format(*errors)
    return str(value)


def main() -> None:
    """Run the calls of the given papers, or of all, and write their answers."""
    page = PAGE.read_text(encoding="utf-8")
    for row in rows(page):
        if sys.argv[1:] and row.paper not in sys.argv[1:]:
            continue
        new = answer(row.call, names(page))
        if new != row.printed:
            print(f"{row.paper}, {row.item}: {row.printed or 'nothing'} -> {new}", flush=True)
            old = f"| {row.item} | `{row.call}` | `{row.printed}`"
            page = page.replace(old, f"| {row.item} | `{row.call}` | `{new}`")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
