"""CSH, Definition 7.1: the discrete Gaussian distribution."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._discrete import masses
from exactdp.proofs_check.claims.csh._model import BITS, as_ball, at_most, precision
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import DiscreteGaussian

__all__ = ["CLAIMS"]

_VARIANCES = (Fraction(1, 3), Fraction(1), Fraction(25), Fraction(1000))


def _shipped(divisor: Fraction) -> str:
    """The shipped distribution function is that of the masses exp(-x^2/(divisor sigma^2))."""
    with precision(BITS):
        for variance in _VARIANCES:
            law = masses(as_ball(variance * divisor / 2))
            code = DiscreteGaussian(sigma2=variance)
            for z in (-3, -1, 0, 1, 2, 7):
                stated = sum((p for x, p in law.items() if x <= z), as_ball(0))
                found = code.cdf(z)
                low, high = as_ball(found.lower), as_ball(found.upper)
                inside = at_most(low, stated) and at_most(stated, high)
                require(inside, f"sigma^2={variance}, P(X <= {z}) = {stated.mid()}, code {found}")
    return f"{len(_VARIANCES)} variances, 6 values each"


CLAIMS = (
    CSH.verified(
        "Definition 7.1",
        "N_Z(0, sigma^2) has mass proportional to exp(-x^2/(2 sigma^2)) on the integers; "
        "the distribution function that the shipped sampler inverts is that of this law.",
        "certified numerics",
        **varied(_shipped, Fraction(2), Fraction(201, 100), "exp(-x^2/(2.01 sigma^2))"),
    ),
)
