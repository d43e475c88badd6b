"""SVA, Appendix B: the bias of mechanisms of the central setting."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate_law, flip
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _alp_bias(least: Fraction) -> str:
    """The mean estimate of 0 in m columns without collisions; one in the middle has no bias."""
    for m, alpha in product((2, 4, 8), (Fraction(1), Fraction(3))):
        p = flip(alpha)
        middle = estimate_law(m // 2, m, p, p).expectation()
        require(middle == m // 2, f"m={m}, alpha={alpha}: the mean of {m // 2} is {middle}")
        mean = estimate_law(0, m, p, p).expectation()
        require(mean >= least, f"m={m}, alpha={alpha}: the mean of 0 is {mean}")
    return "m = 2, 4, 8 columns, alpha = 1, 3; exact laws"


def _threshold_bias(least: Fraction) -> str:
    """Noise of ratio a, values below t dropped: the mean of a count below t differs from it."""
    for a, t in ((Fraction(1, 2), 6), (Fraction(2, 3), 9)):
        for x in range(1, t):
            noise = [((1 - a) / (1 + a) * a**j, j) for j in range(t - x, 400)]
            mean = sum((p * (x + j) for p, j in noise), Fraction(0))
            rest = (x + 400) * a**400 / (1 - a) ** 2  # at most this beyond 400
            require(x - mean >= least + rest, f"a={a}, t={t}: {x} has the mean {float(mean):.4f}")
    return "two noises, every count below the threshold"


CLAIMS = (
    SVA.verified(
        "Appendix B, bias of the ALP mechanism",
        "The ALP mechanism is biased: its estimate of a zero entry has a positive mean, 0.4 of "
        "a column at least in the cases computed; one in the middle of the columns has no bias, as "
        "long as no other entry collides.",
        "enumeration",
        **varied(_alp_bias, Fraction(2, 5), Fraction(41, 100), "0.41 of a column at least"),
    ),
    SVA.verified(
        "Appendix B, bias of thresholding",
        "A count below the threshold is estimated too low in the mean (Korolova et al.): by 0.74 "
        "at least, with geometric noise of ratio 1/2 or 2/3 and thresholds 6 and 9.",
        "enumeration",
        **varied(_threshold_bias, Fraction(74, 100), Fraction(3, 4), "by 0.75 at least"),
    ),
)
