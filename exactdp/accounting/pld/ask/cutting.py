"""Cutting planes: the minimum of delta(log x) + alpha x over x > 0, from both sides.

With x = e^epsilon, delta(log x) is convex. Every x gives an upper bound of the minimum. A line
a - b x that is nowhere above delta is a test with at most the false-alarm rate b and at least the
power a; a mixture of two tests, one with b >= alpha and one with b < alpha, is a lower bound. The
search goes on where the lines of these two tests meet.

Below epsilon = 0 the curve is delta(-epsilon) = 1 - 1/x + delta(epsilon)/x, of all orders of the
neighbours together, and the line a - b x becomes 1 - b - (1 - a) x, the opposite test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.accounting.certify.hints import log2
from exactdp.accounting.pld.ask.question import Bounded
from exactdp.balls import ball

#: Largest number of places.
_PLACES = 100

#: A bracket is narrow where the logarithms of both false-alarm rates differ by at most this.
_FAR = 1.0

#: A step towards the other side of alpha goes this much further than where alpha is guessed.
_BEYOND = 1.25

#: The search may leave this part of the wanted width.
_SEARCHED = 1 / 8

#: Places beside the best one that are tried in the end, in wanted widths.
_BESIDE = (0.5, 0.25, -0.25, 0.125)

#: The shortest first step beside a place, as a part of 1 + |epsilon|.
_SHORT = 1e-4


@dataclass(frozen=True)
class _Test:
    """A test at the threshold epsilon: at most the false-alarm rate b, at least the power a."""

    a: arb
    b: arb
    epsilon: float

    @property
    def log_alarms(self) -> float:
        """About log b."""
        return _log(self.b)

    def distance(self, level: float) -> float:
        """About how far away log b is at this level, from the shape of the tail; 0 if unknown.

        Where losses fall like e^-(1 + t) epsilon without the user, a/b is (1 + 1/t) e^epsilon.
        """
        if not (self.a > 0 and self.b > 0):
            return 0.0
        excess = max(float((self.a / (self.b * arb(self.epsilon).exp())).mid()) - 1, 0.0)
        return abs(self.log_alarms - level) * excess / (1 + excess)


class CuttingPlanes:
    """A search over epsilon of any sign, from one place on.

    most: an upper bound of the minimum, which is reached at the epsilon `best`.
    """

    def __init__(self, alpha: Fraction, curves: Sequence[Bounded]) -> None:
        self._curves = curves
        self._below, self._above = ball(alpha).lower(), ball(alpha).upper()
        self._level = _log(self._below)
        #: The two tests of the mixture.
        self._many = _Test(arb(1), arb(1), -math.inf)
        infinite = max((curve.infinite_low.lower() for curve in curves), key=float)
        self._few = _Test(infinite, arb(0), math.inf)
        #: The minimum is between the thresholds of these tests.
        self._left, self._right = self._many, self._few
        self.most, self.best = arb(1), 0.0

    @property
    def least(self) -> arb:
        """A lower bound: the power of a mixture of two tests."""
        return self._mixture(self._many, self._few)

    @property
    def meeting(self) -> float:
        """Where the lines of both tests of the mixture meet: about where the minimum is."""
        return _log((self._many.a - self._few.a) / (self._many.b - self._few.b))

    def search(self, epsilon: float, relative_width: float) -> None:
        """Visit places until the bounds differ by this part, or until no place seems to help.

        The search follows the curves below. The curves above may end a little later than these.
        """
        for turn in range(_PLACES):
            attained, least = self._visit(epsilon), self.least
            if attained - least <= _SEARCHED * relative_width * least:
                break
            epsilon = self._next(turn)
            if not self._left.epsilon < epsilon < self._right.epsilon:
                break
        for part in _BESIDE:
            if self.most - self.least <= relative_width * self.least:
                break
            self._visit(self.best + part * relative_width)

    def _visit(self, epsilon: float) -> arb:
        """Learn from one place. Returns what the minimum is if it is here, by the curves below."""
        loss, x = arb(abs(epsilon)), arb(epsilon).exp()
        lines = [curve.line(loss) for curve in self._curves]
        delta = most([curve.above(loss) for curve in self._curves])
        if epsilon < 0:
            lines = [((1 - b).lower(), (1 - a).upper()) for a, b in lines]
            delta = 1 - x + x * delta
        bound = (delta + self._above * x).upper()
        if bound < self.most:
            self.most, self.best = bound, epsilon
        tests = [_Test(a, b, epsilon) for a, b in lines]
        known = (self._many.a - self._many.b * x).max(self._few.a - self._few.b * x)
        many = [self._many, *(test for test in tests if test.b >= self._below)]
        few = [self._few, *(test for test in tests if test.b < self._below)]
        self._many, self._few = max(product(many, few), key=lambda pair: self._mixture(*pair))
        leading = max(tests, key=lambda test: (test.a - test.b * x).lower())
        if leading.b >= self._below:
            self._left = leading
        else:
            self._right = leading
        height = leading.a - leading.b * x
        if height < known:  # next to a kink a line may be poor
            delta = most([curve.below(loss) for curve in self._curves])
            height = delta if epsilon >= 0 else 1 - x + x * delta
        return height + self._below * x

    def _mixture(self, many: _Test, few: _Test) -> arb:
        share = (self._below - few.b) / (many.b - few.b)
        return (few.a + (many.a - few.a) * share).lower()

    def _next(self, turn: int) -> float:
        """The next place: towards alpha; in a narrow bracket, or every second turn, where lines
        meet."""
        left, right = self._left, self._right
        for test, sign in ((left, 1), (right, -1)):
            if math.isinf(left.epsilon + right.epsilon) and math.isfinite(test.epsilon):
                least = math.ldexp(_SHORT * (1 + abs(test.epsilon)), turn)
                return test.epsilon + sign * max(_BEYOND * test.distance(self._level), least)
        wide = left.log_alarms - right.log_alarms
        if (turn % 2 or wide <= _FAR) and left.epsilon < self.meeting < right.epsilon:
            return self.meeting
        share = (left.log_alarms - self._level) / wide if wide else 0.5
        return left.epsilon + (right.epsilon - left.epsilon) * (share + 0.5) / 2


def _log(value: arb) -> float:
    return log2(value) * math.log(2)


def most(values: Sequence[arb]) -> arb:
    """The largest value; not finite where a value is not."""
    largest = values[0]
    for value in values[1:]:
        largest = largest.max(value)
    return largest
