"""Baselines that report the randomized sign s(x) v_x of an entry and the random sign function s.

KFold reports a sign for every entry; at event level only one of these signs changes. The signs are
sorted by their random functions, so their order reveals nothing. Sampled reports the sign of one
entry drawn from k entries, where missing entries count as zeros.

Source: Zhou et al. (SVA), Sections II-B and II-C; Wang, Blocki, Li, Jha 2017 (binary local
hashing).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from exactdp.fields import frozen
from exactdp.local.bulk_choices import Integers, below
from exactdp.local.report_formats import Numbers, Reports
from exactdp.local.sparse.baseline import Baseline, entry_at, signs
from exactdp.local.sparse.entries import Scaled
from exactdp.local.sparse.estimates import Spectrum, Sums
from exactdp.local.sparse.hashes import Linear
from exactdp.samplers import Source


class HashedSigns(Baseline):
    """Reports are numbers 2 a + bit: a is the sign function, and bit is 1 for the sign -1."""

    @cached_property
    def family(self) -> Linear:
        """The sign functions."""
        return Linear(self.d, 1, 0)

    @property
    def cells(self) -> int:
        """One counter per sign function."""
        return 1 << self.family.index_bits

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: a function with its sign."""
        return Numbers((2 * self.cells,))

    @property
    def variance(self) -> Fraction:
        """1 over the square of the scale."""
        return 1 / self.scale**2

    @property
    def _sign_ratio(self) -> Fraction:
        """The probability of the true sign divided by that of the other sign."""
        return self.e_epsilon

    @property
    def _shrinks(self) -> Fraction:
        """The mean of a randomized sign whose true value is 1."""
        return (self._sign_ratio - 1) / (self._sign_ratio + 1)

    def _report_signs(self, items: Integers, values: Integers, source: Source) -> Integers:
        """The reports for one item and one value in {-1, 0, 1} per user."""
        functions = self.family.draw(len(items), source)
        _, sign = self.family.places(functions, items)
        reported_signs = signs(sign * values, self._sign_ratio, source)
        return 2 * functions[:, 0] + (1 - reported_signs) // 2

    def _tally(self, reports: Reports) -> Integers:
        flat = reports.reshape(-1)
        both = np.bincount(flat, minlength=2 * self.cells).reshape(-1, 2)
        return (both[:, 0] - both[:, 1]).astype(np.int64)

    def _sums(self, counts: Integers) -> Sums:
        return Spectrum(self.family, counts, self.scale)


@frozen
class KFold(HashedSigns):
    """k-fold repetition of a mechanism for one item, at event level.

    d, k, epsilon: as for Baseline. Source: SVA, Section II-B.

    >>> from exactdp.local.sparse import KFold
    >>> KFold(d=1000, k=64, epsilon=1).bits
    704
    """

    level = "event"

    source = "SVA, Section II-B: one of k randomized signs changes; reports in no order"

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: k functions with their signs, in ascending order."""
        return Numbers((2 * self.cells,) * self.k)

    @property
    def scale(self) -> Fraction:
        """(r - 1)/(r + 1)."""
        return self._shrinks

    @property
    def variance(self) -> Fraction:
        """k over the square of the scale."""
        return self.k / self.scale**2

    def _respond(self, values: Scaled, source: Source) -> Reports:
        rounded = values.rounded(source)
        items = np.zeros((values.n, self.k), np.int64)
        slots = np.zeros((values.n, self.k), np.int64)
        for j in range(self.k):
            items[:, j], slots[:, j] = entry_at(values, rounded, np.full(values.n, j))
        reports = self._report_signs(items.reshape(-1), slots.reshape(-1), source)
        ordered = np.sort(reports.reshape(values.n, self.k), axis=1)
        return ordered[:, 0] if self.k == 1 else ordered


@frozen
class Sampled(HashedSigns):
    """The randomized sign of one random entry out of k, where missing entries count as zeros.

    d, k, epsilon: as for Baseline. level: "user" or "event". At event level, the changed entry is
    reported with probability 1/k only, so the ratio of its sign may be 1 + k (r - 1).
    Source: SVA, Section II-C.
    """

    level: str = "user"

    source = "SVA, Section II-C: one randomized sign; at event level amplified by sampling"

    @property
    def scale(self) -> Fraction:
        """(r - 1)/(r + 1)/k."""
        return self._shrinks / self.k

    @property
    def _sign_ratio(self) -> Fraction:
        return self.e_epsilon if self.level == "user" else 1 + self.k * (self.e_epsilon - 1)

    def _respond(self, values: Scaled, source: Source) -> Reports:
        rounded = values.rounded(source)
        items, chosen = entry_at(values, rounded, below(self.k, values.n, source))
        return self._report_signs(items, chosen, source)
