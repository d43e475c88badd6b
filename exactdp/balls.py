"""The bridge to ball arithmetic (python-flint's Arb): numbers that carry their own error bound.

Only this module changes python-flint's working precision. That precision is global to the process,
so :func:`precision` holds a lock while it is changed. A ball computed at any precision contains the
true value, so a race could only widen a ball.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import NamedTuple

from flint import arb, ctx, fmpq

from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

__all__ = [
    "CAP_BITS",
    "FLOOR_BITS",
    "Ends",
    "ball",
    "enclosure",
    "precision",
    "refine",
    "relative_width_reached",
]

#: A number below 2^-FLOOR_BITS (about 1e-19728) is enclosed by [0, 2^-FLOOR_BITS]: the exponents of
#: Gaussian tails are too large to write these numbers as fractions.
FLOOR_BITS = 65_536

#: Largest working precision, in bits; a comparison that needs more raises Undecided.
CAP_BITS = 32_768

_START_BITS = 128

#: Numbers of 2^_MOST_BITS or more are not converted to fractions.
_MOST_BITS = 1 << 28

_lock = threading.RLock()


def _fresh_lock() -> None:
    global _lock
    _lock = threading.RLock()  # a fork may copy the lock while another thread holds it


os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def precision(bits: int, *, terms: int | None = None) -> Iterator[None]:
    """Set the working precision to `bits`, and power series to `terms` terms, inside the block."""
    with _lock:
        before = ctx.prec, ctx.cap
        ctx.prec, ctx.cap = bits, terms or ctx.cap
        try:
            yield
        finally:
            ctx.prec, ctx.cap = before


class Ends(NamedTuple):
    """Exact lower and upper bounds of a number.

    A wide ball would lose accuracy: Arb keeps its radius in 30 bits only.
    """

    lower: arb
    upper: arb

    @classmethod
    def of(cls, value: arb | Ends) -> Ends:
        return value if isinstance(value, Ends) else cls(value.lower(), value.upper())

    def hull(self) -> arb:
        """A ball that contains both ends."""
        return self.lower.union(self.upper)

    def is_finite(self) -> bool:
        return bool(self.lower.is_finite() and self.upper.is_finite())


def ball(value: Fraction | int) -> arb:
    """The narrowest ball around a rational at the working precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(int(value.numerator), int(value.denominator)))


def enclosure(value: arb | Ends) -> Enclosure:
    """The two ends of a ball around a non-negative number, as exact rationals.

    Ends below 2^-FLOOR_BITS are rounded outward to 0 or 2^-FLOOR_BITS; 0 stays 0. Raises Undecided
    where the ball has lost all accuracy.
    """
    ends = Ends.of(value)
    if not ends.is_finite():
        raise Undecided("the computation lost all accuracy")
    lower, upper = ends
    low = Fraction(0) if lower < _floor() else _fraction(lower)
    high = Fraction(1, 1 << FLOOR_BITS) if 0 != upper < _floor() else _fraction(upper)
    return Enclosure(low, high)


def relative_width_reached(value: arb | Ends, width: arb) -> bool:
    """Whether the ball of a number >= 0 has this relative width, or lies below 2^-FLOOR_BITS."""
    ends = Ends.of(value)
    if not ends.is_finite():
        return False
    lower, upper = ends
    return bool(upper <= lower * (1 + width)) or bool(upper < _floor())


def refine(
    compute: Callable[[], arb | Ends],
    *,
    relative_width: Fraction = Fraction(1, 10**12),
    accept: Callable[[Enclosure], bool] | None = None,
    cap_bits: int = CAP_BITS,
) -> Enclosure:
    """Evaluate a non-negative number, doubling the precision until its enclosure is good enough.

    compute: evaluates the number at the working precision.
    relative_width: the largest allowed upper/lower - 1; a number below 2^-FLOOR_BITS
    is good enough as soon as it is shown to lie there.
    accept: decides in place of relative_width whether an enclosure is good enough.
    cap_bits: the largest precision to try, in bits. Raises Undecided if that does not suffice.
    """
    bits = _START_BITS
    while bits <= cap_bits:
        with precision(bits):
            value = Ends.of(compute())
            if accept is None:
                if relative_width_reached(value, ball(relative_width)):
                    return enclosure(value)
            elif value.is_finite() and accept(bounds := enclosure(value)):
                return bounds
        bits *= 2
    raise Undecided(f"the result is not accurate enough at {cap_bits} bits of precision")


def _floor() -> arb:
    return arb(2) ** -FLOOR_BITS


def _fraction(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    if exponent > _MOST_BITS:
        raise Undecided("a number too large to be written down")
    if exponent >= 0:
        return Fraction(int(mantissa) << int(exponent))
    return Fraction(int(mantissa), 1 << -int(exponent))
