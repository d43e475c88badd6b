"""The exact privacy loss of a change of l1 size 1 that is spread over entries and cells.

A bit that is 1 with probability pi before the noise is 1 with probability
(1 + alpha pi)/(alpha + 2) after the noise. Changing an entry by t within one cell of width w
therefore changes a probability by a factor of at most 1 + alpha t/w, and across the whole cell by
1 + alpha. An entry crosses cells one after the other, so only its last cell counts in part; a cell
that is entered from within costs (1 + alpha)/(1 + alpha - alpha t/w), which is no more than two
parts cost. With c = alpha/w, k entries and J whole cells the largest ratio is

    e^epsilon = max over J of (1 + alpha)^J (1 + (c - J alpha)/k)^k,

as equal parts are the worst (ln is concave). The bound is attained by k entries that rise from 0.
It is below e^c and tends to e^c as k grows. Values on a grid lose at most as much.

If a level has several steps (see ramp.py), the cells above are the steps, and alpha is r - 1 for
the ratio r of a step. The formula is then an upper bound, since a whole level costs less than its
steps; it is attained if k entries that rise by half a level each are a change of 1 or more.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, floor

from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.bisection import least
from exactdp.errors import Undecided

_BITS = 128

#: Significant bits of a width.
_WIDTH_BITS = 40


def e_epsilon(c: Fraction, alpha: Fraction, k: int) -> Fraction:
    """The exact e^epsilon, a fraction with about k times as many digits as c.

    c: alpha/w, > 0. alpha: > 0. k: largest number of non-zero entries, >= 1.

    >>> e_epsilon(Fraction(1), Fraction(3), 1), e_epsilon(Fraction(1), Fraction(3), 2)
    (Fraction(2, 1), Fraction(9, 4))
    """
    powers = [(1 + alpha) ** j * (1 + (c - j * alpha) / k) ** k for j in _candidates(c, alpha, k)]
    return max(powers)


def e_epsilon_above(c: Fraction, alpha: Fraction, k: int) -> Fraction:
    """A certified upper bound of e^epsilon: e^epsilon rounded up to a multiple of 2^-64."""
    if k == 1:
        return Fraction(ceil(e_epsilon(c, alpha, k) * 2**64), 2**64)
    ends = []
    for j in _candidates(c, alpha, k):
        power = refine(partial(_power, c, alpha, k, j), relative_width=Fraction(1, 2**80))
        ends.append(ceil(power.upper * 2**64))
    return Fraction(max(ends), 2**64)


@lru_cache(256)
def least_width(epsilon: Fraction, alpha: Fraction, k: int) -> Fraction:
    """The smallest width of cells, to 40 significant bits, that certainly keeps epsilon."""
    start = alpha / epsilon  # wide enough, as the loss is at most c
    unit = _unit(start)
    most = ceil(start / unit)
    narrower = _last(most, lambda n: _keeps(alpha / ((most - n) * unit), alpha, k, epsilon))
    return (most - narrower) * unit


@lru_cache(256)
def largest_step(epsilon: Fraction, grid: Fraction, k: int) -> Fraction:
    """The largest a, to 40 significant bits, for which noise of ratio 1/(1 + a) keeps epsilon.

    grid: the step of the noise. A value between two steps is rounded at random, which makes each
    step a cell with c = a/grid. Raises Undecided.
    """
    with precision(_BITS):
        top = refine(lambda: (ball(epsilon) * ball(max(grid, Fraction(1)))).expm1())
    unit = _unit(top.upper)
    # a change of max(grid, 1) crosses at least one step
    units = _last(ceil(top.upper / unit), lambda n: _keeps(n * unit / grid, n * unit, k, epsilon))
    if not units:
        raise Undecided(f"no noise found for epsilon = {float(epsilon)} and grid {float(grid)}")
    return units * unit


def _last(end: int, keeps: Callable[[int], bool]) -> int:
    """The last n in [0, end) up to which keeps(n) holds; it holds for 0."""
    return least(1, end, lambda n: not keeps(n)) - 1


def largest_ratio(epsilon: Fraction) -> Fraction:
    """The largest multiple of 2^-40 (of e^epsilon rounded down) that is at most e^epsilon."""
    ratio = refine(lambda: ball(epsilon).exp(), relative_width=Fraction(1, 2**80))
    return Fraction(floor(ratio.lower * 2**_WIDTH_BITS), 2**_WIDTH_BITS)


def _keeps(c: Fraction, alpha: Fraction, k: int, epsilon: Fraction) -> bool:
    """Whether the loss is certainly at most epsilon."""
    with precision(_BITS):
        return all(_log(c, alpha, k, j) <= ball(epsilon) for j in _candidates(c, alpha, k))


def _unit(size: Fraction) -> Fraction:
    """The unit in the last place of a number of this size with 40 significant bits."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - _WIDTH_BITS
    return Fraction(2) ** exponent


def _candidates(c: Fraction, alpha: Fraction, k: int) -> list[int]:
    """Numbers J of whole cells that contain the maximum.

    The logarithm is concave in J. Its maximum is where r = (c - J alpha)/k, alpha times the part of
    a cell that each entry moves, equals alpha/ln(1 + alpha) - 1; the integers around are tried.
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
