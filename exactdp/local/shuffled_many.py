"""Both bounds of delta for shuffled reports of k >= 3 values.

With r = e^epsilon of a report, p = r/(r + k - 1) and q = 1/(r + k - 1), a report is uniform with
probability g = k q, and else the true value. One user's value changes from x to y.

Upper bound, for every data set (the privacy blanket). Tell the adversary whose reports of the other
users are true, and take these away: they do not depend on x. What is left is the report of the user
and N uniform ones, with N from Bin(n - 1, g). Everything published follows from it. Let M = N + 1
and U the law of M uniform reports. The report of the user is equally likely to be any of the M, so
the likelihood ratio of the counts to U is g + (1 - g) k h_x/M for x, and with h_y for y. For
E = e^epsilon, (p - q)/q = r - 1 and g/k = q,

    delta = E_U[w], w = (p - q) (k/M) (h_x - E h_y - M (E - 1)/(r - 1))_+.

The mean over M is taken in blocks. Another uniform report can be added afterwards, so delta does
not grow with M, and the least M of a block bounds the block.

Lower bound, for two data sets: the others all have a third value z. Let U be the law of n reports
of z, and B the number of those that differ from z. For x the likelihood ratio of the counts to U is
(r h_x + h_z/r + the other counts)/n, so w is (r - 1)/n (h_x - E h_y - m (E - 1)/(r - 1))_+ with
m = B + (n - B)/r. For large n the counts of x and y alone are used: m is replaced by its mean for
given h_x + h_y. By Jensen's inequality this is a lower bound.

In all cases T = h_x + h_y is binomial, and h_x is Bin(T, 1/2) for given T.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb

from exactdp.balls import ball
from exactdp.local.excess import Row, binomial, excess

#: Number of blocks of M; a block is about 1/2 of a standard deviation wide.
_BLOCKS = 48

#: Up to this many users the lower bound uses all counts.
_FEW = 200


class Many:
    """n >= 1 users, k >= 3 values. r: e^epsilon of a report, > 1. blocks: of M, >= 1."""

    def __init__(self, n: int, k: int, r: Fraction, blocks: int = _BLOCKS) -> None:
        self.n, self.k, self.r, self.q, self.blocks = n, k, r, 1 / (r + k - 1), blocks

    def lower(self, e: Fraction) -> arb:
        """The lower bound of delta, for two data sets. e: e^epsilon, rounded up."""
        return sum((excess(row, e, self.r) for row in self._third), arb(0))

    def upper(self, e: Fraction) -> arb:
        """The upper bound of delta, for all data sets. e: e^epsilon, rounded down."""
        rows, missing = self._blocks
        return sum((excess(row, e, self.r) for row in rows), missing)

    def guess(self, e: Fraction) -> arb:
        """An approximation of `upper` that is computed fast."""
        return excess(self._typical, e, self.r)

    @cached_property
    def _blocks(self) -> tuple[list[Row], arb]:
        """The blocks of M, and a bound of the probabilities that they leave out."""
        k, g = self.k, self.k * self.q
        first, masses = binomial(self.n - 1, g)
        missing, rows = 1 - sum(masses, arb(0)), []
        for start, end in pairwise(_cuts(len(masses), self.blocks)):
            weight = sum(masses[start:end], arb(0))
            row, outside = self._row(first + start + 1, weight)
            rows.append(row)
            missing += weight * outside * ball(k * self.q * self.r)  # w <= k p
        return rows, missing

    @cached_property
    def _typical(self) -> Row:
        """A single block, for which the mean of M replaces every M."""
        return self._row(1 + int((self.n - 1) * self.k * self.q), arb(1))[0]

    def _row(self, m: int, weight: arb) -> tuple[Row, arb]:
        k = self.k
        first, masses = binomial(m, Fraction(2, k))
        factor = weight * ball((self.r - 1) * self.q * k / m)
        return Row(factor, first, masses, Fraction(m)), 1 - sum(masses, arb(0))

    @cached_property
    def _third(self) -> list[Row]:
        """Rows for the data sets in which all other users have a third value."""
        k, n, q, r = self.k, self.n, self.q, self.r
        factor = ball((r - 1) / n)
        if n > _FEW:
            others = (k - 3) * q / (1 - 2 * q)  # the part of the other reports that is not z
            first, masses = binomial(n, 2 * q)
            slope = (1 - others) * (1 - 1 / r)
            return [Row(factor, first, masses, n * (others + (1 - others) / r), slope)]
        first, masses = binomial(n, (k - 1) * q)
        return [
            Row(factor * mass, *binomial(b, Fraction(2, k - 1)), b + (n - b) / r)
            for b, mass in enumerate(masses, first)
        ]


def _cuts(count: int, blocks: int) -> list[int]:
    size = -(-count // blocks)
    return [*range(0, count, size), count]
