"""Pages of the ledger, written from the claims at every build: one per paper, and the errata."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from exactdp.proofs_check.claim import PAPERS, VERDICTS, Claim, Conditional, Fails, Holds, Refuted
from exactdp.proofs_check.counts import summary, table
from exactdp.proofs_check.markdown import errata_page
from exactdp.proofs_check.registry import ledger, source_file

_ANCHOR = re.compile(r'<a id="([^"]+)">')


def paper_page(paper: str, claims: list[Claim]) -> str:
    """Every entry of a paper as a section of its own, so that a search leads to it."""
    lines = ["---", "tocdepth: 2", "---", "", f"# {paper}: claims", "", f"{PAPERS[paper]}.", ""]
    for claim in claims:
        lines += [f'<a id="{claim.id}"></a>', "", f"## {paper} {_plain(claim.item)}", ""]
        lines += [*_entry(claim), ""]
    return "\n".join(lines)


def index_page() -> str:
    """What the verdicts mean, the counts, and where the entries are."""
    claims = ledger()
    (_, *heading), *rows = table(claims)
    lines = [
        "# Claims",
        "",
        "Every checkable statement of five papers, as a program with a verdict. `exactdp proofs` "
        "runs them all, `exactdp proofs ID` one. A check that accepts a statement must reject a "
        "slightly false one, its mutant, or the run fails.",
        "",
        summary(claims),
        "",
        *(
            "| " + " | ".join(map(str, row)) + " |"
            for row in (["entries", *heading], ["---"] * (1 + len(heading)))
        ),
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
        "",
        *(f"- **{verdict}**: {meaning}" for verdict, meaning in VERDICTS.items()),
        "",
        "*Ours* are corrected forms and statements about the shipped code or beside the paper.",
        "",
        ":::{toctree}",
        ":maxdepth: 1",
        "",
        "errata",
        *(paper.lower() for paper in PAPERS),
        ":::",
    ]
    return "\n".join(lines)


def _entry(claim: Claim) -> list[str]:
    parts = [f"**{_verdict(claim)}** · `{source_file(claim)}` · `exactdp proofs {claim.id}`", ""]
    if isinstance(claim, Fails):
        parts += [f"Printed ({claim.printed.where}): {_code(claim.printed.words)}", ""]
        parts += [f"Read as: {_plain(claim.statement)}", ""]
        corrected = f"{claim.paper.lower()}.md#{claim.corrected.id}"
        parts += [f"[Corrected]({corrected}) · [in the errata](errata.md#{claim.id})"]
        return parts
    parts.append(_plain(claim.statement))
    if isinstance(claim, Conditional):
        parts += ["", f"Condition: {_plain(claim.condition)}"]
        if claim.rests_on:
            parts += ["", f"Rests on [{claim.rests_on}](errata.md#{claim.rests_on})"]
    if isinstance(claim, Holds):
        parts += ["", f"Its check rejects: {_plain(claim.mutant.statement)}"]
    return parts


def _verdict(claim: Claim) -> str:
    severity = f", {claim.severity}" if isinstance(claim, Refuted) else ""
    return f"{claim.verdict}{severity}{', ours' if claim.ours else ''}"


def _plain(text: str) -> str:
    r"""Text in which nothing is mark-up: CommonMark lets a backslash stand before each of these."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def _code(words: str) -> str:
    return f"`` {words} ``" if "`" in words else f"`{words}`"


def _errata() -> str:
    """The errata, with their links led to the pages beside it."""
    page = errata_page(ledger())
    return re.sub(r"\]\(\.\./CLAIMS\.md#(\w+)-", lambda m: f"]({m[1].lower()}.md#{m[1]}-", page)


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "ledger"
    folder.mkdir(exist_ok=True)
    pages = {"index": index_page(), "errata": _errata()}
    pages |= {paper.lower(): paper_page(paper, ledger([paper])) for paper in PAPERS}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def anchors(app: Sphinx, env: BuildEnvironment) -> None:
    """Ids that a page states by itself may be linked to, like those of its headings."""
    for name in env.found_docs:
        ids = _ANCHOR.findall(Path(env.doc2path(name)).read_text(encoding="utf-8"))
        slugs = env.metadata[name].setdefault("myst_slugs", {}) if ids else {}
        slugs.update({anchor: (0, anchor, anchor) for anchor in ids})


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("env-updated", anchors)
    return {"parallel_read_safe": True}
