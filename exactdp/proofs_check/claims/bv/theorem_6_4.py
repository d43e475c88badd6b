"""BV, Theorem 6.4: KH'' inherits the wrong order statistics, and is not as private as stated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import KeepHeavySampled
from exactdp.mechanisms.histograms.mixture import mixed_law
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.bv._accuracy import per_query_failure, simultaneous_failure
from exactdp.proofs_check.claims.bv._accuracy import require_heavy_accuracy as accuracy
from exactdp.proofs_check.claims.bv._data_sets import Counts, require_pure
from exactdp.proofs_check.claims.bv._laws import EXACT, STICKY, fast, geo, top_values
from exactdp.proofs_check.claims.bv._printed import kh_second, too_few_distinct
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]

Mechanism = Callable[[CountSampler, Counts, int, int], Law[Any]]

_CASES = ((geo(1), 4), (geo(1, 2), 5), (fast(1), 4))


def _corrected(noise: CountSampler, counts: Counts, universe: int, inverse: int) -> Law[Any]:
    """Algorithm 7 with order statistics that know ties."""
    n = noise.n
    fails = too_few_distinct(universe, (4 * n + 2) * inverse, 2 * n + 1)
    heavy = KeepHeavySampled(noise, universe).law(counts, residual=0)
    return mixed_law(heavy, Law.point(()), fails)


def _private(law: Mechanism) -> str:
    worst = [
        require_pure(
            lambda counts: law(noise, counts, universe, 2),
            noise.n,
            universe,
            noise.e_half_epsilon**2,
        )
        for noise, universe in _CASES
    ]
    return "worst ratios " + ", ".join(map(str, worst)) + " within (1 + 2^-b)^2"


def _accurate(failure: Callable[..., Fraction], share: Fraction) -> str:
    """KH'' fails with probability at most share p + beta_2, p that of too few elements."""
    several = ((geo(1), 4), (EXACT, 4), (STICKY, 8))
    programs = (*product((_corrected,), several), *product((kh_second,), several[:2]))
    for inverse, (law, (noise, universe)) in product((1, 2), programs):
        n = noise.n
        few = too_few_distinct(universe, (4 * n + 2) * inverse, 2 * n + 1)
        require(few <= Fraction(1, inverse), f"n={n}, |X|={universe}: {few} > beta_1 = 1/{inverse}")
        accuracy(
            lambda noise, counts, universe: law(noise, counts, universe, inverse),
            ((noise, universe),),
            failure,
            1,
            share * few,
        )
    return "beta_1 = 1 and 1/2, every data set, every a_1 <= a_2; printed and corrected law"


def _random_bits(hundredths: int) -> str:
    """With r random bits probabilities are multiples of 2^-r; here one is in (0, 2^-(share m)]."""
    for n, inverse, m in product((1, 2, 5), (1, 2, 3), (10, 100)):
        zero = geo(n, inverse).law(0)[0] ** m
        with precision(128):
            bits, least = -ball(zero).log() / ball(2).log(), ball(Fraction(hundredths * m, 100))
            case = f"n={n}, epsilon=1/{inverse}, m={m}: P(largest = 0) = 2^-{bits.str(5)}"
            require(bool(bits >= least), f"{case}, not below 2^-{hundredths * m / 100}")
    return "n up to 5, three epsilon, m = 10 and 100"


def _small_probability(base: Fraction) -> str:
    """P(Z_(m) = 0) = P(M(0) = 0)^m <= base^m for GeoSample with epsilon <= 1."""
    for noise in (geo(1), geo(2), geo(3, 4)):
        law = noise.law(0)
        for m in range(1, 7):
            exact = top_values([law[z] for z in range(noise.n + 1)], m, 1)[(0,)]
            require(exact == law[0] ** m, f"n={noise.n}, m={m}: {exact}")
            require(exact <= base**m, f"n={noise.n}, m={m}: {exact} > {base}^m")
    return "three samplers, m <= 6, all tuples"


CLAIMS = (
    Refuted(
        paper="BV",
        item="Theorem 6.4",
        printed=Printed(
            r"Then $\texttt{KH}''_{\mathcal{M},\beta_1} : \mathcal{X}^n \to "
            r"\mathcal{H}_{n,n}(\mathcal{X})$ has the following properties: - "
            r"$= (\varepsilon, 0) \text{-} differential privacy.}$",
            "Section 6.1, Theorem 6.4, first property",
            431,
        ),
        follows_from="BV-Lemma-2.9",
        statement="KH'', which draws the counts of empty bins by OrdSample, is (epsilon, 0)-DP "
        "when the counting-query algorithm is (epsilon/2, 0)-DP.",
        note="the theorem writes BasicHistogram_X(D, M) for what "
        "Algorithm 3 calls BasicHistogram_{M,X}(D)",
        severity="unsafe",
        method="exact law",
        check=lambda: _private(kh_second),
        example="""
