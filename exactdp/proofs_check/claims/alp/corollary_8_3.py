"""ALP, Corollary 8.3: constant access time with a table of s words."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _words(least: Fraction) -> str:
    """ceil(eps n) <= 2 eps n words for eps n >= least."""
    for step, n in product(range(60), (1, 10, 1000)):
        eps = (least + Fraction(step, 7)) / n
        require(ceil(eps * n) <= 2 * eps * n, f"eps={eps}, n={n}: {ceil(eps * n)} words")
    return "180 pairs with eps n from 1 to 9"


def _restricted(clip: bool) -> str:
    """Entries limited to t: |r(x) - r(x')| <= |x - x'| for min(x, t), not for dropping x >= t."""
    t = Fraction(3)
    grid = [Fraction(n, 4) for n in range(24)]
    for x, y in product(grid, repeat=2):
        a, b = (min(v, t) if clip else (v if v < t else Fraction(0)) for v in (x, y))
        require(abs(a - b) <= abs(x - y), f"{x} and {y} become {a} and {b}")
    return "576 pairs, t = 3"


def _rows(factor: Fraction) -> str:
    """ceil(eps |min(x, t)|_1) <= factor k ln d rows for k entries x, t = 2 ln(d)/eps."""
    for bits, k, eps in product((1, 10, 64), (1, 2, 30), (Fraction(1, 2), Fraction(5))):
        with precision(64):
            log_d = bits * ball(2).log()
            t = 2 * log_d / ball(eps)
            for size in (Fraction(1, 2), Fraction(1), Fraction(9, 2)):
                entries = [t * ball(min(size, Fraction(1)))] * k
                rows = (ball(eps) * sum(entries, ball(0))).ceil().unique_fmpz()
                case = f"d=2^{bits}, k={k}, eps={eps}: {rows} rows"
                require(rows is not None and bool(rows <= ball(factor) * k * log_d), case)
    return "d = 2, 2^10, 2^64, k = 1, 2, 30, entries from t/2 to 9t/2 limited to t"


CLAIMS = (
    Conditional(
        paper="ALP",
        item="Corollary 8.3",
        statement="With n = |x|_1 known, O(epsilon n) words suffice for error O(1/epsilon): s = "
        "ceil(epsilon n) <= 2 epsilon n for error 2/epsilon.",
        outcome="verified",
        method="enumeration",
        condition="epsilon n = Omega(1), here epsilon n >= 1: one word is the least",
        **varied(_words, Fraction(1), Fraction(2, 5), "for epsilon n >= 2/5"),
    ),
    ALP.verified(
        "Corollary 8.3, (2)",
        "k entries limited to t = 2 ln(d)/epsilon have epsilon |x|_1 <= 2 k ln d, so that "
        "s = ceil(epsilon |x|_1) <= 3 k ln d words suffice (d >= 2).",
        "certified numerics",
        **varied(_rows, Fraction(3), Fraction(28, 10), "2.8 k ln d words"),
    ),
    ALP.verified(
        "Corollary 8.3, (2), restriction to small entries",
        "Limiting each entry to min(x, t) keeps neighbours neighbours.",
        "enumeration",
        **varied(
            _restricted, True, False, "entries whose true value reaches t are dropped instead"
        ),
        note="The proof says 'the entries below the threshold'. Read by true values that is not "
        "private; read by noisy values it needs adaptive composition, which Lemma 2.3 is not.",
        ours=True,
    ),
)
