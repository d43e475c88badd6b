"""BV, Section 6.2: KH'' approximated in strict time, and pure privacy by mixing (Theorem 6.6)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import factorial
from typing import Any

from flint import arb

from exactdp.accounting.divergence import hockey_stick, max_loss, total_variation
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import FixedTimeSparseHistogram, KeepHeavy, SparseHistogram
from exactdp.mechanisms.histograms.mixture import mixed_law
from exactdp.samplers import GeoSample
from exactdp.samplers.rounded_order_statistics import truncated_power
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.bv._data_sets import (
    Counts,
    data_sets,
    neighbouring_laws,
    neighbours,
)
from exactdp_proofs.papers.bv._laws import fast, geo, weakened
from exactdp_proofs.papers.bv._printed import kh_second, random_histogram
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import BV, as_printed, fitted, mutant

BV.not_checkable(
    "Theorem 6.5",
    "For every (epsilon/2, 0)-DP algorithm M some (epsilon, (e^epsilon + 1) delta)-DP algorithm "
    "SparseHistogram takes time quasi-linear in n and polynomial in log|X|, log d, log(1/delta).",
    "a statement of existence, with an asymptotic running time in the word RAM model",
)


def _sparse(counts: Counts, noise: GeoSample, universe: int, delta: Fraction) -> Law[Any]:
    return SparseHistogram(noise, universe, delta).law(counts, residual=0)


def _kh_second(counts: Counts, noise: GeoSample, universe: int, delta: Fraction) -> Law[Any]:
    """KH'' as printed, which a small delta would approximate."""
    return kh_second(noise, counts, universe, 2)


@BV.holds("Theorem 6.5", "shipped code for one row", slack="rounding costs less than delta")
@mutant("KH'' with OrdSample as printed", law=_kh_second)
def theorem_6_5(law: Callable[..., Law[Any]] = _sparse, loss: Fraction = Fraction(1)) -> None:
    """SparseHistogram as shipped, within delta of KeepHeavy, is (epsilon, (e^epsilon + 1) delta)-DP
    for n = 1. KH'' as printed (BV-Lemma-2.9) is not.
    """
    e, noise = geo(1).e_half_epsilon ** 2, weakened(geo(1), loss)
    for universe, delta in ((3, Fraction(1, 20)), (4, Fraction(1, 400)), (3, Fraction(1, 10**4))):
        for p, q in neighbouring_laws(
            lambda counts: law(counts, noise, universe, delta), 1, universe
        ):
            worst = hockey_stick(p, q, e_epsilon=e).upper
            at_most(worst, (e + 1) * delta, X=universe, delta=delta)


@BV.holds("Theorem 6.5", "from distance to delta")
@mutant("e^epsilon delta", more=0)
def from_distance(more: int = 1, loss: Fraction = Fraction(1)) -> None:
    """A mechanism within total variation distance delta of an (epsilon, 0)-DP one is
    (epsilon, (e^epsilon + 1) delta)-DP, and no smaller factor of delta suffices.
    """
    quarters = [Fraction(i, 4) for i in range(5)]
    for e in (Fraction(3, 2), Fraction(3), Fraction(10)):
        least = 1 / (raised(e, loss) + 1)  # of randomised response
        laws = [Law({0: p, 1: 1 - p}) for p in (*quarters, least, 1 - least)]
        for p, q, near_p, near_q in product(laws, repeat=4):
            if max(max_loss(p, q), max_loss(q, p)) <= raised(e, loss):
                delta = max(total_variation(p, near_p).upper, total_variation(q, near_q).upper)
                worst = hockey_stick(near_p, near_q, e_epsilon=e).upper
                at_most(worst, (e + more) * delta, e_epsilon=e, P=near_p, Q=near_q)
        # randomised response, both of its laws moved by delta = 1/(e + 1)
        moved = hockey_stick(Law.point(0), Law.point(1), e_epsilon=e).upper
        equal(moved, (e + more) / (e + 1), e_epsilon=e)


@BV.holds("Theorem 6.5", "distance of the shipped code", ours=True, slow=True)
@mutant(share=Fraction(36, 1000))
@fitted(share=Fraction(4, 100))
def distance(share: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """SparseHistogram as shipped lies within delta of KeepHeavy's law."""
    for noise, universe, delta in ((geo(1), 4, Fraction(1, 400)), (fast(1), 3, Fraction(1, 20))):
        for counts in data_sets(noise.n, universe):
            mechanism = SparseHistogram(weakened(noise, loss), universe, delta)
            law = mechanism.law(counts, residual=0)
            gap = total_variation(law, KeepHeavy(noise, universe).law(counts, residual=0)).upper
            at_most(gap, share * delta, counts=counts, X=universe)


