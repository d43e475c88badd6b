"""CSH, Corollary 4.2: the top-k mechanism has the guarantees of the CSH."""

from __future__ import annotations

from exactdp.accounting import top_k
from exactdp.balls import ball
from exactdp.proofs_check.claim import Mutant, require
from exactdp.proofs_check.claims.csh._model import BITS, SMALL, at_most, precision
from exactdp.proofs_check.claims.csh._published import delta_gauss, delta_inf, theorem_3_5
from exactdp.proofs_check.entries import CSH

__all__ = ["CLAIMS"]


def _holds(at_all: bool = True) -> str:
    """The exact delta of the shipped top-k accounting is below both bounds."""
    for at in SMALL:
        numbers = {"k": at.k, "sigma": at.sigma, "tau": at.tau, "epsilon": at.epsilon}
        exact = top_k.delta(**numbers)  # type: ignore[arg-type]
        with precision(BITS):
            total = delta_gauss(at) + at_all * delta_inf(at, at.k + 1)
            for bound in (theorem_3_5(at), total):
                case = f"{at}: exact {float(exact.lower):.9g} > {bound.mid().str(9)}"
                require(at_most(ball(exact.upper), bound), case)
    return f"{len(SMALL)} points, Theorems 3.3 and 3.5"


CLAIMS = (
    CSH.verified(
        "Corollary 4.2",
        "Algorithm 3 has the guarantees of Theorems 3.3 and 3.5, whatever number of "
        "counters a user changes (with Lemma 4.1).",
        "certified numerics",
        check=lambda: _holds(),
        mutant=Mutant("with the threshold term for no counters", lambda: _holds(at_all=False)),
    ),
)
