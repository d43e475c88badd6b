"""ALP, Section 7: Algorithm 10 for histograms, Lemmas 7.1 to 7.3 and Corollary 7.4."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product
from math import ceil
from typing import Any

import sympy as sp

from exactdp.accounting.divergence import hockey_stick
from exactdp.balls import ball, refine
from exactdp.mechanisms.projections.alp import HistogramALP
from exactdp.mechanisms.projections.combined import Combined
from exactdp.mechanisms.projections.thresholds import ApproximateThreshold, Threshold
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, below, equal, every, identity
from exactdp_proofs.papers.alp._model import (
    all_hashes,
    exp_lower,
    hit_chance,
    mean_distance,
    neighbours,
    projection_law,
    ratio,
)
from exactdp_proofs.papers.alp._shipped import combined_laws, laid_out, read_off
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant

_ONE = Fraction(1)
_BASES = (Fraction(5, 4), Fraction(3), Fraction(50))  # e^epsilon


@ALP.holds("Algorithm 10")
@mutant("beta - 1 columns", offset=-1)
def algorithm_10(offset: int = 0) -> None:
    """With beta columns and no scaling, integer entries up to beta come back without noise, larger
    ones as beta; array and estimate as shipped.
    """
    beta = 5
    columns = HistogramALP(d=1, k=1, s=3, largest=beta, epsilon=1).levels + offset
    for x in range(8):
        equal(read_off(laid_out([x], [(0,)] * columns, 1)), min(x, beta), x=x)


@ALP.holds("Algorithm 10", "one bit")
@mutant("raising it by 2", raised=2)
def one_bit(raised: int = 1) -> None:
    """Raising an entry by 1 changes at most one bit of z, its own in the next column."""
    hashes = [(0, 1), (1, 1), (0, 0)]
    for x, y in product(range(3), range(4)):
        first, second = laid_out([x, y], hashes, 2), laid_out([x + raised, y], hashes, 2)
        changed = {n for n in range(6) if first[n] != second[n]}
        equal(changed - {2 * x + hashes[x][0]}, set(), x=x, y=y)


@ALP.holds("Section 7", "real-valued neighbours")
@mutant("in 2k + 1 entries", extra=1)
def real_valued_neighbours(extra: int = 0) -> None:
    """Two k-sparse neighbours can differ by 1/(2k) in 2k entries, and in no more."""
    for k, highest in ((1, 3), (2, 2), (3, 1)):
        steps = product(range(highest + 1), repeat=2 * k + 1)  # of 1/(2k)
        sparse = [x for x in steps if len(x) - x.count(0) <= k]
        most = 0
        for x, y in product(sparse, repeat=2):
            changes = [abs(a - b) for a, b in zip(x, y, strict=True)]
            if sum(changes) <= 2 * k:
                most = max(most, changes.count(1))
        equal(most, 2 * k + extra, k=k)


@ALP.holds("Lemma 7.1", "on instances", ours=True)
@mutant("the flip probability is 1/(e^epsilon + 2)", shift=2)
def lemma_7_1(shift: int = 1, loss: Fraction = _ONE) -> None:
    """Algorithm 10 is epsilon-differentially private for histograms, with no slack: for every
    sequence of hash functions the largest ratio of neighbours is e^epsilon.
    """
    grid = list(product(map(Fraction, range(3)), repeat=2))
    layouts = list(combinations_with_replacement(all_hashes(2, 2), 2))  # columns in any order
    for base, pair in product(_BASES, layouts):
        p = 1 / (raised(base, loss) + shift)
        laws = {x: projection_law(x, pair, 2, _ONE, p) for x in grid}
        worst = max(ratio(laws[x], laws[y]) for x, y, _ in neighbours(grid))
        equal(worst, base, e_epsilon=base, h=pair)


@ALP.holds("Lemma 7.1", "shipped code", ours=True, slow=True)
@mutant("within 2^-44", bits=44)
@fitted(bits=43)
def lemma_7_1_shipped(bits: int = 39, loss: Fraction = _ONE) -> None:
    """The largest ratio of the shipped law is the promised one, at most 2^-39 below e^epsilon."""
    for eps in (Fraction(1, 4), Fraction(3)):
        for k, beta, s, table in ((2, 1, 5, ((4, 4),)), (1, 2, 3, ((0, 2), (1, 1)))):
            mechanism = HistogramALP(d=2, k=k, s=s, largest=beta, epsilon=eps)
            less = replace(mechanism, epsilon=loss * eps)
            equal(_worst(less, table), mechanism.e_epsilon, eps=eps, h=table)
        at_most(mechanism.e_epsilon, exp_lower(eps, 60), eps=eps)
        at_most(exp_lower(eps, 60) - mechanism.e_epsilon, Fraction(1, 2**bits), eps=eps)


@cache
def _worst(mechanism: HistogramALP, table: tuple[tuple[int, ...], ...]) -> Fraction:
    """The largest ratio over all neighbours with two entries."""
    vectors = [
        x for x in product(range(mechanism.levels + 1), repeat=2) if 2 - x.count(0) <= mechanism.k
    ]
    laws = {x: mechanism.law(dict(enumerate(x)), Tables(table)) for x in vectors}
    return max(ratio(laws[x], laws[y]) for x, y, _ in neighbours(laws))


@ALP.holds("Lemma 7.1", "integer entries", ours=True)
@mutant("the ratio stays at (e^epsilon + 1)/2", power=1)
def integer_entries(power: int = 2, loss: Fraction = _ONE) -> None:
    """The restriction to integers is needed: with random rounding of real entries, (0, 0) and
    (1/2, 1/2) reach the ratio ((e^epsilon + 1)/2)^2 > e^epsilon.
    """
    half = Fraction(1, 2)
    for base in _BASES:
        p = 1 / (raised(base, loss) + 1)
        laws = [projection_law((x, x), ((0, 1),), 2, _ONE, p) for x in (half, 0 * half)]
        below(base, ratio(*laws), e_epsilon=base)
        equal(ratio(*laws), ((base + 1) / 2) ** power, e_epsilon=base)


@ALP.holds("Lemma 7.2")
@mutant(share=Fraction(49, 100))
@fitted(share=Fraction(1, 2))
def lemma_7_2(share: Fraction = _ONE) -> None:
    """Without collisions E|x_i - x~_i| <= 8 e^epsilon/(e^epsilon - 1)^2 for entries up to beta.

    Note: half of the bound suffices because the estimate is the average of the maximizers, while
        the proof bounds the distance to the furthest one.

    Needs: sums of the chances that a later maximum is further away, for every beta and position.
    """
    for base, x in product((Fraction(3, 2), Fraction(3), Fraction(50), Fraction(10**4)), range(9)):
        p, bound = 1 / (base + 1), share * 8 * base / (base - 1) ** 2
        at_most(mean_distance(x, 8, p, p), bound, e_epsilon=base, x=x)


@ALP.holds("Lemma 7.2", "proof, display")
@mutant("4 in place of 8", factor=4)
def lemma_7_2_display(factor: int = 8) -> None:
    """2 * 4 (p - p^2)/(1 - 2p)^2 = 8 e^epsilon/(e^epsilon - 1)^2 at p = 1/(e^epsilon + 1)."""
    b = sp.symbols("b", positive=True)
    p = 1 / (b + 1)
    identity(2 * 4 * (p - p**2) / (1 - 2 * p) ** 2 - factor * b / (b - 1) ** 2)


@ALP.holds("Section 7", "growth of the bound of Lemma 7.2")
@mutant("with constant 4", constant=4)
def growth(constant: int = 8) -> None:
    """The bound approaches 8/e^epsilon for large and 8/epsilon^2 for small epsilon."""
    b, eps = sp.symbols("b varepsilon", positive=True)
    identity(sp.limit(8 * b / (b - 1) ** 2 * b, b, sp.oo) - constant)
    identity(sp.limit(8 * sp.exp(eps) * (eps / (sp.exp(eps) - 1)) ** 2, eps, 0) - constant)


def rate(base: Fraction, collision: Fraction) -> Fraction:
    """(1 + (e^eps - 1) k/s)/(e^eps + 1): a zero beyond the entry is reported as one."""
    return (1 + (base - 1) * collision) / (base + 1)


def bound_7_3(base: Any, collision: Any) -> Any:
    """The stated bound, in fractions or symbols; base = e^eps, collision = k/s."""
    inner = 1 + (base - 1) * collision
    positive = ((4 * base + 4) / inner - 4) / ((base + 1) / inner - 2) ** 2
    return 4 * base / (base - 1) ** 2 + positive


@ALP.holds("Lemma 7.3")
@mutant(share=Fraction(46, 100))
@fitted(share=Fraction(47, 100))
def lemma_7_3(share: Fraction = _ONE) -> None:
    """With collisions the expected error is at most 4 e^eps/(e^eps - 1)^2 + (4 gamma + 4)/gamma^2,
    gamma = (e^eps + 1)/(1 + (e^eps - 1) k/s) - 2.

    Note: independent hash functions in the columns, as in Lemma 4.7.

    Needs: Lemmas 4.6 and 7.2 over their whole domains, joined by the triangle inequality.
    """
    collisions = (Fraction(1, 20), Fraction(1, 10))
    for base, c, x in product(map(Fraction, (4, 10, 50)), collisions, range(8)):
        error = mean_distance(x, 7, 1 / (base + 1), rate(base, c))
        at_most(error, share * bound_7_3(base, c), e_epsilon=base, collision=c, x=x)


@ALP.note("Lemma 7.3", "proof, probability of a wrong one")
@as_printed(one=Fraction(0))
@mutant(one=Fraction(98, 100))
def probability_of_a_wrong_one(one: Fraction = _ONE) -> None:
    r"""A zero becomes a one with probability at most (e^epsilon - 1)(k/s)/(e^epsilon + 1).

    Printed (Section 7, Lemma 7.3, proof, line 707): we can bound the probability of changing a bit
        from zero to one by $(e^\varepsilon - 1) \cdot (k/s)/(e^\varepsilon + 1)$
    Corrected: At most (1 + (e^epsilon - 1) k/s)/(e^epsilon + 1), as in the display after it. The
        printed term is what collisions add to the flip probability 1/(e^epsilon + 1).
    Extraction: possible but unlikely: "1 +" and a pair of parentheses would have to be lost.

    >>> from math import exp
    >>> eps, k, s = 1, 1, 100
    >>> p = 1 / (exp(eps) + 1)                     # flipped without any collision
    >>> (1 - k / s) * p <= (exp(eps) - 1) * (k / s) / (exp(eps) + 1)
    False
    """
    for base, k, s in product((Fraction(3, 2), Fraction(50)), (1, 2), (5, 6)):
        p, hit = 1 / (base + 1), hit_chance(k, s)
        stated = (one + (base - 1) * Fraction(k, s)) / (base + 1)
        at_most((1 - hit) * p + hit * (1 - p), stated, e_epsilon=base, k=k, s=s)


@ALP.holds("Lemma 7.3", "proof, value of gamma")
@mutant("minus 2 in the numerator", minus=2)
def value_of_gamma(minus: int = 4) -> None:
    """(4 gamma + 4)/gamma^2 is the printed quotient, and gamma > 0 if and only if s > 2k."""
    b, c = sp.symbols("b c", positive=True)
    inner = 1 + (b - 1) * c
    g = (b + 1) / inner - 2
    identity(g * inner - (b - 1) * (1 - 2 * c))
    printed = ((4 * b + 4) / inner - minus) / ((b + 1) / inner - 2) ** 2
    identity((4 * g + 4) / g**2 - printed)


@ALP.holds("Section 7", "collisions with probability q")
@mutant("at least 0.51 q", share=Fraction(51, 100))
def collisions_with_probability_q(share: Fraction = Fraction(1, 2)) -> None:
    """With collision probability q a zero becomes a one with probability at least q/2."""
    for p in every(
        "both ends of p in [0, 1/2], in which it is linear", (Fraction(0), Fraction(1, 2))
    ):
        never_negative([p, 1 - 2 * p - share], 0, 1)  # (1 - q) p + q (1 - p) - share q


@ALP.conditional("Section 7", "number of bits", elsewhere="the mutant weakens the condition")
@mutant("for t >= 1/2", least=Fraction(1, 2))
def number_of_bits(least: Fraction = _ONE) -> None:
    """With threshold t = 2 ln(d)/epsilon >= 1 the array as shipped takes less than 2 s t bits,
    which is O(s log(d)/epsilon).

    Condition: t = Omega(1), that is epsilon = O(log d), or O(log(1/delta)) with 1/delta for d.
    """
    for bits, s, t in product((4, 10), (3, 50), (least, Fraction(101, 100), Fraction(19, 4))):
        eps = refine(lambda: 2 * bits * ball(2).log() / ball(t)).lower
        mechanism = HistogramALP(d=2**bits, k=1, s=s, largest=ceil(t), epsilon=eps)
        below(mechanism.layout.size, 2 * s * t, log_d=bits, s=s, t=t)


@ALP.holds("Corollary 7.4")
@mutant("below 21/epsilon", constant=21)
def corollary_7_4(constant: int = 22) -> None:
    """For s = 4 k epsilon and epsilon >= 1 the bound of Lemma 7.3 is below 22/epsilon."""

    def slack(w: Any, v: Any) -> Any:  # w = 1/eps, v = eps e^-eps; q = w over_w of Lemma 7.3
        u = w * v
        over_w = ((4 * v + 2) / (1 + u) - 1) / 4
        rest = 1 - 2 * w * over_w
        return constant - 4 * v / (1 - u) ** 2 - 2 * over_w * (1 / rest + 1 / rest**2)

    w, v = sp.symbols("w v", positive=True)
    identity(slack(w, v) - constant + bound_7_3(1 / (w * v), w / 4) / w)
    always_positive(slack, [(0, 1), (0, Fraction(184, 500))])  # eps e^-eps <= 1/e = 0.3679


@ALP.holds("Corollary 7.4", "(2)")
@mutant("below 26/e^epsilon", constant=26)
def corollary_7_4_2(constant: int = 27) -> None:
    """For s = 4 k e^epsilon and epsilon >= 1 the bound of Lemma 7.3 is below 27/e^epsilon."""

    def slack(u: Any) -> Any:  # u = e^-eps; q = u over_u of Lemma 7.3
        over_u = (6 / (1 + u) - 1) / 4
        rest = 1 - 2 * u * over_u
        return constant - 4 / (1 - u) ** 2 - 2 * over_u * (1 / rest + 1 / rest**2)

    u = sp.symbols("u", positive=True)
    identity(slack(u) - constant + bound_7_3(1 / u, u / 4) / u)
    always_positive(slack, [(0, Fraction(184, 500))])  # 1/e = 0.3679


@ALP.holds("Corollary 7.4", "shipped code", ours=True, slow=True)
@mutant("Algorithm 9 with an eighth of the delta", share=Fraction(1, 8))
def corollary_7_4_shipped(share: Fraction = _ONE, loss: Fraction = _ONE) -> None:
    """Algorithm 6 or 9 for counts beside Algorithm 10, as shipped, keep the sum of both epsilons,
    with the delta of Algorithm 9, and with delta 0 between neighbours with the same outputs:
    neighbours differ by 1 in one count.
    """
    counts: Any = {"d": 1, "k": 1, "values": "counts", "largest": 4, "epsilon": 4}
    small = HistogramALP(d=1, k=1, s=3, largest=3, epsilon=1)
    for large in (
        Threshold(**counts, t=2),
        ApproximateThreshold(**counts, delta=Fraction(1, 1000)),  # t = 3
    ):
        promise = Combined(large=large, small=small).guarantee
        mechanism = Combined(
            large=replace(large, epsilon=loss * large.epsilon),
            small=replace(small, epsilon=loss * small.epsilon),
        )
        laws = combined_laws(mechanism, range(5))
        for x, other, _ in neighbours(laws):
            delta = hockey_stick(laws[x], laws[other], e_epsilon=promise.e_epsilon).upper
            most = share * promise.delta.upper * (laws[x].support != laws[other].support)
            at_most(delta, most, large=type(large).__name__, x=x[0], other=other[0])


def _array(d: int, k: int, s: int, eps: Fraction) -> int:
    """Bits of the shipped array below the threshold t = 2 ln(d)/eps."""
    t = refine(lambda: 2 * ball(d).log() / ball(eps)).upper
    return HistogramALP(d=d, k=k, s=s, largest=ceil(t), epsilon=eps).layout.size


@ALP.conditional("Corollary 7.4", "(1), space", elsewhere="the mutant weakens the condition")
@mutant("for epsilon <= 4.1 ln d", most=Fraction(41, 10))
def space_1(most: Fraction = Fraction(2)) -> None:
    """With s = 4 k epsilon rows and epsilon <= 2 ln d the array as shipped takes at most 16 k ln d
    bits, which is O(k log d).

    Condition: epsilon = O(log d): above it a single column already takes Theta(k epsilon) bits, and
        the corollary lets epsilon tend to infinity.
    """
    for bits, k in product((10, 20, 30), (1, 9)):
        log_d = refine(lambda: bits * ball(2).log()).lower
        for eps in (Fraction(n, 2) for n in range(2, int(2 * most * log_d) + 1, 3)):
            size = _array(2**bits, k, int(4 * k * eps), eps)
            at_most(size, 16 * k * log_d, log_d=bits, k=k, eps=eps)


@ALP.conditional("Corollary 7.4", "(2), space", elsewhere="the mutant weakens the condition")
@mutant("for epsilon <= 4.1 ln d", most=Fraction(41, 10))
def space_2(most: Fraction = Fraction(2)) -> None:
    """With s = ceil(4 k e^epsilon) rows and epsilon <= 2 ln d the array as shipped takes at most
    16.1 k e^epsilon ln(d)/epsilon bits, which is O(e^epsilon k log(d)/epsilon).

    Condition: epsilon = O(log d), as in (1).
    """
    for bits, k in product((5, 8, 11), (2, 9)):
        log_d = refine(lambda: bits * ball(2).log()).lower
        for eps in (Fraction(n, 2) for n in range(2, int(2 * most * log_d) + 1)):
            growth = refine(lambda: ball(eps).exp())
            size = _array(2**bits, k, ceil(4 * k * growth.upper), eps)
            bound = Fraction(161, 10) * k * growth.lower * log_d / eps
            at_most(size, bound, log_d=bits, k=k, eps=eps)
