"""The list of all items of the papers: item, call, what is printed, and what we get.

Rows with a call of the library come from `docs/reference/papers.md`, whose test runs every call;
all other numbered items are entries of the ledger, whose call is `exactdp proofs ID`. The site
writes the page `ledger/items` from it at every build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from exactdp_proofs.pages import code_span, label, plain, typeset
from exactdp_proofs.registry import entries, ledger
from exactdp_proofs.vocabulary import PAPERS

from tests.docs.papers import PAGE, rows

_PRINTED = re.compile(r"(.*?)[:,]? printed:? (.+)")
_NUMBERED = re.compile(r"[A-Z]\w+ \(?[\dIVAB]")


class Item(NamedTuple):
    """printed, ours: in Markdown, for a cell of a table."""

    item: str
    call: str
    printed: str
    ours: str


def items(paper: str) -> Iterator[Item]:
    """Every row of the page of items, then every numbered item that only the ledger has."""
    called = [row for row in rows(PAGE.read_text(encoding="utf-8")) if row.paper == paper]
    for row in called:
        match = _PRINTED.fullmatch(row.item)
        name, printed = match.groups() if match else (row.item, "no number")
        yield Item(name, _code(row.call), printed, _code(row.printed))
    for name, group in entries(ledger([paper])).items():
        part = group[0]
        known = any(row.item.startswith(f"{part.item},") for row in called)
        if _NUMBERED.match(part.item) and not known:
            printed = _code(part.printed.words) if part.printed else typeset(part.statement)
            verdict = f"[{label(part)}]({paper.lower()}.md#{part.id})"
            yield Item(plain(part.item), _code(f"exactdp proofs {name}"), printed, verdict)


def items_page() -> str:
    """One table per paper."""
    tables = {paper: list(items(paper)) for paper in PAPERS if paper != "PLD"}
    lines = [
        "# All items of the papers",
        "",
        f"{sum(map(len, tables.values()))} items: what to call, what the paper prints, and what "
        "the call answers. A number is the answer of the [call](../reference/papers.md); *proved* "
        "to *refuted* is the verdict of the [ledger](index.md).",
    ]
    for paper, listed in tables.items():
        lines += ["", f"## {paper}: {len(listed)} items", "", "| item | call | printed | ours |"]
        lines += ["|---|---|---|---|", *(f"| {' | '.join(item)} |" for item in listed)]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return code_span(text).replace("|", "\\|")
