"""ALP, Figure 3: theoretical bound and experiment."""

from __future__ import annotations

from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]

CLAIMS = (
    ALP.not_checkable(
        "Figure 3",
        "Upper bound and observed mean error over alpha and k/s.",
        "curves without data; the formula is under Lemma 4.8, points of it and of the simulation "
        "under Section 9",
    ),
)
