"""CSH, Algorithm 1: the GSHM, and the shipped mechanism on the same draws."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from exactdp.proofs_check.claim import Mutant
from exactdp.proofs_check.claims.csh._release import same_release
from exactdp.proofs_check.entries import CSH

__all__ = ["CLAIMS"]

CLAIMS = (
    CSH.verified(
        "Algorithm 1",
        "Every non-zero counter gets independent noise of parameter sigma^2 and is "
        "released exactly when it then exceeds 1 + tau, strictly; zero counters are never touched.",
        "enumeration",
        check=partial(same_release, shared=False, lower=Fraction(0)),
        mutant=Mutant(
            "it is released at exactly 1 + tau, too",
            partial(same_release, shared=False, lower=Fraction(1, 4)),
        ),
        note="checked on the shipped mechanism, whose noise is the discrete Gaussian",
    ),
)
