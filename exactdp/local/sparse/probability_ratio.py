"""What one report costs: from the change of a vector to the ratio of two probabilities.

Bins are integers in units of 1/grid, and noise of ratio q loses lambda = -log q per unit.

Random rounding. As a function of one entry, the probability of a report is linear between grid
points, and changes by a factor of at most s = 1/q from one to the next. Let p and p' be the
probabilities for an entry x and t units away from it. If x is a grid point, p/p' <= s^t, as a
logarithm is concave; otherwise p/p' <= s^floor(t) (1 + (s - 1)(t - floor(t))). At most k entries of
one vector are not at 0, a grid point, so a change of length T costs at most the largest of
s^(T - F) (1 + (s - 1) F/k)^k, F <= min(T, k), which is reached. Over all real F its logarithm is
at most lambda T + k (log m - 1 + 1/m), m = (s - 1)/lambda: about k lambda^2/8 more than lambda T.
One entry that moves from end to end of its range (event level), and whole vectors that do (user
level), only lose lambda per unit.

Clipping. Bins within [-eta, eta] differ by at most 2 eta each, whatever the vectors are.

Squeezing. Items that share a bin cancel in part. Given differences D_l of the rounded entries, the
bins differ by Phi = sum over bins of |sum of s(l) D_l|; if Phi <= Delta but for a probability of
delta over hash functions that nobody chose, the report is (lambda Delta, delta)-private. Phi is
convex in D, so E max(Phi - a, 0) is largest at a corner of what D can be: all of the change in
entries that move from end to end. There the law of Phi is known exactly, and
P(Phi > Delta) <= E max(Phi - a, 0)/(Delta + 1 - a) holds for every a and every D. For long changes
the convex function is exp(t Phi) instead.

Source: SVA, Claim 13 and Lemma 14 with an exact tail in its place; ALP, Section 5 (rounding).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from math import ceil, factorial, log, sqrt

from flint import arb, fmpz_poly

from exactdp.balls import ball, refine

#: So many steps are counted exactly.
_MOST_STEPS = 128


def rounding_loss(rate: Fraction, length: Fraction, entries: int) -> arb:
    """An upper bound of the loss for a change of `length` units in vectors of so many entries.

    rate: lambda > 0, per unit. A ball at the working precision.
    """
    step = ball(rate)
    slope = step.expm1() / step
    most = entries * (1 / step - 1 / step.expm1())  # the F of the largest loss
    if not most <= ball(length):
        return entries * (ball(length) / entries * step.expm1()).log1p()
    return step * ball(length) + entries * (slope.log() - 1 + 1 / slope)


def worst_ratio(q: Fraction, length: Fraction, entries: int) -> Fraction:
    """The largest ratio of two probabilities, exactly, for a change of `length` units.

    length: > 0. entries: k, of which there have to be enough for the change, each within its range.
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
    """Rows of z are spaced twice as wide, so that powers of y do not run into the next row."""
    product = _spaced(first, width, 2 * width) * _spaced(second, width, 2 * width)
    return _spaced(product, 2 * width, width)


def _spaced(poly: fmpz_poly, old: int, new: int) -> fmpz_poly:
    """Rows of length old as rows of length new; as many rows, and as long ones, as both hold."""
    coefficients, kept = poly.coeffs(), min(old, new)
    found = []
    for start in range(0, min(len(coefficients), old * kept), old):
        row = coefficients[start : start + kept]
        found += row + [0] * (new - len(row))
    return fmpz_poly(found)


def squeezed(length: int, bins: int, delta: Fraction, step: int, *, exact: bool) -> int:
    """A certified Delta: Phi <= Delta but for a probability of at most delta.

    length: of the change, in units, >= 1. step: the most that one entry moves, in units.
    exact: by the law of Phi, unless there are too many steps; otherwise by a quick bound.
    """
    steps = ceil(Fraction(length, step))
    best = min(length, _by_cosh(steps, bins, delta, step))
    if not exact or steps > _MOST_STEPS:
        return best
    law = spread(steps, bins)
    for a in range(steps):  # beyond that nothing is over a, and the bound says nothing
        over = sum(((w - a) * p for w, p in enumerate(law) if w > a), Fraction(0))
        best = min(best, ceil(step * (over / delta + a)) - 1)
    return best


def _by_cosh(steps: int, bins: int, delta: Fraction, step: int) -> int:
    """The same by E exp(t Phi) <= E product of 2 cosh(t bin) = 2^bins cosh(t)^steps."""
    odds = log(delta.denominator) - log(delta.numerator)
    hint = sqrt(2 * (bins * log(2) + odds) / steps)

    def reach(t: Fraction) -> arb:
        exponent = bins * ball(2).log() - ball(delta).log() + steps * ball(t).cosh().log()
        return step * exponent / ball(t)

    tried = (Fraction(hint * c).limit_denominator(10**6) for c in (0.8, 0.9, 1, 1.1, 1.3, 1.6))
    found = (refine(partial(reach, t)).upper for t in tried if t > 0)
    return ceil(min(found)) - 1
