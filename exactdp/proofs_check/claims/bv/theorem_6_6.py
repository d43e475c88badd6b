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
from exactdp.mechanisms.mixing import mixed_law
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, Mutant, require
from exactdp.proofs_check.claims.bv._accuracy import (
    per_query_failure,
    require_heavy_accuracy,
    simultaneous_failure,
)
from exactdp.proofs_check.claims.bv._data_sets import Counts, worst_ratio
from exactdp.proofs_check.claims.bv._laws import EXACT, geo
from exactdp.proofs_check.claims.bv._printed import kh_second, random_histogram, too_few_distinct
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.counting import CountSampler

__all__ = ["CLAIMS"]


def _private(law: Callable[[Counts], Law[Any]], universe: int, note: str) -> str:
    """The ratio of output probabilities is at most e, for n = 1 and epsilon = 1."""
    return _within(worst_ratio(law, 1, universe), note)


def _within(worst: Fraction | float, note: str) -> str:
    with precision(128):
        within = isinstance(worst, Fraction) and bool(ball(worst) <= arb(1).exp())
    require(within, f"{note}: ratio {float(worst):.6f} > e^1 = 2.718282")
    return f"{note}: ratio {float(worst):.6f} <= e^1"


_MIXED = Fraction(1, 100)


def _printed(counts: Counts) -> Law[Any]:
    """Algorithm 8 on KH'' as printed, without its delta: beta_1 = 1/2, beta_2 = 1/100."""
    return mixed_law(kh_second(geo(1), counts, 4, 2), random_histogram(1, 4), _MIXED)


def _shipped(universe: int, bits: int) -> Callable[[Counts], Law[Any]]:
    mechanism = StrictPureSparseHistogram(geo(1), universe, mixing_bits=bits)
    return lambda counts: mechanism.law(counts, residual=0)


def _least_probability(factor: int, power: int) -> str:
    """Step 2 of Algorithm 8 reaches every histogram with probability >= (factor |X|)^(-n power)."""
    for n in range(1, 300):
        ratio = Fraction(factorial(n) * factor**n, (n + 1) ** n)
        require(ratio >= 1, f"n={n}: n! {factor}^n < (n + 1)^n")
    cases = 0
    for n, universe in product((1, 2, 3), range(1, 9)):
        law = random_histogram(n, universe)
        outputs = sum(comb(universe, k) * n**k for k in range(min(n, universe) + 1))
        least = min(weight for _, weight in law.items())
        require(len(law) == outputs, f"n={n}, |X|={universe}: {len(law)} of {outputs} reached")
        if universe >= n:
            exact = Fraction(factorial(n), (universe * (n + 1)) ** n)
            require(least == exact, f"n={n}, |X|={universe}: least {least}, not {exact}")
        stated = Fraction(1, factor * universe) ** max(n - power, 0)
        require(least >= stated, f"n={n}, |X|={universe}: least {least} < {stated}")
        cases += 1
    return f"{cases} cases exactly, and n!/(n + 1)^n >= {factor}^-n for n < 300"


def _exponent(lower: int) -> str:
    """At |X| = 6 the least probability is below (6 |X|)^-(n - lower)."""
    for n in (1, 2, 3):
        least = min(weight for _, weight in random_histogram(n, 6).items())
        stated = Fraction(1, 36) ** (n - lower)
        require(least < stated, f"n={n}, |X|=6: least {least}, (6 |X|)^-{n - lower} is {stated}")
    return "n - 1 is refused at |X| = 6, n = 1, 2, 3"


def _delta_is_small_enough(third: Fraction) -> str:
    """(e^x - 1)/(e^x + 1) >= third x on (0, 1], after dividing by x."""

    def gap(x: arb) -> arb:
        # (e^x - 1)/(e^x + 1) - t x has the sign of (e^x - 1)/x - t (e^x + 1)
        series = sum((x**k / factorial(k + 1) for k in range(20)), arb(0))
        return series - ball(third) * (x.exp() + 1)

    parts = always_positive(gap, [(0, 1)])  # dropped terms of the series are positive
    return f"(e^x - 1)/x > {third} (e^x + 1) on [0, 1] in {parts} parts"


