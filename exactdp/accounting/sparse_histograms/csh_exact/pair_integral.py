"""E[(G(M) - e^(b - U))_+]: what two neighbouring sparse histograms leak through shared counters.

The side with r extra counters (A) is compared with the side without, on j shared counters. Lengths
are in units of the independent noise, V = j / (kappa (j + kappa)); M ~ N(0, V) is the estimate of
the shared noise on side A, G(M) the chance that all extras stay hidden, and the privacy loss
of the shared counters is D^2/2 + U with U ~ N(0, D^2), Cov(U, M) = t, b = epsilon - D^2/2.

So U given M is N(c M, w^2) with c = t/V and w^2 = D^2 - t^2/V. If a < j of the shared counters
change, w > 0 and :func:`outer` integrates a closed form over M. If all change, w = 0 and
:func:`half_lines` needs no integral over M: the expectation is over an interval of M.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb, ctx

from exactdp.accounting.gaussian import cdf, pdf, tail
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import (
    Hidden,
    Knot,
    Profile,
    floor_of,
    plus_minus,
)
from exactdp.balls import ball

__all__ = ["half_lines", "outer"]

#: An integral over M with more nodes than this is not attempted; its value is then [0, 1].
_MOST_NODES = 1 << 16


@dataclass(frozen=True)
class _Loss:
    """The law of b - U given M = m: N(b - c m, w^2)."""

    offset: arb
    slope: arb
    width: arb

    def shortfall(self, m: arb, chance: arb) -> arb:
        """E[(g - e^X)_+] for X = b - U given M = m, at an exact g > 0."""
        mean = self.offset - self.slope * m
        top = (chance.log() - mean) / self.width
        rest = (mean + self.width**2 / 2).exp()
        return chance * cdf(top) - rest * cdf(top - self.width)


@dataclass(frozen=True)
class _Strip:
    """|phi_V(z) f(z)| for |Im z| <= d = theta s, where f(m) = shortfall at G(m).

    Write T = (ln G(m) - b + c m)/w. Substituting W = T - v in f = E[(G - e^(b - c m + w W))_+],
    f = G int_0^oo (1 - e^(-w v)) phi(T - v) dv, so |f| <= |G| e^((Im T)^2/2) Phi(Re T).

    With Z distributed as the shared noise given M = x and all extras hidden,
    G(x + iy) = e^(y^2/2s^2) G(x) E[e^(i (Z - x) y/s^2)], and E[Z - x] = s^2 (ln G)'(x). As ln G is
    concave, Var Z <= s^2; so E[e^(i eta)] for eta = (Z - E Z) y/s^2 is within theta^2/2 < 1 of 1.
    Hence G has no zero in the strip, |G(x + iy)| <= e^(theta^2/2) G(x), and
    Im ln G(x + iy) = y (ln G)'(x) + angle, |angle| <= asin(theta^2/2). Also
    |E sin eta| <= E|eta|^3/6 <= 0.7523 theta^3, as Z is s times a 1-Lipschitz image of a standard
    normal g (Caffarelli) and E|Z - EZ|^3 <= s^3 E|g - g'|^3; and E cos eta >= 1 - theta^2/2.

    So |Im T| <= Y(x) = (d max(c, -(ln G)'(x)) + |angle|)/w, which rises with x, and
    |phi_V f|(x + iy) <= phi_V(x) G(x) Phi(Re T) e^(theta^2/2 + d^2/2V + Y(x)^2/2).
    """

    profile: Profile
    loss: _Loss
    theta: Fraction

    @cached_property
    def half_width(self) -> arb:
        return ball(self.theta) / self.profile.precision.sqrt()

    @cached_property
    def base(self) -> arb:
        d = self.half_width
        return (ball(self.theta**2) / 2 + d * d / (2 * self.profile.variance)).exp()

    def growth(self, knot: Knot) -> arb:
        """e^(Y(x)^2/2) at a knot; a bound everywhere to its left."""
        half = ball(self.theta**2) / 2
        angle = half.asin().min(ball(Fraction("0.7523") * self.theta**3) / (1 - half))
        steepest = self.loss.slope.max(knot.drop)
        return (((self.half_width * steepest + angle) / self.loss.width) ** 2 / 2).exp()

    @cached_property
    def integral(self) -> arb:
        """A bound on int |phi_V f|(x + iy) dx up to the last knot.

        Between two knots: G at the left one, Y at the right one, and the Gaussian mass.
        """
        knots, deviation = self.profile.knots, self.profile.deviation
        total = cdf(knots[1].x / deviation) * self.growth(knots[1])
        for left, right in pairwise(knots[1:]):
            total += tail(left.x / deviation) * left.log.exp() * self.growth(right)
        return self.base * total

    def side(self, x: arb, log: arb, growth: arb) -> arb:
        """A bound on |phi_V f|(x + iy), given bounds on ln G and e^(Y^2/2) at x."""
        half = ball(self.theta**2) / 2
        top = (log + half - self.loss.offset + self.loss.slope * x) / self.loss.width
        density = pdf(x / self.profile.deviation) / self.profile.deviation
        return self.base * density * log.exp() * cdf(top) * growth


def outer(profile: Profile, epsilon: arb, squared: arb, covariance: arb) -> arb:
    """The expectation for w > 0, where squared = D^2 and covariance = t.

    Any pair with t^2 < D^2 V may be asked for. The value rises with D^2 and falls with t (the
    integrand is submodular in (U, M)), so extreme D^2 and t bound a whole range of pairs.

    Trapezoidal rule in M over half-integers A < B of its step h. By residues its error is at most
    2 N/(e^(2 pi d/h) - 1) from the horizontal sides of the rectangle [A, B] x [-d, d], N bounding
    the integral of |phi_V f| along either, and (h ln 2/pi) sup |phi_V f| from each vertical side,
    where the kernel is 1/(1 + e^(2 pi |y|/h)).
    """
    variance = profile.variance
    slope = covariance / variance
    loss = _Loss(epsilon - squared / 2, slope, (squared - covariance * slope).max(arb(0)).sqrt())
    unknown = arb(0).union(arb(1))
    if not loss.width > 0 or len(profile.knots) < 3:
        return unknown
    plan = _plan(profile, loss)
    if plan is None:
        return unknown
    strip, grid = plan
    total = _trapezoid(profile, loss, grid) + plus_minus(_outer_error(profile, strip, grid))
    return total.max(arb(0)) if total.is_finite() else unknown


@dataclass(frozen=True)
class _Grid:
    """Nodes m = i step for first <= i <= last; step = coarse/fine of the shared noise's step."""

    unit: Fraction
    coarse: int
    fine: int
    first: int
    last: int

    @property
    def step(self) -> Fraction:
        return self.unit * self.coarse / self.fine


def _plan(profile: Profile, loss: _Loss) -> tuple[_Strip, _Grid] | None:
    """Strip, step and range of the integral over M, chosen by floats; None if out of reach."""
    try:
        strip = _Strip(profile, loss, _theta(profile, loss))
        size = float(strip.integral.log().mid())
        wanted = 2 * math.pi * float(strip.half_width.mid())
        wanted /= max(0.0, size) + profile.noise.absolute + 2
        unit = profile.noise.step
        fine = max(1, math.ceil(float(unit) / wanted))
        coarse = max(1, math.floor(wanted / float(unit))) if fine == 1 else 1
        step = unit * coarse / fine
        first = -math.ceil(_left_reach(profile, loss, strip) / float(step))
    except (ArithmeticError, ValueError):  # infinities and nans
        return None
    last = floor_of((profile.knots[-1].x / ball(step) - arb(0.75)).lower())
    if last <= 0 or last - first > _MOST_NODES:
        return None
    return strip, _Grid(unit, coarse, fine, first, last)


def _theta(profile: Profile, loss: _Loss) -> Fraction:
    """About the strip that needs the fewest nodes."""
    knots = [tuple(float(part.mid()) for part in knot) for knot in profile.knots]
    c, w = float(loss.slope.mid()), float(loss.width.mid())
    s, variance = float(profile.precision.mid()) ** -0.5, float(profile.variance.mid())
    enough = profile.noise.absolute + 3
    levels = [log - x * x / (2 * variance) for x, log, _ in knots]

    def cost(theta: float) -> float:
        angle = min(math.asin(theta**2 / 2), 0.7523 * theta**3 / (1 - theta**2 / 2))
        tilts = [(theta * s * max(c, drop) + angle) / w for _, _, drop in knots]
        grown = [tilt * tilt / 2 for tilt in tilts]
        worst = max(y + level for y, level in zip(grown[1:], levels, strict=False))
        worst += theta**2 / 2 * (1 + s * s / variance)
        # the right end must stay negligible on the strip
        penalty = 1e6 if grown[-1] + levels[-1] > -enough else 1
        return float(penalty * (enough + max(0.0, worst)) / theta)

    return Fraction(min((2 ** (-i / 8) for i in range(160)), key=cost)).limit_denominator(1 << 24)


def _left_reach(profile: Profile, loss: _Loss, strip: _Strip) -> float:
    """About how far left phi_V f matters, on the strip too."""
    b, c, w = (float(part.mid()) for part in (loss.offset, loss.slope, loss.width))
    deviation = float(profile.deviation.mid())
    enough: float = profile.noise.absolute + 3
    enough += float(strip.growth(profile.knots[0]).log().mid())
    reach, step = 0.0, deviation / 4
    while max(0.0, (b + c * reach - 1) / w) ** 2 + (reach / deviation) ** 2 < 2 * enough:
        reach += step
    return reach


def _trapezoid(profile: Profile, loss: _Loss, grid: _Grid) -> arb:
    """h sum phi_V(m) f(m), errors of G included.

    f changes by at most as much as G does, so G's error is added to f.
    """
    noise, deviation = profile.noise, profile.deviation
    alias = noise.alias(profile.precision + profile.r)
    total, tiny = arb(0), arb(2) ** (-4 * ctx.prec - 2 * noise.absolute)
    passed, cut = noise.passed_along(
        profile.j, profile.r, grid.first, grid.last, grid.coarse, grid.fine
    )
    step = ball(grid.step)
    for index, lost in zip(range(grid.first, grid.last + 1), passed, strict=True):
        m = step * index
        chance = 1 - lost
        error = chance.rad() + noise.union_bound(m, 1 / profile.precision, profile.r) * alias
        gain = loss.shortfall(m, chance.mid().max(tiny))
        total += pdf(m / deviation) * (gain + plus_minus(error))
    scale = step / deviation
    # h sum phi_V <= 1 + h max phi_V, as phi_V has one peak
    return total * scale + plus_minus((cut + tiny) * (1 + scale))


def _outer_error(profile: Profile, strip: _Strip, grid: _Grid) -> arb:
    """The rule's error and what lies outside [A, B]."""
    loss, deviation, step = strip.loss, profile.deviation, ball(grid.step)
    left = ball(grid.step * (2 * grid.first - 1) / 2)
    right = ball(grid.step * (2 * grid.last + 1) / 2)
    log_right = profile.hidden(right.mid()).log.min(arb(0))
    # from the midpoint to B itself; both are left of the last knot, where ln G is steepest
    log_right += plus_minus(right.rad() * profile.knots[-1].drop)
    horizontal = 2 * strip.integral / ((2 * arb.pi() * strip.half_width / step).exp() - 1)
    vertical = strip.side(left, arb(0), strip.growth(profile.knots[0]))
    vertical += strip.side(right, log_right, strip.growth(profile.knots[-1]))
    vertical *= step * arb(2).log() / arb.pi()
    # f <= Phi(T), and T <= (c A - b)/w left of A; f <= G(B) right of B
    outside = cdf((loss.slope * left - loss.offset) / loss.width) * cdf(left / deviation)
    outside += log_right.exp() * tail(right / deviation)
    return horizontal + vertical + outside


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
    """About where v is largest in [-width, width]; an exact point."""
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
