"""A shorter way to write a verified entry."""

from __future__ import annotations

from exactdp.proofs_check.claim import Check, Holds, Mutant

__all__ = ["verified"]


def verified(
    item: str, statement: str, method: str, check: Check, mutant: Mutant, note: str = ""
) -> Holds:
    """A statement of BV that is exact on the stated instances."""
    return Holds(
        paper="BV",
        item=item,
        statement=statement,
        note=note,
        outcome="verified",
        method=method,
        check=check,
        mutant=mutant,
    )
