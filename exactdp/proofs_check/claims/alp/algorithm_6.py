"""ALP, Algorithm 6: thresholded Laplace mechanism."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _truncated(noisy: bool) -> str:
    """Every stored value is at least t: the test is on the noisy value."""
    t = Fraction(3)
    for x, eta in product(
        (Fraction(n, 2) for n in range(12)), (Fraction(n, 2) for n in range(-8, 9))
    ):
        v = x + eta
        kept = v if (v if noisy else x) >= t else Fraction(0)
        require(kept == 0 or kept >= t, f"x={x}, noise {eta}: stored {kept} below t={t}")
    return "12 entries, 17 values of noise"


CLAIMS = (
    ALP.verified(
        "Algorithm 6",
        "Noisy values below t are truncated to 0, so every stored value is at least t.",
        "enumeration",
        **varied(_truncated, True, False, "the test is on the true value"),
        note="Step (2) prints the condition y_i >= t; no y occurs in this algorithm, v_i is meant. "
        "A test on x_i would not be private.",
    ),
)
