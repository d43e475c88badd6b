"""Means of sparse vectors in the local model, with exact noise on integers.

Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation" (SVA), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.bulk_choices import Integers
from exactdp.local.mechanism import LocalMechanism, State, public_fields
from exactdp.local.ratio import local_epsilon
from exactdp.local.report_formats import Numbers, Reports
from exactdp.local.sparse.baseline import neighbours
from exactdp.local.sparse.clipping import Stated, at_most_one, clip_at
from exactdp.local.sparse.entries import Scaled, checked
from exactdp.local.sparse.error_bounds import Chernoff
from exactdp.local.sparse.estimates import Listed, Means, Spectrum, Sums
from exactdp.local.sparse.hashes import Keyed, Linear
from exactdp.local.sparse.kept_reports import KeptReports
from exactdp.local.sparse.report_plan import MOST_BIN_BITS, Neighbours, ReportPlan, Search
from exactdp.local.sparse.truncated_geometric import TruncatedGeometric
from exactdp.local.walsh import walsh
from exactdp.parameters import (
    Real,
    choice,
    decimal_text,
    delta_target,
    non_negative,
    positive,
    rational,
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
    exact = non_negative(name, value)
    return delta_target(name, exact) if exact else exact


@frozen
class SparseVectorMean(LocalMechanism[Vector]):
    """Means of vectors in [-1, 1]^d with at most k non-zero entries; one report per user.

    d: items are 0 to d - 1, 1 <= d <= 2^62. k: >= 1, at most d and 16384. epsilon: of one report.
    level: protects "event" (one entry of a user) or "user" (all entries). L: > 0, instead of level:
    protects changes of a user's vector up to this L1 distance.
    delta: >= 0 and < 1; for delta > 0 the guarantee may depend on the randomness of the hash
    functions. hashes: "linear", decoded for all items at once, or "keyed", the pseudorandom
    functions of the paper, which delta > 0 requires. bins: up to 2^15. clip: > 0, where the sums of
    bins are clipped, or "published": sqrt(k ln n)/2.5 for n users, as in the published code. grid:
    from 1 to 2^20; values are randomly rounded to multiples of 1/grid. key: of the public bijection
    of items.

    ``plan`` has the bins, clipping and noise with the least error; None lets the plan choose, for
    this number of users and for vectors with `entries` non-zero values, of which one item is held
    by at most `share` of the users. By default these are the worst vectors: k entries, share 1;
    ``Stated.of`` finds both in a public sample. Accuracy rests on them, the guarantee does not.
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
    clip: Real | None = None
    entries: int | None = whole(least=1, default=None)
    share: Number = number(at_most_one, default=1)
    grid: int | None = whole(least=1, most=_MOST_GRID, default=None)
    key: int = whole(least=0, most=_MOST_ITEMS, default=0)

    def __post_init__(self) -> None:
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"an integer >= 1 and <= {self.d}")
        if self.entries is not None and self.entries > self.k:
            raise InvalidParameter("entries", self.entries, f"<= k = {self.k}")
        object.__setattr__(self, "clip", clip_at("clip", self.clip, self.k, self.users))
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
        search = Search(
            self._near(units),
            k=self.k,
            grid=units,
            ratio=self.e_epsilon,
            delta=self.delta,
            users=self.users,
            stated=self.stated,
            hit=lambda bins: self._functions(bins).hit,
            clip=None if self.clip is None else max(round(rational("clip", self.clip) * units), 1),
        )
        return search.plan(self.bins)

    @property
    def stated(self) -> Stated:
        """What is stated about the vectors."""
        return Stated(self.entries or self.k, self.share)

    def _functions(self, bins: int) -> Linear | Keyed:
        return Keyed(self.d, bins) if self.hashes == "keyed" else Linear(self.d, bins, self.key)

    def mean_square(self, users: int) -> Fraction:
        """Upper bound of the mean square error from this number of users, for independent signs."""
        return self.plan.mean_square(users)

    def stated_error(self, users: int, stated: Stated) -> float:
        """The mean square error for the item that most users have, of vectors as stated."""
        return self.plan.stated_error(users, stated)

    @property
    def variance(self) -> Fraction:
        """Upper bound of n times the variance of the mean estimated from n users, for any data."""
        return self.plan.variance

    @property
    def _units(self) -> int:
        """The grid; where L matters, so fine that rounding adds at most 2 % to L."""
        if self.grid is not None:
            return self.grid
        units = _GRID
        while self.delta and self.L and 100 * self.k > rational("L", self.L) * units < _MOST_GRID:
            units *= 2
        return units

    def _near(self, grid: int) -> Neighbours:
        if self.level == "event":
            return Neighbours(Fraction(2 * grid), 1, True, 2 * grid)
        if self.L is None or rational("L", self.L) >= 2 * self.k:
            return Neighbours(Fraction(2 * self.k * grid), self.k, True, 2 * grid)
        return Neighbours(rational("L", self.L) * grid, self.k, False, 2 * grid)

    @property
    def bias(self) -> Fraction:
        """Upper bound of the bias of an estimated mean; for linear functions, for any items."""
        return self.plan.bias if self.hashes == "keyed" else self.plan.bias_of_any_items

    @cached_property
    def family(self) -> Linear | Keyed:
        """The hash functions."""
        return self._functions(self.plan.bins)

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: the hash function, and the bins minus their smallest value."""
        return Numbers((*self.family.sizes, *(2 * self.plan.limit + 1,) * self.plan.bins))

    @property
    def cells(self) -> int:
        """Number of counters of a spectrum."""
        return 1 << Linear(self.d, 1, self.key).index_bits

    @property
    def source(self) -> str:
        """Paper and number of the statement, and assumptions, that the guarantee rests on."""
        if self.plan.delta:
            return (
                "SVA, Claim 13, with an exact tail for Lemma 14; computational: BLAKE2b under keys "
                "drawn after the vectors, which nobody else can choose"
            )
        return "SVA, Claim 13, with random rounding counted; whatever the hash functions are"

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one report; times n it is that of n independent reports of one user."""
        return replace(super().guarantee, delta=Enclosure.exact(self.plan.delta))

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the guarantee."""
        if self.level is not None:
            return neighbours(self.level, self.k)
        among = f"two vectors of one user with at most {self.k} entries"
        distance = decimal_text(rational("L", self.L or 0))
        return f"{among}, at an L1 distance of at most {distance}"

    def configuration(self) -> Mapping[str, str | int]:
        """All public parameters, and the plan's choices."""
        plan = self.plan
        chosen = f"clip {plan.clip}, q {decimal_text(plan.q)}, delta {decimal_text(plan.delta)}"
        return {**public_fields(self), "grid": plan.grid, "bins": plan.bins, "plan": chosen}

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
        counts, family = np.zeros(self.cells, np.int64), self.family
        assert isinstance(family, Linear)
        step = max(_AT_ONCE >> family.bin_bits, 1)
        for start in range(0, len(reports), step):
            part = reports[start : start + step]
            where = family.frequencies(self.functions_of(part))
            spectrum = walsh(family.unfolded(self.bins_of(part)))
            np.add.at(counts, where.ravel(), spectrum.ravel())
        return counts

    def _estimate(self, counts: Integers, n: int, method: str) -> Means:
        # sums modulo 2^64 are exact if the final sums fit, even if partial sums overflow
        family = self.family
        assert isinstance(family, Linear)
        most = ((1 << 63) - 1) // (self.plan.limit << family.bin_bits)
        if n > most:
            raise InvalidParameter("reports", n, f"at most {most}, so that sums fit 64 bits")
        return self.means(n, Spectrum(family, counts, Fraction(self.plan.grid << family.bin_bits)))

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
