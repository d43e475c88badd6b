"""RAPPOR for many rounds: a permanent response (memo) drawn once, and a noisy copy per round."""

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
    """RAPPOR with permanent and instantaneous response, for repeated reports of the same value.

    k: values are 0 to k - 1. epsilon: of the first report. limit: of any number of reports from one
    memo, > epsilon. A user draws a memo once (remember), keeps the memo secret, and sends
    repeat(memo) in every round. A bit of the memo is correct with probability s/(s + 1), where
    s^2 <= e^limit; a bit of a report equals that of the memo with probability w/(w + 1), with w as
    large as the first report allows. Raises InvalidParameter.
    Source: Erlingsson, Pihur, Korolova 2014, without Bloom filter.

    >>> from exactdp.local import PermanentRappor
    >>> m = PermanentRappor(k=10, epsilon=1, limit=2)
    >>> [round(float(m.guarantee_of(t).e_epsilon), 3) for t in (1, 2, 3, 100)]
    [2.718, 5.011, 6.485, 7.389]
    """

    limit: Number = number(local_epsilon)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit <= self.epsilon or self.lasting <= self.half:
            raise InvalidParameter("limit", self.limit, f"> epsilon = {self.epsilon}")

    source = "Erlingsson, Pihur, Korolova 2014, Theorems 1 and 2 made exact for every round"

    @cached_property
    def lasting(self) -> Fraction:
        """s: e^(limit/2), rounded down to a rational."""
        return ratio_within(self.limit / 2)

    @cached_property
    def copying(self) -> Fraction:
        """w: the odds that a bit of a report equals the bit of the memo."""
        s, t = self.lasting, self.half
        return (s * t - 1) / (s - t)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the first report."""
        return self.guarantee_of(1)

    def guarantee_of(self, reports: int) -> Guarantee:
        """The exact joint guarantee of t reports from one memo. reports: t >= 1.

        A bit that is 1 in all t reports has likelihood ratio L = (s w^t + 1)/(w^t + s) between a
        true 1 and a true 0. Two values differ in two bits, so the total ratio is L^2.
        """
        times = integer("reports", reports, least=1)
        power, s = self.copying**times, self.lasting
        exact = ((s * power + 1) / (power + s)) ** 2
        total = min(self.epsilon * times, self.limit)
        return Guarantee(total, Enclosure.exact(0), NEIGHBOURS, self.source, exact)

    def remember(self, value: int, source: Source) -> Report:
        """The memo of one user, to be drawn once and never sent. source: fit for a release."""
        require_secure(source)
        return self.form.single(self.memos([value], source)[0])

    def repeat(self, memo: Report, source: Source) -> Report:
        """One more report of a user with this memo. source: fit for a release."""
        require_secure(source)
        return self.form.single(self.copies(self.form.rows([memo]), source)[0])

    def memos(self, values: Any, source: Source) -> Reports:
        """The memos of many users, with randomness from any source."""
        checked = self._checked(values)
        flips = coin_rows(1 / (self.lasting + 1), len(checked), self.k, source)
        return turned(flips, checked)

    def copies(self, memos: Reports, source: Source) -> Reports:
        """One report from each memo, with randomness from any source."""
        flips = coin_rows(1 / (self.copying + 1), len(memos), self.k, source)
        reports: Reports = memos ^ flips
        return reports

    def _respond(self, values: Integers, source: Source) -> Reports:
        return self.copies(self.memos(values, source), source)
