"""Frequency oracles: estimates of the frequencies of k values by additive scores.

A report y gives each value x an integer score s_x(y), whose mean is background + gain if the user's
value is x, and background otherwise. With S_x the sum of the scores of n reports,
(S_x/n - background)/gain is an unbiased estimate of the fraction of users with value x.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers
from exactdp.local.mechanism import LocalMechanism, State, public_fields
from exactdp.local.ratio import local_epsilon
from exactdp.local.report_formats import Report, Reports, integers
from exactdp.samplers import Source

#: How an unbiased estimate is converted to a distribution ("unbiased": not at all).
METHODS = ("unbiased", "normalized", "projected")

_LARGEST = 1 << 40

#: Number of users whose reports are drawn at a time, so that arrays stay in cache.
_AT_ONCE = 1 << 15


@frozen
class FrequencyOracle(LocalMechanism[int]):
    """k: values are 0 to k - 1, k >= 2. epsilon: of one report, between 1e-9 and 100."""

    k: int = whole(least=2, most=_LARGEST)
    epsilon: Number = number(local_epsilon)

    methods = METHODS

    @property
    @abstractmethod
    def background(self) -> Fraction:
        """The mean score of a value other than the user's value."""

    @property
    @abstractmethod
    def gain(self) -> Fraction:
        """The mean score of the user's value minus background."""

    @abstractmethod
    def law(self, value: int) -> Law[Report]:
        """The exact law of the report of a user with this value."""

    @abstractmethod
    def _scores(self, counts: Integers) -> Integers:
        """The sum of scores of every value, from the counters."""

    def _square(self, x: int, value: int) -> Fraction:
        """The mean square of the score of x for a user with this value; here scores are 0 or 1."""
        return self.background + (self.gain if x == value else 0)

    def variance(self, x: int, shares: Sequence[Fraction]) -> Fraction:
        """n times the exact variance of the unbiased estimate for x.

        shares: for each value, its fraction of the n users; the values are fixed and the reports
        random.
        """
        own, other = self.background + self.gain, self.background
        total = sum(
            share * (self._square(x, value) - (own if x == value else other) ** 2)
            for value, share in enumerate(shares)
            if share
        )
        return Fraction(total) / self.gain**2

    def total_variance(self) -> Fraction:
        """n times the expected squared l2 error of the unbiased estimate, for the worst data.

        If scores are 0 or 1, the error does not depend on the data.
        """
        own, other = self.background + self.gain, self.background
        return (own * (1 - own) + (self.k - 1) * other * (1 - other)) / self.gain**2

    def fractions(self, state: State) -> list[Fraction]:
        """The exact unbiased estimate; raises InvalidParameter for a foreign or empty state."""
        self._require_reports(state)
        scores = self._scores(state.counts).tolist()
        return [(Fraction(s, state.n) - self.background) / self.gain for s in scores]

    def configuration(self) -> Mapping[str, str | int]:
        """The public parameters, and r."""
        return {**public_fields(self), "e_epsilon": str(self.e_epsilon)}

    def draw_many(self, values: Any, source: Source) -> Reports:
        """The reports of many users with randomness from any source, in batches for speed."""
        checked = self._checked(values)
        first = self._respond(checked[:_AT_ONCE], source)
        if len(checked) <= _AT_ONCE:
            return first
        reports = np.empty((len(checked), *first.shape[1:]), first.dtype)
        reports[:_AT_ONCE] = first
        for start in range(_AT_ONCE, len(checked), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            reports[part] = self._respond(checked[part], source)
        return reports

    def _checked(self, values: Any) -> Integers:
        return values_below(values, self.k)

    def _estimate(self, counts: Integers, n: int, method: str) -> NDArray[np.float64]:
        scores = self._scores(counts).astype(np.float64)
        frequencies = np.asarray(scores - n * float(self.background)) / (n * float(self.gain))
        return finished(frequencies, method)


def values_below(values: Any, k: int) -> Integers:
    """The values of many users, integers from 0 to k - 1; raises InvalidParameter."""
    array = integers("values", values)
    if array.ndim != 1:
        raise InvalidParameter("values", Described(f"of shape {array.shape}"), "a list of integers")
    wrong = array[(array < 0) | (array >= k)]
    if wrong.size:
        raise InvalidParameter("value", int(wrong[0]), f">= 0 and < k = {k}")
    return array


def finished(estimate: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """An estimate converted by the method: "unbiased", "normalized" or "projected"."""
    if method == "normalized":
        return normalized(estimate)
    return projected(estimate) if method == "projected" else estimate


def normalized(estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """The estimate with negative entries set to 0, scaled to sum 1; raises Undecided if all are."""
    kept = np.maximum(estimate, 0)
    total = kept.sum()
    if not total > 0:
        raise Undecided("no entry of the estimate is positive: there are too few reports")
    return np.asarray(kept / total)


def projected(estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest distribution in l2: max(z - t, 0), with t such that the sum is 1.

    Source: CP, Section 5 (projected decoder of Kairouz, Bonawitz, Ramage 2016).
    """
    ordered = np.sort(estimate)[::-1]
    shifts = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    shift = shifts[np.flatnonzero(ordered > shifts)[-1]]
    return np.asarray(np.maximum(estimate - shift, 0))
