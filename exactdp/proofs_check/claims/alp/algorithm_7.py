"""ALP, Algorithm 7: threshold and projection side by side."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.balls import ball, refine
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import literal
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _range(part: int) -> str:
    """ceil(t eps/alpha) is the largest rounded value of entries up to t = 2 ln(d)/eps1."""
    for d, first, second, alpha in product((2, 100), (1, 3), (1, 3), (1, 5)):
        t = refine(lambda: 2 * ball(d).log() / first).lower  # t is irrational; less by 1e-19
        m = -(-t * (second if part == 2 else first) // alpha)
        made = literal((t + 1) * second, Fraction(alpha))
        entries = [t * n / 40 for n in range(41)]
        largest = max(y for x in entries for y, w in made.cells.places(x * second).items() if w)
        case = f"d={d}, eps1={first}, eps2={second}, alpha={alpha}"
        require(m == largest, f"{case}: {m} columns, rounded entries up to {largest}")
    return "16 cases, 41 entries up to t each, rounded as shipped"


CLAIMS = (
    ALP.verified(
        "Algorithm 7",
        "With t = 2 ln(d)/epsilon1, m = ceil(t epsilon2/alpha) columns are just enough for every "
        "entry up to t, that is for all that the threshold can drop without help of the noise.",
        "certified numerics",
        **varied(_range, 2, 1, "m = ceil(t epsilon1/alpha)"),
        note="m in the line 'Input' uses t of Step (1).",
    ),
)
