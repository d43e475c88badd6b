"""Tiny binary fields by the schoolbook method, and polynomials over them: the independent side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

#: By the order of x. BV has the first and the last of these fields.
_MODULI = {3: 0b111, 5: 0b11111, 9: 0b1001001}


def multiply(a: int, b: int, period: int) -> int:
    """The product modulo the polynomial in which x has this order."""
    modulus, result = _MODULI[period], 0
    degree = modulus.bit_length() - 1
    for bit in range(degree):
        if b >> bit & 1:
            result ^= a
        a <<= 1
        if a >> degree:
            a ^= modulus
    return result


def evaluate(coefficients: Sequence[int], x: int, period: int) -> int:
    """Horner's rule, constant coefficient first."""
    value = 0
    for c in reversed(coefficients):
        value = multiply(value, x, period) ^ c
    return value


def polynomials(terms: int, period: int) -> list[tuple[int, ...]]:
    """All polynomials with this number of coefficients."""
    order = 1 << _MODULI[period].bit_length() - 1
    return list(product(range(order), repeat=terms))
