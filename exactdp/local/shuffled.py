"""Central privacy of shuffled reports: n users answer by k-ary randomized response.

A shuffler, which is trusted, publishes the reports in random order, that is, their counts. The
upper bound of delta holds for every data set: the adversary is told which of the other users report
their true value (the privacy blanket; for k = 2, of a few of the users). The lower bound is for two
data sets in which all other users have equal values. Some other data sets are worse by a little,
and the worst are not known, so the bounds differ: in epsilon by 0.03 % for k = 10 and by 0.8 % for
k = 2, with an epsilon of 1 for a report, n = 10^5 and delta = 1e-6.

The proofs are in `exactdp.local.shuffled_many` (k >= 3) and `exactdp.local.shuffled_binary`.
Source: Balle, Bell, Gascon, Nissim 2019 (arXiv 1903.02837) for the blanket; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

from flint import arb

from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.balls import ball, enclosure, precision
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.local.excess import BITS
from exactdp.local.randomized_response import RandomizedResponse
from exactdp.local.shuffled_binary import Binary
from exactdp.local.shuffled_many import Many
from exactdp.parameters import Real, delta_target, non_negative

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld

#: Beyond the epsilon at which delta is at most this, `bound` assumes that the reports reveal all.
_NEGLIGIBLE = Fraction(1, 1 << 70)

#: Points of `bound`: number per width of the loss, least number and largest number. Chords add
#: about 1/6 of the squared distance of two points to the variance of the loss, which is 0.3 %.
_DENSITY, _FEWEST, _MOST = 8, 32, 256

#: Blocks of uniform reports in `bound`, about two standard deviations wide, for more users than
#: _FEW.
_COARSE, _FEW = 12, 200

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
            most = enclosure(ball(self.mechanism.e_epsilon).log()).upper
            high = self._safe(target, most)
            ends = _halved(lambda e: self._lower(_power(e)[1]), target, high)
            return Enclosure(min(ends[0], high), high)

    def bound(self) -> Pld:
        """An upper bound of the loss of the reports, which composes with other losses.

        It is made of chords above the upper bound of delta. The two ends of its answers enclose
        this bound, not the loss itself, since the worst data sets are not known.

        >>> from exactdp.local import RandomizedResponse, Shuffled
        >>> weekly = Shuffled(RandomizedResponse(k=10, epsilon=1), n=1000).bound()  # takes seconds
        >>> print(format(weekly.composed(52).epsilon("1e-6"), "3"))
        [0.669, 0.67]
        """
        # imported here: 0.1 s, which few users of this room need
        from exactdp.accounting.pld.loss import Pld
        from exactdp.accounting.pld.losses.base import Step
        from exactdp.accounting.pld.losses.curves import KnownCurve

        k, r = self.mechanism.k, self.mechanism.e_epsilon
        few = k == 2 or self.n <= _FEW
        bounds = self._bounds if few else Many(self.n, k, r, blocks=_COARSE)
        with precision(BITS):
            most = enclosure(ball(r).log()).upper
            _, largest = _halved(self._guess, _NEGLIGIBLE, most)
            width = Fraction(5, 2) * self._guess(Fraction(0))  # mu, if the loss were Gaussian
            count = min(max(ceil(_DENSITY * largest / width), _FEWEST), _MOST)
            step = Fraction(ceil(largest / count * 2**40), 2**40)
            powers = [_power(i * step)[0] for i in range(count + 1)]
            law = KnownCurve(step, tuple(self._capped(bounds.upper, e) for e in powers))
        return Pld(((Step(law, law), 1),), REPLACED_ROW, "exactdp.local.shuffled")

    def _safe(self, target: Fraction, most: Fraction) -> Fraction:
        """An epsilon whose upper bound is at most the target: by a guess, then corrected."""
        aim = target
        for _ in range(8):
            _, epsilon = _halved(self._guess, aim, most)
            delta = self._upper(_power(epsilon)[0])
            if delta <= target:
                return epsilon
            aim *= target / delta * Fraction(999, 1000)
        return most

    def _guess(self, epsilon: Fraction) -> Fraction:
        """The approximate upper bound of delta at this epsilon."""
        return self._capped(self._bounds.guess, _power(epsilon)[0])

    @cached_property
    def _bounds(self) -> Binary | Many:
        k, r = self.mechanism.k, self.mechanism.e_epsilon
        return Binary(self.n, r) if k == 2 else Many(self.n, k, r)

    def _upper(self, e: Fraction) -> Fraction:
        """The upper bound of delta, for all data sets. e: e^epsilon, rounded down."""
        return self._capped(self._bounds.upper, e)

    def _lower(self, e: Fraction) -> Fraction:
        """The lower bound of delta, for two data sets. e: e^epsilon, rounded up."""
        if e >= self.mechanism.e_epsilon:
            return Fraction(0)
        bound = self._bounds.lower(e)
        return enclosure(bound.lower()).lower if bound > 0 else Fraction(0)

    def _capped(self, delta: Callable[[Fraction], arb], e: Fraction) -> Fraction:
        """An upper bound of delta, but not more than the delta of the user's report alone."""
        alone = self.mechanism.background * (self.mechanism.e_epsilon - e)
        if alone <= 0:
            return Fraction(0)
        return min(enclosure(arb(delta(e).upper())).upper, alone)


def _power(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of e^epsilon, both multiples of 2^-64."""
    ends = enclosure(ball(epsilon).exp())
    return max(Fraction(int(ends.lower * 2**64), 2**64), Fraction(1)), Fraction(
        int(ends.upper * 2**64) + 1, 2**64
    )


def _halved(
    delta: Callable[[Fraction], Fraction], target: Fraction, high: Fraction
) -> tuple[Fraction, Fraction]:
    """An interval that contains the least epsilon with delta(epsilon) <= target, by bisection.

    At its lower end delta > target, unless that end is 0; at its upper end delta <= target, unless
    that end is `high`.
    """
    if delta(Fraction(0)) <= target:
        return Fraction(0), Fraction(0)
    return halved(Fraction(0), high, lambda epsilon: delta(epsilon) <= target, times=_HALVINGS)
