"""Compressive privatization: fewer outputs than values, and sparse recovery on the server.

Source: Xiong et al., "Compressive Privatization" (CP).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, coins
from exactdp.local.frequency_oracle import finished, values_below
from exactdp.local.mechanism import LocalMechanism, State, public_fields
from exactdp.local.public_matrices import BalancedColumns, PublicColumns, portions
from exactdp.local.ratio import largest, local_epsilon, ratio_within
from exactdp.local.report_formats import Numbers, Report, Reports
from exactdp.local.sparse_recovery import Pursuit, Recovery, System
from exactdp.parameters import Real, decimal_text
from exactdp.samplers import Source


class SetResponse(LocalMechanism[int]):
    """Each value x has a set C_x of outputs; an output in C_x is r times as likely as another.

    r is the largest rational of twelve digits for which the deployed matrix keeps epsilon. If the
    sets differ in size, the normalizers N_x = |C_x| r + m - |C_x| differ, and r < e^epsilon.
    Source: CP, equation (2), and Lemma 2.1 with the exact loss.
    """

    epsilon: Number
    #: The sets C_x.
    columns: PublicColumns

    methods = ("projected", "normalized")

    @cached_property
    def ratio(self) -> Fraction:
        """r."""
        within = ratio_within(self.epsilon)
        return largest(within, lambda r: self._loss(r) <= within)

    @cached_property
    def e_epsilon(self) -> Fraction:
        """The exact largest probability ratio of an output for two values, for this matrix."""
        return self._loss(self.ratio)

    source = "CP equation (2), with the exact normalizers of the deployed matrix"

    @cached_property
    def form(self) -> Numbers:
        """The format of a report: the number of an output."""
        return Numbers((self.columns.m,))

    @property
    def cells(self) -> int:
        """One counter per output."""
        return self.columns.m

    def law(self, value: int) -> Law[Report]:
        """The exact law of the output."""
        marks = self.columns.marks(self._checked([value]))[0].tolist()
        base = self._base(sum(marks), self.ratio)
        return Law({y: (self.ratio if inside else 1) / base for y, inside in enumerate(marks)})

    def recover(self, state: State, recovery: Recovery | None = None) -> NDArray[np.float64]:
        """The frequencies found by sparse recovery; they may be negative and need not sum to 1.

        state: of this configuration, with at least one report. recovery: Pursuit() by default.
        """
        self._require_reports(state)
        return (recovery or Pursuit())(self._system, state.counts, state.n)

    def accuracy(self, beta: Real, support: Sequence[int], users: int) -> float:
        """A bound of the l1 error of the shares of these values, all other shares being 0.

        The bound fails with probability at most beta. users: number of reports; use other reports
        than those from which the support was found. Raises InvalidParameter for a support with too
        many values.
        """
        from exactdp.local.recovery_certificate import Certificate

        return Certificate.of(self, support).l1(users, beta)

    def _estimate(self, counts: Integers, n: int, method: str) -> NDArray[np.float64]:
        return finished(Pursuit()(self._system, counts, n), method)

    @cached_property
    def _system(self) -> System:
        rows = [
            self.columns.marks(part) for part in portions(np.arange(self.columns.k), self.cells)
        ]
        return System.of(np.concatenate(rows).T, float(self.ratio))

    def _base(self, size: int, r: Fraction) -> Fraction:
        """N_x for a set of this size."""
        return size * r + self.cells - size

    def _loss(self, r: Fraction) -> Fraction:
        """The largest Q(y|x)/Q(y|z) over outputs y and values x, z.

        The ratio is r N_z/N_x if y is in C_x and not in C_z, and at most N_z/N_x otherwise. The
        latter is attained if all sets are nested: the smallest set is inside the largest.
        """
        least, most = (self._base(size, r) for size in self._extremes)
        crossing = [r * self._base(b, r) / self._base(a, r) for a, b in self._crossings]
        return max([most / least, *crossing])

    @cached_property
    def _extremes(self) -> tuple[int, int]:
        return int(self.columns.sizes.min()), int(self.columns.sizes.max())

    @cached_property
    def _crossings(self) -> list[tuple[int, int]]:
        """Sizes (a, b) of pairs of sets, the first not within the second, with the largest loss.

        For every a the largest b; a pair with a larger a and no larger b has no larger loss.
        """
        kept: list[tuple[int, int]] = []
        sizes = sorted(set(self.columns.sizes.tolist()))
        for a in sizes:
            for b in reversed(sizes):
                if kept and b <= kept[-1][1]:
                    break
                if self._leaves(a, b):
                    kept.append((a, b))
                    break
            if kept and kept[-1][1] == sizes[-1]:
                break
        return kept

    def _leaves(self, a: int, b: int) -> bool:
        """Whether a set of size a exists that is not within some set of size b."""
        if a > b:
            return True
        first, second = (np.flatnonzero(self.columns.sizes == size) for size in (a, b))
        return any(
            (self.columns.marks(first[i : i + 1]) & ~self.columns.marks(part)).any()
            for i in range(len(first))
            for part in portions(second, self.cells)
        )

    def _checked(self, values: Any) -> Integers:
        return values_below(values, self.columns.k)

    def _respond(self, values: Integers, source: Source) -> Reports:
        sizes = self.columns.sizes[values]
        inside = np.zeros(len(values), bool)
        for size in np.unique(sizes):
            users = np.flatnonzero(sizes == size)
            chance = size.item() * self.ratio / self._base(size.item(), self.ratio)
            inside[users] = coins(chance, len(users), source)
        # an index into the list of outputs that starts with the outputs of the set
        place = source.below_each(np.where(inside, sizes, self.cells - sizes))
        place[~inside] += sizes[~inside]
        return self._outputs(values, place)

    def _outputs(self, values: Integers, place: Integers) -> Reports:
        """The outputs at these indices of the values' lists of outputs."""
        distinct, which = np.unique(values, return_inverse=True)
        reports, start = np.empty_like(values), 0
        for part in portions(distinct, self.cells):
            lists = np.argsort(~self.columns.marks(part), axis=1, kind="stable")
            users = np.flatnonzero((which >= start) & (which < start + len(part)))
            reports[users] = lists[which[users] - start, place[users]]
            start += len(part)
        return reports

    def _tally(self, reports: Reports) -> Integers:
        return np.bincount(reports, minlength=self.cells).astype(np.int64)

    def _possible(self, counts: Integers, n: int) -> bool:
        return bool((counts >= 0).all()) and int(counts.sum()) == n


