"""What a change of size 1 costs when it is spread over entries and cells: exactly.

A bit that is 1 with probability pi before the noise is 1 with probability (1 + alpha pi)/(alpha +
2) after it. Moving an entry by t within one cell of width w therefore changes a probability by a
factor of at most 1 + alpha t/w, and from one end of the cell to the other by 1 + alpha. Cells are
passed one after the other, so of the cells that one entry touches only the last counts in part;
the factor of a passed cell is below that of two parts (it is (1 + alpha)/(1 + alpha - alpha t/w)
where it is entered from within). With c = alpha/w, k entries and J whole cells the most is

    e^epsilon = max over J of (1 + alpha)^J (1 + (c - J alpha)/k)^k,

as equal parts are best (ln is concave). It is attained by k entries that rise from 0, and is below
e^c: it tends there as k grows. In between, values on a grid only lose less.

The cells of this page are the steps of exactdp.mechanisms.projections.ramp where a level takes
several, alpha being what a step costs beyond 1: an upper bound, attained where k entries rising by
half a level each are a change of 1 or more. (A whole level costs less than its steps one by one.)
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, floor

from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.errors import Undecided

_BITS = 128

#: Significant bits of a width.
_WIDTH_BITS = 40


def e_epsilon(c: Fraction, alpha: Fraction, k: int) -> Fraction:
    """The exact e^epsilon; a fraction of about k times as many digits as c has.

    >>> e_epsilon(Fraction(1), Fraction(3), 1), e_epsilon(Fraction(1), Fraction(3), 2)
    (Fraction(2, 1), Fraction(9, 4))
    """
    found = [(1 + alpha) ** j * (1 + (c - j * alpha) / k) ** k for j in _candidates(c, alpha, k)]
    return max(found)


def e_epsilon_above(c: Fraction, alpha: Fraction, k: int) -> Fraction:
    """The least multiple of 2^-64 that is certainly e^epsilon or more, for any k."""
    if k == 1:
        return Fraction(ceil(e_epsilon(c, alpha, k) * 2**64), 2**64)
    ends = []
    for j in _candidates(c, alpha, k):
        found = refine(partial(_power, c, alpha, k, j), relative_width=Fraction(1, 2**80))
        ends.append(ceil(found.upper * 2**64))
    return Fraction(max(ends), 2**64)


@lru_cache(256)
def least_width(epsilon: Fraction, alpha: Fraction, k: int) -> Fraction:
    """The narrowest cells, of 40 significant bits, that keep e^epsilon; certified."""

    start = alpha / epsilon  # e^epsilon <= e^c: wide enough for certain
    unit = _unit(start)
    low, high = 0, ceil(start / unit)
    while high - low > 1:
        middle = (low + high) // 2
        keeps = _keeps(alpha / (middle * unit), alpha, k, epsilon)
        low, high = (low, middle) if keeps else (middle, high)
    return high * unit


@lru_cache(256)
def largest_step(epsilon: Fraction, grid: Fraction, k: int) -> Fraction:
    """The largest a, of 40 significant bits, for noise of ratio 1/(1 + a) per step of a grid.

    A value between two steps is rounded at random: a cell of one step, c = a/grid.
    """

    def keeps(a: Fraction) -> bool:
        return _keeps(a / grid, a, k, epsilon)

    with precision(_BITS):
        top = refine(lambda: (ball(epsilon) * ball(max(grid, Fraction(1)))).expm1())
    unit = _unit(top.upper)
    low, high = 0, ceil(top.upper / unit)  # one step at least is taken by a change of max(grid, 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle * unit) else (low, middle)
    if not low:
        raise Undecided(f"a step of noise for epsilon = {float(epsilon)} and grid {float(grid)}")
    return low * unit


def largest_ratio(epsilon: Fraction) -> Fraction:
    """The largest multiple of 2^-40 (of e^epsilon rounded down) that is at most e^epsilon."""
    found = refine(lambda: ball(epsilon).exp(), relative_width=Fraction(1, 2**80))
    return Fraction(floor(found.lower * 2**_WIDTH_BITS), 2**_WIDTH_BITS)


def _keeps(c: Fraction, alpha: Fraction, k: int, epsilon: Fraction) -> bool:
    """Whether e^epsilon is certainly not exceeded."""
    with precision(_BITS):
        return all(_log(c, alpha, k, j) <= ball(epsilon) for j in _candidates(c, alpha, k))


def _unit(size: Fraction) -> Fraction:
    """A power of two: what is left of a number of this size after 40 bits."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - _WIDTH_BITS
    return Fraction(2) ** exponent


def _candidates(c: Fraction, alpha: Fraction, k: int) -> list[int]:
    """Numbers J of whole cells with the best among them.

    The logarithm is concave in J, with its top where r = (c - J alpha)/k, the part of a cell that
    each entry moves, is alpha/ln(1 + alpha) - 1; so the integers around it are tried.
    """
    least, most = max(ceil(c / alpha) - k, 0), floor(c / alpha)
    with precision(_BITS):
        top = (ball(c) - k * (ball(alpha) / ball(alpha).log1p() - 1)) / ball(alpha)
        near = int(top.mid().floor().fmpz())
    return sorted({min(max(j, least), most) for j in (near - 1, near, near + 1, near + 2)})


def _power(c: Fraction, alpha: Fraction, k: int, whole: int) -> arb:
    return _log(c, alpha, k, whole).exp()


def _log(c: Fraction, alpha: Fraction, k: int, whole: int) -> arb:
    return whole * ball(alpha).log1p() + k * (ball((c - whole * alpha) / k)).log1p()
