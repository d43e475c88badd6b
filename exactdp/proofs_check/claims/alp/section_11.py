"""ALP, Section 11: the open problem."""

from __future__ import annotations

from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]

CLAIMS = (
    ALP.not_checkable(
        "Section 11, open problem",
        "Constant access time with the same space and error and strong tails is open.",
        "an open problem",
    ),
)
