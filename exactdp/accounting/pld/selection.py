"""The privacy loss of private choice: the option with the largest noisy utility.

A user changes each utility by at most its sensitivity D. Upper bound: the worst pair of outcomes at
each epsilon. Lower bound: two options, at some distances of their utilities, which are kept in all
runs of a composition.

Why the curve of the Laplace mechanism bounds a noisy maximum. Let the noise have a hazard rate
(density over tail) of at most 1/b, with b = 2 D/epsilon: exponential and Laplace noise of scale b
have. Take a set S of options; let A be the largest noisy utility in S, B the largest outside, and
G(t) = P(A - B > t). Without the user A falls and B rises by at most D each, so that S has the
probability G(0) with the user, and at least G(2 D) without.

- The largest of independent numbers with such hazard rates has one, too: its density at x, the sum
  over r of f_r(x) times the probability that all others are below x, is at most 1/b times the
  probability that exactly one number exceeds x.
- So the density of A - B at t, which is the mean of the density of A at t + B, is at most G(t)/b;
  and by the density of B at A - t it is at most (1 - G(t))/b.
- The distribution function F(x/b) of Laplace noise of scale b has the density min(F, 1 - F)/b. So
  F^-1(G(t)) falls at a rate of at most 1/b: G(2 D) >= F(F^-1(G(0)) - epsilon).

This is the trade-off between the two probabilities of Laplace noise of scale 1 that is moved by
epsilon. Two options with exponential noise attain it at each point, as their difference of noises
has a Laplace law.
"""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting.neighbours import ADD_REMOVE, known
from exactdp.accounting.pld.laws.base import Step
from exactdp.accounting.pld.laws.contest import NOISES, BoundedRange, Contest
from exactdp.accounting.pld.laws.curves import CurveLaw
from exactdp.accounting.pld.laws.laplace import Laplace
from exactdp.accounting.pld.loss import Pld
from exactdp.parameters import Real, choice, positive

__all__ = ["exponential", "noisy_max"]

#: Distances of the two options beyond the symmetric one, in units of the scale of the noise.
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


def _contests(noise: str, shift: Fraction) -> tuple[tuple[Step, ...], ...]:
    """Pairs of neighbours with two options, both of which the user moves by the sensitivity."""
    gaps = [shift / 2 + ahead for ahead in _AHEAD]
    pairs = [(Contest(noise, gap, shift), Contest(noise, shift - gap, shift)) for gap in gaps]
    return tuple((Step(with_, without),) for with_, without in pairs)
