"""Renyi divergences of steps, and the best delta they imply over all real orders.

With s = order - 1, K(s) = log E e^(s L) is the sum over all steps, and s R(s + 1) = K(s). The bound
of Canonne, Kamath and Steinke is exp(g(s)), g(s) = K(s) - s epsilon + s log s - (1 + s) log(1 + s).
K is convex, and so is the rest of g (its second derivative is 1/(s (1 + s))). So every s gives an
upper bound of the infimum, and the chords of g through three points, extended, a lower bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from exactdp.accounting.certify.hints import log, minimum
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import moment_guess
from exactdp.accounting.pld.losses.base import LossLaw, Order
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure

_BITS = 128

#: The accuracy of a bound that is only compared, in bits.
_QUICK_BITS = 32

#: The search for the best order covers a factor of e^0.02 around a guess, then one of e^0.5.
_SPANS = (0.02, 0.5)

#: Where the guess of ln(order - 1) is above this, the bound may fall without end.
_ENDLESS = 7.9


@followed
def divergence(order: Order, alpha: Fraction, *, finite: bool) -> Enclosure:
    """The Renyi divergence of order alpha > 1 of all steps together.

    finite: leave out infinite losses. A negative divergence of the rest counts as 0.
    """
    with precision(_BITS):
        s = alpha - 1
        return enclosure((_log_moment(order, s, finite=finite) / ball(s)).max(arb(0)))


@followed
def best_delta(order: Order, epsilon: Fraction) -> Enclosure:
    """The infimum over all real orders > 1 of what the Renyi divergences imply at epsilon.

    Source: Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    with precision(_BITS):
        near, _ = moment_guess(order, float(epsilon))
        gap = 1e-3
        for span in _SPANS if near < _ENDLESS else ():
            # any three points give a valid enclosure
            centre = minimum(lambda x: _sketched(order, x, epsilon), near - span, near + span, 1e-5)
            points = [Fraction(math.exp(centre + i * gap)) for i in (-1, 0, 1)]
            left, middle, right = (_exponent(order, s, epsilon) for s in points)
            if left > middle and right > middle:
                break
        else:
            # the bound may fall without end, as where no loss reaches epsilon
            most = _exponent(order, Fraction(math.exp(near)), epsilon).exp()
            return Enclosure(Fraction(0), enclosure(most).upper).clamped(0, 1)
        rises = ball((points[2] - points[1]) / (points[1] - points[0]))
        falls = ball((points[1] - points[0]) / (points[2] - points[1]))
        # the chord of one side, extended to the end of the other
        least = (middle - (left - middle) * rises).min(middle - (right - middle) * falls)
        return Enclosure(enclosure(least.exp()).lower, enclosure(middle.exp()).upper).clamped(0, 1)


def moment_bound(order: Order, epsilon: Fraction, limit: Fraction) -> Fraction | None:
    """An upper bound of delta from the moment of one order, below a limit; None where that bound is
    not quickly known, or not below.

    Source: Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    if not all(law.has_quick_moments for law, _ in order):
        return None
    log_s, log_bound = moment_guess(order, float(epsilon))
    if log_bound > log(limit):
        return None
    s = Fraction(math.exp(log_s))
    with precision(_QUICK_BITS + sum(times for _, times in order).bit_length()):
        most = _exponent(order, s, epsilon).exp()
        return enclosure(most).upper if most < ball(limit) else None


def _sketched(order: Order, log_s: float, epsilon: Fraction) -> float:
    value = _exponent(order, Fraction(math.exp(log_s)), epsilon)
    return float(value.mid()) if value.is_finite() else math.inf


def _exponent(order: Order, s: Fraction, epsilon: Fraction) -> arb:
    x = ball(s)
    return _log_moment(order, s) - x * ball(epsilon) + x * x.log() - (1 + x) * x.log1p()


def _log_moment(order: Order, s: Fraction, *, finite: bool = False) -> arb:
    return sum((times * _moment(law, s, finite, ctx.prec) for law, times in order), arb(0))


@lru_cache(maxsize=4096)
def _moment(law: LossLaw, s: Fraction, finite: bool, _bits: int) -> arb:
    """log E e^(s L) of one step, at the working precision."""
    if finite and law.mass_at_infinity() > 0:
        return law.finite_log_moment(s)
    return law.log_moment(s)
