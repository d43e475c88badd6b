"""Shorthand for the entries of this paper."""

from __future__ import annotations

from exactdp.proofs_check.claim import Check, Holds, Mutant, NotCheckable, Refuted

__all__ = ["holds", "not_checkable", "refuted"]


def holds(
    item: str,
    statement: str,
    outcome: str,
    method: str,
    check: Check,
    mutant: tuple[str, Check],
    *,
    note: str = "",
    seconds: int = 10,
) -> Holds:
    """A statement of ALP that passes its check, with (mutated statement, its check)."""
    return Holds(
        paper="ALP",
        item=item,
        statement=statement,
        outcome=outcome,
        method=method,
        check=check,
        mutant=Mutant(*mutant),
        note=note,
        seconds=seconds,
    )


def not_checkable(item: str, statement: str, reason: str, *, note: str = "") -> NotCheckable:
    """A statement of ALP that no machine can decide."""
    return NotCheckable(paper="ALP", item=item, statement=statement, reason=reason, note=note)


def refuted(
    item: str,
    statement: str,
    severity: str,
    method: str,
    check: Check,
    example: str,
    extraction: str,
    corrected: Holds,
    *,
    note: str = "",
) -> Refuted:
    """A statement of ALP that is false as printed."""
    return Refuted(
        paper="ALP",
        item=item,
        statement=statement,
        severity=severity,
        method=method,
        check=check,
        example=example,
        extraction=extraction,
        corrected=corrected,
        note=note,
    )
