"""ALP, Figure 4: distribution of the error."""

from __future__ import annotations

from exactdp.proofs_check.claims.alp._entries import not_checkable

__all__ = ["CLAIMS"]

CLAIMS = (
    not_checkable(
        "Figure 4",
        "Error distribution for epsilon = 1, alpha = 3 and collision probability 0.1.",
        "a histogram without data; its mean, deviation and 90th percentile are under Section 9",
    ),
)
