"""Pages of the ledger, written from the claims at every build: one per paper, and the errata."""

from __future__ import annotations

import re
from pathlib import Path

from exactdp_proofs.pages import (
    code_span,
    errata_page,
    evidence_of,
    label,
    overview,
    plain,
    typeset,
)
from exactdp_proofs.registry import entries, ledger
from exactdp_proofs.statements import Part
from exactdp_proofs.vocabulary import PAPERS
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_ANCHOR = re.compile(r'<a id="([^"]+)">')


def paper_page(paper: str, parts: list[Part]) -> str:
    """Every entry of a paper as a section of its own, so that a search leads to it."""
    lines = ["---", "tocdepth: 2", "---", "", f"# {paper}: claims", "", f"{PAPERS[paper]}.", ""]
    for group in entries(parts).values():
        lines += [f"## {paper} {plain(group[0].item)}", ""]
        for part in group:
            lines += [f'<a id="{part.id}"></a>', ""]
            lines += [f"### {plain(part.name[:1].upper() + part.name[1:])}", ""] * bool(part.name)
            lines += [*_entry(part), ""]
    return "\n".join(lines)


def index_page() -> str:
    """What the verdicts mean, the counts, and where the entries are."""
    lines = [
        *overview(ledger()),
        "",
        ":::{toctree}",
        ":maxdepth: 1",
        "",
        "errata",
        "items",
        *(paper.lower() for paper in PAPERS),
        ":::",
    ]
    return "\n".join(lines)


def _entry(part: Part) -> list[str]:
    lines = [f"**{label(part)}** · `{part.source}` · `exactdp proofs {part.id}`", ""]
    if said := part.printed:
        lines += [f"Printed ({said.where}): {code_span(said.words)}", ""]
        lines += [f"Read as: {typeset(part.statement)}", ""]
        lines += [f"Corrected: {typeset(part.corrected)} ([errata](errata.md#{part.id}))", ""]
    else:
        lines += [typeset(part.statement), ""]
    if part.condition:
        lines += [f"Condition: {typeset(part.condition)}", ""]
    if part.rests_on:
        lines += [f"Rests on [{part.rests_on}](errata.md#{part.rests_on})", ""]
    if part.proof:
        lines += [f"Proof: {typeset(part.proof)}", ""]
    if part.rocq:
        lines += [f"Rocq: theorem `{part.rocq}` of `proofs_check/rocq/Papers.v`", ""]
    if part.needs:
        lines += [f"A proof needs: {typeset(part.needs)}", ""]
    lines += [f"Evidence: {typeset(evidence_of(part))}", ""]
    return [*lines, f"Its check rejects: {typeset(part.says)}"] if part.says else lines


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "ledger"
    folder.mkdir(exist_ok=True)
    pages = {"index": index_page(), "errata": errata_page(ledger())}
    pages |= {paper.lower(): paper_page(paper, ledger([paper])) for paper in PAPERS}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def anchors(app: Sphinx, env: BuildEnvironment) -> None:
    """Let links lead to the ids that pages set explicitly, as they do to headings."""
    for name in env.found_docs:
        ids = _ANCHOR.findall(Path(env.doc2path(name)).read_text(encoding="utf-8"))
        slugs = env.metadata[name].setdefault("myst_slugs", {}) if ids else {}
        slugs.update({anchor: (0, anchor, anchor) for anchor in ids})


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("env-updated", anchors)
    return {"parallel_read_safe": True}
