"""Central privacy of shuffled reports: n users answer by k-ary randomized response.

A shuffler, which is trusted, publishes the reports in random order, that is, their counts h. One
user's value changes from x to y. With r = e^epsilon of a report, p = r/(r + k - 1) and
q = 1/(r + k - 1), a report is uniform with probability g = k q, and else the true value.

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
of z, and B the number of those that differ from z. The ratio to U is (r h_x + h_y/1 + ...)/n, so
w is (r - 1)/n (h_x - E h_y - m (E - 1)/(r - 1))_+ with m = B + (n - B)/r. For large n the counts of
x and y alone are used: the mean of m for given h_x + h_y takes the place of m, which by Jensen's
inequality is a lower bound (of what is left after post-processing). For k = 2 the others have y or
x, and the counts are binomial.

In all cases T = h_x + h_y is binomial, and h_x is Bin(T, 1/2) for given T.

The worst data set is not known, so the bounds differ. For k >= 3 both see a noise of the same
variance, 2 n q, in h_x - h_y, and are close to each other. For k = 2 the upper bound gives away the
number of uniform reports, which the published counts do not show; it is up to sqrt(2) times as
large.

Source: Balle, Bell, Gascon, Nissim 2019 (arXiv 1903.02837) for the blanket; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb

from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.local.excess import BITS, Row, binomial, excess
from exactdp.local.randomized_response import RandomizedResponse
from exactdp.parameters import Real, delta_target, non_negative

#: Blocks of numbers of uniform reports: each is as wide as about 1/2 of a standard deviation.
_BLOCKS = 48

#: Up to this many users the lower bound uses all counts.
_FEW = 200

#: Halvings of the range of epsilon.
_HALVINGS = 30


@frozen
class Shuffled:
    """The reports of n users in random order, for neighbours of which one user's value is replaced.

    mechanism: the randomized response of each user. n: number of users, an integer >= 1 and <= 1e7.
    Both bounds hold for an adversary who knows all values but one. Raises InvalidParameter.
    Source: the module's text.

    >>> from exactdp.local import RandomizedResponse, Shuffled
    >>> reports = Shuffled(RandomizedResponse(k=10, epsilon=1), n=1000)
    >>> print(format(reports.epsilon("1e-6"), "3"))
    [0.08, 0.0803]
    """

    mechanism: RandomizedResponse
    n: int = whole(least=1, most=10**7)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, RandomizedResponse):
            raise InvalidParameter("mechanism", self.mechanism, "a RandomizedResponse")

    def delta(self, epsilon: Real) -> Enclosure:
        """The least delta of the worst data sets, between the two bounds. epsilon: >= 0.

        The upper bound is not below 2^-90 unless epsilon is at least that of a report.
        """
        with precision(BITS):
            ends = enclosure(ball(non_negative("epsilon", epsilon)).exp())
            return Enclosure(self._lower(ends.upper), self._upper(max(ends.lower, Fraction(1))))

    def epsilon(self, delta: Real) -> Enclosure:
        """The least epsilon of the worst data sets, between the two bounds. delta: > 0 and < 1."""
        target = delta_target("delta", delta)
        with precision(BITS):
            most = enclosure(ball(self._r).log()).upper
            high = self._safe(target, most)
            found = _halved(lambda e: self._lower(_power(e)[1]), target, high)
            return Enclosure(min(found[0], high), high)

    @property
    def _r(self) -> Fraction:
        return self.mechanism.e_epsilon

    @property
    def _q(self) -> Fraction:
        return self.mechanism.background

    def _safe(self, target: Fraction, most: Fraction) -> Fraction:
        """An epsilon whose upper bound is at most the target: by one block, then corrected."""
        aim = target
        for _ in range(8):
            _, guess = _halved(lambda e: self._upper(_power(e)[0], self._typical), aim, most)
            found = self._upper(_power(guess)[0])
            if found <= target:
                return guess
            aim *= target / found * Fraction(999, 1000)
        return most

    def _upper(self, e: Fraction, rows: list[Row] | None = None) -> Fraction:
        """Of delta, for all data sets. e: e^epsilon, rounded down."""
        alone = self._q * (self._r - e)  # what the report leaks without the others
        if alone <= 0:
            return Fraction(0)
        used, missing = self._blocks if rows is None else (rows, arb(0))
        total = sum((excess(row, e, self._r) for row in used), missing)
        return min(enclosure(arb(total.upper())).upper, alone)

    def _lower(self, e: Fraction) -> Fraction:
        """Of delta, for two data sets. e: e^epsilon, rounded up."""
        if self.mechanism.k == 2:
            return self._binary(e)
        total = sum((excess(row, e, self._r) for row in self._third), arb(0))
        return enclosure(total.lower()).lower if total > 0 else Fraction(0)

    @cached_property
    def _blocks(self) -> tuple[list[Row], arb]:
        """The blocks of M, and a bound of the probabilities that they leave out."""
        k, g = self.mechanism.k, self.mechanism.k * self._q
        first, masses = binomial(self.n - 1, g)
        missing, rows = 1 - sum(masses, arb(0)), []
        for start, end in pairwise(_cuts(len(masses))):
            weight = sum(masses[start:end], arb(0))
            row, outside = self._row(first + start + 1, weight)
            rows.append(row)
            missing += weight * outside * ball(k * self._q * self._r)  # w <= k p
        return rows, missing

    @cached_property
    def _typical(self) -> list[Row]:
        """One block for all M, with the mean of M."""
        return [self._row(1 + int((self.n - 1) * self.mechanism.k * self._q), arb(1))[0]]

    def _row(self, m: int, weight: arb) -> tuple[Row, arb]:
        k = self.mechanism.k
        first, masses = binomial(m, Fraction(2, k))
        factor = weight * ball(self.mechanism.gain * k / m)
        return Row(factor, first, masses, Fraction(m)), 1 - sum(masses, arb(0))

    @cached_property
    def _third(self) -> list[Row]:
        """The data sets where the others have a third value."""
        k, n, q, r = self.mechanism.k, self.n, self._q, self._r
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

    def _binary(self, e: Fraction) -> Fraction:
        """k = 2: the others have the user's value in one of the two data sets."""
        n, r = self.n, self._r
        first, masses = binomial(n, self._q)
        with_, without = arb(0), arb(0)
        for h, mass in enumerate(masses, first):
            ratio = (r * h + (n - h) / r) / n
            if ratio > e:
                with_ += mass * ball(ratio - e)
            elif e * ratio < 1:
                without += mass * ball(1 - e * ratio)
        ends = [enclosure(total.lower()).lower for total in (with_, without) if total > 0]
        return max(ends, default=Fraction(0))


def _cuts(count: int) -> list[int]:
    size = -(-count // _BLOCKS)
    return [*range(0, count, size), count]


def _power(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of e^epsilon, of 64 bits or so."""
    ends = enclosure(ball(epsilon).exp())
    return max(Fraction(int(ends.lower * 2**64), 2**64), Fraction(1)), Fraction(
        int(ends.upper * 2**64) + 1, 2**64
    )


def _halved(
    delta: Callable[[Fraction], Fraction], target: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """Ends of epsilon: delta(first) > target, or first = 0; delta(second) <= target, or high."""
    if delta(Fraction(0)) <= target:
        return Fraction(0), Fraction(0)
    low = Fraction(0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if delta(middle) > target:
            low = middle
        else:
            high = middle
    return low, high
