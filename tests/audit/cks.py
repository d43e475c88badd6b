"""Discrete Laplace and Gaussian noise from random integers alone, as Canonne, Kamath and Steinke
(2020) have it: samplers inside samplers, and four loops that reject."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def bern(p: Fraction, rng: Any) -> int:
    return 1 if rng.randrange(p.denominator) < p.numerator else 0


def bernexp1(x: Fraction, rng: Any) -> int:
    k = 1
    while True:
        if bern(x / k, rng) == 1:
            k = k + 1
        else:
            break
    return k % 2


def bernexp(x: Fraction, rng: Any) -> int:
    while x > 1:
        if bernexp1(Fraction(1, 1), rng) == 1:
            x = x - 1
        else:
            return 0
    return bernexp1(x, rng)


def geo_slow(x: Fraction, rng: Any) -> int:
    k = 0
    while True:
        if bernexp(x, rng) == 1:
            k = k + 1
        else:
            return k


def geo_fast(x: Fraction, rng: Any) -> int:
    if x == 0:
        return 0
    t = x.denominator
    while True:
        u = rng.randrange(t)
        b = bernexp(Fraction(u, t), rng)
        if b == 1:
            break
    v = geo_slow(Fraction(1, 1), rng)
    value = v * t + u
    return value // x.numerator


def dlaplace(scale: int, rng: Any) -> int:
    width = Fraction(scale)
    while True:
        sign = bern(Fraction(1, 2), rng)
        magnitude = geo_fast(1 / width, rng)
        if sign == 1 and magnitude == 0:
            continue
        return magnitude * (1 - 2 * sign)


def floorsqrt(x: Fraction) -> int:
    a, b = 0, 1
    while b * b <= x:
        b = 2 * b
    while a + 1 < b:
        c = (a + b) // 2
        if c * c <= x:
            a = c
        else:
            b = c
    return a


def dgauss(sigma2: int, rng: Any) -> int:
    variance = Fraction(sigma2)
    if variance == 0:
        return 0
    t = floorsqrt(variance) + 1
    while True:
        candidate = dlaplace(t, rng)
        bias = ((abs(candidate) - variance / t) ** 2) / (2 * variance)
        if bernexp(bias, rng) == 1:
            return candidate