@frozen
class CompressiveResponse(SetResponse):
    """Compressive response with random sets of equal size, drawn from a public seed.

    k: values are 0 to k - 1. m: number of outputs; a small multiple of s log(k/s) suffices for a
    distribution on s values. epsilon: of one report. seed: public integer >= 0, the same for all
    users and the server. ones: size of each set; by default near m/(r + 1), which minimizes the
    noise for every epsilon (the paper has m/2 for high and m/r for medium privacy). As all sets
    have the same size, r is e^epsilon up to twelve digits. Raises InvalidParameter.
    Source: CP, Section 2 with beta = 0.

    >>> from exactdp.local import CompressiveResponse
    >>> from exactdp.samplers import SystemSource
    >>> m = CompressiveResponse(k=1000, m=100, epsilon=1, seed=7)
    >>> state = m.aggregate().add(m.report_many([3, 3, 3, 500] * 10_000, SystemSource()))
    >>> estimate = state.estimate()
    >>> m.bits, int(estimate.argmax())
    (7, 3)
    """

    k: int = whole(least=2)
    m: int = whole(least=2)
    epsilon: Number = number(local_epsilon)
    seed: int = whole(least=0, default=0)
    ones: int = whole(least=1, default=None)
    columns: PublicColumns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.ones is None:
            within = ratio_within(self.epsilon)
            object.__setattr__(self, "ones", max(round(self.m / (within + 1)), 1))
        columns = BalancedColumns(self.k, self.m, self.seed, self.ones)
        object.__setattr__(self, "columns", columns)

    def configuration(self) -> Mapping[str, str | int]:
        """The public parameters, and r."""
        return {**public_fields(self), "ratio": str(self.ratio)}


@frozen
class MatrixResponse(SetResponse):
    """Compressive response for any public matrix: random, Hadamard, or given.

    columns: the sets, from exactdp.local.public_matrices. epsilon: of one report.
    Raises InvalidParameter. Source: CP, Sections 2 and 4.

    >>> from exactdp.local import MatrixResponse
    >>> from exactdp.local.public_matrices import RandomColumns
    >>> m = MatrixResponse(RandomColumns(k=1000, m=100, seed=7), epsilon=1)
    >>> round(float(m.ratio), 6), round(float(m.e_epsilon), 6)
    (2.149681, 2.718282)
    """

    columns: PublicColumns
    epsilon: Number = number(local_epsilon)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, PublicColumns):
            allowed = "a matrix from exactdp.local.public_matrices, such as GivenColumns(entries)"
            raise InvalidParameter("columns", self.columns, allowed)
        _ = self.columns.sizes

    def configuration(self) -> Mapping[str, str | int]:
        """The parameters of the matrix, and r."""
        epsilon = decimal_text(self.epsilon)
        matrix = {"k": self.columns.k, **self.columns.configuration()}
        return {**matrix, "epsilon": epsilon, "ratio": str(self.ratio)}
