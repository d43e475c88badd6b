"""ALP, Sections 1, 3 and 11: the announced results, earlier mechanisms, and the open problem."""

from __future__ import annotations

from itertools import product
from math import ceil

import sympy as sp

from exactdp.balls import ball, refine
from exactdp.mechanisms.projections import alp as shipped
from exactdp.mechanisms.projections.noisy_rows import DenseLaplace
from exactdp.mechanisms.projections.thresholds import Threshold, usual_threshold
from exactdp.parameters import Real
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.alp._shipped import literal, words
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, mutant

_GRID = Fraction(1, 2**20)

ALP.not_checkable(
    "Theorem 1.1",
    "There is an (epsilon, delta)-differentially private representation with the error of the "
    "Laplace mechanism up to constants, small space and fast access.",
    "informal and asymptotic; its parts are under Theorems 5.10 and 5.11, of which the second "
    "needs epsilon = O(log(1/delta)) and delta = O(1/k)",
    rests_on="ALP-Lemma-5.7",
)


@ALP.holds("Theorem 1.1", "space of hash functions")
@mutant(least=Fraction(9, 10))
def hash_cost(least: Fraction = Fraction(1)) -> None:
    """From k = log2 d on, the hash functions as shipped take at most 2.2 times the space of the
    bit array with s = 3k rows, for d from 2^30 on.
    """
    for log_d, eps, share in product((30, 64, 129, 300), (1, 5), (1, 2, 10)):
        k, t = ceil(share * least * log_d), usual_threshold(2**log_d, Fraction(eps), _GRID)
        mechanism = literal(t * eps, Fraction(3), k, 3 * k, 2**log_d)
        bits = words(mechanism.levels, 2**log_d)
        at_most(bits, Fraction(11, 5) * mechanism.layout.size, log_d=log_d, eps=eps, times=share)


@ALP.holds("Section 1.2", "constant flip probability")
@mutant("in Algorithm 10, too", histogram=True)
def constant_flip(histogram: bool = False) -> None:
    """The flip probability of the shipped projection does not depend on epsilon and is at most 1/3
    for alpha >= 1.
    """
    for alpha, eps in product((1, 3, 10), (Fraction(1, 100), Fraction(20))):
        if histogram:
            flip = shipped.HistogramALP(d=1, k=1, s=3, largest=1, epsilon=eps).flip
        else:
            flip = shipped.ALP(d=1, k=1, s=3, largest=1, epsilon=eps, alpha=alpha, steps=1).flip
        equal(flip, Fraction(1, alpha + 2), alpha=alpha, eps=eps)


ALP.not_checkable(
    "Section 1",
    "The error O(1/epsilon) is optimal [HT10]; [KKMN09] has O(log(1/delta)/epsilon), [CPST12] "
    "O(log(d)/epsilon), and [BV19] needs time about n/epsilon.",
    "cited; asymptotic",
    "cited error bounds",
)
ALP.not_checkable(
    "Table 1",
    "Evaluation time, kind of error, input domain and tail bounds of the variants of Sections 5 to "
    "8.",
    "a summary of asymptotic statements; columns read are counted under Theorem 5.10, Lemma 6.2, "
    "Algorithm 10 and Corollary 8.3, errors are under Lemmas 5.5, 6.2, 7.3 and 8.2, tails under "
    "Lemmas 4.9 to 4.15 and Section 8, and that Section 7 needs integers is under Lemma 7.1",
)


@ALP.conditional("Table 1", "evaluation time of Section 7")
@mutant(least=Fraction(1, 2))
def table_1_histograms(least: Fraction = Fraction(1)) -> None:
    """With the threshold technique, beta = t = 2 ln(d)/epsilon and epsilon >= 1, histograms take at
    most 2 ln(d) + 1 columns as shipped, so the evaluation time is O(log d).

    Condition: epsilon = Omega(1). Algorithm 10 does not scale its entries, so it has
        O(log(d)/epsilon) columns, as Section 7 says of the bits.
    """
    for bits, times in product((1, 10, 64), (1, 2, 8)):
        eps = times * least
        t = usual_threshold(2**bits, eps, _GRID)
        m = shipped.HistogramALP(d=2**bits, k=1, s=3, largest=ceil(t), epsilon=eps).levels
        at_most(m, 2 * refine(lambda: bits * ball(2).log()).lower + 1, log_d=bits, times=times)


ALP.not_checkable(
    "Table 2",
    "Space, access time, expected and maximum error of six mechanisms for worst-case input.",
    "asymptotic and partly cited. The Laplace mechanism is under Proposition 2.5, Cormode et al. "
    "under Section 3 and Lemma 5.2, Korolova et al. under Section 3, Theorem 5.10 under Lemmas 5.4 "
    "and 5.5, Theorem 5.11 under Lemmas 5.7 to 5.9, where epsilon = O(log(1/delta)) is needed",
    rests_on="ALP-Lemma-5.7",
)


@ALP.holds("Section 3", "threshold of [KKMN09]")
@mutant(shift=0)
def kkmn_threshold(shift: int = 1) -> None:
    """With t = 1 + ln(1/(2 delta))/epsilon and delta <= 1/2 an entry of 1 is released with
    probability delta.

    Note: the text says O(log(1/delta)/epsilon) + 1.
    """
    eps, delta = sp.symbols("varepsilon delta", positive=True)
    t = shift + sp.log(1 / (2 * delta)) / eps
    identity(sp.exp(sp.expand(-eps * (t - 1))) / 2 - delta)


@ALP.holds("Section 3", "entry at the threshold")
@mutant(share=Fraction(49, 100))
def at_threshold(share: Fraction = Fraction(1, 2)) -> None:
    """An entry of size t is removed by any negative noise, so its expected error is
    t/2 + 1/(2 epsilon).
    """
    eps, t, h = sp.symbols("varepsilon t h", positive=True)
    density = eps / 2 * sp.exp(-eps * h)  # of the noise h, and of -h
    error = sp.integrate(t * density + h * density, (h, 0, sp.oo))
    identity(error - sp.Rational(str(share)) * t - 1 / (2 * eps))


@ALP.holds("Section 3", "construction of [CPST12]")
@mutant("noise and a threshold one step higher", dropped=1)
def cpst_construction(dropped: int = 0) -> None:
    """Drawing the number of stored zeros from a binomial distribution and then their places, as the
    library does, gives the law of noise on every entry and a threshold.
    """
    mechanism = Threshold(d=2, k=1, largest=2, epsilon=1, grid=1, t=1)
    every = DenseLaplace(d=2, k=1, largest=2, epsilon=1, grid=1)
    vectors: tuple[dict[int, Real], ...] = ({}, {1: 2}, {0: 1})
    for x in vectors:
        kept = every.law(x, None).map(
            lambda values: tuple((i, v) for i, v in enumerate(values) if v >= 1 + dropped)
        )
        equal(mechanism.law(x), kept, x=x)


ALP.not_checkable(
    "Section 3",
    "[KKMN09] has maximum error O(log(max(k, 1/delta))/epsilon), [CPST12] stores O(k) noisy "
    "entries with high probability, and by [BV19] mechanisms with sparse output have error "
    "Omega(min(log d, log(epsilon/delta), n)/epsilon).",
    "cited; asymptotic. Lemmas 5.2 and 5.7 have precise forms for the variants of this paper",
    "earlier bounds",
)
ALP.not_checkable(
    "Section 11",
    "Constant access time with the same space and error and strong tails is open.",
    "an open problem",
)
