"""CP, Section 2: properties P1 and P2, and what is said about earlier mechanisms."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from exactdp.balls import ball, precision
from exactdp.local import HadamardResponse
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.cp._instances import distributions
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    gram,
    isometric,
    output,
    square,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _p1_privacy(multiple: Fraction) -> str:
    """Sets of sizes (1 -+ eps/2) m/2: loss eps + 2 artanh(tanh(eps/2) eps/2) <= multiple eps."""
    with precision(128):
        for j in range(1, 101):
            eps = Fraction(j, 100)
            t = ball(eps / 2).tanh()
            loss = ball(eps) + ((1 + t * ball(eps / 2)) / (1 - t * ball(eps / 2))).log()
            require(bool(loss < ball(multiple * eps)), f"eps={eps}: loss {loss.str(6)}")
    return "eps = 0.01, ..., 1"


def _distinct_images(order: int) -> str:
    """RIP of this order with some delta < 1 holds exactly when 1-sparse x have distinct images."""
    signs = list(product((1, -1), repeat=3))
    tiny = Fraction(1, 10**6)
    for columns in combinations(signs[:6] + signs[:2], 3):
        low_holds = isometric(gram(columns), order, tiny, Fraction(3))
        vectors = [(x, v) for x in range(3) for v in (-2, -1, 1, 2)]
        images = {tuple(v * a for a in columns[x]) for x, v in vectors}
        injective = len(images) == len(vectors)
        require(low_holds == injective, f"columns {columns}: RIP {low_holds}, distinct {injective}")
    return "56 matrices of three columns of three signs"


def _same_dimension(most: Fraction) -> str:
    """The number of outcomes of Hadamard response is at most most k."""
    for k in (2, 3, 4, 5, 8, 100, 128):
        outcomes = len(HadamardResponse(k, Fraction(1, 2), blocks=1).law(k - 1))
        require(k < outcomes <= most * k, f"k={k}: {outcomes} outcomes")
    return "the laws of the shipped scheme for seven values of k; 2k for powers of two"


def _spectral(shift: int) -> str:
    """|p_hat - p|^2 <= ((e+k-1+shift)/(e-1))^2 |q_hat - q|^2 for randomized response, attained."""
    for k, e in product((2, 3, 5), HIGH_PRIVACY):
        columns = tuple(tuple(1 if y == x else -1 for y in range(k)) for x in range(k))
        norm = (e + k - 1 + shift) / (e - 1)
        for p, other in product(distributions(k), repeat=2):
            gap = square([a - b for a, b in zip(p, other, strict=True)])
            q, q_other = output(columns, e, p), output(columns, e, other)
            reports = square([a - b for a, b in zip(q, q_other, strict=True)])
            require(gap == norm**2 * reports, f"k={k}, e^eps={e}: {gap}, {norm**2 * reports}")
    return "k = 2, 3, 5; equality for all differences of distributions"


CLAIMS = (
    CP.verified(
        "Section 2, property P1",
        "Sets of sizes within (1 +- beta)m/2 with beta <= eps/2 make the mechanism "
        "2 eps-LDP for 0 < eps <= 1.",
        "certified numerics",
        **varied(_p1_privacy, Fraction(2), Fraction(147, 100), "1.47 eps-LDP"),
        note="1.471 eps would do; eps-LDP only after rescaling eps; the other condition of P1, "
        "beta <= c alpha, is used in Corollary 3.4.1",
    ),
    CP.verified(
        "Section 2, property P2",
        "For sparsity s the order must be 2s: for s = 1, RIP of order 2 with some "
        "delta < 1 is equivalent to distinct images of distinct 1-sparse vectors.",
        "enumeration",
        **varied(_distinct_images, 2, 1, "order 1 (P2 as printed, order s)"),
        note="P2 asks for order s, Lemma 1.2 for 2s; see Theorem 3.4",
        ours=True,
    ),
    Quibble(
        paper="CP",
        item="Section 2, dimension of q",
        statement="In all earlier mechanisms the reports have as many outcomes as there are "
        "values, so that the channel is an invertible square matrix.",
        printed=Printed(
            r"To ensure it's invertibility, the dimension of q is the same as that of p in "
            r"all previous works.",
            "Section 2, overview",
            75,
        ),
        method="enumeration",
        check=lambda: _same_dimension(Fraction(1)),
        example="""
>>> k = 10_000                       # Hadamard response, a special case of the paper's own (2)
>>> outcomes = 1 << k.bit_length()   # the least power of two above k
>>> outcomes == k, outcomes
(False, 16384)
""",
        extraction="no",
        note="A contrast with the dimension reduced here; that earlier ones do not reduce it is "
        "true.",
        corrected=CP.verified(
            "Section 2, dimension of q, corrected",
            "For Hadamard response the reports have more than k outcomes, and at most 2k.",
            "enumeration",
            **varied(_same_dimension, Fraction(2), Fraction(19, 10), "at most 1.9k"),
        ),
    ),
    CP.verified(
        "Section 2, error of an invertible channel",
        "For randomized response the error of Q^-1 q_hat is exactly (e^eps+k-1)/(e^eps-1) times "
        "that of q_hat.",
        "enumeration",
        **varied(_spectral, 0, 1, "(e^eps+k)/(e^eps-1) times"),
    ),
)
