"""Both bounds of delta for shuffled reports of two values.

Let S be the number of reports of 1 among the other n - 1 users, r = e^epsilon of a report,
p = r/(r + 1), q = 1 - p and E = e^epsilon. The user's report is 1 with probability p for one value
and q for the other, so delta is the sum over h of the positive parts of
(p - E q) P(S = h - 1) - (E p - q) P(S = h). As a sum of independent reports, S is log-concave:
P(S = h - 1)/P(S = h) grows with h, and the positive parts are those from some h on. Hence delta is
the largest of (p - E q) P(S = h - 1) - (E - 1) P(S >= h), since (E p - q) - (p - E q) = E - 1. In
the other order of the two values, n - 1 - S takes the place of S.

Lower bound: no other user has a 1. Upper bound: let m of the others have a 1, where m <= (n - 1)/2,
for else 0 and 1 change names. If m is in a block from l to u, then l users have a 1 and n - 1 - u a
0. Of the other u - l users tell the adversary whose reports are true and take these away, which
leaves N uniform reports, with N from Bin(u - l, 2 q). Another uniform report can be added
afterwards, so the least N of a block bounds the block.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from flint import arb, arb_poly

from exactdp.balls import ball
from exactdp.bisection import least
from exactdp.errors import Undecided
from exactdp.local.excess import CUT_BITS, binomial

#: Number of blocks of m (shorter near 0, where delta is largest), and of blocks of N in each.
_VALUES, _UNIFORM = 12, 4

#: Largest number of consecutive terms whose sign the working precision may leave undecided.
_MOST_UNDECIDED = 4


class Binary:
    """n >= 1 users. r: e^epsilon of a report, > 1."""

    def __init__(self, n: int, r: Fraction) -> None:
        self.n, self.r, self.q = n, r, 1 / (r + 1)

    def lower(self, e: Fraction) -> arb:
        """The lower bound of delta, for two data sets. e: e^epsilon, rounded up."""
        return self._alone.delta(e, self.r)

    guess = lower

    def upper(self, e: Fraction) -> arb:
        """The upper bound of delta, for all data sets. e: e^epsilon, rounded down."""
        totals = [
            sum((weight * s.delta(e, self.r) for weight, s in sums), missing)
            for sums, missing in self._blocks
        ]
        return max(totals, key=lambda total: total.upper())

    @cached_property
    def _alone(self) -> _Sum:
        return _Sum(_polynomial(self.n - 1, self.q))

    @cached_property
    def _blocks(self) -> list[tuple[list[tuple[arb, _Sum]], arb]]:
        """For every block of m: weights and sums, and the probability that is left out."""
        half, first, blocks = (self.n - 1) // 2, 0, []
        while first <= half:
            most = first + min(max(first, 1), -(-half // _VALUES) or 1) - 1
            blocks.append(self._block(first, min(most, half)))
            first = most + 1
        return blocks

    def _block(self, least: int, most: int) -> tuple[list[tuple[arb, _Sum]], arb]:
        ones = _polynomial(least, 1 - self.q)
        certain = ones * _polynomial(self.n - 1 - most, self.q)
        first, masses = binomial(most - least, 2 * self.q)
        size = -(-len(masses) // _UNIFORM)
        sums, missing = [], arb(1)
        for start in range(0, len(masses), size):
            s = _Sum(certain * _polynomial(first + start, Fraction(1, 2)))
            weight = sum(masses[start : start + size], arb(0))
            sums.append((weight, s))
            missing -= weight * s.tails[0]
        return sums, missing


class _Sum:
    """The probabilities of S, which are log-concave, without the smallest ones at both ends."""

    def __init__(self, masses: arb_poly) -> None:
        least = arb(2) ** -CUT_BITS
        self.masses = [mass for mass in masses.coeffs() if mass > least]
        self.reversed = self.masses[::-1]
        self.tails, self.reversed_tails = map(_tails, (self.masses, self.reversed))

    def delta(self, e: Fraction, r: Fraction) -> arb:
        """The larger of the two deltas, one for each order of the two values."""
        first = _best(self.masses, self.tails, e, r)
        second = _best(self.reversed, self.reversed_tails, e, r)
        return first.max(second)


def _best(masses: list[arb], tails: list[arb], e: Fraction, r: Fraction) -> arb:
    """The largest (p - e q) P(S = h - 1) - (e - 1) P(S >= h), for e < r."""
    gain, loss, rise = (ball(x / (r + 1)) for x in (r - e, e * r - 1, (e - 1) * (r + 1)))

    def term(h: int) -> arb:
        last = masses[h] if h < len(masses) else arb(0)
        return gain * masses[h - 1] - loss * last

    first = least(1, len(masses), lambda h: not term(h) < 0)
    last = least(1, len(masses), lambda h: bool(term(h) > 0))
    if last - first > _MOST_UNDECIDED:
        raise Undecided("the signs of many terms")
    best = arb(0)
    for h in range(first, last + 1):
        best = best.max(gain * masses[h - 1] - rise * tails[h])
    return best


def _tails(masses: list[arb]) -> list[arb]:
    """P(S >= h) for h = 0, 1, ..., and 0 behind the largest h."""
    return [*reversed(list(accumulate(reversed(masses)))), arb(0)]


def _polynomial(n: int, p: Fraction) -> arb_poly:
    """The law of Bin(n, p); the place of the first coefficient does not matter."""
    return arb_poly(binomial(n, p)[1])
