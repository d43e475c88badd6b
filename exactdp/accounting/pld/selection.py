"""The privacy loss of private choice: the option with the largest noisy utility.

A user changes each utility by at most its sensitivity D. Upper bound: the worst pair of outcomes at
each epsilon. Lower bound: two options, at some distances of their utilities, which are kept in all
runs of a composition.

Why the curve of the Laplace mechanism bounds a noisy maximum. Let the noise have a hazard rate
(density over tail) of at most 1/b, with b = 2 D/epsilon: exponential and Laplace noise of scale b
have. Take a set S of options; let A be the largest noisy utility in S, B the largest outside, and
G(t) = P(A - B > t). Without the user A falls and B rises by at most D each, so that S has the
probability G(0) with the user, and at least G(2 D) without.

- So is the hazard rate of the largest of independent numbers with these rates: its density at x,
  the sum over r of f_r(x) times the probability that all others are below x, is at most 1/b times
  the probability that exactly one number exceeds x.
- So the density of A - B at t, which is the mean of the density of A at t + B, is at most G(t)/b;
  and by the density of B at A - t it is at most (1 - G(t))/b.
- The distribution function F(x/b) of Laplace noise of scale b has the density min(F, 1 - F)/b. So
  F^-1(G(t)) falls at a rate of at most 1/b: G(2 D) >= F(F^-1(G(0)) - epsilon).

This is the trade-off between the two probabilities of Laplace noise of scale 1 that is moved by
epsilon. Two options with exponential noise attain it at each point, as their difference of noises
has a Laplace law.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from exactdp.accounting.neighbours import ADD_REMOVE, known
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import LossLaw, Step
from exactdp.accounting.pld.losses.contest import NOISES, BoundedRange, Contest
from exactdp.accounting.pld.losses.curves import CurveLaw
from exactdp.accounting.pld.losses.laplace import Laplace
from exactdp.accounting.pld.losses.largest import Chance, LargestNormal, Trial, median_of_largest
from exactdp.accounting.pld.losses.normal import Gaussian
from exactdp.accounting.pld.mechanisms import moderate
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, choice, integer, positive, truth

#: Largest number of options or queries.
_MOST = 10**9

#: Up to this number of options, the bound that publishes all noisy utilities is the better one.
_FEW = 5

#: Distances of an event from an even one, in standard deviations.
_GAPS = tuple(map(Fraction, (-6, -4, -3, -2, -1, 0, 1)))

#: Differences of the two utilities beyond the symmetric case, in units of the noise's scale.
_AHEAD = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3))


def exponential(*, epsilon: Real, neighbours: str = ADD_REMOVE) -> Pld:
    """The exponential mechanism, or any other mechanism of bounded range.

    epsilon: > 0. An option y is chosen with probability proportional to e^(epsilon u(y)/(2 D)), D
    being the sensitivity of the utilities u; or to e^(epsilon u(y)/D), if a user can only raise
    utilities, or only lower them. Noisy maximum with Gumbel noise has the same law. neighbours: as
    in :func:`approximate`. A single run is exact over all utilities.
    Source: Durfee, Rogers 2019, Lemma 3.2 (bounded range); Dong, Durfee, Rogers 2020, Section 3.

    >>> from exactdp.accounting import pld
    >>> print(format(pld.exponential(epsilon="0.1").composed(100).epsilon("1e-6"), "3"))
    [2.23, 2.31]
    """
    width = positive("epsilon", epsilon)
    law = CurveLaw(BoundedRange(width))
    source = "Dong, Durfee, Rogers 2020, bounded range"
    return Pld(((Step(law, law, _contests("gumbel", width)), 1),), known(neighbours), source)


def noisy_max(*, epsilon: Real, noise: str = "gumbel", neighbours: str = ADD_REMOVE) -> Pld:
    """Report noisy max: the option whose utility plus noise is largest.

    epsilon: > 0; the noise has the scale 2 D/epsilon, D being the sensitivity of the utilities (or
    D/epsilon, if a user can only raise utilities, or only lower them). noise: "gumbel" (the
    exponential mechanism), "exponential" (permute-and-flip has the same law) or "laplace". Single
    runs are exact over all utilities, except with Laplace noise.
    Source: the module's text; Ding, Kifer, Steinke et al. 2021 (permute-and-flip).

    >>> from exactdp.accounting import pld
    >>> loss = pld.noisy_max(epsilon="0.1", noise="exponential").composed(100)
    >>> print(format(loss.epsilon("1e-6"), "3"))
    [4.65, 4.7]
    """
    if choice("noise", noise, tuple(NOISES)) == "gumbel":
        return exponential(epsilon=epsilon, neighbours=neighbours)
    width = positive("epsilon", epsilon)
    law = Laplace(width)
    step = Step(law, law, _contests(noise, width), attained=noise == "exponential")
    return Pld(((step, 1),), known(neighbours), "exactdp.accounting.pld.selection, noisy maximum")


def gaussian_noisy_max(*, sigma: Real, options: int | str, neighbours: str = ADD_REMOVE) -> Pld:
    """Report noisy max with Gaussian noise: the option whose utility plus noise is largest.

    sigma: standard deviation of the noise over the sensitivity of each utility (over half of it, if
    a user can only raise utilities, or only lower them), > 0. options: their number, 2 to 1e9.
    neighbours: as in :func:`approximate`.
    Source: exactdp statement explain certified-pld, section 4.

    >>> from exactdp.accounting import pld
    >>> loss = pld.gaussian_noisy_max(sigma=4, options=100)
    >>> print(format(loss.epsilon("1e-6"), "3"))  # takes seconds
    [2.38, 2.71]
    """
    mu, count = 1 / moderate("sigma", sigma), _count("options", options, least=2)
    few = [Gaussian(mu)] * count  # all noisy utilities
    laws = few if count <= _FEW else [LargestNormal(count - 1, 2 * mu)]
    return _bounded(laws, _groups(count, 2 * mu), neighbours)


def above_threshold(
    *,
    sigma: Real,
    threshold_sigma: Real,
    queries: int | str,
    monotone: bool = False,
    neighbours: str = ADD_REMOVE,
) -> Pld:
    """AboveThreshold with Gaussian noise: the first query that exceeds a noisy threshold.

    sigma, threshold_sigma: standard deviations of the noise on each query and on the threshold,
    over the sensitivity of the queries, > 0. queries: the most that are asked until it stops; each
    may depend on the answers before. monotone: a user moves all queries in the same direction.
    neighbours: as in :func:`approximate`.
    Source: exactdp statement explain certified-pld, section 4.

    >>> from exactdp.accounting import pld
    >>> loss = pld.above_threshold(sigma=8, threshold_sigma=4, queries=1000)
    >>> print(format(loss.epsilon("1e-6"), "3"))  # takes seconds
    [0.904, 1.98]
    """
    noise, own = moderate("sigma", sigma), moderate("threshold_sigma", threshold_sigma)
    count, moved = _count("queries", queries, least=1), 1 if truth("monotone", monotone) else 2
    laws = (Gaussian(1 / own), LargestNormal(count, moved / noise))
    return _bounded(laws, _stops(count, noise, own, moved), neighbours)


def _count(name: str, value: int | str, *, least: int) -> int:
    count = integer(name, value, least=least)
    if count > _MOST:
        raise InvalidParameter(name, value, f"an integer >= {least} and <= 1e9")
    return count


def _bounded(laws: Sequence[LossLaw], real: Sequence[Step], neighbours: str) -> Pld:
    """Laws that are an upper bound together, and pairs of data sets for a lower bound."""
    first, *others = laws
    steps = {Step(first, first, tuple((step,) for step in real), attained=False): 1}
    for law in others:  # the pairs belong to the first law
        rest = Step(law, law, ((),), attained=False)
        steps[rest] = steps.get(rest, 0) + 1
    source = "exactdp statement explain certified-pld, section 4"
    return Pld(tuple(steps.items()), known(neighbours), source)


def _groups(options: int, shift: Fraction) -> list[Step]:
    """Half of the options against the others, which the user moves the other way."""
    half = options // 2

    def wins(gap: Fraction) -> Chance:
        noise = (Fraction(1), Fraction(0), half - 1), (Fraction(1), gap, options - half)
        return Chance(half, noise)

    return [_trial(wins(shift / 2 + gap), wins(gap - shift / 2)) for gap in _GAPS]


def _stops(queries: int, noise: Fraction, own: Fraction, moved: int) -> list[Step]:
    """All queries are alike, or the last one differs; the event is that it stops there."""
    middle = Fraction(round(16 * median_of_largest(queries)), 16)

    def below(place: Fraction, times: int) -> tuple[Fraction, Fraction, int]:
        return own / noise, place, times

    trials = []
    for gap in _GAPS:
        some = [Chance(1, (below(middle + gap + up, queries),), True) for up in (0, 1 / noise)]
        trials.append(_trial(*some))
        first, last = middle, gap - middle
        stops = [
            Chance(1, (below(first + other, queries - 1), (-own / noise, last + up, 1)))
            for other, up in (((moved - 1) / noise, 1 / noise), (Fraction(0), Fraction(0)))
        ]
        trials.append(_trial(*stops))
    return trials


def _trial(with_: Chance, without: Chance) -> Step:
    return Step(Trial(with_, without), Trial(without, with_))


def _contests(noise: str, shift: Fraction) -> tuple[tuple[Step, ...], ...]:
    """Pairs of neighbours with two options, both of which the user moves by the sensitivity."""
    gaps = [shift / 2 + ahead for ahead in _AHEAD]
    pairs = [(Contest(noise, gap, shift), Contest(noise, shift - gap, shift)) for gap in gaps]
    return tuple((Step(with_, without),) for with_, without in pairs)
