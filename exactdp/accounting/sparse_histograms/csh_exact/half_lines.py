"""E[(G(M) - e^(b - U))_+] where all shared counters change (w = 0): U = c M, no second integral.

M ~ N(0, V) is the estimate of the shared noise on side A; :mod:`interior` has the other case. The
expectation is over an interval of M, on which the bracket is positive.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx

from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Hidden, Profile
from exactdp.normal import cdf, tail


def half_lines(profile: Profile, epsilon: arb, squared: arb, covariance: arb) -> arb:
    """The expectation for w = 0, where U = c M and t^2 = D^2 V.

    Let v(m) = ln G(m) + c m - b, concave; the integrand is (G (1 - e^-v))_+ <= min(1, v_+). For any
    interval I = [left, right] the mean over I without the positive part is

        P_A(all hidden, M in I) - e^epsilon P_B(M in I),   M ~ N(-t, V) on side B.

    It falls short of the expectation by at most: the negative part inside I, where v is at least
    its smaller end value; and the positive part outside, where v is at most its value at that end,
    if it slopes down towards the outside, and which is at most the outside's mass anyway.
    """
    deviation, slope = profile.deviation, covariance / profile.variance
    offset = epsilon - squared / 2

    def margin(m: arb) -> Hidden:
        log, fall = profile.hidden(m)
        return Hidden(log + slope * m - offset, fall + slope)

    width = (deviation * (arb(2) * profile.noise.absolute).sqrt()).mid()
    top = _summit(margin, width, deviation)
    height, tilt = margin(top)
    if not height > 0:  # the tangent at the top bounds v everywhere
        bound = height.max(arb(0)) + abs(tilt) * (deviation + abs(top))
        return arb(0).union(bound.min(arb(1))) if bound.is_finite() else arb(0).union(arb(1))
    left, right = _end(margin, top, -width), _end(margin, top, width)
    extras = profile.noise.exceeded_within(profile.r, profile.j, left, right)
    on_a = cdf(right / deviation) - cdf(left / deviation) - extras
    shift = covariance / deviation
    on_b = cdf(right / deviation + shift) - cdf(left / deviation + shift)
    value = on_a - epsilon.exp() * on_b
    at_left, at_right = margin(left), margin(right)
    inside = (-at_left.log).max(-at_right.log).max(arb(0)).expm1()
    missed = inside + _beyond(at_left.log, at_left.slope) * cdf(left / deviation)
    missed += _beyond(at_right.log, -at_right.slope) * tail(right / deviation)
    if not missed.is_finite():
        return arb(0).union(arb(1))
    return value.union(value + missed).max(arb(0)).min(arb(1))


def _beyond(height: arb, inward: arb) -> arb:
    """A bound on the integrand outside an end, from v and its slope towards the inside there."""
    return height.max(arb(0)).min(arb(1)) if inward >= 0 else arb(1)


_Margin = Callable[[arb], Hidden]


def _summit(margin: _Margin, width: arb, deviation: arb) -> arb:
    """A guess at where v is largest in [-width, width], as an exact point."""
    left, right = -width, width
    while right - left > deviation * arb(2) ** -(ctx.prec // 3):
        middle = ((left + right) / 2).mid()
        height, slope = margin(middle)
        if slope > 0:
            left = middle
        else:
            right = middle
        if height > 0 and right - left < deviation / 1000:
            return middle
    return left


def _end(margin: _Margin, top: arb, limit: arb) -> arb:
    """About the zero of v between its top and a limit; the limit if v is positive there.

    Newton's method on a concave function never leaves the side it started on, the outside.
    """
    inside, outside = top, limit
    if margin(limit).log >= 0:
        return limit
    for step in range(200):
        middle = ((inside + outside) / 2).mid()
        height = margin(middle).log
        if height > 0:
            inside = middle
        else:  # also where G is too small to be seen
            outside = middle
            if step >= 4 and height.is_finite():
                break
    for _ in range(40):
        height, slope = margin(outside)
        if not height < 0 or not abs(slope) > 0:
            break
        outside = (outside - height / slope).mid()
        if height > -(arb(2) ** -(ctx.prec // 2)):
            break
    return outside
