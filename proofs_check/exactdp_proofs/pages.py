"""The pages of the ledger in Markdown: what the site, and a release, show of entries and errata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from exactdp_proofs.counts import consequences, errata, summary, table
from exactdp_proofs.formulas import formulas
from exactdp_proofs.runner import in_words, particulars
from exactdp_proofs.statements import Part
from exactdp_proofs.vocabulary import SEVERITIES, SEVERITY_RULE, VERDICTS

INTRODUCTION = (
    "The statements of five papers, as programs with a verdict. An entry is a numbered item of a "
    "paper; its parts are the item's own statement and steps worth deciding. `exactdp proofs` runs "
    "the ledger, `exactdp proofs ID` one entry. A check that accepts a statement must reject a "
    "slightly false one, its mutant, or the run fails. *Proved* is only what is decided on a whole "
    "domain; *verified* is exact, but on instances. The evidence says how many comparisons a check "
    "made and how near the decisive comparison came to its bound."
)


def overview(parts: Sequence[Part]) -> list[str]:
    """What the ledger is, its counts, and the meaning of the verdicts: the head of the index."""
    heading, *rows = table(parts)
    lines = ["# Claims", "", INTRODUCTION, "", summary(parts), ""]
    lines += [_cells(heading), "|---" * len(heading) + "|", *(_cells(row) for row in rows), ""]
    lines += [f"- **{verdict}**: {meaning}" for verdict, meaning in VERDICTS.items()]
    return [*lines, "", "*Ours* are statements about the shipped code or beside the paper."]


def errata_page(parts: Sequence[Part]) -> str:
    """What is false as printed, worst first: errata with their consequences, then the notes."""
    lines = [
        "# Errata",
        "",
        "Statements of the papers that are false as printed. Each is refuted twice, by the entry's "
        "own check and by the independent lines shown here; its corrected form is checked like any "
        "statement. `exactdp proofs ID` runs both. The printed words are quoted, with the line of "
        "the paper's text (Markdown or plain text made from the paper, formulas as in LaTeX); how "
        "we read them stands apart. What follows from an erratum is listed with it and not counted "
        "again.",
        "",
        SEVERITY_RULE,
        "",
        summary(parts),
    ]
    for severity, meaning in SEVERITIES.items():
        chosen = errata(parts, severity)
        lines += ["", f"## {severity.capitalize()} ({len(chosen)})", "", f"{meaning.capitalize()}."]
        for part in chosen:
            lines += _section(part)
            for other in consequences(parts, part.id):
                lines += _section(other, "#### It follows:")
    notes = [part for severity in SEVERITIES for part in parts if part.kind == "note"
             and part.severity == severity]  # fmt: skip
    lines += ["", f"## Notes ({len(notes)})", "", f"{VERDICTS['note'].capitalize()}."]
    lines += [line for note in notes for line in _section(note)]
    return "\n".join(lines) + "\n"


def label(part: Part) -> str:
    """The verdict with severity, and whether the statement is ours."""
    words = f"{part.verdict}, {part.severity}" if part.severity else part.verdict
    return f"{words}, ours" if part.ours else words


def evidence_of(part: Part) -> str:
    """The recorded evidence in words, or why there is none."""
    fitted = f"; holds even with {in_words(part)}" if part.fitted else ""
    return part.reason or f"{part.evidence}{fitted}"


def _cells(values: Iterable[object]) -> str:
    return "| " + " | ".join(str(value) for value in values) + " |"


def _anchor(part: Part) -> str:
    return f'<a id="{part.id}"></a>'


def _section(part: Part, heading: str = "###") -> list[str]:
    fields = {"statement": part.statement}
    if said := part.printed:
        fields = {f"printed ({said.where}, line {said.line})": code_span(said.words)}
        fields |= {"read as": part.statement}
    if part.kind == "note":
        fields |= {"to the letter": part.severity}
    fields |= particulars(part, part.evidence)
    lines = ["", _anchor(part), "", f"{heading} {part.id}", ""]
    lines += [f"- **{name[0].upper()}{name[1:]}**: {text}" for name, text in fields.items()]
    example = part.example.strip("\n")
    return [*lines, "", "```python", example, "```"] if example else lines


def code_span(words: str) -> str:
    """A code span, in which nothing of the quotation is taken for mark-up."""
    return f"`` {words} ``" if "`" in words else f"`{words}`"


def plain(text: str) -> str:
    r"""Text with a backslash before every character that Markdown would take for mark-up."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def typeset(text: str) -> str:
    """Text with its formulas as MathML, and everything else escaped."""
    return re.sub(r"([\\`*_{}\[\]#|$])", r"\\\1", formulas(text))
