"""CSH, Algorithm 4: noise in steps of one half."""

from __future__ import annotations

from fractions import Fraction

from exactdp import mechanisms
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]

_SEEDS = 100


def _moments(divisor: int) -> str:
    """Sample variance and covariance of the shipped noise against the stated ones."""
    k, sigma, large = 4, 3, 10**6
    code = mechanisms.CSH(k=k, sigma=sigma, tau=40, epsilon=1, delta="0.01")
    counts = dict.fromkeys(range(k), large)
    rows = []
    for seed in range(_SEEDS):
        bins = code.draw(counts, SeededSource(seed))
        noise = [c - large for _, c in bins]
        require(all((2 * z).denominator == 1 for z in noise), f"{noise}: not multiples of 1/2")
        rows.append([float(z) for z in noise])
    var = sum(z * z for row in rows for z in row) / (_SEEDS * k)
    pairs = [row[i] * row[j] for row in rows for i in range(k) for j in range(i)]
    cov = sum(pairs) / len(pairs)
    own, shared = Fraction(4 * sigma**2, divisor), Fraction(2 * sigma**2, divisor)
    stated_var, stated_cov = float(own + shared), float(shared)
    case = f"variance {var:.2f}, covariance {cov:.2f}; stated {stated_var}, {stated_cov}"
    # the standard error of both is below 0.65
    require(abs(var - stated_var) < 4 and abs(cov - stated_cov) < 4, case)
    return f"{_SEEDS} seeds, k=4, sigma=3: {case}"


CLAIMS = (
    CSH.supported(
        "Algorithm 4",
        "Counters get (Z_i + Z)/2 with Z_i ~ N_Z(0, 4 sigma^2) and one shared "
        "Z ~ N_Z(0, 4 sigma^2/sqrt k): multiples of 1/2, variance sigma^2 (1 + 1/sqrt k), "
        "covariance sigma^2/sqrt k, as in Algorithm 2.",
        "statistics",
        **varied(_moments, 4, 1, "without the division by 2"),
        note="fixed seeds; alpha below 1e-6. The draws themselves are followed under Algorithm 2",
    ),
)