@BV.holds("Section 6.2", "repeated squaring")
@mutant(share=Fraction(89, 100))
def repeated_squaring(share: Fraction = Fraction(1)) -> None:
    """Repeated squaring in which every product is cut to a multiple of 1/s gives (a/b)^i from below
    within (2i - 1)/s, as a multiple of 1/s that is at most 1.

    Note: the paper announces the method without an error bound; this one is derived here.
    """
    for scale, b in product((7, 64, 1000), (3, 5, 10)):
        for a, i in product(range(b + 1), range(1, 31)):
            y, exact = truncated_power(a, b, i, scale), Fraction(a, b) ** i
            at_most(y, scale, a=a, b=b, i=i, s=scale)
            at_most(Fraction(y, scale), exact, a=a, b=b, i=i, s=scale)
            at_most(exact - Fraction(y, scale), share * Fraction(2 * i - 1, scale), a=a, b=b, i=i)


@BV.note(
    "Algorithm 8", "exponent of delta", severity="unsafe", no_mechanism="the least mass of a law"
)
@as_printed(r=1)
@mutant(factor=Fraction(5, 2))
@fitted(factor=Fraction(3))
def exponent(r: int = 0, factor: Fraction = Fraction(6)) -> None:
    r"""Step 2 reaches every histogram with at most n non-zero counts with probability at least
    (1/(6|X|))^r, which Lemma 3.1 needs of the delta in step 1.

    Printed (Section 6.2, Algorithm 8, step 1, line 462): \delta = \frac{\varepsilon}{3} \cdot
        \beta_2 \cdot \left(\frac{1}{6 \cdot |\mathcal{X}|}\right)^r
    Corrected: The exponent is n; no r is defined. The least probability is n!/(|X|(n + 1))^n for
        |X| >= n. The running time n^2 log^2|X| fits the exponent n, too.
    Extraction: possible: an n may be read as r.
    """
    for n, universe in ((1, 4), (1, 7), (2, 3), (2, 8), (3, 3), (3, 5)):
        least = min(random_histogram(n, universe).weights.values())
        equal(least, Fraction(factorial(n), (universe * (n + 1)) ** n), n=n, X=universe)
        at_most(1 / (factor * universe) ** (r or n), least, n=n, X=universe)
    for n in range(1, 300):
        at_most((n + 1) ** n, factorial(n) * factor**n, n=n)


@BV.holds("Algorithm 8", "epsilon/3", no_mechanism="an inequality in epsilon")
@mutant(share=Fraction(47, 100))
@fitted(share=Fraction(46, 100))
def epsilon_third(share: Fraction = Fraction(1, 3)) -> None:
    """epsilon/3 <= (e^epsilon - 1)/(e^epsilon + 1) for 0 < epsilon <= 1, so that the delta of step
    1, with exponent n, meets the condition of Lemma 3.1.
    """

    def gap(x: arb) -> arb:
        # (e^x - 1)/(e^x + 1) - t x has the sign of (e^x - 1)/x - t (e^x + 1); the terms of the
        # series that are dropped are positive
        series = sum((x**k / factorial(k + 1) for k in range(20)), arb(0))
        return series - ball(share) * (x.exp() + 1)

    always_positive(gap, [(0, 1)])


