"""Moments E e^(s L) between mixtures of normal laws, as integrals of balls with bounded tails.

With p and q the mixtures over phi, the moment is the integral of p^(s + 1) q^(-s) phi. As t^(s + 1)
is convex, the integrand is at most

    sum_i w_i v_j^(-s) e^((s + 1)(a_i x - a_i^2/2) - s (b_j x - b_j^2/2)) phi(x)

for every j, with (a_i, w_i) the shifts and weights of p and (b_j, v_j) those of q: normal tails.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb

from exactdp.accounting.pld.laws.density import off_cut
from exactdp.accounting.pld.laws.mixtures import Mixture, Weights
from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.normal import cdf, tail

#: Largest number of pieces of length 1 of an integral.
_MOST_PIECES = 1 << 13

_TOO_LARGE = "the order is too large for an integral"


def integral(p: Weights, q: Weights, s: Fraction, *, start: Fraction | None = None) -> arb:
    """The integral of p^(s + 1) q^(-s) phi, s > 0, over the line or from start on."""
    power, root, mixtures = ball(s + 1), ball(s), (Mixture(p), Mixture(q))

    def integrand(x: acb, _: bool) -> acb:
        above, below = (mixture.at(x) for mixture in mixtures)
        if not (off_cut(above) and off_cut(below)):
            return acb("nan", "nan")
        found: acb = (power * above.log() - root * below.log() - x * x / 2).exp()
        return found

    # q is at least each of its terms: use the last term on the right, the first on the left
    right, left = ([_beyond(a, b, s) for a in p] for b in (q[-1], q[0]))
    if any(math.isinf(spare) for _, _, spare in right + left):
        raise Undecided(_TOO_LARGE)
    high = math.ceil(max(centre + Fraction(spare) for centre, _, spare in right))
    low = Fraction(math.floor(min(centre - Fraction(spare) for centre, _, spare in left)))
    if start is not None:
        low, left = start, []
    if high - low > _MOST_PIECES:
        raise Undecided(_TOO_LARGE)
    ends = [low, *range(math.floor(low) + 1, high + 1)]
    pieces = (acb.integral(integrand, ball(a), ball(b)).real for a, b in pairwise(ends))
    rest = sum((size * tail(ball(high - centre)) for centre, size, _ in right), arb(0))
    rest += sum((size * cdf(ball(low - centre)) for centre, size, _ in left), arb(0))
    return sum(pieces, arb(0)) / (2 * arb.pi()).sqrt() + arb(0.5, 0.5) * rest


def _beyond(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], s: Fraction
) -> tuple[Fraction, arb, float]:
    """A normal law that bounds the integrand: its centre and size, and the distance from the centre
    beyond which its tail is negligible."""
    (shift, weight), (other, share) = a, b
    centre = (s + 1) * shift - s * other
    exponent = (centre**2 - (s + 1) * shift**2 + s * other**2) / 2
    size = ball(weight) * (ball(exponent) - ball(s) * ball(share).log()).exp()
    most = float((ball(exponent) - ball(s) * ball(share).log()).mid())
    return centre, size, math.sqrt(2 * max(0.0, most) + 200)
