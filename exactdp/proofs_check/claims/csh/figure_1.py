"""CSH, Figures 1 and 2: drawings."""

from __future__ import annotations

from exactdp.proofs_check.claim import NotCheckable

__all__ = ["CLAIMS"]

CLAIMS = (
    NotCheckable(
        paper="CSH",
        item="Figure 1",
        statement="Three kinds of neighbours of the GSHM with at most four changed counters: only "
        "shared counters change, only new ones appear, or both.",
        reason="a drawing; the cases are the terms of Lemma 2.7",
    ),
    NotCheckable(
        paper="CSH",
        item="Figure 2",
        statement="The intermediate histogram that separates the two kinds of loss.",
        reason="a drawing; its construction is checked under Theorem 3.3, proof, intermediate "
        "histogram",
    ),
)
