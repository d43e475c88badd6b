"""CSH, Section 2, running text: what is cited."""

from __future__ import annotations

from exactdp.proofs_check.claim import NotCheckable

__all__ = ["CLAIMS"]

CLAIMS = (
    NotCheckable(
        paper="CSH",
        item="Section 2.4, Joseph and Yu",
        statement="For users with k <= d/2 entries there is an optimal amount of shared noise; "
        "used directly for k much smaller than d it improves the GSHM hardly.",
        reason="cited without formula",
    ),
    NotCheckable(
        paper="CSH",
        item="Section 2.3, convention of the threshold",
        statement="The threshold is called 1 + tau here and tau by Wilkins et al.",
        reason="a convention; it is used consistently except in Appendix B, probability of no "
        "output bottom",
    ),
)
