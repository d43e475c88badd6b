"""The numbers of the ledger, counted once for every page that shows them.

Errata are counted by cause: what follows from an erratum is its consequence, not another one. The
papers' statements are counted apart from our own (corrected forms, shipped code, sharper bounds).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from exactdp.proofs_check.claim import PAPERS, SEVERITIES, VERDICTS, Claim, Conditional, Refuted

__all__ = ["consequences", "errata", "summary", "table"]


def errata(claims: Iterable[Claim], severity: str | None = None) -> list[Refuted]:
    """The refuted statements that are causes, not consequences; of one severity, if given."""
    found = [c for c in claims if isinstance(c, Refuted) and not c.follows_from]
    return [c for c in found if severity in (None, c.severity)]


def consequences(claims: Iterable[Claim], cause: str) -> list[Claim]:
    """What follows from the erratum with this id: refuted entries, then those that rest on it."""
    listed = list(claims)
    refuted = [c for c in listed if isinstance(c, Refuted) and c.follows_from == cause]
    resting = [c for c in listed if isinstance(c, Conditional) and c.rests_on == cause]
    return [*refuted, *resting]


def table(claims: Sequence[Claim]) -> list[list[object]]:
    """Rows: a heading, one per paper, their sum, our own statements, all entries."""
    stated = [claim for claim in claims if not claim.ours]
    rows: list[list[object]] = [["", *VERDICTS, "all"]]
    rows += [_row(paper, [c for c in stated if c.paper == paper]) for paper in PAPERS]
    rows.append(_row("the papers", stated))
    rows.append(_row("ours", [claim for claim in claims if claim.ours]))
    rows.append(_row("all", claims))
    return rows


def summary(claims: Sequence[Claim]) -> str:
    """The counts in a sentence."""
    ours = sum(claim.ours for claim in claims)
    verdicts = Counter(claim.verdict for claim in claims)
    causes = errata(claims)
    by_severity = ", ".join(f"{len(errata(causes, name))} {name}" for name in SEVERITIES)
    return (
        f"{len(claims) - ours} statements of the five papers and {ours} of our own beside them: "
        f"{len(causes)} errata ({by_severity}) with {verdicts['refuted'] - len(causes)} "
        f"refuted consequences, {verdicts['conditional']} that hold only under a condition the "
        f"text lacks or lean on an erratum, {verdicts['note']} slips that mislead nobody (notes), "
        f"{verdicts['not checkable']} that no machine can decide."
    )


def _row(name: str, claims: Sequence[Claim]) -> list[object]:
    counts = Counter(claim.verdict for claim in claims)
    return [name, *(counts[verdict] for verdict in VERDICTS), len(claims)]
