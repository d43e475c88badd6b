"""CSH, Figures 1 and 2: drawings."""

from __future__ import annotations

from exactdp.proofs_check.entries import CSH

__all__ = ["CLAIMS"]

CLAIMS = (
    CSH.not_checkable(
        "Figure 1",
        "Three kinds of neighbours of the GSHM with at most four changed counters: only "
        "shared counters change, only new ones appear, or both.",
        "a drawing; the cases are the terms of Lemma 2.7",
    ),
    CSH.not_checkable(
        "Figure 2",
        "The intermediate histogram that separates the two kinds of loss.",
        "a drawing; its construction is checked under Theorem 3.3, proof, intermediate histogram",
    ),
)
