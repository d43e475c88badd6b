"""Promises as lines: floats that say where to look for a violation, never the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from exactdp.audit.bounds.evidence import Lines

__all__ = ["exp", "tangents"]

_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.15, 0.3, 0.5)  # q where lines touch the promise
_LARGEST = 600.0  # epsilon whose exponential is still a double


def exp(epsilon: Fraction) -> float:
    """e^epsilon as a double, whatever epsilon is."""
    return math.exp(min(float(epsilon), _LARGEST))


def tangents(needs: Callable[[float, float], float], value: float) -> Lines:
    """Lines that touch the set of allowed (p, q) from outside, at a few q; about."""
    found = []
    for q in _RATES:
        p = _largest(needs, q, value)
        step = 1e-4 * q
        slope = (_largest(needs, q + step, value) - _largest(needs, q - step, value)) / (2 * step)
        if slope > 0:
            found.append((slope, max(p - slope * q, 0.0)))
    return tuple(found) or ((1.0, 0.0),)


def _largest(needs: Callable[[float, float], float], q: float, value: float) -> float:
    """The largest p allowed beside q, by bisection of its log-odds."""
    low, high = math.log(q / (1 - q)), 36.0
    for _ in range(52):
        middle = (low + high) / 2
        p = 1 / (1 + math.exp(-middle))
        if p < 1 and needs(p, q) <= value:
            low = middle
        else:
            high = middle
    return 1 / (1 + math.exp(-low))
