"""CP, Lemma 3.5: how equal the sets of a random sign matrix are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _outside(m: int, distance: int) -> Fraction:
    """P(|2n - m| >= distance) for n ~ Binomial(m, 1/2)."""
    ways = sum(comb(m, n) for n in range(m + 1) if abs(2 * n - m) >= distance)
    return Fraction(ways, 2**m)


def _cases() -> list[tuple[int, int]]:
    """(m, distance = beta m): every distance for small m, a few for m = 400, 500."""
    small = [(m, d) for m in range(1, 41) for d in range(m % 2 or 2, m + 1, 2)]
    return small + [(400, d) for d in (20, 120, 150, 400)] + [(500, d) for d in (50, 126, 250)]


def _one_column(rate: Fraction) -> str:
    """P(|2n - m| > beta m) <= P(|2n - m| >= beta m) <= 2 exp(-rate beta^2 m) at every jump."""
    with precision(128):
        for m, d in _cases():
            exact, beta = _outside(m, d), Fraction(d, m)
            bound = 2 * (-ball(rate * beta * beta * m)).exp()
            case = f"m={m}, beta={beta}: {float(exact):.4g} > {bound.str(4)}"
            require(bool(ball(exact) < bound), case)
    return f"{len(_cases())} exact binomial tails (jumps cover all beta between them)"


def _all_columns(factor: Fraction) -> str:
    """Every sign matrix: the share with all k columns inside, against 1 - factor k P."""
    for m, d, k in ((3, 3, 1), (3, 3, 4), (4, 4, 2), (4, 4, 3), (6, 6, 2)):
        single, inside = _outside(m, d), 0
        for signs in product((1, -1), repeat=m * k):
            inside += all(abs(sum(signs[m * x : m * x + m])) < d for x in range(k))
        share = Fraction(inside, 2 ** (m * k))
        least = 1 - factor * k * single
        require(share >= least, f"m={m}, k={k}, distance {d}: {share} < {least}")
    return "all matrices of five sizes, up to 4096 of them"


def _columns(rate: Fraction) -> str:
    """The lemma at its own exponent, at `rate` beta^2 m for one column, and the union bound."""
    own = _one_column(Fraction(1, 6))
    return f"{own}; {_all_columns(Fraction(1))}; exponent {rate}: {_one_column(rate)}"


def _rows_needed(constant: int) -> str:
    """m >= constant log(k/delta)/beta^2 gives 2k exp(-beta^2 m/6) <= delta.

    The exponential is then (k/delta)^(-constant/6); sixth powers are compared.
    """
    for k in (2, 10, 10_000):
        for delta in (Fraction(1), Fraction(1, 2), Fraction(1, 1000)):
            left = (2 * k / delta) ** 6
            right = (k / delta) ** constant
            require(left <= right, f"k={k}, delta={delta}: (2k/delta)^6 > (k/delta)^{constant}")
    return "2k/delta <= (k/delta)^2 exactly when k >= 2 delta"


CLAIMS = (
    CP.verified(
        "Lemma 3.5",
        "For a random sign matrix all k columns have n_i within (1 +- beta)m/2 with "
        "probability at least 1 - 2k exp(-beta^2 m/6), by one column and the union bound (loose: "
        "three times that exponent will do).",
        "enumeration",
        **varied(_columns, Fraction(3, 6), Fraction(33, 60), "3.3 times that exponent will do"),
    ),
    CP.verified(
        "Lemma 3.5, exponent",
        "The exponent may be beta^2 m/2 instead of beta^2 m/6.",
        "enumeration",
        **varied(_one_column, Fraction(1, 2), Fraction(55, 100), "0.55 beta^2 m"),
        ours=True,
    ),
    CP.verified(
        "Lemma 3.5, union bound",
        "With P the failure probability of one column, none of k fails with probability at least "
        "1 - kP.",
        "enumeration",
        **varied(_all_columns, Fraction(1), Fraction(9, 10), "at least 1 - 0.9 kP"),
    ),
    CP.verified(
        "Section 3, rows for P1",
        "m >= 12 log(k/delta)/beta^2 gives P1 with probability 1 - delta for k >= 2.",
        "enumeration",
        **varied(_rows_needed, 12, 11, "m >= 11 log(k/delta)/beta^2"),
        note="with beta = min(eps/2, c alpha) these are the two rates of the text; the term "
        "log(k/delta)/eps^2 serves privacy only and could be dropped: by the "
        "corrected Lemma 2.1 any sets give 2 eps-LDP",
    ),
)
