"""ALP, Figure 4: distribution of the error."""

from __future__ import annotations

from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]

CLAIMS = (
    ALP.not_checkable(
        "Figure 4",
        "Error distribution for epsilon = 1, alpha = 3 and collision probability 0.1.",
        "a histogram without data; its mean, deviation and 90th percentile are under Section 9",
    ),
)
