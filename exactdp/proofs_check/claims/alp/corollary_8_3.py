"""ALP, Corollary 8.3: constant access time with a table of s words."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._entries import holds

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


def _mass(terms: int) -> str:
    """k entries up to t = 2 ln(d)/eps: eps |x|_1 <= terms * k ln d."""
    for bits, k, eps in product((1, 10, 64), (1, 30), (Fraction(1, 2), Fraction(5))):
        with precision(64):
            log_d = bits * ball(2).log()
            size = ball(eps) * k * (2 * log_d / ball(eps))
            require(
                bool(size <= terms * k * log_d * ball(Fraction(1001, 1000))), f"d=2^{bits}, k={k}"
            )
    return "d = 2, 2^10, 2^64, k = 1, 30"


CLAIMS = (
    holds(
        "Corollary 8.3",
        "With n = |x|_1 known, s = ceil(epsilon n) <= 2 epsilon n words suffice for error "
        "2/epsilon, given epsilon n >= 1.",
        "verified",
        "enumeration",
        lambda: _words(Fraction(1)),
        ("for epsilon n >= 1/8 too", lambda: _words(Fraction(1, 8))),
    ),
    holds(
        "Corollary 8.3, (2)",
        "k entries limited to t = 2 ln(d)/epsilon have epsilon |x|_1 <= 2 k ln d, so O(k log d) "
        "words suffice.",
        "verified",
        "certified numerics",
        lambda: _mass(2),
        ("at most k ln d", lambda: _mass(1)),
    ),
    holds(
        "Corollary 8.3, (2), restriction to small entries",
        "Limiting each entry to min(x, t) keeps neighbours neighbours, so both parts compose.",
        "verified",
        "enumeration",
        lambda: _restricted(True),
        ("entries whose true value reaches t are dropped instead", lambda: _restricted(False)),
        note="The proof says 'the entries below the threshold'. Read by true values that is not "
        "private; read by noisy values it needs adaptive composition, which Lemma 2.3 is not.",
    ),
)
