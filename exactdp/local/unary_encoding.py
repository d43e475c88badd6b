"""Unary encodings: a bit per value, 1 with probability p for the user's value, else with q."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, coin_rows, coins, with_own
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.ratio import ratio_within
from exactdp.local.report_formats import BitVector, Report, Reports
from exactdp.samplers import Source

#: Largest k: a report has k bits.
_LARGEST = 1 << 24

#: Largest k for an explicit law of 2^k reports.
_LISTED = 16

#: Bits that are drawn, and bits that are summed, at a time.
_DRAWN, _ADDED_UP = 1 << 25, 1 << 24

#: Up to this number of rows of one weight are counted bit by bit; their sum fits a byte.
_ENOUGH = 64


@frozen
class UnaryEncoding(FrequencyOracle):
    """k: values are 0 to k - 1, k <= 2^24. epsilon: of one report, from 1e-9 to 100."""

    def __post_init__(self) -> None:
        if self.k > _LARGEST:
            raise InvalidParameter("k", self.k, f"<= {_LARGEST}, as a report has k bits")

    @property
    @abstractmethod
    def kept(self) -> Fraction:
        """p: the probability of a 1 for the user's value."""

    @property
    @abstractmethod
    def background(self) -> Fraction:
        """q: the probability of a 1 for another value."""

    @property
    def gain(self) -> Fraction:
        """p - q."""
        return self.kept - self.background

    @cached_property
    def form(self) -> BitVector:
        """The format of a report: k bits."""
        return BitVector(self.k)

    @property
    def cells(self) -> int:
        """One counter per value: the number of users who sent a 1."""
        return self.k

    def law(self, value: int) -> Law[Report]:
        """The exact law of independent bits; raises InvalidParameter for k > 16."""
        own = int(self._checked([value])[0])
        if self.k > _LISTED:
            raise InvalidParameter("k", self.k, f"<= {_LISTED} for a law of 2^k reports")
        weights = {0: Fraction(1)}
        for x in range(self.k):
            one = self.kept if x == own else self.background
            zeros = {report: (1 - one) * w for report, w in weights.items()}
            weights = {**zeros, **{report | 1 << x: one * w for report, w in weights.items()}}
        return Law[Report](dict(weights.items()))

    def _respond(self, values: Integers, source: Source) -> Reports:
        parts = [values[part] for part in portions_of(len(values), self.k, _DRAWN)]
        rows = [self._rows(part, source) for part in parts or [values]]
        return rows[0] if len(rows) == 1 else np.concatenate(rows)

    def _rows(self, values: Integers, source: Source) -> Reports:
        own = coins(self.kept, len(values), source)
        return with_own(coin_rows(self.background, len(values), self.k, source), values, own)

    def _tally(self, reports: Reports) -> Integers:
        return column_sums(reports, self.k)

    def _possible(self, counts: Integers, n: int) -> bool:
        return bool(((counts >= 0) & (counts <= n)).all())

    def _scores(self, counts: Integers) -> Integers:
        return counts


@frozen
class OptimizedUnaryEncoding(UnaryEncoding):
    """The user's bit is a fair coin; every other bit is 1 with probability 1/(r + 1).

    k, epsilon: as for UnaryEncoding. Source: Wang, Blocki, Li, Jha 2017 (OUE).

    >>> from exactdp.local import OptimizedUnaryEncoding
    >>> m = OptimizedUnaryEncoding(k=100, epsilon=1)
    >>> round(float(m.total_variance()), 6), m.bits  # 4 r/(r - 1)^2 for every other value, and 1
    (369.269438, 100)
    """

    source = "Wang, Blocki, Li, Jha 2017, Section 4.3: p(1 - q)/((1 - p)q) = r"

    @property
    def kept(self) -> Fraction:
        """1/2."""
        return Fraction(1, 2)

    @property
    def background(self) -> Fraction:
        """1/(r + 1)."""
        return 1 / (self.e_epsilon + 1)


@frozen
class Rappor(UnaryEncoding):
    """Every bit is flipped with probability 1/(t + 1), t^2 <= e^epsilon: one-time basic RAPPOR.

    k, epsilon: as for UnaryEncoding. Source: Erlingsson, Pihur, Korolova 2014, without Bloom
    filter; Xiong et al., "Compressive Privatization", Section 5.
    """

    source = "Erlingsson, Pihur, Korolova 2014: two bits differ, each loses a factor t"

    @cached_property
    def half(self) -> Fraction:
        """t: e^(epsilon/2), rounded down to a rational."""
        return ratio_within(self.epsilon / 2)

    @cached_property
    def e_epsilon(self) -> Fraction:
        """t^2."""
        return self.half**2

    @property
    def kept(self) -> Fraction:
        """t/(t + 1)."""
        return self.half / (self.half + 1)

    @property
    def background(self) -> Fraction:
        """1/(t + 1)."""
        return 1 / (self.half + 1)


def column_sums(rows: Reports, k: int) -> Integers:
    """For each of k bits, the number of rows of packed bits with a 1.

    A carry-save adder: while there are many rows of the same weight, five operations on whole bytes
    replace three rows by a row of sums and a row of carries of twice the weight. The remaining rows
    are counted.
    """
    total = np.zeros(k, np.int64)
    for part in portions_of(len(rows), k, _ADDED_UP):
        layer, weight = rows[part], 1
        while len(layer):
            carried = [rows[:0]]
            while len(layer) > _ENOUGH:
                layer, carry = _added(layer)
                carried.append(carry)
            bits = np.unpackbits(layer, axis=1, count=k, bitorder="little")
            total += weight * bits.sum(axis=0, dtype=np.uint8).astype(np.int64)
            layer, weight = np.concatenate(carried), 2 * weight
    return total


def _added(layer: Reports) -> tuple[Reports, Reports]:
    """One adder step on thirds of the rows: sums and leftover rows, and carries."""
    third = len(layer) // 3
    one, two, three = (layer[i * third : (i + 1) * third] for i in range(3))
    odd = np.empty((len(layer) - 2 * third, layer.shape[1]), np.uint8)
    sums, carry = odd[:third], one & two
    np.bitwise_xor(one, two, out=sums)
    np.bitwise_or(carry, sums & three, out=carry)
    np.bitwise_xor(sums, three, out=sums)
    odd[third:] = layer[3 * third :]
    return odd, carry


def portions_of(users: int, k: int, bits: int) -> Iterator[slice]:
    """Slices of the users with about `bits` bits each."""
    size = max(bits // k, 1)
    return (slice(start, min(start + size, users)) for start in range(0, users, size))
