"""BV, Algorithm 8 and Theorem 6.6: pure differential privacy by mixing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb, factorial
from typing import Any

from flint import arb

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import StrictPureSparseHistogram
from exactdp.mechanisms.histograms.mixture import mixed_law
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.bv._accuracy import (
    per_query_failure,
    require_heavy_accuracy,
    simultaneous_failure,
)
from exactdp.proofs_check.claims.bv._data_sets import Counts, worst_ratio
from exactdp.proofs_check.claims.bv._laws import EXACT, geo
from exactdp.proofs_check.claims.bv._printed import kh_second, random_histogram, too_few_distinct
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]


#: The law for some counts, built for epsilon = 1/inverse and a universe.
Mechanism = Callable[[Counts, int, int], Law[Any]]


def _private(mechanism: Mechanism) -> str:
    """The ratio of output probabilities is at most e^epsilon, for n = 1."""
    found = []
    for inverse, universe in ((1, 4), (8, 3)):
        worst = worst_ratio(lambda counts: mechanism(counts, inverse, universe), 1, universe)
        case = f"|X|={universe}, epsilon=1/{inverse}: ratio {float(worst):.6f}"
        with precision(128):
            most = ball(Fraction(1, inverse)).exp()
            within = isinstance(worst, Fraction) and bool(ball(worst) <= most)
        require(within, f"{case} > {most.str(7)}")
        found.append(f"{case} <= {most.str(7)}")
    return "; ".join(found)


def _printed(counts: Counts, inverse: int, universe: int) -> Law[Any]:
    """Algorithm 8 on KH'' as printed, without its delta: beta_1 = 1/2, beta_2 = 1/100."""
    sparse = kh_second(geo(1, inverse), counts, universe, 2)
    return mixed_law(sparse, random_histogram(1, universe), Fraction(1, 100))


def _shipped(counts: Counts, inverse: int, universe: int) -> Law[Any]:
    mechanism = StrictPureSparseHistogram(geo(1, inverse), universe, mixing_bits=6)
    return mechanism.law(counts, residual=0)


def _least_probability(factor: Fraction) -> str:
    """Step 2 of Algorithm 8 reaches every histogram with probability >= (factor |X|)^-n."""
    cases = 0
    for n, universe in product((1, 2, 3), range(1, 9)):
        law = random_histogram(n, universe)
        outputs = sum(comb(universe, k) * n**k for k in range(min(n, universe) + 1))
        least = min(weight for _, weight in law.items())
        require(len(law) == outputs, f"n={n}, |X|={universe}: {len(law)} of {outputs} reached")
        if universe >= n:
            exact = Fraction(factorial(n), (universe * (n + 1)) ** n)
            require(least == exact, f"n={n}, |X|={universe}: least {least}, not {exact}")
        stated = 1 / (factor * universe) ** n
        require(least >= stated, f"n={n}, |X|={universe}: least {least} < {stated}")
        cases += 1
    for n in range(1, 300):
        ratio = factorial(n) * factor**n / (n + 1) ** n
        require(ratio >= 1, f"n={n}: n! {factor}^n < (n + 1)^n")
    return f"{cases} cases exactly, and n!/(n + 1)^n >= {factor}^-n for n < 300"


def _exponent(lower: int) -> str:
    """At |X| = 6 the least probability is below (6 |X|)^-(n - lower)."""
    for n in (1, 2, 3):
        least = min(weight for _, weight in random_histogram(n, 6).items())
        stated = Fraction(1, 36) ** (n - lower)
        require(least < stated, f"n={n}, |X|=6: least {least}, (6 |X|)^-{n - lower} is {stated}")
    return "n - 1 is refused at |X| = 6, n = 1, 2, 3"


def _delta_is_small_enough(share: Fraction) -> str:
    """(e^x - 1)/(e^x + 1) >= share x on (0, 1], after dividing by x."""

    def gap(x: arb) -> arb:
        # (e^x - 1)/(e^x + 1) - t x has the sign of (e^x - 1)/x - t (e^x + 1)
        series = sum((x**k / factorial(k + 1) for k in range(20)), arb(0))
        return series - ball(share) * (x.exp() + 1)

    parts = always_positive(gap, [(0, 1)])  # dropped terms of the series are positive
    return f"(e^x - 1)/x > {share} (e^x + 1) on [0, 1] in {parts} parts"


_BETA_2 = Fraction(1, 10)


def _mixed(noise: CountSampler, counts: Counts, universe: int, beta_inverse: int) -> Law[Any]:
    """Algorithm 8 on KH'' as printed, without its delta."""
    sparse = kh_second(noise, counts, universe, beta_inverse)
    return mixed_law(sparse, random_histogram(noise.n, universe), _BETA_2)


def _accurate(failure: Callable[..., Fraction], mixed: Fraction) -> str:
    """Failure <= beta_1 + mixed beta_2 + beta_3 for the law without its distance delta."""
    for inverse in (1, 4):
        require_heavy_accuracy(
            lambda noise, counts, universe: _mixed(noise, counts, universe, inverse),
            ((geo(1), 4), (EXACT, 4)),
            failure,
            1,
            too_few_distinct(4, 6 * inverse, 3) + mixed * _BETA_2,
        )
    return (
        "exact laws, exact failure probability for beta_1; delta <= beta_2 takes the other beta_2, "
        "and beta_3 is enough once"
    )


CLAIMS = (
    Conditional(
        paper="BV",
        item="Theorem 6.6",
        statement="PureSparseHistogram is (epsilon, 0)-DP.",
        condition="the order statistics are drawn with their ties, as in the strict-time "
        "mechanism that is shipped, within the distance of Lemma 3.1: built on OrdSample as "
        "printed the ratio exceeds e^epsilon",
        rests_on="BV-Lemma-2.9",
        note="the bullet itself is missing from the text; Theorem 1.4 and the caption of Figure 2 "
        "promise it. The mutant takes Algorithm 8 without its delta",
        outcome="verified",
        method="exact law",
        **varied(_private, _shipped, _printed, "with OrdSample as printed"),
    ),
    BV.verified(
        "Algorithm 8",
        "Step 2 reaches every histogram with at most n non-zero counts, each with "
        "probability at least (1/(6|X|))^n, even (1/(3|X|))^n; the least is n!/(|X|(n+1))^n when "
        "|X| >= n.",
        "enumeration",
        **varied(_least_probability, Fraction(3), Fraction(5, 2), "even (1/(2.5|X|))^n"),
        note="the text reads (1/(6|X|))^r; r occurs nowhere else and the running time n^2 log^2|X| "
        "fits the exponent n",
    ),
    BV.verified(
        "Algorithm 8, exponent of delta",
        "The exponent n of 1/(6|X|) can not be lowered to n - 1.",
        "enumeration",
        **varied(_exponent, 1, 0, "nor is the exponent n enough"),
        ours=True,
    ),
    BV.proved(
        "Algorithm 8, epsilon/3",
        "epsilon/3 <= (e^epsilon - 1)/(e^epsilon + 1) for 0 < epsilon <= 1, even 0.46 epsilon; so "
        "the delta of step 1 meets the condition of Lemma 3.1, with the least probability of step "
        "2 under Algorithm 8.",
        "interval search",
        **varied(_delta_is_small_enough, Fraction(46, 100), Fraction(47, 100), "even 0.47 epsilon"),
    ),
    BV.verified(
        "Theorem 6.6, per-query accuracy",
        "PureSparseHistogram errs by more than a_1 on a bin of count > 2 a_2 with "
        "probability at most beta_1 + 2 beta_2 + 2 beta_3, but for its distance delta <= beta_2 in "
        "these cases (n = 1, where only a_1 = a_2 = 0 asks for anything) even p + beta_2 + beta_3, "
        "p the exact probability of too few elements.",
        "exact law",
        **varied(
            partial(_accurate, per_query_failure),
            Fraction(1),
            Fraction(85, 100),
            "0.85 beta_2 in place of one beta_2",
        ),
    ),
    BV.verified(
        "Theorem 6.6, simultaneous accuracy",
        "PureSparseHistogram errs by more than 2 a_2 on some bin with probability at "
        "most beta_1 + 2 beta_2 + beta_3, but for its distance delta <= beta_2 in these cases "
        "(n = 1, as above) even p + beta_2 + beta_3, p as above.",
        "exact law",
        **varied(
            partial(_accurate, simultaneous_failure),
            Fraction(1),
            Fraction(85, 100),
            "0.85 beta_2 in place of one beta_2",
        ),
    ),
    BV.not_checkable(
        "Theorem 6.6, running time",
        "Time quadratic in n and polynomial in log|X|, log(d/epsilon), for "
        "beta_1 >= 1/polylog(n), beta_2 >= 1/O(2^n).",
        "asymptotic running time in the word RAM model",
    ),
)
