"""ALP, Section 8: maxima of hashed entries, read in constant time."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from math import ceil

from exactdp.balls import ball, refine
from exactdp.law import Law
from exactdp.mechanisms.projections import alp as shipped
from exactdp.mechanisms.projections.combined import Combined
from exactdp.mechanisms.projections.noisy_rows import DenseLaplace, MaxProjection
from exactdp.mechanisms.projections.thresholds import Threshold
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.alp._model import all_hashes, distance, exp_lower, ratio
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, mutant, weaker

_ONE = Fraction(1)
_LAPLACE = DenseLaplace(d=2, k=2, largest=2, epsilon=1, grid=1)


@cache
def _noisy(y: tuple[int, ...]) -> Law[tuple[int, ...]]:
    return _LAPLACE.law(dict(enumerate(y)), None)


def _maxima(epsilon: Fraction) -> MaxProjection:
    return MaxProjection(d=3, k=2, largest=2, epsilon=epsilon, grid=1, s=2)


@cache
def _law(x: tuple[int, ...], h: tuple[int, ...], epsilon: Fraction = _ONE) -> Law[tuple[int, ...]]:
    return _maxima(epsilon).law(dict(enumerate(x)), Tables((h,)))


@ALP.holds("Algorithm 11")
@mutant("on 1 where there is none", empty=1)
def algorithm_11(empty: int = 0) -> None:
    """What is released, as shipped on a grid, is noise on the largest entry hashed to each cell,
    on 0 where there is none.
    """
    for x, h in product(((1, 0, 2), (2, 1, 0)), ((0, 0, 0), (0, 0, 1))):
        cells = [[x[j] for j in range(3) if h[j] == cell] for cell in range(2)]
        equal(_law(x, h), _noisy(tuple(max(c, default=empty) for c in cells)), x=x, h=h)


@ALP.holds("Lemma 8.1", "on instances", ours=True)
@weaker
def lemma_8_1(loss: Fraction = _ONE) -> None:
    """The noisy maxima as shipped on a grid change no probability by more than a factor r^distance
    with r < e^epsilon, so Algorithm 11 is epsilon-differentially private.
    """
    step = 1 + _maxima(_ONE).noise.rise  # what a step of 1 costs
    at_most(step, exp_lower(_ONE))
    vectors = [x for x in product(range(3), repeat=3) if sum(x) <= 2]
    for x, other in permutations(vectors, 2):
        worst = ratio(_law(x, (0, 0, 1), loss), _law(other, (0, 0, 1), loss))
        at_most(worst, step ** int(distance(x, other)), x=x, other=other)


def _mean_excess(x: tuple[Fraction, ...], i: int, rows: int) -> Fraction:
    """E|x_i - y_h(i)| over all hash functions of three entries, without noise."""
    cells = [max(x[j] for j in range(3) if h[j] == h[i]) - x[i] for h in all_hashes(3, rows)]
    return sum(cells, Fraction(0)) / len(cells)


@ALP.holds("Lemma 8.2", "on instances", ours=True)
@mutant("at most 1.98/epsilon", factor=Fraction(198, 100))
def lemma_8_2(factor: Fraction = Fraction(2)) -> None:
    """With s >= epsilon |x|_1 rows the expected error of an entry is at most 2/epsilon."""
    for eps, x in product((Fraction(1, 2), _ONE, Fraction(3)), ((0, 4, 0), (1, 0, 3))):
        rows = ceil(eps * sum(x))
        for i in range(3):
            error = _mean_excess(tuple(map(Fraction, x)), i, rows) + 1 / eps
            at_most(error, factor / eps, eps=eps, x=x, i=i)


@ALP.holds("Lemma 8.2", "proof, display")
@mutant("at most 0.98 |x|_1/s", share=Fraction(98, 100))
def display(share: Fraction = _ONE) -> None:
    """E|x_i - y_h(i)| <= (1/s) sum of max(x_j - x_i, 0) <= |x|_1/s for a universal family."""
    for x, i in product(((0, 1, 2), (0, 5, 0), (3, 1, 2)), range(3)):
        middle = Fraction(sum(max(v - x[i], 0) for v in x), 12)
        at_most(_mean_excess(tuple(map(Fraction, x)), i, 12), middle, x=x, i=i)
        at_most(middle, share * Fraction(sum(x), 12), x=x, i=i)


@ALP.conditional("Corollary 8.3", elsewhere="the mutant weakens the condition")
@mutant("for epsilon n >= 0.49", least=Fraction(49, 100))
def corollary_8_3(least: Fraction = _ONE) -> None:
    """With n = |x|_1 known and epsilon n >= 1, s = ceil(epsilon n) rows, at most 2 epsilon n words,
    keep the expected error of every entry at most 2/epsilon.

    Condition: epsilon n = Omega(1): one word is the least.
    """
    shapes = ((Fraction(0), _ONE, Fraction(0)), (Fraction(1, 4), Fraction(3, 4), Fraction(0)))
    for scaled, shape in product((least, Fraction(101, 100), Fraction(5, 2), Fraction(7)), shapes):
        n, rows = scaled / 3, ceil(scaled)  # epsilon = 3
        for i in range(3):
            error = _mean_excess(tuple(n * part for part in shape), i, rows) + Fraction(1, 3)
            at_most(error, Fraction(2, 3), eps_n=scaled, i=i)
        at_most(rows, 2 * scaled, eps_n=scaled)


@ALP.holds("Corollary 8.3", "(2)")
@mutant("2.8 k ln d words", factor=Fraction(28, 10))
def k_sparse(factor: Fraction = Fraction(3)) -> None:
    """k entries limited to t = 2 ln(d)/epsilon as shipped have epsilon |x|_1 <= 2 k ln d up to
    rounding, so that s = ceil(epsilon |x|_1) <= 3 k ln d words suffice for d >= 2.
    """
    grid = Fraction(1, 2**20)
    for bits, k, eps in product((1, 10, 64), (1, 2), (Fraction(1, 2), Fraction(5))):
        large = Threshold.of(d=2**bits, k=k, largest=400, epsilon=eps, grid=grid)
        top, shape = large.threshold, {"d": 2**bits, "k": k, "s": 3 * k}
        small = Combined(large=large, small=shipped.ALP(**shape, largest=top, epsilon=1)).small
        log_d = refine(lambda: bits * ball(2).log()).lower
        for size in (1, 50, 300):
            entries = large.checked({i: size + i for i in range(k)}).at_most(small.largest)
            total = Fraction(int(entries.numerators.sum()), entries.denominator)
            case = {"log_d": bits, "k": k, "eps": eps, "size": size}
            at_most(eps * total, 2 * k * log_d + eps * k * grid, **case)
            at_most(ceil(eps * total), factor * k * log_d, **case)


@ALP.holds("Corollary 8.3", "(2), restriction to small entries", ours=True)
@mutant("entries that reach t are dropped instead", clip=False)
def restriction(clip: bool = True) -> None:
    """Limiting each entry to min(x, t) keeps neighbours neighbours.

    Note: the proof says "restricting on the elements below the threshold". Read by true values that
        is not private; read by noisy values it needs adaptive composition, which Lemma 2.3 is not.
    """
    t = Fraction(3)
    for x, y in permutations((Fraction(n, 4) for n in range(24)), 2):
        a, b = (min(v, t) if clip else (v if v < t else Fraction(0)) for v in (x, y))
        at_most(abs(a - b), abs(x - y), x=x, y=y)


@ALP.holds("Section 8", "collisions of zero entries")
@mutant("at most 0.99/log d", share=Fraction(99, 100))
def collisions_of_zero_entries(share: Fraction = _ONE) -> None:
    """With s = k log d rows a zero entry collides with a nonzero one with probability at most
    1/log d, and at least 0.9/log d: about (d - k)/log d zero entries have a large error.
    """
    for k, log_d in product((1, 2), (7, 20)):
        hit = [h[0] in h[1:] for h in all_hashes(k + 1, k * log_d)]
        equal(Fraction(sum(hit), len(hit)), _chance(k, log_d), k=k, log_d=log_d)
    for k, log_d in product((1, 10, 100), (7, 20, 64)):
        at_most(Fraction(9, 10) / log_d, _chance(k, log_d), k=k, log_d=log_d)
        at_most(_chance(k, log_d), share / log_d, k=k, log_d=log_d)


def _chance(k: int, log_d: int) -> Fraction:
    return 1 - (1 - Fraction(1, k * log_d)) ** k
