"""The medium privacy regime: sets of about m/e^epsilon elements, with e^epsilon rational."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["deviation", "inverse_weight", "noise_square", "weight"]


def weight(m: int, n: int, e: Fraction) -> Fraction:
    """d' of a set of n elements: m(2 - 1/e)/(n e + m - n), from the channel's normaliser."""
    return m * (2 - 1 / e) / (n * e + m - n)


def inverse_weight(b: Fraction, e: Fraction) -> Fraction:
    """1/d' for n = (1 + b) m/e (m and n rational: only their ratio enters)."""
    share = (1 + b) / e
    return (share * e + 1 - share) / (2 - 1 / e)


def deviation(b: Fraction, e: Fraction) -> Fraction:
    """|d' - 1| for n = (1 + b) m/e."""
    return abs(1 / inverse_weight(b, e) - 1)


def noise_square(e: Fraction) -> Fraction:
    """((2e - 1)/(e - 1)^(3/2))^2."""
    return (2 * e - 1) ** 2 / (e - 1) ** 3
