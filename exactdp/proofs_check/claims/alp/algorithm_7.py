"""ALP, Algorithm 7: threshold and projection side by side."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _range(part: int) -> str:
    """ceil(t eps/alpha) columns reach t: alpha m/eps2 >= t = 2 ln(d)/eps1."""
    for d, first, second, alpha in product((2, 100), (1, 3), (1, 3), (1, 5)):
        with precision(64):
            t = 2 * ball(d).log() / first
            m = (t * (second if part == 2 else first) / alpha).ceil()
            reached = bool(ball(Fraction(alpha, second)) * m >= t)
            case = f"d={d}, eps1={first}, eps2={second}, alpha={alpha}"
            require(reached, f"{case}: {m} columns reach {float(alpha * m / second):.4g} < t")
    return "16 cases"


CLAIMS = (
    ALP.verified(
        "Algorithm 7",
        "With t = 2 ln(d)/epsilon1 the m = ceil(t epsilon2/alpha) columns represent every entry "
        "that the threshold can drop without help of the noise.",
        "certified numerics",
        **varied(_range, 2, 1, "m = ceil(t epsilon1/alpha)"),
        note="m in the line 'Input' uses t of Step (1).",
    ),
)
