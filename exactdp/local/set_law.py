"""The law of a response by public sets of outputs, and its decoder by sparse recovery.

Source: Xiong et al., "Compressive Privatization" (CP).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.fields import Number
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, coins
from exactdp.local.frequency_oracle import finished, values_below
from exactdp.local.mechanism import CountedNumbers, State
from exactdp.local.public_matrices import PublicColumns, portions
from exactdp.local.ratio import largest, ratio_within
from exactdp.local.report_formats import Report, Reports
from exactdp.local.sparse_recovery import Pursuit, Recovery, System
from exactdp.samplers import Source


class SetLaw(CountedNumbers):
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
        """Sizes (a, b) of sets, the first not a subset of the second, that may attain the loss.

        For every a the list has the largest b only. It omits a pair with a larger a than that of a
        listed pair and no larger b, because the loss of such a pair is no larger.
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
        """Whether some set of size a is not a subset of some set of size b."""
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
