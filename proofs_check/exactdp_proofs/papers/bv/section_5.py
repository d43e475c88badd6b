"""BV, Section 5: independent noise on every bin of a fixed set; Figure 1."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import ceil, lcm
from typing import Any

from exactdp.law import Law
from exactdp.mechanisms import BasicHistogram
from exactdp.samplers import GeoSample, RationalCdf
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, equal, holds
from exactdp_proofs.papers.bv._data_sets import (
    Counts,
    data_sets,
    neighbouring_laws,
    neighbours,
    worst_ratio,
)
from exactdp_proofs.papers.bv._errors import beyond, log_error
from exactdp_proofs.papers.bv._laws import (
    EXACT,
    STICKY,
    Table,
    fast,
    geo,
    histogram_law,
    weakened,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, fitted, mutant, weaker

_CASES = ((geo(1), 2), (geo(1, 2), 3), (geo(2), 3), (geo(3, 3), 2), (fast(2), 3), (fast(1, 3), 2))

#: n = 1, wrong with probability 1/100: the union bound is nearly attained.
_RARE = Table.of((Fraction(99, 100), Fraction(1, 100)), (Fraction(1, 100), Fraction(99, 100)))


def _one_u(noise: CountSampler, counts: Counts, universe: int) -> Law[Any]:
    """The same u for all bins in step 2a."""
    cdfs = [noise.cdf(counts.get(x, 0)) for x in range(universe)]
    d = lcm(*(cdf.denominator for cdf in cdfs))

    def noisy(u: int, cdf: RationalCdf) -> int:
        return next(z for z in range(noise.n + 1) if d * cdf.numerator(z) >= u * cdf.denominator)

    return Law.uniform(tuple(noisy(u, cdf) for cdf in cdfs) for u in range(1, d + 1))


@BV.holds("Algorithm 3")
@mutant("with the same u for all elements", by_hand=_one_u)
def algorithm_3(by_hand: Callable[..., Law[Any]] = histogram_law) -> None:
    """BasicHistogram as shipped releases independent noisy counts of all elements."""
    for noise, universe in _CASES:
        for counts in data_sets(noise.n, universe):
            stated = by_hand(noise, counts, universe).map(lambda z: tuple(enumerate(z)))
            law = BasicHistogram(noise, universe).law(counts, residual=0)
            equal(law, stated, n=noise.n, X=universe, counts=counts)


def _on(noise: CountSampler, counts: Counts, chosen: range) -> Law[Any]:
    """Noise on the bins of A only."""
    moved = {x - chosen.start: c for x, c in counts.items() if x in chosen}
    return histogram_law(noise, moved, len(chosen))


@BV.holds("Theorem 5.1", "on instances", ours=True)
@weaker
def theorem_5_1(loss: Fraction = Fraction(1)) -> None:
    """BasicHistogram on a fixed set A of bins is (epsilon, 0)-DP when the counting-query algorithm
    is (epsilon/2, 0)-DP.
    """
    for (noise, universe), start in product(_CASES, (0, 1)):
        chosen = range(start, universe)
        less = weakened(noise, loss)
        worst = worst_ratio(lambda counts: _on(less, counts, chosen), noise.n, universe)
        at_most(worst, noise.e_half_epsilon**2, n=noise.n, X=universe, A=len(chosen))


@BV.holds("Theorem 5.1", "neighbours")
@mutant("one count only", moved=1)
def changed_counts(moved: int = 2) -> None:
    """Replacing one row changes exactly two counts, each by one, which is why epsilon/2 per count
    is enough; two neighbours have at most n + 1 elements together (Section 1).
    """
    for n, universe in ((1, 3), (3, 4), (5, 3)):
        for counts in data_sets(n, universe):
            for other in neighbours(counts, universe):
                moves = [abs(counts.get(x, 0) - other.get(x, 0)) for x in range(universe)]
                at_most(len(counts.keys() | other.keys()), n + 1, counts=counts, other=other)
                equal(sorted(moves)[::-1][:3], [1, 1, 0][: moved + 1], counts=counts, other=other)


@BV.holds("Theorem 5.1", "accuracy")
@mutant(share=Fraction(98, 100))
def accuracy(share: Fraction = Fraction(1)) -> None:
    """If the algorithm errs by more than a with probability at most beta, so does each bin, and
    some bin of A with probability at most |A| beta.
    """
    for noise, universe in (*_CASES[:3], (EXACT, 3), (STICKY, 3), (_RARE, 3)):
        for a in range(noise.n + 1):
            beta = max(beyond(noise, c, a) for c in range(noise.n + 1))
            for size, counts in product(range(1, universe + 1), data_sets(noise.n, universe)):
                law = _on(noise, counts, range(size))
                off = [[abs(z - counts.get(x, 0)) > a for x, z in enumerate(h)] for h in law]
                some = sum((w for f, w in zip(off, law.weights.values(), strict=True) if any(f)))
                most = beta if size == 1 else share * size * beta
                at_most(Fraction(some), most, counts=counts, A=size, a=a)


@BV.holds("Section 5", "fixed A", no_mechanism="it says what is not private")
@mutant("it holds for that set", fixed=True)
def fixed_set(fixed: bool = False) -> None:
    """The guarantee is for a fixed set A. For the set of non-empty bins it fails: some release is
    impossible for a neighbour.
    """
    noise = geo(1)

    def law(counts: Counts) -> Law[Any]:
        chosen = tuple(range(3)) if fixed else tuple(counts)
        return histogram_law(noise, counts, 3).map(lambda z: tuple((x, z[x]) for x in chosen))

    for p, q in neighbouring_laws(law, 1, 3):
        holds(bool(p.support - q.support))


@BV.holds("Figure 1", "FastSample by Theorem 4.6")
@mutant(gamma=Fraction(51, 100))
def fast_by_theorem(gamma: Fraction = Fraction(1, 2)) -> None:
    """gamma = beta/(2|X|) leaves beta - gamma >= beta/2 per query and beta/|X| - gamma >=
    beta/(2|X|) per bin, so that Theorem 4.6 gives the row of FastSample for every |X|.
    """
    # 1/2 >= gamma u, u = 1/|X|; per bin both sides are divided by |X|, and u is 1
    never_negative([Fraction(1, 2), -gamma], 0, 1)


def _row(make: Callable[[int, int], CountSampler], epsilon: Fraction, argument: int,
         factor: Fraction) -> None:  # fmt: skip
    """Require errors ceil(factor/epsilon ln(argument/beta)), and with beta/|X| for all bins."""
    for beta, universe in product((Fraction(9, 10), Fraction(1, 2), Fraction(1, 50)), (2, 100)):
        noise = make(universe, ceil(2 * universe / beta))
        for share in (1, universe):
            a = log_error(factor / epsilon, argument * share / beta)
            for c in (0, 1, noise.n // 2, noise.n):
                fails = beyond(noise, c, a)
                at_most(fails, beta / share, epsilon=epsilon, beta=beta, share=share, c=c)


@BV.holds("Figure 1", "row GeoSample")
@mutant(factor=Fraction(43, 10))
def row_geo_sample(factor: Fraction = Fraction(9, 2)) -> None:
    """GeoSample errs by more than ceil(9/(2 epsilon) ln(1/beta)) with probability at most beta, by
    more than ceil(9/(2 epsilon) ln(|X|/beta)) with at most beta/|X|, also for real epsilon < 1.
    """
    for epsilon in (
        Fraction(1),
        Fraction(1, 2),
        Fraction(1, 9),
        Fraction(99, 100),
        Fraction(3, 10),
    ):
        noise = GeoSample(ceil(40 / epsilon), epsilon, power_of_two=True)
        _row(lambda universe, g: noise, epsilon, 1, factor)


@BV.holds("Figure 1", "row FastSample")
@mutant(factor=Fraction(38, 10))
@fitted(factor=Fraction(39, 10))
def row_fast_sample(factor: Fraction = Fraction(9, 2)) -> None:
    """With gamma = beta/(2|X|), FastSample errs by more than ceil(9/(2 epsilon) ln(2/beta)) with
    probability at most beta, by more than ceil(9/(2 epsilon) ln(2|X|/beta)) with at most beta/|X|.
    """
    for inverse in (1, 2, 9, 65):
        epsilon = Fraction(1, inverse)
        _row(lambda universe, g: fast(1000 * inverse, inverse, g), epsilon, 2, factor)
