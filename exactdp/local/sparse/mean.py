"""Means of sparse vectors in the local model, with exact noise on integers.

Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation" (SVA), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.bulk_choices import Integers
from exactdp.local.mechanism import LocalMechanism, State
from exactdp.local.ratio import local_epsilon, ratio_within
from exactdp.local.report_formats import Numbers, Reports
from exactdp.local.sparse.baseline import neighbours
from exactdp.local.sparse.entries import Scaled, checked
from exactdp.local.sparse.error_bounds import Chernoff
from exactdp.local.sparse.estimates import Listed, Means, Spectrum, Sums
from exactdp.local.sparse.hashes import Keyed, Linear
from exactdp.local.sparse.kept_reports import KeptReports
from exactdp.local.sparse.report_plan import MOST_BIN_BITS, Neighbours, ReportPlan, planned
from exactdp.local.sparse.truncated_geometric import TruncatedGeometric
from exactdp.local.walsh import walsh
from exactdp.parameters import (
    Real,
    choice,
    decimal_text,
    delta_target,
    integer,
    non_negative,
    positive,
)
from exactdp.samplers import Source
from exactdp.vector import Vector

#: Largest number of items for a spectrum on the server: 2^26 counters are half a gigabyte.
_SPECTRUM_BITS = 26
_MOST_ITEMS = 1 << 62
_MOST_ENTRIES = 1 << 14
_MOST_GRID = 1 << 20
_GRID = 64
#: Number of spectral values that are tallied at a time.
_AT_ONCE = 1 << 20


def _below_one(name: str, value: Real) -> Fraction:
    found = non_negative(name, value)
    return delta_target(name, found) if found else found


@frozen
class SparseVectorMean(LocalMechanism[Vector]):
    """Means of vectors in [-1, 1]^d with at most k non-zero entries; one report per user.

    d: items are 0 to d - 1, 1 <= d <= 2^62. k: >= 1, at most d and 16384. epsilon: of one report.
    level: protects "event" (one entry of a user) or "user" (all entries). L: > 0, instead of level:
    protects changes of a user's vector up to this L1 distance.
    delta: >= 0 and < 1; for delta > 0 the guarantee may depend on the randomness of the hash
    functions. hashes: "linear", decoded for all items at once, or "keyed", the pseudorandom
    functions of the paper, which delta > 0 requires. users: expected number of users, for the
    choice of clipping. bins: a power of two up to 2^15. grid: from 1 to 2^20; values are randomly
    rounded to multiples of 1/grid. key: of the public bijection of items.

    ``plan`` has the bins, clipping and noise with the least error; None lets the plan choose.
    Raises InvalidParameter.
    Source: SVA, Algorithm 1 and Table II, with the corrections in the guarantee's source.

    >>> from exactdp.local import SparseVectorMean
    >>> from exactdp.samplers import SystemSource
    >>> ratings = SparseVectorMean(d=1000, k=8, epsilon=1, level="event")
    >>> reports = ratings.report_many([{17: 1, 99: "-0.5"}, {17: "0.25"}], SystemSource())
    >>> means = ratings.aggregate().add(reports).estimate()
    >>> means.values.shape, means.deviation > 0
    ((1000,), True)
    """

    d: int = whole(least=1, most=_MOST_ITEMS)
    k: int = whole(least=1, most=_MOST_ENTRIES)
    epsilon: Number = number(local_epsilon)
    level: str | None = None
    L: Real | None = None
    delta: Number = number(_below_one, default=0)
    hashes: str = "linear"
    users: int = whole(least=1, most=_MOST_ITEMS, default=100_000)
    bins: int | None = whole(least=1, most=1 << MOST_BIN_BITS, default=None)
    grid: int | None = whole(least=1, most=_MOST_GRID, default=None)
    key: int = whole(least=0, most=_MOST_ITEMS, default=0)

    def __post_init__(self) -> None:
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"an integer >= 1 and <= {self.d}")
        if self.bins is not None and self.bins & (self.bins - 1):
            raise InvalidParameter("bins", self.bins, "a power of two")
        self._require_level()
        choice("hashes", self.hashes, ("linear", "keyed"))
        if self.delta and self.hashes != "keyed":
            allowed = "'keyed' for delta > 0: linear functions reveal vectors chosen to fit them"
            raise InvalidParameter("hashes", self.hashes, allowed)

    def _require_level(self) -> None:
        if (self.level is None) == (self.L is None):
            raise InvalidParameter("level, L", (self.level, self.L), "exactly one of the two")
        if self.level is not None:
            choice("level", self.level, ("event", "user"))
        elif self.L is not None:
            object.__setattr__(self, "L", positive("L", self.L))

    @cached_property
    def plan(self) -> ReportPlan:
        """Bins, clipping and noise."""
        units = self._units
        return planned(
            self._near(units),
            k=self.k,
            grid=units,
            ratio=self.e_epsilon,
            delta=self.delta,
            users=self.users,
            bins=self.bins,
        )

    @property
    def _units(self) -> int:
        """The grid; where L matters, so fine that rounding adds at most 2 % to L."""
        if self.grid is not None:
            return self.grid
        units = _GRID
        while self.delta and self.L and 100 * self.k > Fraction(self.L) * units < _MOST_GRID:
            units *= 2
        return units

    def _near(self, grid: int) -> Neighbours:
        if self.level == "event":
            return Neighbours(Fraction(2 * grid), 1, True, 2 * grid)
        if self.L is None or Fraction(self.L) >= 2 * self.k:
            return Neighbours(Fraction(2 * self.k * grid), self.k, True, 2 * grid)
        return Neighbours(Fraction(self.L) * grid, self.k, False, 2 * grid)

    @property
    def bias(self) -> Fraction:
        """Upper bound of the bias of an estimated mean; for linear functions, for any items."""
        return self.plan.bias if self.hashes == "keyed" else self.plan.bias_of_any_items

    @property
    def epsilon_per_report(self) -> Fraction:
        """epsilon."""
        return self.epsilon

    @cached_property
    def e_epsilon(self) -> Fraction:
        """e^epsilon rounded down to twelve digits: an upper bound of the probability ratio."""
        return ratio_within(self.epsilon_per_report)

    @cached_property
    def family(self) -> Linear | Keyed:
        """The hash functions."""
        keyed = Keyed(self.d, self._linear.bin_bits)
        return keyed if self.hashes == "keyed" else self._linear

    @cached_property
    def _linear(self) -> Linear:
        return Linear(self.d, self.plan.bins.bit_length() - 1, self.key)

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: the hash function, and the bins minus their smallest value."""
        return Numbers((*self.family.sizes, *(2 * self.plan.limit + 1,) * self.plan.bins))

    @property
    def cells(self) -> int:
        """Number of counters of a spectrum."""
        return 1 << self._linear.index_bits

    @property
    def source(self) -> str:
        """Paper and number of the statement, and assumptions, that the guarantee rests on."""
        if self.plan.delta:
            return (
                "SVA, Claim 13, with an exact tail for Lemma 14; computational: BLAKE2b under keys "
                "drawn after the vectors, which nobody else can choose"
            )
        return "SVA, Claim 13, with random rounding counted; whatever the hash functions are"

    def guarantee(self, reports: int = 1) -> Guarantee:
        """The joint guarantee of this number of independent reports of one user."""
        times = integer("reports", reports, least=1)
        delta = min(self.plan.delta * times, Fraction(1))
        return Guarantee(
            self.epsilon_per_report * times,
            Enclosure.exact(delta),
            self._neighbours(),
            self.source,
            self.e_epsilon**times,
        )

    def _neighbours(self) -> str:
        if self.level is not None:
            return neighbours(self.level, self.k)
        among = f"two vectors of one user with at most {self.k} entries"
        return f"{among}, at an L1 distance of at most {decimal_text(Fraction(self.L or 0))}"

    def configuration(self) -> Mapping[str, str | int]:
        """All public parameters, and the plan's choices."""
        plan = self.plan
        given: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        given |= {"grid": plan.grid, "bins": plan.bins}
        chosen = f"clip {plan.clip}, q {decimal_text(plan.q)}, delta {decimal_text(plan.delta)}"
        texts = {
            name: decimal_text(x) if isinstance(x, Fraction) else x
            for name, x in given.items()
            if x is not None
        }
        return {**texts, "plan": chosen}

    def _checked(self, values: Any) -> Scaled:
        return checked(values, d=self.d, k=self.k, grid=self.plan.grid)

    def _respond(self, values: Scaled, source: Source) -> Reports:
        return self.respond_with(self.family.draw(values.n, source), values, source)

    def respond_with(self, functions: Integers, values: Scaled, source: Source) -> Reports:
        """Reports with given hash functions, for proofs; a client draws its own."""
        bins, limit = self._binned(values, values.rounded(source), functions), self.plan.limit
        noise = self._noise.draw(bins.size, source).reshape(bins.shape)
        return np.concatenate([functions, (bins + noise).clip(-limit, limit) + limit], axis=1)

    def _binned(self, values: Scaled, rounded: Integers, functions: Integers) -> Integers:
        """The clipped signed sums of the bins."""
        bins = np.zeros((values.n, self.plan.bins), np.int64)
        place, sign = self.family.places(functions[values.user], values.item)
        np.add.at(bins, (values.user, place), sign * rounded)
        return bins.clip(-self.plan.most, self.plan.most)

    @cached_property
    def _noise(self) -> TruncatedGeometric:
        return TruncatedGeometric(self.plan.q, self.plan.limit + self.plan.most)

    def bins_of(self, reports: Reports) -> Integers:
        """The noisy bins of checked reports, in units of the grid."""
        bins: Integers = reports[:, len(self.family.sizes) :] - self.plan.limit
        return bins

    def functions_of(self, reports: Reports) -> Integers:
        """The hash functions of checked reports."""
        functions: Integers = reports[:, : len(self.family.sizes)]
        return functions

    def _tally(self, reports: Reports) -> Integers:
        """The spectrum: the sum of all users' contributions at the frequencies a + H'u."""
        counts = np.zeros(self.cells, np.int64)
        step = max(_AT_ONCE // self.plan.bins, 1)
        for start in range(0, len(reports), step):
            part = reports[start : start + step]
            where = self._linear.frequencies(self.functions_of(part))
            np.add.at(counts, where.ravel(), walsh(self.bins_of(part)).ravel())
        return counts

    def _estimate(self, counts: Integers, n: int, method: str) -> Means:
        # sums modulo 2^64 are exact if the final sums fit, even if partial sums overflow
        most = ((1 << 63) - 1) // (self.plan.bins * self.plan.limit)
        if n > most:
            raise InvalidParameter("reports", n, f"at most {most}, so that sums fit 64 bits")
        scale = Fraction(self.plan.bins * self.plan.grid)
        return self.means(n, Spectrum(self._linear, counts, scale))

    def _means_of(self, reports: Reports) -> Means:
        functions, bins = self.functions_of(reports), self.bins_of(reports)
        return self.means(
            len(reports), Listed(self.family, functions, bins, Fraction(self.plan.grid))
        )

    def means(self, n: int, sums: Sums) -> Means:
        """The means of n users from their sums."""
        return Means(self.d, n, sums, Chernoff(self.plan, self.bias))

    def aggregate(self) -> State:
        """The empty state of a server: a spectrum, or reports if there are too many items."""
        if self.hashes == "keyed" or self.cells > 1 << _SPECTRUM_BITS:
            return KeptReports(self, self._means_of)
        return super().aggregate()

    def state_from_bytes(self, data: bytes) -> State:
        """The state from its to_bytes; raises InvalidParameter for another configuration."""
        if isinstance(self.aggregate(), KeptReports):
            return KeptReports(self, self._means_of, [self.reports_from_bytes(data)])
        return super().state_from_bytes(data)
