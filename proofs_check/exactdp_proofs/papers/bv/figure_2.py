"""BV, Figure 2: errors of the sparse histogram; which gamma gives the row of FastSample."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from flint import arb

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import FixedTimeSparseHistogram, SparseHistogram
from exactdp.samplers import GeoSample
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, below, every
from exactdp_proofs.papers.bv._accuracy import released, situations
from exactdp_proofs.papers.bv._data_sets import Counts, neighbouring_laws
from exactdp_proofs.papers.bv._errors import beyond, log_error
from exactdp_proofs.papers.bv._laws import EXACT, SKEW, STICKY, geo, weakened
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, as_printed, mutant, weaker


@BV.holds("Figure 2", "row GeoSample by Theorem 6.6")
@mutant("threshold with ln(3.9 |X|/beta)", threshold=Fraction(39, 10))
def row_geo_sample(threshold: Fraction = Fraction(4)) -> None:
    """With beta_1 = beta_2 = beta/6 Theorem 6.6 leaves beta_3 = beta/4 per query, beta/2 at once.
    By Theorem 4.5 that gives ceil(9/(2 epsilon) ln(4/beta)) per query on counts above
    2 ceil(9/(2 epsilon) ln(4|X|/beta)), and 2 ceil(9/(2 epsilon) ln(2|X|/beta)) at once.
    """
    rest = 1 - Fraction(1, 6) - Fraction(2, 6)
    columns = ((rest / 2, Fraction(4)), (rest, Fraction(2)), (rest / 2, threshold))
    for share, argument in every("the three columns, for every beta and |X|", columns):
        at_most(1, share * argument, share=share)  # ln(argument/beta) >= ln(1/(share beta))


@BV.holds("Figure 2", "each bin once", ours=True)
@mutant("by P(another errs by > a_2) alone", own=0)
def each_bin_once(own: int = 1) -> None:
    """KeepHeavy errs by more than a_1 on a bin of count > 2 a_2 with probability at most P(noise on
    this bin errs by > a_1) + P(noise on another one errs by > a_2); Theorem 6.1 adds this bin to
    the others.
    """
    cases = ((geo(1), 3), (geo(2), 4), (geo(3), 4), (EXACT, 3), (STICKY, 4), (SKEW, 4))
    for noise, universe, counts, a_1, a_2, _ in situations(cases):
        law = released(noise, counts, universe)
        for i, c in enumerate(counts):
            if c > 2 * a_2:
                fine = (1 - beyond(noise, 0, a_2)) ** (universe - len(counts))
                for other in (*counts[:i], *counts[i + 1 :]):
                    fine *= 1 - beyond(noise, other, a_2)
                fails = law.probability(lambda h: abs(h[0][i] - c) > a_1)
                most = own * beyond(noise, c, a_1) + 1 - fine
                at_most(fails, most, counts=counts, bin=i, X=universe, a_1=a_1, a_2=a_2)


@BV.holds("Figure 2", "row FastSample, sum of the probabilities")
@mutant("counting the queried bin twice, as Theorem 6.6 does", bins=0)
def row_fast_sample(bins: int = 1) -> None:
    """Error and threshold of the row hold with the printed gamma = beta/(4|X|), because each bin is
    counted once: beta_1 + 2 beta_2 + (beta/8 + gamma) + (|X| - 1)(beta/(8|X|) + gamma) <= beta, by
    Theorem 4.6.
    """
    # beta less the sum, in units of beta, with u = 1/|X|
    never_negative([0, bins * (Fraction(1, 8) + Fraction(1, 4)) - Fraction(1, 4)], 0, 1)


@BV.holds("Figure 2", "row FastSample, other columns by Theorem 6.6")
@mutant(gamma=Fraction(26, 100))
def other_columns(gamma: Fraction = Fraction(1, 4)) -> None:
    """gamma = beta/(4|X|) suffices in Theorems 4.6 and 6.6 for the per-query error with ln(8/beta),
    |X| >= 2, and for the simultaneous error with ln(4|X|/beta).
    """
    # 8 (1/4 - gamma u) >= 1, u = 1/|X|; the other one is 4 (1/2 - gamma) >= 1, the same at u = 1/2
    never_negative([1, -8 * gamma], 0, Fraction(1, 2))


@BV.holds("Figure 2", "row FastSample, threshold by Theorem 6.6", ours=True)
@mutant(gamma=Fraction(126, 1000))
def threshold_by_theorem(gamma: Fraction = Fraction(1, 8)) -> None:
    """gamma <= beta/(8|X|) gives the (a_2, beta/4)-simultaneous accuracy that the threshold 2 a_2
    needs in Theorem 6.6, a_2 = ceil(9/(2 epsilon) ln(8|X|/beta)). For the printed beta/(4|X|)
    Theorem 4.6 says nothing, because beta/(4|X|) is not larger than gamma.
    """
    never_negative([1, -8], 0, gamma)  # 8 (1/4 - gamma) >= 1, whatever |X| is


@cache
def _failure(gamma: Fraction) -> arb:
    """P(some empty bin errs by > a_2)/beta for clamped noise mixed with gamma beta/|X| of uniform
    counts, exactly."""
    inverse, n, universe, beta = 33, 5 * 10**5, 2 * 10**6, Fraction(1, 100)
    a, q = log_error(Fraction(9 * inverse, 2), 8 * universe / beta), geo(1, inverse).q
    weight = gamma * beta / universe
    above = (1 - weight) * q ** (a + 1) / (1 + q) + weight * Fraction(n - a, n + 1)
    with precision(256):
        return -((-ball(above)).log1p() * (universe - 1)).expm1() / ball(beta)


@BV.holds("Figure 2", "row FastSample, exact failure", ours=True)
@mutant(gamma=Fraction(1, 4))
def exact_failure(gamma: Fraction = Fraction(249, 1000)) -> None:
    """At epsilon = 1/33, n = 5 10^5, |X| = 2 10^6, beta = 1/100 noise with weight gamma of uniform
    counts on some empty bin errs by more than a_2 with probability below beta/4 for
    gamma = 0.249 beta/|X|, but not for the printed beta/(4|X|).
    """
    below(_failure(gamma), Fraction(1, 4))


def _sparse(counts: Counts, noise: GeoSample) -> Law[Any]:
    return SparseHistogram(noise, 3, Fraction(1, 20)).law(counts, residual=0)


def _pure(counts: Counts, noise: GeoSample) -> Law[Any]:
    return FixedTimeSparseHistogram(noise, 3, gamma_bits=6).law(counts, residual=0)


@BV.note("Figure 2", "caption", severity="unsafe")
@as_printed(mechanism=_sparse)
@weaker
def caption(mechanism: Callable[..., Law[Any]] = _pure, loss: Fraction = Fraction(1)) -> None:
    r"""The figure is about an (epsilon, 0)-DP release of SparseHistogram.

    Printed (Section 6.2, Figure 2, caption, line 485): Figure 2 The running time and errors of
        SparseHistogram_{$\mathcal{M},\varepsilon,\beta/6,\beta/6$}(D)
    Corrected: PureSparseHistogram is meant, whose four parameters these are. SparseHistogram has
        three and is (epsilon, (e^epsilon + 1) delta)-DP only.
    Extraction: no: the name is printed in full.
    """
    noise = weakened(geo(1), loss)
    for p, q in neighbouring_laws(lambda counts: mechanism(counts, noise), 1, 3):
        at_most(Fraction(max_loss(p, q)), geo(1).e_half_epsilon ** 2)
