"""BV, Definitions 4.1 to 4.3: counting-query algorithms and their scaled distribution function."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.bv._laws import EXACT, STICKY, fast, geo
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.counting import CountSampler

__all__ = ["CLAIMS"]

_ALGORITHMS = (geo(1), geo(3, 2), fast(2), fast(4, 3, 5))

#: Deterministic algorithms with d = 2 for n = 1: M(c, u) by [c][u - 1].
_ALL_TABLES = tuple(product(product((0, 1), repeat=2), repeat=2))


def _scaled_range(lowest: int) -> str:
    """d P(M(0, U) <= z) is an integer in lowest, ..., d for every M: [1] x [2]_+ -> [1] and z."""
    for table in _ALL_TABLES:
        for z in (0, 1):
            scaled = sum(out <= z for out in table[0])
            require(lowest <= scaled <= 2, f"M(0, .) = {table[0]}: scaled CDF at {z} is {scaled}")
    return "all 16 algorithms with n = 1, d = 2"


def _shipped_scaled(shift: int) -> str:
    """The shipped numerators are d P(M(0) <= z): integers, non-decreasing, d at n."""
    for noise in _ALGORITHMS:
        cdf, law = noise.cdf(0), noise.law(0)
        require(cdf.numerator(noise.n) == cdf.denominator, f"{noise}: not d at n")
        for z in range(noise.n + 1):
            exact = cdf.denominator * sum(law[y] for y in range(z + 1))
            require(cdf.numerator(z) + shift == exact, f"{noise}, z={z}: {exact}")
    return f"{len(_ALGORITHMS)} algorithms, every z"


def _counts_suffice(step: int) -> str:
    """The worst ratio over neighbouring bit strings is that over counts c and c + step."""
    for noise in _ALGORITHMS:
        n = noise.n
        rows = list(product((0, 1), repeat=n))
        strings = max(
            max_loss(noise.law(sum(D)), noise.law(sum(E)))
            for D, E in product(rows, rows)
            if sum(a != b for a, b in zip(D, E, strict=True)) == 1
        )
        pairs = [(c, c + s) for c in range(n + 1) for s in (step, -step) if 0 <= c + s <= n]
        counts = max((max_loss(noise.law(c), noise.law(e)) for c, e in pairs), default=Fraction(1))
        require(strings == counts, f"{noise}: {strings} over strings, {counts} over counts")
    return f"{len(_ALGORITHMS)} algorithms, all pairs of neighbouring bit strings"


def _accuracy(probability: Callable[[Law[int], int, int], Fraction]) -> str:
    """The exact beta of Definition 4.2, for every c and a, against sums over the noise."""
    for noise in (*_ALGORITHMS, EXACT, STICKY):
        for c, a in product(range(noise.n + 1), repeat=2):
            law = noise.law(c)
            inside = sum(p for z, p in law.items() if c - a <= z <= c + a)
            stated = 1 - probability(law, c, a)
            require(inside == stated, f"{_name(noise)}, c={c}, a={a}: {inside}, not {stated}")
    return "six algorithms, every c and a"


def _name(noise: CountSampler) -> str:
    return f"{type(noise).__name__}(n={noise.n})"


CLAIMS = (
    BV.verified(
        "Definition 4.1",
        "Privacy for counting queries, defined over neighbouring bit strings, is the "
        "same as over counts c and c + 1 in either order.",
        "exact law",
        **varied(_counts_suffice, 1, 2, "over counts c and c + 2"),
    ),
    BV.verified(
        "Definition 4.2",
        "(a, beta)-accuracy: for every count the error exceeds a with probability at "
        "most beta; an error of exactly a counts as accurate.",
        "exact law",
        **varied(
            _accuracy,
            lambda law, c, a: law.probability(lambda z: abs(z - c) > a),
            lambda law, c, a: law.probability(lambda z: abs(z - c) >= a),
            "the error reaches a",
        ),
    ),
    Quibble(
        paper="BV",
        item="Definition 4.3",
        printed=Printed(
            r"be the function $F_{\mathcal{M}} : [n] \to [d]_+$ defined as "
            r"$F_{\mathcal{M}}(z) = d \cdot F_{\mathcal{M}(0,U)}(z)$",
            "Section 4, Definition 4.3",
            271,
        ),
        statement="The scaled distribution function F_M of every deterministic counting-query "
        "algorithm takes its values in 1, ..., d.",
        note="Algorithm 6 and Proposition 6.3 take F to have this range; they also work with 0",
        method="enumeration",
        check=lambda: _scaled_range(1),
        example="""
>>> M = lambda c, u: 1                  # n = 1, d = 2; (0, 0)-DP
>>> [sum(M(0, u) <= z for u in (1, 2)) for z in (0, 1)]     # d F(z): 0 is not in {1, 2}
[0, 2]
""",
        extraction="no: [n], [d]_+ and [n]_+ are kept apart throughout; the range is printed as "
        "[d]_+ here and in Proposition 6.3",
        corrected=BV.verified(
            "Definition 4.3, corrected",
            "It takes its values in 0, ..., d (in 1, ..., d where P(M(0) = 0) > 0).",
            "enumeration",
            **varied(_scaled_range, 0, 1, "in 1, ..., d"),
        ),
    ),
    BV.verified(
        "Definition 4.3, shipped code",
        "The integer numerators of the shipped samplers are d P(M(0) <= z), and d at n.",
        "exact law",
        **varied(_shipped_scaled, 0, 1, "one less than that"),
        ours=True,
    ),
)
