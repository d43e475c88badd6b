"""ALP, Figure 5: Algorithms 4 and 10 over epsilon."""

from __future__ import annotations

from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]

CLAIMS = (
    ALP.not_checkable(
        "Figure 5",
        "Mean error of Algorithms 4 and 10 for epsilon from 0.25 to 10.",
        "curves without data; their crossing and their ends are under Section 9",
    ),
)
