"""k-ary randomized response: a user reports the true value or, with some probability, another.

CP: Xiong et al., "Compressive Privatization".
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from exactdp.fields import frozen
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, below, coins
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.mechanism import CountedNumbers
from exactdp.local.report_formats import Report, Reports
from exactdp.samplers import Source


@frozen
class RandomizedResponse(CountedNumbers, FrequencyOracle):
    """Report the true value with probability r/(r + k - 1), any other with 1/(r + k - 1).

    k: values are 0 to k - 1. epsilon: of one report; r is e^epsilon rounded down.
    Source: Warner 1965; Kairouz, Oh, Viswanath 2014; CP, Section 2.

    >>> from exactdp.local import RandomizedResponse
    >>> from exactdp.samplers import SystemSource
    >>> m = RandomizedResponse(k=3, epsilon=1)
    >>> state = m.aggregate().add(m.report_many([0, 2, 2, 1] * 1000, SystemSource()))
    >>> estimate = state.estimate("projected")
    >>> m.bits, round(float(sum(estimate)), 9)
    (2, 1.0)
    """

    source = "Warner 1965; CP equation (2) with sets of one element"

    @property
    def cells(self) -> int:
        """One counter per value."""
        return self.k

    @property
    def background(self) -> Fraction:
        """1/(r + k - 1): the probability of any other value."""
        return 1 / (self.e_epsilon + self.k - 1)

    @property
    def gain(self) -> Fraction:
        """(r - 1)/(r + k - 1)."""
        return (self.e_epsilon - 1) * self.background

    def law(self, value: int) -> Law[Report]:
        """The exact law: the user's value is r times as likely as any other value."""
        own = int(self._checked([value])[0])
        factor = {own: self.e_epsilon}
        return Law({x: self.background * factor.get(x, 1) for x in range(self.k)})

    def _respond(self, values: Integers, source: Source) -> Reports:
        # with probability gain the true value, else a uniform value, which may be the true value
        own = coins(self.gain, len(values), source)
        reports = below(self.k, len(values), source)
        np.copyto(reports, values, where=own)
        return reports

    def _scores(self, counts: Integers) -> Integers:
        return counts
