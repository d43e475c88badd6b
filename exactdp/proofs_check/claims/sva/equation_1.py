"""SVA, Equation (1): the number of bins that balances noise and collisions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import isqrt

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _balanced(power: Fraction, last: Fraction, apart: int) -> str:
    """k/b = min(L^2, b L) at b = k/L^power for L <= k^last, at b = sqrt(k/L) beyond.

    k a power of 2 and L = 2^j up to 2k, so that logarithms to base 2 are exact; both sides may be
    2^apart apart.
    """
    for log_k, j in ((digits, j) for digits in (6, 12, 15) for j in range(digits + 2)):
        first = j <= last * log_k
        log_b = log_k - power * j if first else Fraction(log_k - j, 2)
        collisions, noise = log_k - log_b, min(Fraction(2 * j), log_b + j)
        case = f"k=2^{log_k}, L=2^{j}, b=2^{log_b}: squared terms 2^{collisions} and 2^{noise}"
        require(abs(collisions - noise) <= apart, case)
        require(apart > 0 or noise == (2 * j if first else Fraction(log_k + j, 2)), case)
    return "k = 2^6, 2^12, 2^15, L = 1, 2, 4, ..., 2k (epsilon = 1, logarithms dropped)"


def _second_case(more: Fraction) -> str:
    """sqrt(k/b) + sqrt(b L) at b = sqrt(k/L), and at more than that, against every b."""
    with precision(80):
        for k, length in ((4096, 16), (10**4, 25), (10**4, 100), (8100, 4)):
            b = more * isqrt(k // length)
            terms = ball(k / b).sqrt(), ball(b * length).sqrt()
            root = ball(k * length).root(4)
            case = f"k={k}, L={length}, b={b}: {terms[0].str(5)}, {terms[1].str(5)}"
            for other in range(1, 400):
                total = ball(Fraction(k, other)).sqrt() + ball(other * length).sqrt()
                best = bool(total > sum(terms)) or other == b
                require(best, f"{case}; less at b = {other}")
            require(all(term.overlaps(root) for term in terms), case)
    return "four pairs of k and L, every number of bins up to 400"


CLAIMS = (
    Refuted(
        paper="SVA",
        item="Equation (1)",
        statement="With b = k/L^(2/3) bins for L <= k^(3/2) noise and collisions are balanced, up "
        "to logarithms and epsilon: (k/b) = min(L^2, b L).",
        printed=Printed(
            r"\tilde{\Theta}\left(\frac{k}{L^{\frac{2}{3}}}\right), & \text{if } L \leq "
            r"k^{\frac{3}{2}}",
            "Section II-C, equation (1)",
            170,
        ),
        severity="loose",
        method="enumeration",
        # a factor 2^(5/2) between the two terms is let pass, as the logarithms are
        check=lambda: _balanced(Fraction(2, 3), Fraction(3, 2), 5),
        example="""
>>> k, L = 10**6, 10**3                        # L <= k^(3/2)
>>> def terms(b): return round((k / b) ** 0.5), round(min(L, (b * L) ** 0.5))
>>> terms(k / L ** (2 / 3))                    # collisions and noise: not equal
(10, 1000)
>>> terms((k / L) ** 0.5)                      # the second case, as L > k^(1/3): both (kL)^(1/4)
(178, 178)
""",
        extraction="no: 'L <= k^(3/2)' is printed twice; but the next paragraph, Section IV-C and "
        "Table II have k^(1/3) and L^2",
        corrected=SVA.verified(
            "Equation (1), corrected",
            "They are balanced at b = k/L^2 for L <= k^(1/3), where both terms are L sqrt(n), and "
            "at b = sqrt(k/L) beyond.",
            "enumeration",
            **varied(
                partial(_balanced, Fraction(2)),
                Fraction(1, 3),
                Fraction(5, 12),
                "for L <= k^(5/12)",
                0,
            ),
        ),
        note="At user level, L = 2k, the printed choice gives noise of the order k^(2/3) where "
        "sqrt(k) is possible. Whoever goes on reading finds the right one.",
    ),
    SVA.verified(
        "Equation (1), second case",
        "Otherwise b = sqrt(k/L) makes sqrt(k/b) + sqrt(bL) least, and both terms (kL)^(1/4).",
        "certified numerics",
        **varied(_second_case, Fraction(1), Fraction(11, 10), "b = 1.1 sqrt(k/L)"),
    ),
)
