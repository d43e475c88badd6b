"""Exact inversion of a distribution function with lazily read random bits.

If only the first b bits u of a uniform real U are known, U lies in [u, u+1)/2^b. The outcome, the
least z with U < F(z), is certain as soon as that interval lies within one step of F. F is rational,
or a real number with enclosures of any width; in both cases the outcome has exactly the law of F,
and the expected number of bits is at most its entropy + 3 (Han, Hoshi 1997).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from exactdp.bisection import least
from exactdp.errors import Undecided
from exactdp.samplers.cdf import Cdf, RationalCdf, RealCdf
from exactdp.samplers.rejection import LIMIT, never_settled

#: From this number of bits on, hints are ignored: they are only as accurate as a float.
_PATIENCE = 50

#: Increasing precisions, in bits, at which F is compared with a level.
_QUANTILE_BITS = (128, 1024, 8192)


def draw(cdf: Cdf, bits: Callable[[int], int], prefix: int = 0, count: int = 0) -> int:
    """Invert F at a uniform real, reading as few bits from bits(k) as necessary.

    prefix, count: the known first bits of the uniform real, and their number.
    Raises RandomnessError if the bits never determine an outcome.
    """
    span = _Span(cdf)
    most = count + LIMIT + span.width_bits
    while (outcome := span.narrowed(prefix, count)) is None:
        if count == most:
            raise never_settled("a draw")
        prefix, count = prefix << 1 | bits(1), count + 1
    return outcome


def settle(cdf: Cdf, prefix: int, count: int) -> int | None:
    """The outcome of all uniform reals that start with these bits; None if they differ."""
    return _Span(cdf).narrowed(prefix, count)


class _Span:
    """The range of outcomes that are still possible."""

    def __init__(self, cdf: Cdf) -> None:
        self._cdf, self._low, self._high = cdf, cdf.low, cdf.high

    @property
    def width_bits(self) -> int:
        """Bits of the number of outcomes, or for unbounded laws, of those of the middle half."""
        low, high = self._low, self._high
        if low is None or high is None:
            low, high = self._cdf.guess(0.25) or 0, self._cdf.guess(0.75) or 0
        return (high - low).bit_length()

    def narrowed(self, prefix: int, count: int) -> int | None:
        """The only possible outcome if the uniform real starts with these bits, else None."""
        if self._low is None or self._low != self._high:
            start = _worth_trying(self._cdf, prefix, count) if count else None
            if start is None:
                return None
            cdf = self._cdf
            self._low = low = _first(
                cdf, self._low, self._high, prefix, count, start, certain=False
            )
            self._high = _first(cdf, low, self._high, prefix + 1, count, start, certain=True)
        return self._low if self._low == self._high else None


def quantile(cdf: Cdf, level: Fraction) -> int:
    """The least z with F(z) >= level, for 0 < level < 1. Raises Undecided."""

    def reached(z: int) -> bool:
        for bits in _QUANTILE_BITS:
            lower, upper = cdf.bracket(z, bits)
            if lower >= (scaled := level * 2**bits):
                return True
            if upper < scaled:
                return False
        exact = _exact_at(cdf, z)
        if exact is None:
            raise Undecided(f"F({z}) cannot be distinguished from {level}")
        return exact >= level

    return _least(cdf.low, cdf.high, cdf.guess(float(level)) or 0, reached)


def _exact_at(cdf: Cdf, z: int) -> Fraction | None:
    if isinstance(cdf, RationalCdf):
        return Fraction(cdf.numerator(z), cdf.denominator)
    return cdf.exact(z) if isinstance(cdf, RealCdf) and cdf.exact is not None else None


def _worth_trying(cdf: Cdf, prefix: int, count: int) -> int | None:
    """The start of a search; None if a hint shows that more bits are needed."""
    start, end = cdf.guess(prefix / 2**count), cdf.guess((prefix + 1) / 2**count)
    if start is not None and end is not None:
        return start if start == end or count > _PATIENCE else None
    known = [z for z in (start, end, cdf.low, cdf.high) if z is not None]
    return known[0] if known else 0


def _first(
    cdf: Cdf,
    low: int | None,
    high: int | None,
    level: int,
    count: int,
    start: int,
    *,
    certain: bool,
) -> int | None:
    """The least z in [low, high] whose F(z) reaches level/2^count.

    certain: whether F(z) >= level/2^count must be sure, or F(z) > level/2^count only possible.
    Returns None if the law has no end there and U may still be 0 or 1.
    """

    def reached(z: int) -> bool:
        lower, upper = cdf.bracket(z, count)
        return lower >= level if certain else upper > level

    if (high is None and certain and level == 1 << count) or (
        low is None and not certain and level == 0
    ):
        return None
    return _least(low, high, start, reached)


def _least(low: int | None, high: int | None, start: int, reached: Callable[[int], bool]) -> int:
    """The least z in [low, high] with reached(z), searched from start; high counts as reached."""
    return least(*_around(start, low, high, reached), reached)


def _around(
    start: int, low: int | None, high: int | None, reached: Callable[[int], bool]
) -> tuple[int, int]:
    """An interval that contains the least z with reached(z), by galloping from start."""
    z = start if low is None else max(start, low)
    z = z if high is None else min(z, high)
    step = 1
    if reached(z):
        above = z
        while low is None or above > low:
            z = above - step if low is None else max(above - step, low)
            if not reached(z):
                return z + 1, above
            above, step = z, 2 * step
        return above, above
    below = z + 1
    while high is None or below < high:
        z = below + step - 1 if high is None else min(below + step - 1, high)
        if reached(z):
            return below, z
        below, step = z + 1, 2 * step
    return below, below
