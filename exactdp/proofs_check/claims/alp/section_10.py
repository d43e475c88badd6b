"""ALP, Section 10: variants for unknown sparsity and for negative values."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.law import Law
from exactdp.mechanisms.projections.alp import SignedALP
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.alp._model import (
    Bits,
    exp_lower,
    flip,
    noisy_law,
    round_law,
)
from exactdp.proofs_check.claims.alp._shipped import literal, read_off
from exactdp.proofs_check.claims.alp._threshold import distance, stored
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_ONE = Fraction(1)
_BASE, _T = Fraction(9, 4), Fraction(3)  # e^epsilon; t of Algorithm 9 for delta = 4/9


def _estimated_k(argument: str) -> str:
    """P(k~ <= k) = P(Lap(1/eps) <= -ln(argument)/eps) = 1/d."""
    import sympy as sp

    d, eps = sp.symbols("d varepsilon", positive=True)
    shift = sp.log(sp.sympify(argument, {"d": d})) / eps
    chance = sp.simplify(sp.exp(-eps * shift) / 2)
    require(sp.simplify(chance - 1 / d) == 0, f"P = {chance}")
    return "exactly 1/d, for d >= 2"


def _sparsity(most: int) -> str:
    """How much the sparsity of neighbours can differ: by 1 for integers, by `most` for thirds."""
    found = []
    for unit in (_ONE, Fraction(1, 3)):
        grid = [n * unit for n in range(4)]
        pairs = product(product(grid, repeat=3), repeat=2)
        gaps = {abs(x.count(0) - y.count(0)) for x, y in pairs if distance(x, y) <= 1}
        found.append(max(gaps))
    require(found == [1, most], f"integers and thirds: {found}")
    return "all pairs of three entries, integers to 3 and thirds to 1"


def _ones(share: Fraction) -> str:
    """The expected number of ones in the embedding is |x|_1 eps/alpha, so Theta(n eps) cells do."""
    for eps, alpha in product((Fraction(1, 3), Fraction(2)), (Fraction(1), Fraction(3))):
        for x in product((Fraction(0), Fraction(1, 2), Fraction(7)), repeat=2):
            made = literal(7 * eps, alpha)
            laws = [Law(made.cells.places(v * eps)) for v in x]
            ones = sum((law.expectation() for law in laws), Fraction(0))
            require(ones == share * sum(x) * eps / alpha, f"x={x}, eps={eps}: {ones}")
    return "36 vectors and parameters, levels as shipped"


def _ones_below(short: bool) -> str:
    """The most ones left below a threshold t, |x|_1 = n: min(n, d t) eps/alpha over all x.

    All x with d = 3 entries in multiples of 1/2; short: whether d t < n is accounted for.
    """
    n, d, eps, alpha = Fraction(4), 3, Fraction(2), Fraction(3)
    for t in (_ONE, Fraction(3, 2), Fraction(5, 2)):
        most = Fraction(0)
        for halves in product(range(9), repeat=d):
            if sum(halves) == 2 * n:
                limited = [min(Fraction(v, 2), t) for v in halves]
                laws = (round_law(v * eps / alpha) for v in limited)
                most = max(most, sum((law.expectation() for law in laws), Fraction(0)))
        bound = (n if n <= d * t or not short else d * t) * eps / alpha
        require(most == bound, f"t={t}: at most {most} ones, not {bound}")
    return "n = 4, d = 3, t = 1, 3/2, 5/2, all x in multiples of 1/2"


def _collision(one_array: bool) -> str:
    """n entries of 1 (eps = alpha = 1) in 2 n bits: an empty bit is hit w.p. below 0.4.

    One array: every pair (entry, column) is hashed to one of 2 n cells. Otherwise u = n gives
    m = n columns, so 2 rows each.
    """
    for n in (1, 2, 3):
        hit = [h[0] in h[1:] for h in product(range(2 * n), repeat=n + 1)]
        require(Fraction(sum(hit), len(hit)) == _hit(n, 2 * n), f"n={n}: {sum(hit)} functions")
    for n in (30, 100, 1000):
        chance = _hit(n, 2 * n if one_array else 2)  # all n ones stand in the first column
        require(chance <= Fraction(2, 5), f"n={n}: first column hit with {float(chance):.5g}")
    return "n = 30, 100, 1000 entries of 1, fully random hash functions; all of them for n <= 3"


def _hit(n: int, cells: int) -> Fraction:
    return 1 - (1 - Fraction(1, cells)) ** n


def _signed(y: int, m: int, row_of: tuple[int, ...], rows: int) -> Bits:
    """2m columns: the first m are one by default and 0 for the |y| columns next to the middle."""
    bits: list[int] = []
    for b in range(2 * m):
        default = int(b < m)
        own = int(b < m + y)
        bits += [own if a == row_of[b] else default for a in range(rows)]
    return tuple(bits)


def _negative(offset: int) -> str:
    """Noiseless: the estimate from 2m columns minus m is y, for -m <= y <= m."""
    m = 3
    for y in range(-m, m + 1):
        for h in product(range(2), repeat=2 * m):
            bits = _signed(y, m, h, 2)
            own = [bits[2 * b + h[b]] for b in range(2 * m)]
            require(read_off(own) - offset == y, f"y={y}, h={h}: {read_off(own) - offset}")
    return "m = 3, y = -3 to 3, every sequence of rows"


@cache
def _signed_shipped() -> None:
    """One signed entry as shipped: neighbours, on either side of 0 or across it, reach e^eps."""
    made = SignedALP(d=1, k=1, s=3, beta=1, epsilon=1, alpha=3, steps=1)
    hashes = Tables(((0,),) * (2 * made.levels))
    grid = [Fraction(n, 2) for n in range(-2, 3)]
    laws = {x: made.law({0: x}, hashes) for x in grid}
    near = [(x, y) for x, y in product(grid, repeat=2) if 0 < abs(x - y) <= 1]
    worst = max(max_loss(laws[x], laws[y]) for x, y in near)
    gap = made.e_epsilon - Fraction(worst)  # what is promised is rounded up
    require(0 <= gap < Fraction(1, 2**60), f"{worst}, promised {made.e_epsilon}")


def _negative_private(scale: Fraction) -> str:
    """One signed entry, m = 1: ratios at most e^(scale * distance), across 0 too."""
    _signed_shipped()
    grid = [Fraction(n, 4) for n in range(-4, 5)]
    for alpha in (Fraction(1), Fraction(3)):
        laws = {}
        for x in grid:
            rounded = round_law(x)  # x stands for x/alpha
            laws[x] = rounded.then(lambda y: noisy_law(_signed(y, 1, (0, 0), 1), flip(alpha)))
        for x, y in product(grid, repeat=2):
            gap = alpha * abs(x - y)
            if 0 < gap <= 1:
                ratio = max_loss(laws[x], laws[y])
                require(ratio <= exp_lower(scale * gap), f"alpha={alpha}, {x}, {y}: {ratio}")
    return "alpha = 1, 3, entries from -alpha to alpha in quarters; and as shipped, from -1 to 1"


def _signed_chances(x: Fraction, sign_rule: bool) -> Law[int]:
    """Which side of a signed entry is stored: 1, -1 or 0 (not stored); t = 3, e^eps = 9/4.

    As for nonnegative entries, |v| - t is exponential given that v is stored, whatever x is.
    """
    sign, size = (1 if x > 0 else -1), abs(x)
    weight, y = (size, _ONE) if size < 1 else (_ONE, size)
    same = weight * stored(y, _T, _BASE)
    opposite = Fraction(0) if sign_rule else weight * stored(-y, _T, _BASE)
    return Law({sign: same, -sign: opposite, 0: 1 - same - opposite})


def _signed_threshold(sign_rule: bool) -> str:
    """The exact delta of neighbours with two signed entries, against that of nonnegative ones."""
    grid = [Fraction(n, 2) for n in range(-3, 4)]
    laws = {
        (a, b): _signed_chances(a, sign_rule).product(_signed_chances(b, sign_rule))
        for a, b in product(grid, repeat=2)
    }
    allowed, count = stored(_ONE, _T, _BASE), 0
    for x, other in product(laws, repeat=2):
        if 0 < distance(x, other) <= 1:
            exact = hockey_stick(laws[x], laws[other], e_epsilon=_BASE).lower
            require(exact <= allowed, f"{x} against {other}: delta {exact} > {allowed}")
            count += 1
    return f"{count} pairs, entries from -3/2 to 3/2, e^epsilon = 9/4, delta = 4/9, t = 3"


CLAIMS = (
    ALP.verified(
        "Section 10, histograms",
        "The sparsity of neighbouring histograms differs by at most 1; for real vectors all "
        "entries can change.",
        "enumeration",
        **varied(_sparsity, 3, 2, "all but one can change"),
    ),
    ALP.proved(
        "Section 10, estimated sparsity",
        "k + Lap(1/epsilon) + ln(d/2)/epsilon is at most k with probability 1/d, for d >= 2.",
        "symbolic",
        **varied(_estimated_k, "d/2", "d", "with ln(d)/epsilon"),
    ),
    Conditional(
        paper="ALP",
        item="Section 10, known l1 norm, collisions",
        statement="With |x|_1 = n known and u = n, Theta(n epsilon) bits bound the probability of "
        "a hash collision by a constant: 2n bits by 0.4, for epsilon = alpha = 1 and n >= 30.",
        outcome="verified",
        method="enumeration",
        condition="all columns share one array of that size, pairs (entry, column) being hashed; "
        "the s x m array of Algorithm 2 has Theta(n epsilon) columns for u = n, so needs s = "
        "Theta(n epsilon) rows",
        **varied(_collision, True, False, "the array is split into m columns"),
        note="The collision probability averaged over all columns is bounded, that of the first "
        "columns is not.",
    ),
    ALP.verified(
        "Section 10, known l1 norm",
        "After scaling |x|_1 is n epsilon, and the expected number of ones of all unary codes is "
        "n epsilon/alpha.",
        "enumeration",
        **varied(_ones, Fraction(1), Fraction(51, 50), "1.02 times that"),
    ),
    ALP.verified(
        "Section 10, negative values",
        "With 2m columns, the first m set by default, the estimate minus m recovers noiseless "
        "values from -m to m.",
        "enumeration",
        **varied(_negative, 3, 2, "the offset is m - 1"),
    ),
    ALP.verified(
        "Section 10, negative values, privacy",
        "The signed encoding of an entry has the same privacy as Algorithm 2, also when the entry "
        "changes sign; as shipped it loses just the epsilon that it promises.",
        "enumeration",
        **varied(_negative_private, Fraction(1), Fraction(22, 25), "0.88 of the loss"),
    ),
    ALP.verified(
        "Section 10, known l1 norm, with a threshold",
        "A threshold t does not lower the size Theta(n epsilon): some vector below it still sets "
        "n epsilon/alpha bits in the mean, while d t >= n (in general the most is min(n, d t) "
        "epsilon/alpha).",
        "enumeration",
        **varied(_ones_below, True, False, "also when d t < n"),
    ),
    ALP.not_checkable(
        "Section 10, suggestions",
        "When to prefer the Laplace mechanism, thresholding or the ALP mechanism; an "
        "implementation in OpenDP.",
        "advice and a pointer to software",
    ),
    ALP.verified(
        "Section 10, signs in Algorithm 9",
        "When only entries whose true and noisy values have the same sign are released, signed "
        "vectors need no more than delta/(2 e^epsilon), as nonnegative ones (Lemma 5.6, exact "
        "delta).",
        "enumeration",
        **varied(_signed_threshold, True, False, "when the sign does not matter"),
        note="The mechanism is Algorithm 9 with |v| >= t for v >= t and rounding towards 0 or "
        "+-1. Without the sign rule an entry of 1 is stored 1 + e^(-2 epsilon) times as often.",
    ),
)
