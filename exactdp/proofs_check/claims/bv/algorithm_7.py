"""BV, Algorithm 7: drawing the empty bins with replacement, and how often that fails."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product

from exactdp.law import Law
from exactdp.mechanisms import KeepHeavy, KeepHeavyResampled
from exactdp.mechanisms.histogram import Bins
from exactdp.mechanisms.mixing import mixed_law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._laws import geo
from exactdp.proofs_check.claims.bv._printed import too_few_distinct
from exactdp.proofs_check.entries import BV, elsewhere, varied

__all__ = ["CLAIMS"]


def _fails_rarely(least: int) -> str:
    """ceil((4n + 2)/beta_1) draws from |X| >= least n + 4 - least: < 2n + 1 distinct rarely."""
    cases = 0
    for n in (1, 2, 3, 6, 50):
        smallest = least * n + 4 - least
        for universe, inverse in product((smallest, 2 * smallest), (1, 2, 3)):
            draws = (4 * n + 2) * inverse
            fails = too_few_distinct(universe, draws, 2 * n + 1)
            case = f"n={n}, |X|={universe}, {draws} draws: fails with {float(fails):.4g}"
            require(fails <= Fraction(1, inverse), f"{case} > beta_1 = 1/{inverse}")
            cases += 1
    return f"{cases} cases, exact occupancy probabilities"


def _mean_draws(factor: Fraction) -> str:
    """The mean number of draws until 2n + 1 distinct elements is < 4n + 2 once |X| >= 4n."""
    for n in range(1, 200):
        for universe in (4 * n, 4 * n + 1, 5 * n, 100 * n):
            if universe < 2 * n + 1:
                continue
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
    mechanism = KeepHeavyResampled(geo(1), 4, failure=Fraction(99, 100))
    fails = sum(len(set(s)) < 3 for s in product(range(4), repeat=mechanism.draws))
    exact = Fraction(fails, 4**mechanism.draws) + failure
    whole = KeepHeavy(geo(1), 4).law({0: 1}, residual=0)
    law = _law(mechanism)
    stated = mixed_law(whole, Law.point(()), exact)
    require(law == stated, f"{law} instead of {stated}")
    return f"{mechanism.draws} draws, failure probability {exact}"


@cache
def _law(mechanism: KeepHeavyResampled) -> Law[Bins]:
    return mechanism.law({0: 1}, residual=0)


CLAIMS = (
    BV.verified(
        "Algorithm 7",
        "With true order statistics KH'' has the law of KeepHeavy, except that with a "
        "probability that does not depend on the data it releases nothing.",
        "exact law",
        **varied(_mixture, Fraction(0), Fraction(1, 1000), "the probability is 1/1000 larger"),
        seconds=60,
    ),
    BV.verified(
        "Algorithm 7, failure probability",
        "ceil((4n + 2)/beta_1) uniform draws from |X| >= 4n elements show fewer than "
        "2n + 1 distinct ones with probability at most beta_1.",
        "enumeration",
        **elsewhere(
            "the universes of the mutant are smaller than the statement's",
            varied(_fails_rarely, 4, 2, "|X| >= 2n + 2 is enough"),
        ),
        slack="Markov's inequality from the mean number of draws; the exact tail is thinner",
    ),
    BV.verified(
        "Algorithm 7, mean number of draws",
        "When |X| >= 4n, the mean number of draws until 2n + 1 distinct elements have "
        "shown is at most 4n + 2.",
        "enumeration",
        **varied(_mean_draws, Fraction(1), Fraction(69, 100), "at most 0.69 (4n + 2)"),
        note="n = 1 at |X| = 4: 13/3 <= 6",
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
