"""Frequencies of k values from reports with an additive score for every value.

A report y gives value x the score s_x(y), an integer, whose mean is background + gain where the
user's value is x and background where it is not. Hence (S_x/n - background)/gain, S_x the sum of
scores, is an unbiased estimate of the share of users with value x, for any data.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers
from exactdp.local.mechanism import LocalMechanism, State, public_fields
from exactdp.local.ratio import local_epsilon, ratio_within
from exactdp.local.report_formats import Report, Reports, integers
from exactdp.parameters import choice
from exactdp.samplers import Source

#: Ways to make a distribution of an unbiased estimate, or none.
METHODS = ("unbiased", "normalized", "projected")

_LARGEST = 1 << 40

#: Users whose reports are drawn at once, so that arrays stay in cache.
_AT_ONCE = 1 << 15


@frozen
class FrequencyOracle(LocalMechanism[int]):
    """k: values are 0 to k - 1, k >= 2. epsilon: of one report, between 1e-9 and 100."""

    k: int = whole(least=2, most=_LARGEST)
    epsilon: Number = number(local_epsilon)

    @property
    def epsilon_per_report(self) -> Fraction:
        """epsilon."""
        return self.epsilon

    @cached_property
    def e_epsilon(self) -> Fraction:
        """The largest rational of twelve digits within e^epsilon, kept exactly by every report."""
        return ratio_within(self.epsilon_per_report)

    @property
    @abstractmethod
    def background(self) -> Fraction:
        """The mean score of a value that the user does not have."""

    @property
    @abstractmethod
    def gain(self) -> Fraction:
        """How much larger the mean score of the user's own value is."""

    @abstractmethod
    def law(self, value: int) -> Law[Report]:
        """The exact law of the report of a user with this value."""

    @abstractmethod
    def _scores(self, counts: Integers) -> Integers:
        """The sum of scores of every value, from the counters."""

    def _square(self, x: int, value: int) -> Fraction:
        """The mean square of the score of x for a user with this value: scores here are 0 or 1."""
        return self.background + (self.gain if x == value else 0)

    def variance(self, x: int, shares: Sequence[Fraction]) -> Fraction:
        """n times the exact variance of the unbiased estimate for x, where values have shares.

        shares: of the n users, by value; the data are fixed, the reports are random.
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

        Where scores are 0 or 1 it is the same for all data.
        """
        own, other = self.background + self.gain, self.background
        return (own * (1 - own) + (self.k - 1) * other * (1 - other)) / self.gain**2

    def fractions(self, state: State) -> list[Fraction]:
        """The unbiased estimate of a state of this configuration, exactly."""
        self._require_reports(state)
        scores = self._scores(state.counts).tolist()
        return [(Fraction(s, state.n) - self.background) / self.gain for s in scores]

    def configuration(self) -> Mapping[str, str | int]:
        """The parameters, and the e^epsilon that is kept."""
        return {**public_fields(self), "e_epsilon": str(self.e_epsilon)}

    def draw_many(self, values: Any, source: Source) -> Reports:
        """The reports of many users from any source: some at a time, as that is quicker."""
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
        array = integers("values", values)
        if array.ndim != 1:
            raise InvalidParameter(
                "values", Described(f"of shape {array.shape}"), "a list of integers"
            )
        wrong = array[(array < 0) | (array >= self.k)]
        if wrong.size:
            raise InvalidParameter("value", int(wrong[0]), f">= 0 and < k = {self.k}")
        return array

    def _estimate(self, counts: Integers, n: int, method: str) -> NDArray[np.float64]:
        choice("method", method, METHODS)
        scores = self._scores(counts).astype(np.float64)
        found = np.asarray(scores - n * float(self.background)) / (n * float(self.gain))
        return finished(found, method)


def finished(estimate: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """An estimate as it is, normalized or projected."""
    if method == "normalized":
        return normalized(estimate)
    return projected(estimate) if method == "projected" else estimate


def normalized(estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Negative entries to 0, the rest scaled to the sum 1."""
    kept = np.maximum(estimate, 0)
    total = kept.sum()
    if not total > 0:
        raise Undecided("no entry of the estimate is positive: there are too few reports")
    return np.asarray(kept / total)


def projected(estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest distribution in l2: max(z - t, 0) with the t for which the sum is 1.

    Source: CP, Section 5 (projected decoder of Kairouz, Bonawitz, Ramage 2016).
    """
    ordered = np.sort(estimate)[::-1]
    shifts = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    shift = shifts[np.flatnonzero(ordered > shifts)[-1]]
    return np.asarray(np.maximum(estimate - shift, 0))
