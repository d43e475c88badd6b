"""ALP, Theorem 4.16: the mechanism with beta = u."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import columns, gamma, spread
from exactdp.proofs_check.claims.alp.lemma_4_8 import entry_error
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


@cache
def _worst(u: Fraction) -> Fraction:
    """The largest exact E|x - x~| of Algorithm 3 for entries at eighths of u, k/s = 1/4."""
    one, collision = Fraction(1), Fraction(1, 4)
    return max(entry_error(u * n / 8, one, u, collision) for n in range(9))


def _error(share: Fraction) -> str:
    """alpha = 20, s = 100 k: C is 19.4, below u epsilon = 160, so that the bound can be missed."""
    alpha, collision = Fraction(20), Fraction(1, 100)
    constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, collision))) * alpha
    for n in range(33):
        error = entry_error(n * alpha / 4, alpha, 8 * alpha, collision)
        require(error <= share * constant, f"u = 160, x = {n * alpha / 4}: {float(error):.4g}")
    return "error also with alpha = 20, s = 100k, u epsilon = 160"


def _bounds(trivial: bool) -> str:
    """alpha = 1, s = 4k; for u eps < 1 nothing is stored and every estimate is 0."""
    alpha = Fraction(1)
    constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, Fraction(1, 4)))) * alpha
    for eps, scaled, k, w in product(
        (Fraction(1, 10), Fraction(3)), range(1, 40), (1, 20), (1, 20)
    ):
        u = Fraction(scaled, 8) / eps
        if trivial and u * eps < 1:
            bits, time, error = 0, 0, u
        else:
            m = columns(u * eps, alpha)
            bits, time, error = m * (4 * k + w), m, _worst(u * eps) / eps
        require(error <= constant / eps, f"u={u}, eps={eps}: error {error}")
        require(time <= 2 * u * eps, f"u eps={u * eps}: {time} columns")
        require(bits <= 8 * (k + w) * u * eps, f"u eps={u * eps}: {bits} bits")
    return (
        "312 instances with alpha = 1, s = 4k: error 43.5/eps, 2 u eps steps, 8 (k + w) u eps bits"
    )


CLAIMS = (
    ALP.verified(
        "Theorem 4.16",
        "With beta = u the error is at most C/epsilon, at most 2 u epsilon columns are read, and "
        "the space is at most 8 (k + w) u epsilon bits (alpha = 1, s = 4k, w bits per hash "
        "function).",
        "enumeration",
        **varied(_bounds, True, False, "also when one column is kept for u epsilon < 1"),
        note="The error is far below its bound here, see the next entry. For u epsilon < 1 the "
        "algorithm that answers 0 must be taken; Algorithm 4 itself "
        "keeps one column.",
    ),
    ALP.verified(
        "Theorem 4.16, error",
        "The expected error of an entry up to beta = u is at most C/epsilon, here with alpha = 20, "
        "s = 100k and u epsilon = 160.",
        "enumeration",
        **varied(_error, Fraction(1), Fraction(1, 2), "at most C/(2 epsilon)"),
    ),
)
