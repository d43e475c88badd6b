"""ALP, Section 11: the open problem."""

from __future__ import annotations

from exactdp.proofs_check.claims.alp._entries import not_checkable

__all__ = ["CLAIMS"]

CLAIMS = (
    not_checkable(
        "Section 11, open problem",
        "Constant access time with the same space and error and strong tails is open.",
        "an open problem",
    ),
)
