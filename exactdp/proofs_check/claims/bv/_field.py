"""Tiny binary fields by the schoolbook method, and polynomials over them: the independent side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def multiply(a: int, b: int, level: int) -> int:
    """The product modulo x^(2k) + x^k + 1 over F_2, k = 3^level."""
    k = 3**level
    result = 0
    for bit in range(2 * k):
        if b >> bit & 1:
            result ^= a
        a <<= 1
        if a >> 2 * k:
            a ^= 1 << 2 * k | 1 << k | 1
    return result


def evaluate(coefficients: Sequence[int], x: int, level: int) -> int:
    """Horner's rule, constant coefficient first."""
    value = 0
    for c in reversed(coefficients):
        value = multiply(value, x, level) ^ c
    return value


def polynomials(terms: int, level: int) -> list[tuple[int, ...]]:
    """All polynomials with `terms` coefficients."""
    return list(product(range(4 ** (3**level)), repeat=terms))
