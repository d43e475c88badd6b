"""Which keys occur: each key is released with the largest probability that privacy allows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import changed_counters
from exactdp.accounting.pld import approximate
from exactdp.balls import ball, enclosure, precision
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.mechanisms.thresholded.mechanism import checked_counts
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import require_secure

#: Probabilities are rounded down to multiples of 2^-_BITS.
_BITS = 256

#: Largest count of a key that is not released for certain.
_LONGEST = 10**6

#: Steps of the search for an epsilon of one key.
_STEPS = 20


@frozen
class PartitionSelection(Simulated[Mapping[Any, int]]):
    """Release the set of keys that occur, and no counts.

    A key of n users is released with probability p(n), independently of other keys: p(0) = 0 and
    p(n) = min(e^e p(n - 1) + d, 1 - e^-e (1 - p(n - 1) - d), 1), which is the largest probability
    that (e, d)-differential privacy of this key allows. e = key_epsilon, d = key_delta: the part of
    one key. k: number of keys that a user contributes to at most, >= 1. epsilon, delta: the promise
    for all keys together. Raises InvalidParameter if k keys with this part exceed it.
    Numbers are rounded down to multiples of 2^-256, which keeps every inequality of the privacy
    definition: p only rises more slowly.
    Source: Desfontaines, Voss, Gipson, Mandayam 2020 (arXiv 2006.03684), Theorem 1.

    >>> from exactdp.mechanisms import PartitionSelection
    >>> made = PartitionSelection.for_target(k=1, epsilon=1, delta="1e-5")
    >>> [round(float(made.chance(n)), 6) for n in (0, 1, 2, 10, 23, 24)]
    [0.0, 1e-05, 3.7e-05, 0.128183, 1.0, 1.0]
    """

    k: int = whole(least=1)
    key_epsilon: Number = number(positive)
    key_delta: Number = number(delta_target)
    epsilon: Number = number(positive)
    delta: Number = number(delta_target)

    def __post_init__(self) -> None:
        least = _together(self.k, self.key_epsilon, self.key_delta, self.epsilon)
        if least.upper > self.delta:
            allowed = f">= {least.decimal_upper(6)} for k keys with this part each"
            raise InvalidParameter("delta", decimal_text(self.delta), allowed)

    @classmethod
    def for_target(cls, *, k: int, epsilon: Real, delta: Real) -> PartitionSelection:
        """The selection whose keys need the fewest users to be released with probability 1/2.

        The part of one key is epsilon/k and delta/k, or a larger epsilon by optimal composition.
        """
        most = integer("k", k, least=1)
        target, failure = positive("epsilon", epsilon), delta_target("delta", delta)
        plain = cls(most, target / most, failure / most, target, failure)
        if most == 1:
            return plain
        share = failure / most / 2
        larger = _largest_epsilon(most, share, target, failure)
        if larger <= plain.key_epsilon:
            return plain
        composed = cls(most, larger, share, target, failure)
        return min(plain, composed, key=lambda selection: selection.half)

    def chance(self, count: int) -> Fraction:
        """The exact probability that a key with this number of users is released."""
        users = integer("count", count, least=0)
        steps = self._chances
        return Fraction(steps[users], 1 << _BITS) if users < len(steps) else Fraction(1)

    @property
    def half(self) -> int:
        """The least number of users of a key that is released with probability 1/2 or more."""
        return sum(2 * p < 1 << _BITS for p in self._chances)

    @property
    def certain(self) -> int:
        """The least number of users of a key that is released for certain."""
        return len(self._chances)

    def release(self, counts: Mapping[Any, int], source: Source) -> list[Any]:
        """The released keys in ascending order.

        counts: key -> number of users >= 0; keys are of one sortable type. source: randomness fit
        for a release, such as SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return self.draw(counts, source)

    def draw(self, counts: Mapping[Any, int], source: Source) -> list[Any]:
        """As :meth:`release`, with randomness from any source, for simulations and proofs."""
        return [
            key
            for key, users in checked_counts(counts).items()
            if users >= len(self._chances) or source.bernoulli(self.chance(users))
        ]

    def law(self, counts: Mapping[Any, int]) -> Law[tuple[Any, ...]]:
        """The exact law of the released keys by enumeration, for few keys."""
        return exact_law(lambda source: tuple(self.draw(counts, source)), residual=0)

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""
        delta = _together(self.k, self.key_epsilon, self.key_delta, self.epsilon)
        source = "Desfontaines, Voss, Gipson, Mandayam 2020, Theorem 1"
        if self.k > 1:
            source += "; Kairouz, Oh, Viswanath 2015 for the composition of k keys"
        return Guarantee(self.epsilon, delta, changed_counters(self.k), source)

    @cached_property
    def _chances(self) -> list[int]:
        """p(0), p(1), ... below 1, in units of 2^-256."""
        one = 1 << _BITS
        with precision(2 * _BITS):
            growth = enclosure(ball(self.key_epsilon).exp()).lower
        rate = int(growth * one)  # rounded down, as are all quotients below
        failure = int(self.key_delta * one)
        chances, p = [], 0
        while p < one:
            chances.append(p)
            if len(chances) > _LONGEST:
                allowed = "large enough for keys of 10^6 users to be released for certain"
                raise InvalidParameter("key_epsilon", decimal_text(self.key_epsilon), allowed)
            # e^-e is at most 2^256/rate: what is subtracted is rounded up
            hidden = max(one - p - failure, 0)
            p = min(rate * p // one + failure, one + (-hidden * one // rate), one)
        return chances


def _together(k: int, epsilon: Fraction, delta: Fraction, target: Fraction) -> Enclosure:
    """delta of k keys at the target epsilon."""
    if k * epsilon <= target:
        return Enclosure.exact(min(k * delta, Fraction(1)))
    return approximate(epsilon=epsilon, delta=delta).composed(k).delta(target)


def _largest_epsilon(k: int, delta: Fraction, target: Fraction, failure: Fraction) -> Fraction:
    """About the largest epsilon of one key that keeps the target, with this delta of one key."""

    def is_too_large(epsilon: Fraction) -> bool:
        return _together(k, epsilon, delta, target).upper > failure

    return halved(Fraction(0), target, is_too_large, times=_STEPS)[0]
