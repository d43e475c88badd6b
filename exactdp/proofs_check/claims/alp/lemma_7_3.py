"""ALP, Lemma 7.3: error for histograms with collisions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.alp._model import all_hashes, embedding, estimate_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS", "bound", "rate"]


def rate(base: Fraction, collision: Fraction) -> Fraction:
    """(1 + (e^eps - 1) k/s)/(e^eps + 1): a zero beyond the entry is reported as one."""
    return (1 + (base - 1) * collision) / (base + 1)


def bound(base: Fraction, collision: Fraction) -> Fraction:
    """The stated bound."""
    inner = 1 + (base - 1) * collision
    positive = ((4 * base + 4) / inner - 4) / ((base + 1) / inner - 2) ** 2
    return 4 * base / (base - 1) ** 2 + positive


def _error(share: Fraction) -> str:
    """E|x - x~| <= share of the bound (below 7, so not by itself)."""
    for base, c in product(
        (Fraction(4), Fraction(10), Fraction(50)), (Fraction(1, 20), Fraction(1, 10))
    ):
        p, q = 1 / (base + 1), rate(base, c)
        stated = share * bound(base, c)
        for x in range(8):
            error = estimate_law(x, 7, p, q).expectation(lambda e: abs(x - e))
            require(error <= stated, f"e^eps={base}, k/s={c}, x={x}: {float(error)}")
    return "e^eps = 4, 10, 50, k/s = 1/20, 1/10, every x up to beta = 7, all noise"


def _flipped(one: int) -> str:
    """P(zero reported as one) <= (one + (e^eps - 1) k/s)/(e^eps + 1), over all hash functions."""
    for base, k, s in product((Fraction(3, 2), Fraction(50)), (1, 2), (5, 6)):
        p = 1 / (base + 1)
        hits = [embedding([0] + [1] * k, [h], s)[h[0]] for h in all_hashes(k + 1, s)]
        hit = Fraction(sum(hits), len(hits))
        chance = (1 - hit) * p + hit * (1 - p)
        stated = (one + (base - 1) * Fraction(k, s)) / (base + 1)
        require(chance <= stated, f"e^eps={base}, k={k}, s={s}: {chance} > {stated}")
    return "e^eps = 3/2, 50, k = 1, 2 colliding entries, s = 5, 6, all hash functions"


def _algebra(minus: int) -> str:
    import sympy as sp

    b, c = sp.symbols("b c", positive=True)
    inner = 1 + (b - 1) * c
    g = (b + 1) / inner - 2
    require(sp.simplify(1 / (g + 2) - inner / (b + 1)) == 0, "gamma")
    require(sp.simplify(g * inner - (b - 1) * (1 - 2 * c)) == 0, "sign of gamma")
    printed = ((4 * b + 4) / inner - minus) / ((b + 1) / inner - 2) ** 2
    gap = sp.simplify((4 * g + 4) / g**2 - printed)
    require(gap == 0, f"off by {gap}")
    return "identities in e^eps and k/s; gamma > 0 iff s > 2k"


CLAIMS = (
    ALP.verified(
        "Lemma 7.3",
        "With collisions the expected error is at most 4 e^eps/(e^eps - 1)^2 + (4 gamma + 4)/"
        "gamma^2, gamma = (e^eps + 1)/(1 + (e^eps - 1) k/s) - 2; at most 0.47 of it is reached.",
        "enumeration",
        **varied(_error, Fraction(47, 100), Fraction(46, 100), "at most 0.46 of it"),
        note="Independent hash functions in the columns, as in Lemma 4.7.",
    ),
    Quibble(
        paper="ALP",
        item="Lemma 7.3, proof, probability of a wrong one",
        statement="A zero becomes a one with probability at most (e^epsilon - 1) (k/s)/(e^epsilon "
        "+ 1).",
        printed=Printed(
            r"we can bound the probability of changing a bit from zero to one by "
            r"$(e^\varepsilon - 1) \cdot (k/s)/(e^\varepsilon + 1)$",
            "Section 7, Lemma 7.3, proof",
            707,
        ),
        method="enumeration",
        check=lambda: _flipped(0),
        example="""
>>> from math import exp
>>> eps, k, s = 1, 1, 100
>>> p = 1 / (exp(eps) + 1)                     # flipped without any collision
>>> (1 - k / s) * p <= (exp(eps) - 1) * (k / s) / (exp(eps) + 1)
False
""",
        extraction="possible but unlikely: '1 +' and a pair of parentheses would have to be lost",
        note="Read as what collisions add to the flip probability 1/(e^epsilon + 1), the words are "
        "exact: (1 - 2p) k/s = (e^epsilon - 1)(k/s)/(e^epsilon + 1).",
        corrected=ALP.verified(
            "Lemma 7.3, proof, probability of a wrong one, corrected",
            "At most (1 + (e^epsilon - 1) k/s)/(e^epsilon + 1), as in the display after it.",
            "enumeration",
            **varied(_flipped, 1, 0, "without the 1"),
        ),
    ),
    ALP.proved(
        "Lemma 7.3, proof, value of gamma",
        "(4 gamma + 4)/gamma^2 is the printed quotient; gamma > 0 iff s > 2k.",
        "symbolic",
        **varied(_algebra, 4, 2, "minus 2 in the numerator"),
    ),
)