_BETA_2 = Fraction(1, 10)


def _mixed(noise: CountSampler, counts: Counts, universe: int, beta_inverse: int) -> Law[Any]:
    """Algorithm 8 on KH'' as printed, without its delta."""
    sparse = kh_second(noise, counts, universe, beta_inverse)
    return mixed_law(sparse, random_histogram(noise.n, universe), _BETA_2)


def _accurate(failure: Callable[..., Fraction], noisy: int, mixed: int) -> str:
    """Failure <= beta_1 + mixed beta_2 + noisy beta_3 for the law without its distance delta."""
    for inverse in (1, 4):
        require_heavy_accuracy(
            lambda noise, counts, universe: _mixed(noise, counts, universe, inverse),
            ((geo(1), 4), (EXACT, 4)),
            failure,
            noisy,
            too_few_distinct(4, 6 * inverse, 3) + mixed * _BETA_2,
        )
    return (
        "exact laws, exact failure probability for beta_1; delta <= beta_2 takes the other beta_2"
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
        check=lambda: _private(_shipped(3, 2), 3, "n=1, |X|=3, mixing with 1/4"),
        mutant=Mutant(
            "with OrdSample as printed",
            lambda: _private(_printed, 4, f"n=1, |X|=4, mixing with {_MIXED}"),
        ),
    ),
    BV.verified(
        "Algorithm 8",
        "Step 2 reaches every histogram with at most n non-zero counts, each with "
        "probability at least (1/(6|X|))^n; the least is n!/(|X|(n+1))^n when |X| >= n. "
        "So delta = epsilon/3 beta_2 (1/(6|X|))^n meets the condition of Lemma 3.1.",
        "enumeration",
        **varied(_least_probability, 6, 2, "at least (1/(2|X|))^n", 0),
        note="the text reads (1/(6|X|))^r; r occurs nowhere else and the running time n^2 log^2|X| "
        "fits the exponent n",
        slack="6 is a round constant, 3 would do (the next entry)",
    ),
    BV.verified(
        "Algorithm 8, exponent of delta",
        "The exponent n of 1/(6|X|) can not be lowered to n - 1; the constant 6 can be "
        "lowered to 3.",
        "enumeration",
        check=lambda: f"{_least_probability(3, 0)}; {_exponent(1)}",
        mutant=Mutant("nor is the exponent n enough", lambda: _exponent(0)),
        ours=True,
    ),
    BV.proved(
        "Algorithm 8, epsilon/3",
        "epsilon/3 <= (e^epsilon - 1)/(e^epsilon + 1) for 0 < epsilon <= 1, so the delta "
        "of step 1 meets the condition of Lemma 3.1.",
        "interval search",
        **varied(
            _delta_is_small_enough,
            Fraction(1, 3),
            Fraction(1, 2),
            "epsilon/2 <= (e^epsilon - 1)/(e^epsilon + 1)",
        ),
    ),
    BV.verified(
        "Theorem 6.6, per-query accuracy",
        "PureSparseHistogram errs by more than a_1 on a bin of count > 2 a_2 with "
        "probability at most beta_1 + 2 beta_2 + 2 beta_3.",
        "exact law",
        **varied(partial(_accurate, per_query_failure, 2), 1, 0, "at most beta_1 + 2 beta_3"),
    ),
    BV.verified(
        "Theorem 6.6, simultaneous accuracy",
        "PureSparseHistogram errs by more than 2 a_2 on some bin with probability at "
        "most beta_1 + 2 beta_2 + beta_3.",
        "exact law",
        **varied(partial(_accurate, simultaneous_failure, 1), 1, 0, "at most beta_1 + beta_3"),
    ),
    BV.not_checkable(
        "Theorem 6.6, running time",
        "Time quadratic in n and polynomial in log|X|, log(d/epsilon), for "
        "beta_1 >= 1/polylog(n), beta_2 >= 1/O(2^n).",
        "asymptotic running time in the word RAM model",
    ),
)
