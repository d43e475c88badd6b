"""The least rho of zero-concentrated privacy of a privacy loss.

rho is the supremum of D_alpha/alpha over all orders alpha > 1. D_alpha does not fall with alpha
(van Erven, Harremoes 2014, Theorem 3), so D_b/a is an upper bound between the orders a and b, and
D_b one between 1 and b; no D_alpha exceeds the largest loss.

Bounded range w implies (w^2/8)-zCDP. Proof. Let all losses L lie in an interval of length w, and
f(alpha) = ln E_Q e^(alpha L), so that (alpha - 1) D_alpha = f(alpha). f'' is the variance of L
under a tilted law, at most w^2/4, and f(0) = f(1) = 0. So (w^2/8) alpha (alpha - 1) - f(alpha) is
convex with zeros at 0 and 1: it is not negative beyond 1. []
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.parameters import Real, integer, positive

_NEAREST = Fraction(1, 2**14)  # distance from 1 of the smallest order that is tried
_SPLITS = 200


def rho_of_noisy_max(
    *, noise: str, budget: Real, k: Real = 1, relative_width: Fraction = Fraction(1, 1000)
) -> Enclosure:
    """The least rho of k runs of report noisy max.

    noise, budget: noise and epsilon of :func:`exactdp.accounting.pld.noisy_max`. The lower end is
    that of two options at some distances of their utilities; the upper end is that of the worst
    curve, computed up to relative_width. Raises InvalidParameter.

    >>> print(rho_of_noisy_max(noise="exponential", budget=1))  # permute-and-flip
    [0.327..., 0.368...]
    >>> print(rho_of_noisy_max(noise="gumbel", budget=1))  # the exponential mechanism
    [0.123..., 0.125]
    """
    size, copies = positive("budget", budget), integer("k", k, least=1)
    one = pld.noisy_max(epsilon=size, noise=noise)
    rho = _rho(one, size, relative_width)
    most = min(rho.upper, size**2 / 8) if noise == "gumbel" else rho.upper
    return Enclosure(copies * rho.lower, copies * most)  # divergences add up, order by order


def _rho(loss: pld.Pld, largest: Fraction, relative_width: Fraction) -> Enclosure:
    """The supremum of D_alpha/alpha, where no loss exceeds the largest."""
    last = 1 + _NEAREST
    near = loss.renyi(last)
    least, reached = near.lower / last, near.upper / last  # both ends at the orders tried
    intervals = [(-near.upper, Fraction(1), last)]
    while largest / last > reached:
        at = loss.renyi(2 * last - 1)
        first, last = last, 2 * last - 1
        least, reached = max(least, at.lower / last), max(reached, at.upper / last)
        heappush(intervals, (-at.upper / first, first, last))
    for _ in range(_SPLITS):
        bound, first, last = intervals[0]
        if -bound <= reached * (1 + relative_width):
            return Enclosure(least, -bound)
        heappop(intervals)
        middle = (first + last) / 2
        at = loss.renyi(middle)
        least, reached = max(least, at.lower / middle), max(reached, at.upper / middle)
        heappush(intervals, (-at.upper / first, first, middle))
        heappush(intervals, (bound * first / middle, middle, last))
    raise Undecided("the supremum over all orders was not found")
