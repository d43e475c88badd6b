"""Sums of exp(-k^2/(2 sigma^2)) over integers, in independent forms, for the discrete Gaussian."""

from __future__ import annotations

from mpmath import mp, mpf

#: Up to this sigma, sums are also added term by term.
DIRECT = 3000


def reach(sigma: mpf, digits: int) -> int:
    """Terms beyond this are below 10^-digits of the first."""
    return int(sigma * mp.sqrt(2 * digits * mp.log(10))) + 2


def all_direct(sigma2: mpf, digits: int = 70) -> mpf:
    """The sum over all integers, term by term."""
    q = mp.exp(-1 / (2 * sigma2))
    total, term, ratio, square = mpf(1), mpf(1), q, q * q
    for _ in range(reach(mp.sqrt(sigma2), digits)):
        term *= ratio
        ratio *= square
        total += 2 * term
    return total


def all_poisson(sigma2: mpf) -> mpf:
    """The same by Poisson summation: sqrt(2 pi sigma2) times the sum of e^(-2 pi^2 sigma2 m^2)."""
    rate, total, m = 2 * mp.pi**2 * sigma2, mpf(1), 1
    while True:
        term = 2 * mp.exp(-rate * m * m)
        total += term
        if term < mp.eps:
            return mp.sqrt(2 * mp.pi * sigma2) * total
        m += 1


def above_direct(z: int, sigma2: mpf, digits: int = 70) -> mpf:
    """The sum over k > z >= -1, term by term."""
    start = z + 1
    term = mp.exp(-(mpf(start) ** 2) / (2 * sigma2))
    ratio, square = mp.exp(-mpf(2 * start + 1) / (2 * sigma2)), mp.exp(-1 / sigma2)
    total = mpf(0)
    while term > total * mpf(10) ** -digits or not total:
        total += term
        term *= ratio
        ratio *= square
    return total


def above_separately(z: int, sigma2: mpf, digits: int = 70) -> mpf:
    """The same, every term by its own exponential, the smallest first."""
    start = z + 1
    last = start
    while (mpf(last) ** 2 - start * start) / (2 * sigma2) < digits * mp.log(10):
        last += max(1, last - start)
    return mp.fsum(mp.exp(-(mpf(k) ** 2) / (2 * sigma2)) for k in range(last, z, -1))


def above_midpoint(z: int, sigma2: mpf, trapezoid: bool = False) -> mpf:
    """The same by Euler-Maclaurin, at the midpoint z + 1/2 or by the trapezoidal rule at z + 1.

    The series is cut where its terms fall below the working precision; only for large sigma.
    """
    sigma = mp.sqrt(sigma2)
    x = (z + (mpf(1) if trapezoid else mpf(1) / 2)) / sigma
    height = mp.exp(-x * x / 2)
    total = sigma * mp.sqrt(mp.pi / 2) * mp.erfc(x / mp.sqrt(2))
    if trapezoid:
        total += height / 2
    before, here, power, least = mpf(1), x, 1 / sigma, None
    for j in range(1, 80):
        n = 2 * j - 1
        weight = mp.bernoulli(2 * j) / mp.factorial(2 * j)
        if not trapezoid:
            weight *= mpf(2) ** (1 - 2 * j) - 1
        term = weight * here * height * power
        total += term
        least = abs(term) if least is None else min(least, abs(term))
        if abs(term) < abs(total) * mp.eps:
            return total
        before, here = here, x * here - n * before
        before, here = here, x * here - (n + 1) * before
        power /= sigma2
    if least is None or least > abs(total) * mpf(10) ** -40:
        raise ArithmeticError("Euler-Maclaurin does not settle at this sigma")
    return total
