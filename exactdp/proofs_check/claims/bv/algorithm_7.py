"""BV, Algorithm 7: drawing the empty bins with replacement, and how often that fails."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import ceil

from exactdp.law import Law
from exactdp.mechanisms import KeepHeavy, KeepHeavyResampled
from exactdp.mechanisms.histograms.mechanism import Bins
from exactdp.mechanisms.histograms.mixture import mixed_law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._laws import EXACT, geo
from exactdp.proofs_check.claims.bv._printed import too_few_distinct
from exactdp.proofs_check.entries import BV, elsewhere, varied

__all__ = ["CLAIMS"]


def _fails_rarely(share: Fraction) -> str:
    """ceil(share (4n + 2)/beta_1) draws from |X| >= 4n: fewer than 2n + 1 distinct rarely."""
    cases = 0
    for n, inverse, times in product((1, 2, 3, 6, 20), (2, 3, 5), (1, 2)):
        universe, draws = 4 * n * times, ceil(share * (4 * n + 2) * inverse)
        fails = too_few_distinct(universe, draws, 2 * n + 1)
        case = f"n={n}, |X|={universe}, {draws} draws: fails with {float(fails):.4g}"
        require(fails <= Fraction(1, inverse), f"{case} > beta_1 = 1/{inverse}")
        cases += 1
    return f"{cases} cases, exact occupancy probabilities"


def _fewer_draws(share: Fraction) -> str:
    return f"{_fails_rarely(Fraction(1))}; with {share} of the draws: {_fails_rarely(share)}"


def _mean_draws(factor: Fraction) -> str:
    """The mean number of draws until 2n + 1 distinct elements is <= factor (4n + 2)."""
    for n in range(1, 200):
        for universe in (4 * n, 4 * n + 1, 5 * n, 100 * n):
            mean = sum(Fraction(universe, universe - i) for i in range(2 * n + 1))
            most = factor * (4 * n + 2)
            require(mean <= most, f"n={n}, |X|={universe}: mean {float(mean):.4f} > {most}")
    return "n < 200, |X| = 4n, 4n + 1, 5n, 100n; Markov's inequality gives the rest"


def _occupancy(least: int) -> str:
    """The occupancy probabilities against all sequences; 2n + 1 distinct leave n + 1 outside A."""
    for universe, draws in ((4, 6), (5, 5), (3, 7)):
        for needed in range(1, universe + 1):
            few = sum(len(set(s)) < needed for s in product(range(universe), repeat=draws))
            exact = Fraction(few, universe**draws)
            stated = too_few_distinct(universe, draws, needed)
            require(exact == stated, f"|X|={universe}, {draws} draws, {needed} distinct: {exact}")
    for n in (1, 2):
        every = range(4 * n)
        for drawn, data in product(combinations(every, 2 * n + least), combinations(every, n)):
            outside = len(set(drawn) - set(data))
            require(outside >= n + 1, f"n={n}: {outside} of {drawn} are outside A={data}")
    return "all sequences of up to 7 draws; |X| = 4n, n = 1, 2, all sets of elements"


def _mixture(failure: Fraction) -> str:
    """The shipped Algorithm 7 is KeepHeavy, except for an empty release of known probability."""
    for noise, element in ((geo(1), 0), (EXACT, 0), (EXACT, 3)):
        mechanism = KeepHeavyResampled(noise, 4, failure=Fraction(99, 100))
        fails = sum(len(set(s)) < 3 for s in product(range(4), repeat=mechanism.draws))
        exact = Fraction(fails, 4**mechanism.draws) + failure
        whole = KeepHeavy(noise, 4).law({element: 1}, residual=0)
        law, stated = _law(mechanism, element), mixed_law(whole, Law.point(()), exact)
        require(law == stated, f"row {element}: {law} instead of {stated}")
    return f"{mechanism.draws} draws, failure probability {exact}, with noise and without"


@cache
def _law(mechanism: KeepHeavyResampled, element: int) -> Law[Bins]:
    return mechanism.law({element: 1}, residual=0)


CLAIMS = (
    BV.verified(
        "Algorithm 7",
        "With true order statistics KH'' has the law of KeepHeavy, except that with a "
        "probability that does not depend on the data it releases nothing.",
        "exact law",
        **varied(_mixture, Fraction(0), Fraction(1, 1000), "the probability is 1/1000 larger"),
        seconds=120,
    ),
    BV.verified(
        "Algorithm 7, failure probability",
        "ceil((4n + 2)/beta_1) uniform draws from |X| >= 4n elements show fewer than "
        "2n + 1 distinct ones with probability at most beta_1 (for beta_1 <= 1/2 so do 0.35 of as "
        "many draws: the bound is Markov's, and loose).",
        "enumeration",
        **varied(_fewer_draws, Fraction(35, 100), Fraction(3, 10), "so do 0.3 of as many"),
    ),
    BV.verified(
        "Algorithm 7, mean number of draws",
        "When |X| >= 4n, the mean number of draws until 2n + 1 distinct elements have "
        "shown is at most 4n + 2, even 13/18 of it, attained by n = 1 at |X| = 4.",
        "enumeration",
        **varied(_mean_draws, Fraction(13, 18), Fraction(72, 100), "at most 0.72 (4n + 2)"),
    ),
    BV.verified(
        "Section 6.1, footnote 4",
        "2n + 1 distinct elements contain n + 1 outside the at most n elements of the "
        "data, so that a failure has the exact occupancy probability.",
        "enumeration",
        **elsewhere(
            "smaller sets are what the mutant claims",
            varied(_occupancy, 1, 0, "2n distinct elements do"),
        ),
    ),
    BV.not_checkable(
        "Section 6.1, footnote 4, running time",
        "Drawing with replacement takes time nearly linear in n for "
        "beta_1 >= 1/polylog(n), drawing distinct elements nearly quadratic.",
        "asymptotic running time in the word RAM model",
    ),
)
