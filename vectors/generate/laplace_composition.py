"""Sums of k Laplace losses: the exact law of the sum, in two ways."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

from mpmath import mp, mpf

from vectors.generate.common import Bounds, bracket, number, settled


def laplace(k: str, scale: str, epsilon: str) -> Bounds:
    """k-fold Laplace noise: the loss is e^(l/2) times a symmetric measure of atoms and uniforms."""
    copies, total, size = int(k), Fraction(epsilon), Fraction(scale)
    if total * size >= copies:
        return "0", "0"
    value = settled(lambda: _laplace_sum(copies, scale, epsilon), 600)
    with mp.workdps(60):
        other = _laplace_pieces(copies, scale, epsilon)
    return bracket(value, (other, "1e-30"), most=1)


def _laplace_sum(k: int, scale: str, epsilon: str) -> mpf:
    """Iterated antiderivatives of (e^(l/2) - e^(epsilon - l/2))_+ at the corners of a cube."""
    a, total = 1 / number(scale), number(epsilon)

    def rest(n: int, z: mpf) -> mpf:
        return mp.exp(z) - sum((z**m / mp.factorial(m) for m in range(n)), mpf(0))

    def antiderivative(n: int, x: mpf) -> mpf:
        z = (x - total) / 2
        if z <= 0:
            return mpf(0)
        return mp.exp(total / 2) * 2**n * (rest(n, z) - (-1) ** n * rest(n, -z))

    result = mpf(0)
    for n in range(k + 1):
        for p in range(k - n + 1):
            ways = comb(k, n) * comb(k - n, p) * mpf(2) ** -(k + n)
            centre = 2 * p - (k - n)
            for i in range(n + 1):
                sign = (-1) ** i * comb(n, i)
                result += ways * sign * antiderivative(n, (centre + n - 2 * i) * a)
    return mp.exp(-k * a / 2) * result


@lru_cache(None)
def _pieces(n: int) -> dict[int, list[Fraction]]:
    """The density of a sum of n uniforms on (-1, 1), times 2^n: polynomials on (i, i + 2)."""
    if n == 1:
        return {-1: [Fraction(1)]}
    # f_n(x) is the integral of f_{n-1} from x - 1 to x + 1
    before, result = _pieces(n - 1), {}
    for left in range(-n, n, 2):
        poly = [Fraction(0)] * n
        # x in (left, left + 2): x - 1 is in the piece at left - 1, x + 1 in the piece at left + 1
        upper, lower = before.get(left + 1), before.get(left - 1)
        if upper is not None:
            _add(poly, _shifted(_integral(upper, Fraction(left + 1)), 1), 1)
        if lower is not None:
            _add(poly, _shifted(_integral(lower, Fraction(left + 1)), -1), -1)
        result[left] = poly
    return result


def _integral(poly: list[Fraction], start: Fraction) -> list[Fraction]:
    """The antiderivative that vanishes at start."""
    raised = [Fraction(0), *(c / (i + 1) for i, c in enumerate(poly))]
    raised[0] = -sum((c * start**i for i, c in enumerate(raised)), Fraction(0))
    return raised


def _shifted(poly: list[Fraction], by: int) -> list[Fraction]:
    """poly(x + by)."""
    result = [Fraction(0)] * len(poly)
    for i, c in enumerate(poly):
        for j in range(i + 1):
            result[j] += c * comb(i, j) * by ** (i - j)
    return result


def _add(poly: list[Fraction], other: list[Fraction], sign: int) -> None:
    poly.extend([Fraction(0)] * (len(other) - len(poly)))
    for i, c in enumerate(other):
        poly[i] += sign * c


def _laplace_pieces(k: int, scale: str, epsilon: str) -> mpf:
    """The same from exact piecewise polynomials, integrated numerically."""
    b, total, result = number(scale), number(epsilon), mpf(0)
    cut = total * b

    def gain(y: mpf) -> mpf:
        return mp.exp(y / (2 * b)) - mp.exp(total - y / (2 * b))

    for n in range(k + 1):
        for p in range(k - n + 1):
            ways = comb(k, n) * comb(k - n, p) * mpf(2) ** -(k + n)
            centre = 2 * p - (k - n)
            if n == 0:
                result += ways * max(mpf(0), gain(mpf(centre)))
                continue
            for left, poly in _pieces(n).items():
                low, high = max(mpf(left), cut - centre), mpf(left + 2)
                if low >= high:
                    continue
                numbers = [mpf(c.numerator) / c.denominator for c in reversed(poly)]
                inner = mp.quad(
                    lambda y, c=numbers, z=centre: mp.polyval(c, y) * gain(y + z),
                    [low, high],
                    method="gauss-legendre",
                )
                result += ways * b**-n * inner
    return mp.exp(-k / (2 * b)) * result