BV.not_checkable(
    "Theorem 6.6",
    "PureSparseHistogram is (epsilon, 0)-DP, in time quadratic in n and polynomial in log|X| and "
    "log(d/epsilon).",
    "for every M, n and X. By Lemma 3.1 and Algorithm 8 it is private if SparseHistogram is within "
    "delta of an (epsilon, 0)-DP mechanism, which KH'' as printed is not; the running time is "
    "asymptotic",
    rests_on="BV-Lemma-2.9",
)


def _shipped(counts: Counts, noise: GeoSample, universe: int) -> Law[Any]:
    mechanism = FixedTimeSparseHistogram(noise, universe, gamma_bits=6)
    return mechanism.law(counts, residual=0)


def _printed(counts: Counts, noise: GeoSample, universe: int) -> Law[Any]:
    """Algorithm 8 on KH'' as printed, without its delta: beta_1 = 1/2, beta_2 = 1/100."""
    sparse = kh_second(noise, counts, universe, 2)
    return mixed_law(sparse, random_histogram(noise.n, universe), Fraction(1, 100))


def _require_pure(
    mechanism: Callable[..., Law[Any]],
    sets: list[Counts],
    inverse: int,
    universe: int,
    loss: Fraction,
) -> None:
    """Require ratios of at most e^epsilon between these data sets, epsilon = 1/inverse."""
    noise = GeoSample(sum(sets[0].values()), loss / inverse)
    laws = [mechanism(counts, noise, universe) for counts in sets]
    with precision(128):
        for (one, p), (other, q) in product(zip(sets, laws, strict=True), repeat=2):
            if other in neighbours(one, universe):
                spent, most = ball(Fraction(max_loss(p, q))).log(), ball(Fraction(1, inverse))
                at_most(spent, most, X=universe, epsilon=most, D=one, E=other)


@BV.conditional("Theorem 6.6", "privacy for one row", rests_on="BV-Lemma-2.9")
@mutant("with OrdSample as printed", mechanism=_printed)
def one_row(mechanism: Callable[..., Law[Any]] = _shipped, loss: Fraction = Fraction(1)) -> None:
    """PureSparseHistogram is (epsilon, 0)-DP for n = 1.

    Condition: the order statistics are drawn with their ties, as the library does in strict time.
    Note: the property itself is missing from the text; Theorem 1.4 and Figure 2 promise it. The
        mutant takes Algorithm 8 without its delta.
    """
    for inverse, universe in ((1, 4), (8, 4)):
        _require_pure(mechanism, data_sets(1, universe), inverse, universe, loss)


@BV.conditional("Theorem 6.6", "privacy for two rows", rests_on="BV-Lemma-2.9", slow=True)
@mutant("with OrdSample as printed", mechanism=_printed)
def two_rows(mechanism: Callable[..., Law[Any]] = _shipped, loss: Fraction = Fraction(1)) -> None:
    """PureSparseHistogram is (epsilon, 0)-DP for n = 2, between data sets of each shape.

    Condition: the order statistics are drawn with their ties, as the library does in strict time.
    """
    sets = [{0: 2}, {0: 1, 1: 1}, {0: 1, 7: 1}, {3: 1, 7: 1}, {7: 2}]
    _require_pure(mechanism, sets, 1, 8, loss)


@BV.holds("Theorem 6.6", "accuracy from that of KH''")
@mutant(times=Fraction(199, 100))
def accuracy(times: Fraction = Fraction(2)) -> None:
    """If KH'' errs with probability at most beta_1 + 2 beta_3 per query and beta_1 + beta_3 at once
    (Theorem 6.4), then PureSparseHistogram, which approximates KH'' within delta <= beta_2, errs
    with 2 beta_2 more: (1 - beta_2)(f + delta) + beta_2 <= f + 2 beta_2.
    """
    # the right side less the left one at the worst f = 0 and delta = beta_2
    never_negative([0, times - 2, 1], 0, 1)
