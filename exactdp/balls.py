"""The bridge to ball arithmetic (python-flint's Arb): numbers that carry their own error bound.

This is the only module that touches python-flint's working precision. It is process-wide there, so
:func:`precision` holds a lock for as long as it is changed; a ball computed at any precision still
contains the true value, so the worst a race could do is to widen one.
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
    "precision_held",
    "refine",
    "relative_width_reached",
]

#: Below 2^-FLOOR_BITS (about 1e-19728) an enclosure is asked to be small, not relatively narrow:
#: it is then [0, 2^-FLOOR_BITS]. Gaussian tails reach exponents no exact rational can write down.
FLOOR_BITS = 65_536

#: Working precision stops here; a question still open is Undecided.
CAP_BITS = 32_768

_START_BITS = 128

#: Numbers from 2^this on are not written down.
_MOST_BITS = 1 << 28
_lock = threading.RLock()
_holder: int | None = None  # the thread that has the lock


def _fresh_lock() -> None:
    global _lock, _holder
    _holder = None
    _lock = threading.RLock()  # a fork may copy the lock while another thread holds it


os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def precision(bits: int, *, terms: int | None = None) -> Iterator[None]:
    """Ball arithmetic at so many bits inside the block, power series of so many terms."""
    global _holder
    with _lock:
        before, outer = (ctx.prec, ctx.cap), _holder
        ctx.prec, ctx.cap, _holder = bits, terms or ctx.cap, threading.get_ident()
        try:
            yield
        finally:
            ctx.prec, ctx.cap = before
            _holder = outer


def precision_held() -> bool:
    """Whether this thread is inside precision(...), so that it must not wait for one that asks."""
    return _holder == threading.get_ident()


class Ends(NamedTuple):
    """Exact numbers below and above something; a wide ball would know both to 30 bits only."""

    lower: arb
    upper: arb

    @classmethod
    def of(cls, value: arb | Ends) -> Ends:
        return value if isinstance(value, Ends) else cls(value.lower(), value.upper())

    def hull(self) -> arb:
        """A ball around both."""
        return self.lower.union(self.upper)

    def is_finite(self) -> bool:
        return bool(self.lower.is_finite() and self.upper.is_finite())


def ball(value: Fraction | int) -> arb:
    """The narrowest ball around a rational at the working precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def enclosure(value: arb | Ends) -> Enclosure:
    """The two ends of a ball of a non-negative number as exact rationals.

    Ends below 2^-FLOOR_BITS are moved outward: down to 0, up to 2^-FLOOR_BITS; 0 stays 0.
    """
    ends = Ends.of(value)
    if not ends.is_finite():
        raise Undecided("the computation lost all accuracy")
    lower, upper = ends
    low = Fraction(0) if lower < _floor() else _fraction(lower)
    high = Fraction(1, 1 << FLOOR_BITS) if 0 != upper < _floor() else _fraction(upper)
    return Enclosure(low, high)


def relative_width_reached(value: arb | Ends, width: arb) -> bool:
    """Whether a ball of a non-negative number is relatively narrow, or below the floor."""
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
    """Evaluate at doubled precision until the ball is narrow enough, or accept(...) says so.

    compute: evaluates the quantity at the working precision.
    relative_width: upper/lower - 1 asked for (absolute 2^-FLOOR_BITS where the value is smaller).
    accept: a test that may end the refinement earlier or ask for more; replaces relative_width.
    Raises Undecided when cap_bits do not suffice.
    """
    bits = _START_BITS
    while bits <= cap_bits:
        with precision(bits):
            value = Ends.of(compute())
            if accept is None:
                if relative_width_reached(value, ball(relative_width)):
                    return enclosure(value)
            elif value.is_finite() and accept(found := enclosure(value)):
                return found
        bits *= 2
    raise Undecided(f"not settled at {cap_bits} bits of precision")


def _floor() -> arb:
    return arb(2) ** -FLOOR_BITS


def _fraction(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    if exponent > _MOST_BITS:
        raise Undecided("a number too large to be written down")
    if exponent >= 0:
        return Fraction(int(mantissa) << int(exponent))
    return Fraction(int(mantissa), 1 << -int(exponent))
