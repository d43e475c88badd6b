"""SVA, Equation (1): the number of bins that balances noise and collisions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _balanced(power: Fraction, last: Fraction) -> str:
    """k/b = min(L^2, b L) at b = k/L^power for L <= k^last, at b = sqrt(k/L) beyond.

    k = 2^12 and L = 2^j up to 2k, so that logarithms to base 2 are exact.
    """
    log_k = 12
    for j in range(log_k + 2):
        log_b = log_k - power * j if j <= last * log_k else Fraction(log_k - j, 2)
        collisions, noise = log_k - log_b, min(2 * j, log_b + j)
        case = f"k=2^12, L=2^{j}, b=2^{log_b}: squared terms 2^{collisions} and 2^{noise}"
        require(collisions == noise, case)
    return "k = 2^12, L = 1, 2, 4, ..., 2k (epsilon = 1, logarithms dropped)"


def _second_case(power: int) -> str:
    """At b^2 = k/L^power: collisions (k/b)^2 and noise (b L)^2, both kL."""
    for k, length in product((8, 100, 4097), (2, 7, 50)):
        b_square = Fraction(k, length**power)
        collisions, noise = k * k / b_square, b_square * length**2
        case = f"k={k}, L={length}, b^2={b_square}"
        require(collisions == noise == k * length, f"{case}: {collisions}, {noise}, {k * length}")
    return "nine pairs of k and L, fourth powers compared"


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
        check=lambda: _balanced(Fraction(2, 3), Fraction(3, 2)),
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
                partial(_balanced, Fraction(2)), Fraction(1, 3), Fraction(1, 2), "for L <= k^(1/2)"
            ),
        ),
        note="At user level, L = 2k, the printed choice gives noise of the order k^(2/3) where "
        "sqrt(k) is possible. Whoever goes on reading finds the right one.",
    ),
    SVA.verified(
        "Equation (1), second case",
        "Otherwise b = sqrt(k/L), where both terms are (kL)^(1/4) sqrt(n).",
        "enumeration",
        **varied(_second_case, 1, 2, "b = sqrt(k)/L"),
    ),
)
