"""Several mechanisms on one sample: together they are one mechanism, which can be sampled."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from exactdp.accounting.pld.laws.base import Step
from exactdp.accounting.pld.laws.normal import Gaussian
from exactdp.accounting.pld.loss import Pld
from exactdp.errors import Described, InvalidParameter

#: An irrational distance is enclosed to this many bits, relatively: the narrowest enclosure that
#: can be asked for (a relative width of 1e-100) needs 333.
_BITS = 512

_OTHERS = (
    "Gaussian mechanisms without sampling; of others, pld.approximate(epsilon=..., delta=...)"
    ".sampled(rate) bounds what all leak on one sample, with the delta of their composition"
)


def together(*mechanisms: Pld) -> Pld:
    """One mechanism that runs all of these on the same data and can be sampled as a whole.

    mechanisms: Gaussian, before any sampling, for the same neighbours; later queries may depend on
    earlier answers. A single mechanism of any kind is returned as it is.
    ``together(a, b).sampled(q)`` runs both on one sample; ``a.sampled(q).then(b.sampled(q))`` draws
    a sample for each. The distances mu = sensitivity/sigma of Gaussian mechanisms add in squares.
    Returns the loss of one mechanism. Raises InvalidParameter for other mechanisms.
    Source: Dong, Roth, Su 2022, Corollary 3.3; exactdp statement explain certified-pld, section 4.

    >>> from exactdp.accounting import pld
    >>> noise = pld.gaussian(sigma=1)
    >>> print(format(pld.together(noise, noise).sampled("0.1").delta(1), "4"))
    [0.003663, 0.003664]
    """
    if not mechanisms or not all(isinstance(loss, Pld) for loss in mechanisms):
        found = ", ".join(type(loss).__name__ for loss in mechanisms) or "none"
        raise InvalidParameter("mechanisms", Described(found), "losses, each an argument")
    first, *others = mechanisms
    composed = first
    for other in others:
        composed = composed.then(other)
    if composed.count == 1:
        return composed
    least = most = Fraction(0)
    for step, times in composed.steps:
        law = step.removed
        if law.distance is None or not law.one_step:
            raise InvalidParameter("mechanisms", Described(type(law).__name__), _OTHERS)
        # an irrational distance has one step above and a real one below
        real = step.real[0][0] if step.real else step
        most += times * law.distance**2
        least += times * (real.removed.distance or 0) ** 2
    return Pld(((_gaussian(least, most), 1),), composed.neighbours, composed.source)


def _gaussian(least: Fraction, most: Fraction) -> Step:
    """Gaussian noise for a distance whose square has these bounds, between two rational distances.

    The smaller distance belongs to a user who moves the queries by less than the sensitivity.
    """
    low, high = root(least)[0], root(most)[1]
    above, below = (Step.alike(Gaussian(mu)) for mu in (high, low))
    return above if low == high else Step(above.removed, above.added, ((below,),), attained=False)


def root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals around the square root, relatively 2^-512 apart; both are the root if rational.

    sqrt(n/d) = sqrt(n d)/d with n d >= 1, so a unit of 2^-512/d is at most 2^-512 of the root.
    """
    scaled = square.numerator * square.denominator << 2 * _BITS
    root, unit = isqrt(scaled), Fraction(1, square.denominator << _BITS)
    return root * unit, (root + (root * root != scaled)) * unit
