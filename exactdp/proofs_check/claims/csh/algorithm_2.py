"""CSH, Algorithm 2: the CSH, and the shipped mechanism on the same draws."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from exactdp.proofs_check.claim import Mutant
from exactdp.proofs_check.claims.csh._release import same_release
from exactdp.proofs_check.entries import CSH

__all__ = ["CLAIMS"]

CLAIMS = (
    CSH.verified(
        "Algorithm 2",
        "One shared noise is added to every non-zero counter next to its own, and the "
        "counter is released exactly when it then exceeds 1 + tau, strictly.",
        "enumeration",
        check=partial(same_release, shared=True, lower=Fraction(0)),
        mutant=Mutant(
            "it is released at exactly 1 + tau, too",
            partial(same_release, shared=True, lower=Fraction(1, 4)),
        ),
        note="checked on the shipped mechanism: noise (Z_i + Z)/2 with discrete Gaussians, as in "
        "Theorem 7.7; the law of the continuous one is in the exact analysis",
    ),
)
