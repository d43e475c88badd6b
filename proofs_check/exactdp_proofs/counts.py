"""The numbers of the ledger, counted once for every page that shows them.

Errata are counted by cause: what follows from an erratum is a consequence and not counted again.
The papers' statements are counted apart from our own (shipped code, sharper bounds).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from exactdp_proofs.statements import Part
from exactdp_proofs.vocabulary import PAPERS, SEVERITIES, VERDICTS


def errata(parts: Iterable[Part], severity: str | None = None) -> list[Part]:
    """The refuted statements that are causes, not consequences; of one severity, if given."""
    refuted = [part for part in parts if part.kind == "refuted" and not part.follows_from]
    return [part for part in refuted if severity in (None, part.severity)]


def consequences(parts: Iterable[Part], cause: str) -> list[Part]:
    """What follows from the erratum with this id: refuted parts, then those that rest on it."""
    dependent = [part for part in parts if cause in (part.follows_from, part.rests_on)]
    return sorted(dependent, key=lambda part: part.kind != "refuted")


def table(parts: Sequence[Part]) -> list[list[object]]:
    """Rows: a heading, one per paper, their sum, our own statements, all parts."""
    stated = [part for part in parts if not part.ours]
    rows: list[list[object]] = [["", "entries", *VERDICTS, "statements"]]
    rows += [_row(paper, [part for part in stated if part.paper == paper]) for paper in PAPERS]
    rows.append(_row("the papers", stated))
    rows.append(_row("ours", [part for part in parts if part.ours]))
    rows.append(_row("all", parts))
    return rows


def summary(parts: Sequence[Part]) -> str:
    """The counts in a sentence."""
    ours = sum(part.ours for part in parts)
    verdicts = Counter(part.verdict for part in parts)
    causes = errata(parts)
    marked = {"unsafe": "unsafe of privacy or accuracy"}
    by_severity = ", ".join(
        f"{len(errata(causes, name))} {marked.get(name, name)}" for name in SEVERITIES
    )
    return (
        f"{len(parts) - ours} statements of the five papers and {ours} of our own beside them: "
        f"{len(causes)} errata ({by_severity}) with {verdicts['refuted'] - len(causes)} "
        f"refuted consequences, {verdicts['conditional']} that hold only under a condition the "
        f"text lacks or rest on an erratum, {verdicts['note']} misprints that the text around "
        f"them corrects (notes), {verdicts['proved']} proved, {verdicts['argued']} argued, "
        f"{verdicts['verified']} verified on instances, "
        f"{verdicts['not checkable']} that no program can decide."
    )


def _row(name: str, parts: Sequence[Part]) -> list[object]:
    counts = Counter(part.verdict for part in parts)
    numbers = (counts[verdict] for verdict in VERDICTS)
    return [name, len({part.entry for part in parts}), *numbers, len(parts)]
