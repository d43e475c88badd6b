"""Baselines that sample one coordinate: Harmony and both forms of PCKV.

Harmony reports the randomized sign of a random coordinate. PCKV draws one of k entries, where k
dummy items replace missing entries. By generalized randomized response (GRR) it reports one of the
2 (d + k) pairs of item and sign; the true pair is R times as likely as any other. Sampling
amplifies privacy, so R = 1 + k (r - 1). By unary encoding (UE) it reports a sign or nothing for
each of the d items: for the drawn item its sign with probability r/(2 (r + 1)) and the other sign
with 1/(2 (r + 1)), for any other item each sign with 1/(r + 3). For two drawn items the largest
ratio is r (r + 3)/(2 (r + 1)) for the one times 2 (r + 1)/(r + 3) for the other, which is r.

Source: Zhou et al. (SVA), Section V; Nguyen et al. 2016 (Harmony); Gu et al. 2020 (PCKV-GRR and
PCKV-UE, with their optimal probabilities).
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

import numpy as np

from exactdp.fields import frozen
from exactdp.local.bulk_choices import Integers, below, coins
from exactdp.local.report_formats import BitVector, Numbers, Reports
from exactdp.local.sparse.baseline import Baseline, entry_at, signs
from exactdp.local.sparse.entries import Scaled
from exactdp.samplers import Source


class _Coordinates(Baseline):
    """Reports are numbers 2 x + bit: bit is 1 for the sign -1 of item x."""

    @property
    @abstractmethod
    def form(self) -> Numbers:
        """The format of a report: one number."""

    def _tally(self, reports: Reports) -> Integers:
        both = np.bincount(reports, minlength=self.form.sizes[0]).reshape(-1, 2)
        return (both[:, 0] - both[:, 1])[: self.d].astype(np.int64)


@frozen
class Harmony(_Coordinates):
    """The randomized sign of one random coordinate out of d. Parameters: as for Baseline."""

    source = "Nguyen et al. 2016: randomized response on one bit"

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
    """Randomized response on item and sign of one random entry. Parameters: as for Baseline."""

    source = "Gu et al. 2020, Section 5: generalized randomized response, amplified by sampling"

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


@frozen
class PckvUnary(Baseline):
    """A sign or nothing for every item; the answer for one random entry depends on its sign.

    Parameters: as for Baseline. The report takes 2 d bits: whether the sign of an item is 1, and
    whether the sign is -1.
    """

    source = "Gu et al. 2020, Section 4: optimized unary encoding of items with signs"

    @cached_property
    def form(self) -> BitVector:
        """The format of a report: d bits for the signs 1, and d for the signs -1."""
        return BitVector(2 * self.d)

    @property
    def scale(self) -> Fraction:
        """(r - 1)/(r + 1)/(2 k)."""
        return (self.e_epsilon - 1) / (self.e_epsilon + 1) / (2 * self.k)

    @property
    def variance(self) -> Fraction:
        """The probability that a report has a sign for the item, over the square of the scale."""
        own, other = Fraction(1, 2), 2 / (self.e_epsilon + 3)
        return (own / self.k + other * (1 - Fraction(1, self.k))) / self.scale**2

    def _respond(self, values: Scaled, source: Source) -> Reports:
        n, r = values.n, self.e_epsilon
        rounded, rank = values.rounded(source), below(self.k, values.n, source)
        item, value = entry_at(values, rounded, rank)
        there = np.flatnonzero(rank < np.bincount(values.user, minlength=n))
        nonzero = coins(2 / (r + 3), n * self.d, source).reshape(n, self.d)
        signs_of = coins(Fraction(1, 2), n * self.d, source).reshape(n, self.d)
        nonzero[there, item[there]] = coins(Fraction(1, 2), len(there), source)
        signs_of[there, item[there]] = signs(value[there], r, source) > 0
        both = np.concatenate([nonzero & signs_of, nonzero & ~signs_of], axis=1)
        return np.packbits(both, axis=1, bitorder="little")

    def _tally(self, reports: Reports) -> Integers:
        bits = np.unpackbits(reports, axis=1, count=2 * self.d, bitorder="little")
        counts: Integers = bits.sum(axis=0, dtype=np.int64)
        return counts[: self.d] - counts[self.d :]
