"""ALP, Lemma 4.1: privacy of the projection, step by step and for every hash function."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import (
    Hashes,
    all_hashes,
    exp_lower,
    flip,
    projection_law,
)
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

Vector = tuple[Fraction, ...]
_GRID = tuple(Fraction(n, 4) for n in range(9))
_ALPHAS = (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3))


def _distance(x: Vector, other: Vector) -> Fraction:
    return sum((abs(a - b) for a, b in zip(x, other, strict=True)), Fraction(0))


def _layouts() -> Iterator[tuple[int, Hashes]]:
    """Every sequence of two hash functions of two entries into two rows, up to renaming rows."""
    for pair in product(all_hashes(2, 2), repeat=2):
        if all(h[0] == 0 for h in pair):
            yield 2, pair


def _private(scale: Fraction, worst: Fraction | None = None) -> str:
    """All ratios of output probabilities are <= e^(scale * distance) on a grid of vectors."""
    pairs = 0
    for alpha, (rows, hashes) in product(_ALPHAS, _layouts()):
        grid = [tuple(alpha * v for v in x) for x in product(_GRID[::2], repeat=2)]
        laws = {x: projection_law(x, hashes, rows, alpha) for x in grid}
        for x, other in product(grid, repeat=2):
            gap = _distance(x, other)
            if x < other and gap <= 1:
                ratio = max(max_loss(laws[x], laws[other]), max_loss(laws[other], laws[x]))
                require(
                    ratio <= exp_lower(scale * gap),
                    f"alpha={alpha}, h={hashes}, {x} against {other}: ratio {ratio}",
                )
                pairs += 1
    return f"{pairs} pairs of vectors and hash functions, alpha in {[str(a) for a in _ALPHAS]}"


def _one_bit(shift: int) -> str:
    """Symbolic: P(Y) - P(Y') = (x - x')/(alpha + 2), also with collisions as an inequality."""
    import sympy as sp

    r, s, alpha, q = sp.symbols("r s alpha q", positive=True)
    p = 1 / (alpha + shift)
    plain = ((1 - r) * p + r * (1 - p)) - ((1 - s) * p + s * (1 - p))
    gap = sp.simplify(plain - (r - s) * alpha / (alpha + 2))
    require(gap == 0, f"difference off by {gap}")
    collided = sp.expand(((1 - r) * q + r * (1 - p)) - ((1 - s) * q + s * (1 - p)))
    factor = sp.simplify(collided / (r - s))
    require(sp.simplify(factor - (1 - p - q)) == 0, f"with collisions {factor}")
    require(sp.diff(1 - p - q, q) == -1, "it does not fall in q")
    require(sp.simplify((1 - p - p) - alpha / (alpha + 2)) == 0, "largest factor, at q = p")
    return "identity in r, r', alpha; with a collided bit the factor 1 - p - q is largest at q = p"


def _ratio(shift: int) -> str:
    """(q + t/(alpha + 2))/q falls in q and is 1 + t at p; e^t - 1 - t is convex, least at 0."""
    import sympy as sp

    t, alpha, q = sp.symbols("t alpha q", positive=True)
    gap, bound = sp.exp(t) - 1 - t, (q + t / (alpha + 2)) / q
    least = (gap.subs(t, 0), sp.diff(gap, t).subs(t, 0))
    require(least == (0, 0), f"e^t - 1 - t and its slope at 0: {least}")
    require(bool(sp.diff(gap, t, 2).is_positive), "e^t - 1 - t is not convex")
    require(bool(sp.simplify(sp.diff(bound, q)).is_negative), "the ratio does not fall in q")
    ratio = sp.simplify(bound.subs(q, 1 / (alpha + shift)) - 1 - t)
    require(ratio == 0, f"the ratio is off by {ratio}")
    return "falls in P(Y), identity at P(Y) = p; e^t - 1 - t is convex with its minimum 0 at 0"


def _induction(counted: int) -> str:
    """The ratio of a move is the product of the ratios of its parts, one bit each."""
    for alpha, bottom, top in product(_ALPHAS[:3], range(7), range(7)):
        x, other = alpha * Fraction(bottom, 2), alpha * Fraction(top, 2)
        exact = _move(x, other, alpha, 3)
        parts = Fraction(1)
        for cell in range(3):
            first, second = (min(max(v - cell * alpha, Fraction(0)), alpha) for v in (x, other))
            parts *= _move(first, second, alpha, 1) if cell < counted else 1
        require(exact == parts, f"alpha={alpha}, {x} against {other}: {exact}, parts {parts}")
    return "147 moves over up to three bits"


def _move(x: Fraction, other: Fraction, alpha: Fraction, columns: int) -> Fraction:
    laws = [projection_law((v,), ((0,),) * columns, 1, alpha) for v in (x, other)]
    return Fraction(max_loss(laws[1], laws[0]))


def _exact_loss(numerator: Fraction) -> str:
    """alpha >= 1, one entry moves by 1: the largest ratio is exactly 2, not e."""
    for alpha in (Fraction(1), Fraction(3, 2), Fraction(3), Fraction(10)):
        hashes = ((0,),) * 3
        starts = [Fraction(n, 8) for n in range(int(8 * alpha) + 1)]
        worst = max(_both_ways(alpha, start, hashes) for start in starts)
        require(worst == numerator, f"alpha={alpha}: worst ratio {worst}")
    return "alpha = 1, 3/2, 3, 10, starting points on a grid of 1/8 that holds the worst ones"


def _both_ways(alpha: Fraction, start: Fraction, hashes: Hashes) -> Fraction:
    laws = [projection_law((v,), hashes, 1, alpha) for v in (start, start + 1)]
    return max(Fraction(max_loss(*pair)) for pair in (laws, laws[::-1]))


def _tight(share: Fraction) -> str:
    """n entries that each move by 1/n without collision: the ratio is (1 + 1/n)^n, towards e."""
    for n in (1, 2, 3):
        x, other = (Fraction(0),) * n, (Fraction(1, n),) * n
        hashes = (tuple(range(n)),)
        laws = [projection_law(v, hashes, n, Fraction(1)) for v in (x, other)]
        exact = max_loss(laws[1], laws[0])
        require(exact == (1 + Fraction(1, n)) ** n, f"n={n}: {exact}")
    n = 10**4
    require((1 + Fraction(1, n)) ** n > share * exp_lower(Fraction(1)), f"n={n}")
    return "exact for n = 1, 2, 3; at n = 10000 the ratio is within 1/10000 of e"


def _response_bounds(low: Fraction) -> str:
    """From the laws of all bits, hit by none, one or both of two entries."""
    bits = 0
    for alpha, (rows, hashes) in product(_ALPHAS, _layouts()):
        p = flip(alpha)
        for x in product([alpha * v for v in _GRID[::2]], repeat=2):
            law = projection_law(x, hashes, rows, alpha)
            for b in range(rows * len(hashes)):
                one = sum((weight for z, weight in law.items() if z[b]), Fraction(0))
                case = f"alpha={alpha}, h={hashes}, x={x}, bit {b}: {one}"
                require(p * low <= one <= 1 - p * low, case)
                bits += 1
    return f"{bits} bits of two entries in two columns, with and without collisions"


CLAIMS = (
    ALP.verified(
        "Lemma 4.1",
        "For every sequence of hash functions, Algorithm 2 changes no output probability by more "
        "than a factor e^(l1 distance), so it is 1-differentially private.",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(22, 25), "the loss is 0.88 of the distance"),
        note="The proof's general steps are the entries below; this one is the whole, on a grid.",
    ),
    ALP.proved(
        "Lemma 4.1, proof, difference of probabilities",
        "Moving one entry inside one bit changes the probability of that bit by exactly "
        "|x_i - x'_i|/(alpha + 2), and by no more when the bit is hit by other entries.",
        "symbolic",
        **varied(_one_bit, 2, 1, "p = 1/(alpha + 1)"),
    ),
    ALP.proved(
        "Lemma 4.1, proof, ratio of one bit",
        "With P(Y) >= p = 1/(alpha + 2) the ratio is at most 1 + |x_i - x'_i| <= e^|x_i - x'_i|.",
        "symbolic",
        **varied(_ratio, 2, 3, "p = 1/(alpha + 3)"),
    ),
    ALP.verified(
        "Lemma 4.1, proof, range of a response",
        "A bit is reported as one with probability between p and 1 - p.",
        "enumeration",
        **varied(_response_bounds, Fraction(1), Fraction(51, 50), "between 1.02 p and 1 - 1.02 p"),
    ),
    ALP.verified(
        "Lemma 4.1, proof, several bits",
        "When an entry moves across several bits, the ratios of the single bits multiply.",
        "enumeration",
        **varied(_induction, 3, 2, "only the first two bits count"),
    ),
    ALP.verified(
        "Lemma 4.1, exact loss of one entry",
        "When alpha >= 1 and one entry moves by 1, the worst ratio is 2, so "
        "the loss is ln 2 = 0.693 instead of 1.",
        "enumeration",
        **varied(_exact_loss, Fraction(2), Fraction(101, 50), "the worst ratio is 2.02"),
        ours=True,
    ),
    ALP.verified(
        "Lemma 4.1, tightness",
        "Spread over n entries the worst ratio is at least (1 + 1/n)^n, so the "
        "constant 1 cannot be lowered for all sparsities.",
        "enumeration",
        **varied(_tight, Fraction(9999, 10000), Fraction(10001, 10000), "the ratio exceeds e"),
        ours=True,
    ),
)
