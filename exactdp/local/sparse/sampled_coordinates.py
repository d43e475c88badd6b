"""Baselines that report one coordinate: Harmony and PCKV.

Harmony reports the randomized sign of a random coordinate. PCKV draws one of k entries, where k
dummy items replace missing entries, and reports one of the 2 (d + k) pairs of item and sign; the
true pair is R times as likely as any other. Sampling amplifies privacy, so R = 1 + k (r - 1).

Source: Zhou et al. (SVA), Section V; Nguyen et al. 2016 (Harmony); Gu et al. 2020 (PCKV-GRR).
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

import numpy as np

from exactdp.fields import frozen
from exactdp.local.bulk_choices import Integers, below, coins
from exactdp.local.report_formats import Numbers, Reports
from exactdp.local.sparse.baseline import Baseline, entry_at, signs
from exactdp.local.sparse.entries import Scaled
from exactdp.samplers import Source


class _Coordinates(Baseline):
    """Reports are numbers 2 x + bit: bit is 1 for the sign -1 of item x."""

    @property
    @abstractmethod
    def form(self) -> Numbers:
        """The format of a report: one number."""

    @property
    def cells(self) -> int:
        """One counter per item."""
        return self.d

    def _tally(self, reports: Reports) -> Integers:
        both = np.bincount(reports, minlength=self.form.sizes[0]).reshape(-1, 2)
        return (both[:, 0] - both[:, 1])[: self.d].astype(np.int64)


@frozen
class Harmony(_Coordinates):
    """The randomized sign of one random coordinate out of d. Parameters: as for Baseline."""

    @property
    def source(self) -> str:
        """Paper and number of the statement that the guarantee rests on."""
        return "Nguyen et al. 2016: randomized response on one bit"

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: a coordinate and a sign."""
        return Numbers((2 * self.d,))

    @property
    def scale(self) -> Fraction:
        """(r - 1)/(r + 1)/d."""
        return (self.e_epsilon - 1) / (self.e_epsilon + 1) / self.d

    @property
    def variance(self) -> Fraction:
        """1/d over the square of the scale."""
        return 1 / self.scale**2 / self.d

    def _respond(self, values: Scaled, source: Source) -> Reports:
        rounded = values.rounded(source)
        coordinate = below(self.d, values.n, source)
        value = np.zeros(values.n, np.int64)
        own = values.item == coordinate[values.user]
        value[values.user[own]] = rounded[own]
        return 2 * coordinate + (1 - signs(value, self.e_epsilon, source)) // 2


@frozen
class Pckv(_Coordinates):
    """Randomized response on the pair of item and sign of one random entry. As for Baseline."""

    @property
    def source(self) -> str:
        """Paper and number of the statement that the guarantee rests on."""
        return "Gu et al. 2020, Section 5: generalized randomized response, amplified by sampling"

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: an item, which may be one of k dummy items, and a sign."""
        return Numbers((2 * (self.d + self.k),))

    @property
    def _truth(self) -> Fraction:
        """R: the probability of the true pair divided by that of any other pair."""
        ratio = 1 + self.k * (self.e_epsilon - 1)
        return (ratio - 1) / (ratio + self.form.sizes[0] - 1)

    @property
    def scale(self) -> Fraction:
        """(R - 1)/(R + 2 (d + k) - 1)/k."""
        return self._truth / self.k

    @property
    def variance(self) -> Fraction:
        """The probability that a report names the item, over the square of the scale."""
        return (self._truth / self.k + 2 * (1 - self._truth) / self.form.sizes[0]) / self.scale**2

    def _respond(self, values: Scaled, source: Source) -> Reports:
        rounded, rank = values.rounded(source), below(self.k, values.n, source)
        item, value = entry_at(values, rounded, rank)
        fair = 1 - 2 * coins(Fraction(1, 2), values.n, source)
        counts = np.bincount(values.user, minlength=values.n)
        item = np.where(rank < counts, item, self.d + rank)
        own = 2 * item + (1 - np.where(value == 0, fair, value)) // 2
        honest = coins(self._truth, values.n, source)
        return np.where(honest, own, below(self.form.sizes[0], values.n, source))
