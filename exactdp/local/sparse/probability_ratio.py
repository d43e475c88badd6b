"""The privacy loss of one report, from the change of a user's vector.

Bins are integers in units of 1/grid; noise of ratio q has a loss of lambda = -log q per unit.

Random rounding. As a function of one entry, the probability of a report is linear between grid
points, and changes by a factor of at most s = 1/q from one to the next. Let p and p' be the
probabilities for an entry x and t units away from it. If x is a grid point, p/p' <= s^t, as a
logarithm is concave; otherwise p/p' <= s^floor(t) (1 + (s - 1)(t - floor(t))). At most k entries of
one vector are not at 0, a grid point, so a change of length T has a ratio of at most the maximum of
s^(T - F) (1 + (s - 1) F/k)^k over F <= min(T, k), which is attained. Over all real F the logarithm
is at most lambda T + k (log m - 1 + 1/m), m = (s - 1)/lambda: about k lambda^2/8 above lambda T.
If one entry moves from end to end of its range (event level), or all entries do (user level), the
loss is lambda per unit.

Clipping. Bins within [-eta, eta] differ by at most 2 eta each, for any vectors.

Squeezing. Items that share a bin cancel in part. Given differences D_l of the rounded entries, the
bins differ by Phi = sum over bins of |sum of s(l) D_l|. If Phi <= Delta except with probability
delta over random hash functions, the report is (lambda Delta, delta)-private. Phi is convex in D,
so E max(Phi - a, 0) is largest at an extreme point: entries that move from end to end of their
range. There the law of Phi is known exactly, and
P(Phi > Delta) <= E max(Phi - a, 0)/(Delta + 1 - a) holds for every a and every D. For long changes
the convex function is exp(t Phi) instead.

Source: Zhou et al. (SVA), Claim 13, and an exact tail instead of Lemma 14; Aumüller, Lebeda and
Pagh (ALP), Section 5 (rounding).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from math import ceil, factorial, log, sqrt

from flint import arb, fmpz_poly

from exactdp.balls import ball, refine

#: Up to this number of steps, the law of Phi is computed exactly.
_MOST_STEPS = 128


def rounding_loss(rate: Fraction, length: Fraction, entries: int) -> arb:
    """Upper bound of the loss for a change of `length` units, as a ball.

    rate: lambda > 0, per unit. entries: k, largest number of non-zero entries of a vector.
    """
    step = ball(rate)
    slope = step.expm1() / step
    most = entries * (1 / step - 1 / step.expm1())  # the real F with the largest loss
    if not most <= ball(length):
        return entries * (ball(length) / entries * step.expm1()).log1p()
    return step * ball(length) + entries * (slope.log() - 1 + 1 / slope)


def worst_ratio(q: Fraction, length: Fraction, entries: int) -> Fraction:
    """The exact largest probability ratio for a change of `length` units.

    q: ratio of the noise. length: > 0. entries: k, large enough that the change fits their range.
    """
    s, whole = 1 / q, length.numerator // length.denominator
    parts = [length - m for m in range(whole + 1) if length - m <= entries]
    return max(s ** int(length - f) * (1 + (s - 1) * f / entries) ** entries for f in parts)


@cache
def spread(steps: int, bins: int) -> tuple[Fraction, ...]:
    """P(sum over bins of |sum of signs| = w) for w = 0, ..., steps: independent bins and signs.

    By exponential generating functions: a bin with c items has |sum of signs| = w in
    C(c, (c + w)/2) (2 if w else 1) ways; y counts items, z counts w, and z is y^(steps + 1).
    """
    width = steps + 1
    one = [0] * (width * width)
    scale = factorial(steps)
    for c in range(steps + 1):
        for w in range(c % 2, c + 1, 2):
            up = (c + w) // 2
            ways = scale // factorial(up) // factorial(c - up) * (2 if w else 1)
            one[w * width + c] += ways
    total = _power(fmpz_poly(one), bins, width)
    norm = scale ** (bins - 1) * (2 * bins) ** steps
    return tuple(Fraction(int(total[w * width + steps]), norm) for w in range(width))


def _power(base: fmpz_poly, exponent: int, width: int) -> fmpz_poly:
    """base^exponent in y and z, without powers of y from width on."""
    result = fmpz_poly([1])
    while exponent:
        if exponent & 1:
            result = _product(result, base, width)
        exponent >>= 1
        base = _product(base, base, width) if exponent else base
    return result


def _product(first: fmpz_poly, second: fmpz_poly, width: int) -> fmpz_poly:
    """The product of two polynomials in y and z, without powers of y from width on."""
    product = _spaced(first, width, 2 * width) * _spaced(second, width, 2 * width)
    return _spaced(product, 2 * width, width)


def _spaced(poly: fmpz_poly, old: int, new: int) -> fmpz_poly:
    """Change the spacing of the powers of z from `old` to `new` powers of y."""
    coefficients, kept = poly.coeffs(), min(old, new)
    spaced = []
    for start in range(0, min(len(coefficients), old * kept), old):
        row = coefficients[start : start + kept]
        spaced += row + [0] * (new - len(row))
    return fmpz_poly(spaced)


def squeezed(length: int, bins: int, delta: Fraction, step: int, *, exact: bool) -> int:
    """A certified Delta with P(Phi > Delta) <= delta.

    length: of the change, in units, >= 1. step: largest change of one entry, in units.
    exact: use the law of Phi, unless there are too many steps; otherwise a fast bound.
    """
    steps = ceil(Fraction(length, step))
    best = min(length, _by_cosh(steps, bins, delta, step))
    if not exact or steps > _MOST_STEPS:
        return best
    law = spread(steps, bins)
    for a in range(steps):  # Phi <= steps, so larger a give no bound
        over = sum(((w - a) * p for w, p in enumerate(law) if w > a), Fraction(0))
        best = min(best, ceil(step * (over / delta + a)) - 1)
    return best


def _by_cosh(steps: int, bins: int, delta: Fraction, step: int) -> int:
    """A certified Delta, by E exp(t Phi) <= E product of 2 cosh(t bin) = 2^bins cosh(t)^steps."""
    odds = log(delta.denominator) - log(delta.numerator)
    hint = sqrt(2 * (bins * log(2) + odds) / steps)

    def reach(t: Fraction) -> arb:
        exponent = bins * ball(2).log() - ball(delta).log() + steps * ball(t).cosh().log()
        return step * exponent / ball(t)

    tried = (Fraction(hint * c).limit_denominator(10**6) for c in (0.8, 0.9, 1, 1.1, 1.3, 1.6))
    bounds = (refine(partial(reach, t)).upper for t in tried if t > 0)
    return ceil(min(bounds)) - 1
