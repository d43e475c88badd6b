"""Two papers in LaTeX: ``python -m tools.papers build/papers``; xelatex then builds them.

The note on the exact CSH is the page that guarantees cite, with a table of numbers that are
computed here; the errata are the ledger's. Nothing in them is written by hand in LaTeX.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

from exactdp_proofs.registry import ledger
from exactdp_proofs.statements import Part
from exactdp_proofs.vocabulary import PAPERS, SEVERITIES

from exactdp import __version__
from exactdp.accounting.sparse_histograms.comparison import compare

_HEAD = r"""\documentclass[11pt]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{fontspec}
\usepackage{longtable}
\setmainfont{DejaVu Serif}[Scale=0.86]
\setmonofont{DejaVu Sans Mono}[Scale=0.78]
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6em}
\sloppy
\title{TITLE}
\author{The exactdp authors}
\date{exactdp VERSION}
\begin{document}
\maketitle
"""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}
#: A target of the note's table: sparsity, epsilon, delta.
_TARGETS = ((10, "0.35", "1e-5"), (51914, "0.35", "1e-5"))


def escaped(text: str) -> str:
    r"""Text with LaTeX's special characters escaped.

    >>> escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def marked(text: str) -> str:
    r"""Markdown within a paragraph: code, bold and emphasis, and the text of links.

    >>> marked("**Theorem.** `delta` is *small*")
    '\\textbf{Theorem.} \\texttt{delta} is \\emph{small}'
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        rf"\texttt{{{escaped(piece[1:-1])}}}" if piece.startswith("`") else _emphasis(piece)
        for piece in pieces
    )


def _emphasis(text: str) -> str:
    text = re.sub(r"\*\*([^*]+)\*\*", r"\\textbf{\1}", escaped(text))
    return re.sub(r"(?<!\w)\*([^*\s][^*]*)\*(?!\w)", r"\\emph{\1}", text)


def body(markdown: str) -> Iterator[str]:
    """The paragraphs, headings, lists and indented formulas of a page, in LaTeX."""
    for block in re.split(r"\n{2,}", markdown.strip("\n")):
        lines = block.splitlines()
        if heading := re.match(r"#+ (?:\d+\. )?(.*)", block):
            level = "section" if block.startswith("## ") else "subsection"
            yield rf"\{level}{{{marked(heading[1])}}}"
        elif all(line.startswith("    ") for line in lines):
            yield "\n".join([r"\begin{verbatim}", *lines, r"\end{verbatim}"])
        elif lines[0].startswith("|"):
            yield from _table([line.strip("|").split("|") for line in lines])
        elif lines[0].startswith("- "):
            items = re.split(r"\n(?=- )", block)
            yield r"\begin{itemize}"
            yield from (rf"\item {marked(' '.join(i[2:].split()))}" for i in items)
            yield r"\end{itemize}"
        else:
            yield marked(block)


def _table(rows: list[list[str]]) -> Iterator[str]:
    head, _, *rest = rows
    yield rf"{{\footnotesize\begin{{longtable}}{{{'l' * len(head)}}}"
    yield " & ".join(marked(cell.strip()) for cell in head) + r"\\\hline"
    yield from (" & ".join(marked(cell.strip()) for cell in row) + r"\\" for row in rest)
    yield r"\end{longtable}}"


def note() -> str:
    """The note on the exact CSH."""
    page = (files("exactdp.pages") / "exact-csh.md").read_text(encoding="utf-8")
    title, _, text = page.partition("\n")
    return _document(title.lstrip("# "), [*body(text), *_thresholds()])


def _thresholds() -> Iterator[str]:
    yield r"\section{Numbers}"
    yield "Smallest thresholds of every analysis, each certified from both sides."
    for k, epsilon, delta in _TARGETS:
        rows = compare(sparsity=k, epsilon=epsilon, delta=delta)
        yield rf"$k = {k}$, $\varepsilon = {epsilon}$, $\delta = {delta}$:"
        head = ["mechanism", "analysis", "sigma", "noise", "tau", "delta at most", "tau saved"]
        yield from _table([head, [], *(row.cells() for row in rows)])


def errata() -> str:
    """The errata of the five papers."""
    wrong = [part for part in ledger() if part.severity and part.printed]
    lines = [escaped(text) for text in _FOR_REFEREES]
    lines += [*_counted(wrong), *(f"{name}: {escaped(text)}." for name, text in SEVERITIES.items())]
    for paper, title in PAPERS.items():
        lines.append(rf"\section{{{escaped(title)}}}")
        for part in wrong:
            if part.paper == paper:
                lines += _erratum(part)
    return _document("Errata of five papers on differential privacy", lines)


#: What a reader of the errata asks first.
_FOR_REFEREES = (
    "An entry is a printed statement that fails as it stands, in its own regime. It is refuted "
    "twice: by a program that compares exactly or in ball arithmetic, and by a few lines without "
    "our library, which the errata page of the site shows. The corrected statement is checked like "
    "any other: its program accepts it, and rejects a variant that is slightly false.",
    "The programs are free software (Apache-2.0). pip install 'exactdp[proofs]', then exactdp "
    "proofs --verdict refuted, computes the table and all of its entries again in less than a "
    "minute; exactdp proofs with the name of an entry shows its counterexample.",
)


def _counted(wrong: list[Part]) -> Iterator[str]:
    """How many entries of each severity each paper has, without what follows from another entry."""
    causes = [part for part in wrong if not part.follows_from]
    rows = [["paper", *SEVERITIES, "of these notes"], []]
    for paper in PAPERS:
        listed = [part for part in causes if part.paper == paper]
        if listed:
            numbers = [str(sum(part.severity == name for part in listed)) for name in SEVERITIES]
            rows.append([paper, *numbers, str(sum(part.kind == "note" for part in listed))])
    yield from _table(rows)


def _erratum(part: Part) -> list[str]:
    said = part.printed
    assert said is not None
    return [
        rf"\subsection{{{escaped(part.id)} ({escaped(part.severity)})}}",
        rf"\textbf{{Printed}} ({escaped(said.where)}): \texttt{{{escaped(said.words)}}}",
        rf"\textbf{{Read as}}: {escaped(part.statement)}",
        rf"\textbf{{Counterexample}}: {escaped(part.evidence.counterexample)}",
        rf"\textbf{{Corrected}}: {escaped(part.corrected)}",
    ]


def _document(title: str, lines: Iterable[str]) -> str:
    head = _HEAD.replace("TITLE", escaped(title)).replace("VERSION", __version__)
    return "\n\n".join([head, *lines, r"\end{document}"]) + "\n"


def main(folder: str) -> None:
    """Write both papers."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, make in {"exact-csh": note, "errata": errata}.items():
        Path(folder, f"{name}.tex").write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
