"""Renyi divergences of steps, and the best delta they imply over all real orders.

With s = order - 1, K(s) = log E e^(s L) is the sum over all steps, s R(s + 1) = K(s), and the bound
of Canonne, Kamath and Steinke is exp(g(s)), g(s) = K(s) - s epsilon + s log s - (1 + s) log(1 + s).
K is convex, and so is the rest (its second derivative is 1/(s (1 + s))). So every s gives an upper
bound of the infimum, and the chords of g through three points, extended, a lower one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import acb, arb

from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.gaussian import cdf, tail
from exactdp.accounting.pld.atoms import AtomicLoss
from exactdp.accounting.pld.guesses import Order
from exactdp.accounting.pld.integers import DiscreteGaussianLoss
from exactdp.accounting.pld.laplace import EndedLoss, LaplaceLoss
from exactdp.accounting.pld.laws import GaussianLoss, LossLaw, SampledLoss
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

__all__ = ["best_delta", "divergence"]

_BITS = 128


def divergence(order: Order, alpha: Fraction) -> Enclosure:
    """The Renyi divergence of an order alpha > 1, of all steps together."""
    with precision(_BITS):
        s = alpha - 1
        return enclosure((_log_moment(order, s) / ball(s)).max(arb(0)))


def best_delta(order: Order, epsilon: Fraction) -> Enclosure:
    """The infimum over all real orders > 1 of what the Renyi divergences imply at epsilon.

    Source: Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    with precision(_BITS):
        # nothing is decided by where the three points lie
        def sketched(log_s: float) -> float:
            value = _exponent(order, Fraction(math.exp(log_s)), epsilon)
            return float(value.mid()) if value.is_finite() else math.inf

        centre = minimum(sketched, -8.0, 8.0, 1e-5)
        gap = 1e-3
        points = [Fraction(math.exp(centre + i * gap)) for i in (-1, 0, 1)]
        left, middle, right = (_exponent(order, s, epsilon) for s in points)
        if not (left > middle and right > middle):
            # the bound may fall for ever, as where no loss reaches epsilon
            return Enclosure(Fraction(0), enclosure(middle.exp()).upper).clamped(0, 1)
        rises = ball((points[2] - points[1]) / (points[1] - points[0]))
        falls = ball((points[1] - points[0]) / (points[2] - points[1]))
        # the chord of one side, extended to the end of the other
        least = (middle - (left - middle) * rises).min(middle - (right - middle) * falls)
        return Enclosure(enclosure(least.exp()).lower, enclosure(middle.exp()).upper).clamped(0, 1)


def _exponent(order: Order, s: Fraction, epsilon: Fraction) -> arb:
    x = ball(s)
    return _log_moment(order, s) - x * ball(epsilon) + x * x.log() - (1 + x) * x.log1p()


def _log_moment(order: Order, s: Fraction) -> arb:
    return sum((times * _step_moment(law, s) for law, times in order), arb(0))


@lru_cache(maxsize=4096)
def _step_moment(law: LossLaw | AtomicLoss | EndedLoss, s: Fraction) -> arb:
    """log E e^(s L) of one step."""
    if isinstance(law, GaussianLoss):
        return ball(s * (s + 1) * law.mu**2 / 2)
    if isinstance(law, SampledLoss) and isinstance(law.base, GaussianLoss):
        return _sampled_moment(law.base.mu, law.rate, s, removed=law.removed).log()
    if isinstance(law, LaplaceLoss):
        # Mironov 2017, Proposition 6
        up, down = (s * law.mu), (s + 1) * law.mu
        return (
            (ball(s + 1) * ball(up).exp() + ball(s) * (-ball(down)).exp()) / ball(2 * s + 1)
        ).log()
    if isinstance(law, AtomicLoss):
        return _atomic_moment(law, s)
    raise InvalidParameter("mechanism", type(law).__name__, "one with Renyi divergences")


def _sampled_moment(mu: Fraction, rate: Fraction, s: Fraction, *, removed: bool) -> arb:
    """E_B[(1 - q + q e^l)^(s + 1)], or of the power -s; l = mu x - mu^2/2, x normal."""
    m, q, x_power = ball(mu), ball(rate), ball(s + 1 if removed else -s)
    reach = 12 + (math.ceil(mu * (s + 1)) if removed else 0)

    def integrand(x: acb, _: bool) -> acb:
        mixed = 1 - q + q * (m * x - m * m / 2).exp()
        # holomorphic where the mixture is off the negative axis
        power = (mixed.log() * x_power).exp() if mixed.real > 0 else acb("nan", "nan")
        return power * (-x * x / 2).exp()

    pieces = (acb.integral(integrand, x, x + 1).real for x in range(-12, reach))
    middle = sum(pieces, arb(0)) / (2 * arb.pi()).sqrt()
    if removed:
        # there the mixture is at most q e^l times this
        order, slack = ball(s + 1), ((1 - q) / q * (m * m / 2 - m * reach).exp()).exp()
        beyond = (m * m * order * (order - 1) / 2).exp() * tail(arb(reach) - order * m)
        beyond *= (q * slack) ** order
        return middle + arb(0.5, 0.5) * (beyond + tail(arb(reach)) + cdf(arb(-12)))
    most = (-ball(s) * (1 - q).log()).exp()
    return middle + arb(0.5, 0.5) * most * (tail(arb(reach)) + cdf(arb(-12)))


def _atomic_moment(law: AtomicLoss, s: Fraction) -> arb:
    if isinstance(law, DiscreteGaussianLoss):
        # at most that of the continuous one (Canonne, Kamath, Steinke 2020, Theorem 14)
        most = ball(s * (s + 1) * Fraction(law.shift**2) / (2 * law.sigma2))
    else:
        most = None
    power, total = ball(s), arb(0)
    for loss, p, _ in law.outcomes(_BITS):
        if not isinstance(loss, float):
            total += p * (power * (ball(loss) if isinstance(loss, Fraction) else loss)).exp()
        elif loss == math.inf and most is None and p > 0:
            raise InvalidParameter("delta", "mass at infinity", "0 for Renyi divergences")
    found = total.log()
    return found if most is None else found.union(most)
