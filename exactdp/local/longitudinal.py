"""RAPPOR for many rounds: a memo drawn once, and noisy copies of it ever after."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.local.bulk_choices import Integers, coin_rows, turned
from exactdp.local.mechanism import NEIGHBOURS
from exactdp.local.ratio import local_epsilon, ratio_within
from exactdp.local.report_formats import Report, Reports
from exactdp.local.unary_encoding import Rappor
from exactdp.parameters import integer
from exactdp.samplers import Source
from exactdp.samplers.source import require_secure


@frozen
class PermanentRappor(Rappor):
    """RAPPOR's permanent and instantaneous response; the first report is that of one-time RAPPOR.

    epsilon: of the first report. limit: what no number of reports from one memo exceeds, > epsilon.
    A user draws a memo once (remember), keeps it secret, and sends repeat(memo) in every round.
    With s^2 <= e^limit a memo bit is right with probability s/(s + 1), and a bit of a report is
    that of the memo with probability w/(w + 1), w as large as the first report allows.
    Source: Erlingsson, Pihur, Korolova 2014, without Bloom filter.

    >>> from exactdp.local import PermanentRappor
    >>> m = PermanentRappor(k=10, epsilon=1, limit=2)
    >>> [round(float(m.guarantee(t).e_epsilon), 3) for t in (1, 2, 3, 100)]
    [2.718, 5.011, 6.485, 7.389]
    """

    limit: Number = number(local_epsilon)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit <= self.epsilon_per_report or self.lasting <= self.half:
            raise InvalidParameter("limit", self.limit, f"> epsilon = {self.epsilon}")

    @property
    def source(self) -> str:
        """Where the guarantee comes from."""
        return "Erlingsson, Pihur, Korolova 2014, Theorems 1 and 2 made exact for every round"

    @cached_property
    def lasting(self) -> Fraction:
        """s, a rational within e^(limit/2)."""
        return ratio_within(self.limit / 2)

    @cached_property
    def copying(self) -> Fraction:
        """w: the odds that a report repeats a bit of the memo."""
        s, t = self.lasting, self.half
        return (s * t - 1) / (s - t)

    def guarantee(self, reports: int = 1) -> Guarantee:
        """What so many reports from one memo promise together, exactly.

        A bit shown 1 in all t of them has the odds L = (s w^t + 1)/(w^t + s) of a 1 to a 0; two
        values differ in two bits, which lose L each.
        """
        times = integer("reports", reports, least=1)
        power, s = self.copying**times, self.lasting
        exact = ((s * power + 1) / (power + s)) ** 2
        total = min(self.epsilon_per_report * times, self.limit)
        return Guarantee(total, Enclosure.exact(0), NEIGHBOURS, self.source, exact)

    def remember(self, value: int, source: Source) -> Report:
        """The memo of one user, drawn once and never sent. source: fit for a release."""
        require_secure(source)
        return self.form.single(self.memos([value], source)[0])

    def repeat(self, memo: Report, source: Source) -> Report:
        """One more report of a user with this memo. source: fit for a release."""
        require_secure(source)
        return self.form.single(self.copies(self.form.rows([memo]), source)[0])

    def memos(self, values: Any, source: Source) -> Reports:
        """The memos of many users, from any source."""
        checked = self._checked(values)
        flips = coin_rows(1 / (self.lasting + 1), len(checked), self.k, source)
        return turned(flips, checked)

    def copies(self, memos: Reports, source: Source) -> Reports:
        """One report of every memo, from any source."""
        flips = coin_rows(1 / (self.copying + 1), len(memos), self.k, source)
        reports: Reports = memos ^ flips
        return reports

    def _respond(self, values: Integers, source: Source) -> Reports:
        return self.copies(self.memos(values, source), source)
