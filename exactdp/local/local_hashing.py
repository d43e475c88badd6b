"""Local hashing: the value is hashed to a few buckets; the bucket is randomized.

The hash functions are the linear maps x -> <a, digits of x> modulo a prime g. Two values collide
under exactly 1/g of the functions, so the estimate is exactly unbiased. Each user draws a function
and sends it with the report. As there are few functions, the server counts pairs of function and
bucket; one transform over the digits of x then yields the scores of all values, without hashing
every value for every user.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, below, coins
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.mechanism import CountedNumbers
from exactdp.local.report_formats import Numbers, Report, Reports
from exactdp.samplers import Source

#: Largest number of pairs of function and bucket: a state has a counter for each.
_LARGEST = 1 << 23


@frozen
class OptimizedLocalHashing(CountedNumbers, FrequencyOracle):
    """Optimized local hashing (OLH): a random hash function, and g-ary randomized response.

    k: values are 0 to k - 1. epsilon: of one report. buckets: g, a prime; by default the prime with
    the least total variance (near r + 1) whose state has at most 2^23 counters; a state has
    g^(D + 1) counters for k <= g^D. Raises InvalidParameter.
    Source: Wang, Blocki, Li, Jha 2017, with an exactly universal family of hash functions.

    >>> from exactdp.local import OptimizedLocalHashing
    >>> m = OptimizedLocalHashing(k=10_000, epsilon="0.5")
    >>> m.buckets, m.bits, m.cells
    (3, 17, 59049)
    """

    buckets: int = whole(least=2, default=None)

    def __post_init__(self) -> None:
        if self.buckets is None:
            object.__setattr__(self, "buckets", self._best_buckets())
        if not _is_prime(self.buckets):
            raise InvalidParameter("buckets", self.buckets, "a prime")
        if self.cells > _LARGEST:
            raise InvalidParameter(
                "k, buckets", (self.k, self.buckets), f"at most {_LARGEST} counters"
            )

    def _best_buckets(self) -> int:
        fit = [g for g in _primes() if g ** (_digits(self.k, g) + 1) <= _LARGEST]
        if not fit:
            raise InvalidParameter("k", self.k, f"small enough for {_LARGEST} counters")
        return min(fit, key=lambda g: type(self)(self.k, self.epsilon, g).total_variance())

    source = "Wang, Blocki, Li, Jha 2017, Section 4.4: randomized response on g buckets"

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: the numbers of hash function and bucket."""
        return Numbers((self.functions, self.buckets))

    @cached_property
    def digits(self) -> int:
        """D: the number of base-g digits of a value."""
        return _digits(self.k, self.buckets)

    @property
    def functions(self) -> int:
        """g^D."""
        return int(self.buckets**self.digits)

    @property
    def cells(self) -> int:
        """One counter per hash function and bucket."""
        return self.functions * self.buckets

    @property
    def background(self) -> Fraction:
        """1/g."""
        return Fraction(1, self.buckets)

    @property
    def gain(self) -> Fraction:
        """r/(r + g - 1) - 1/g."""
        return self.e_epsilon * self._unit - self.background

    def law(self, value: int) -> Law[Report]:
        """The exact law of the pair of hash function and bucket."""
        own = self._checked([value])
        functions = np.arange(self.functions)
        hashed = self._hash(functions, np.broadcast_to(own, functions.shape)).tolist()
        weights = {
            (a, y): (self.e_epsilon if y == right else 1) * self._unit / self.functions
            for a, right in enumerate(hashed)
            for y in range(self.buckets)
        }
        return Law[Report](dict(weights.items()))

    @property
    def _unit(self) -> Fraction:
        """The probability of a wrong bucket."""
        return 1 / (self.e_epsilon + self.buckets - 1)

    def _hash(self, functions: Integers, values: Integers) -> Integers:
        """<a, digits of x> mod g."""
        g, total, rest = self.buckets, np.zeros(len(values), np.int64), (functions, values)
        for _ in range(self.digits):
            shorter = [numbers // g for numbers in rest]
            ours, theirs = (x - q * g for x, q in zip(rest, shorter, strict=True))
            total += ours * theirs
            rest = shorter[0], shorter[1]
        return total % g

    def _respond(self, values: Integers, source: Source) -> Reports:
        functions = below(self.functions, len(values), source)
        lies = coins((self.buckets - 1) * self._unit, len(values), source)
        shift = np.zeros(len(values), np.int64)
        where = np.flatnonzero(lies)
        shift[where] = 1 + below(self.buckets - 1, where.size, source)
        buckets = (self._hash(functions, values) + shift) % self.buckets
        return np.stack([functions, buckets], axis=1)

    def _tally(self, reports: Reports) -> Integers:
        cells = reports[:, 0] * self.buckets + reports[:, 1]
        return np.bincount(cells, minlength=self.cells).astype(np.int64)

    def _scores(self, counts: Integers) -> Integers:
        """sum over a of counts[a, <a, x>] for every x, one digit at a time.

        After the sum over digit i of a, that axis is digit i of x, and the last axis is the bucket
        that the remaining digits must contribute. After the last digit this is 0.
        """
        g, sums = self.buckets, counts.reshape([self.buckets] * (self.digits + 1))
        for axis in range(self.digits - 1):
            by_digit = np.moveaxis(sums, axis, 0)
            summed = [
                sum(np.roll(by_digit[a], -a * x, axis=-1) for a in range(g)) for x in range(g)
            ]
            sums = np.moveaxis(np.stack(summed), 0, axis)
        own = np.arange(g)
        last = [sums[..., own, own * x % g].sum(axis=-1) for x in range(min(g, self.k))]
        return np.stack(last, axis=-1).reshape(-1)[: self.k]


def _digits(k: int, g: int) -> int:
    digits = 1
    while g**digits < k:
        digits += 1
    return digits


def _primes() -> Iterator[int]:
    """The primes g whose g^2 counters are within the limit."""
    return (g for g in range(2, int(_LARGEST**0.5) + 1) if _is_prime(g))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