>>> from fractions import Fraction as Q
>>> keep, flip = Q(3, 5), Q(2, 5)      # n = 1, epsilon = 1: M(c) = c with probability 3/5
>>> empty = keep**3                    # |X| = 4: all three empty bins stay 0
>>> second = keep**2                   # Algorithm 6: second value 0, given that the first is 1
>>> D = keep * empty                   # only the bin of the one row is released, with count 1
>>> E = flip * Q(1, 3) * (1 - empty) * second   # the same output from the neighbour's empty bin
>>> D / E, (1 + Q(1, 2))**2            # ratio, and e^epsilon of two GeoSample counts
(Fraction(675, 196), Fraction(9, 4))
>>> float(D / E) > 2.7182818285        # more than the nominal e^1, too
True
""",
        extraction="no: the fault is in Lemma 2.9, which formula, algorithm and prose repeat",
        corrected=BV.verified(
            "Theorem 6.4, corrected",
            "With the order statistics drawn with their ties, KH'' is (epsilon, 0)-DP.",
            "exact law",
            **varied(_private, _corrected, kh_second, "with OrdSample as printed"),
        ),
    ),
    BV.verified(
        "Theorem 6.4, per-query accuracy",
        "If noise on every bin errs by more than a_1 on one bin, and by more than "
        "a_2 >= a_1 on some bin, with probability at most beta_2 each, KH'' errs by more than a_1 "
        "on a bin of count > 2 a_2 with probability at most beta_1 + 2 beta_2, in these cases "
        "(n <= 2, where only a_1 = a_2 = 0 asks for anything) even p + beta_2, p the exact "
        "probability of too few elements (far below beta_1).",
        "exact law",
        **varied(
            partial(_accurate, per_query_failure),
            Fraction(1),
            Fraction(95, 100),
            "even 0.95 p + beta_2",
        ),
        note="accuracy needs only the largest empty count, whose law Algorithm 6 gets right",
    ),
    BV.verified(
        "Theorem 6.4, simultaneous accuracy",
        "Under the same conditions KH'' errs by more than 2 a_2 on some bin with "
        "probability at most beta_1 + beta_2, in these cases (n <= 2, as above) even p + beta_2, "
        "p as above.",
        "exact law",
        **varied(
            partial(_accurate, simultaneous_failure),
            Fraction(1),
            Fraction(95, 100),
            "even 0.95 p + beta_2",
        ),
    ),
    BV.verified(
        "Section 6.1, small probabilities",
        "The largest of m noisy empty counts is 0 with probability P(M(0) = 0)^m, at "
        "most (3/5)^m for GeoSample: exponentially small in m.",
        "enumeration",
        **varied(_small_probability, Fraction(3, 5), Fraction(59, 100), "at most 0.59^m"),
    ),
    BV.verified(
        "Section 6.1, running time of KH''",
        "Sampling the largest of m noisy empty counts exactly takes at least 0.73 m "
        "random bits for some outcome: its probability is positive and at most 2^(-0.73 m).",
        "exact law",
        **varied(_random_bits, 73, 74, "0.74 m"),
        note="so the time is at least linear in m >= |X| - n, up to the word length; said of "
        "OrdSample with GeoSample, it holds for every exact sampler",
    ),
    BV.not_checkable(
        "Section 6.1, necessity of the threshold",
        "Every sparse algorithm loses per-query accuracy on counts below O(log(|X|/beta)/epsilon).",
        "up to constants; rests on Theorem 1.5, which needs an error below n",
    ),
)
