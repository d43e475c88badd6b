"""A server state that stores all reports: for keyed functions, and for too many items to count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from exactdp.local.mechanism import LocalMechanism, State
from exactdp.local.report_formats import Reports
from exactdp.local.sparse.estimates import Means
from exactdp.parameters import choice


class KeptReports(State):
    """A state that stores all reports, in any order.

    means_of: estimates the means from all reports. parts: batches of reports to start with.
    """

    __slots__ = ("_means_of", "_parts")

    def __init__(
        self,
        mechanism: LocalMechanism[Any],
        means_of: Callable[[Reports], Means],
        parts: Iterable[Reports] = (),
    ) -> None:
        self._means_of, self._parts = means_of, list(parts)
        super().__init__(mechanism, np.zeros(0, np.int64), sum(map(len, self._parts)))

    @property
    def reports(self) -> Reports:
        """All reports as sorted rows, independent of the order of arrival."""
        rows = np.concatenate([self.mechanism.unpack(b"", 0), *self._parts])
        return rows[np.lexsort(rows.T[::-1])]

    def add(self, reports: Any) -> State:
        """Add the reports of more users; returns this state."""
        rows = self.mechanism.form.rows(reports)
        self._parts.append(rows)
        self.n += len(rows)
        return self

    def __add__(self, other: State) -> State:
        if not isinstance(other, KeptReports):
            return NotImplemented
        super().__add__(other)  # raises InvalidParameter for another configuration
        return KeptReports(self.mechanism, self._means_of, self._parts + other._parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptReports):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def estimate(self, method: str | None = None) -> Means:
        """The means, computed on access; raises InvalidParameter if there are no reports."""
        choice("method", method or "unbiased", self.mechanism.methods)
        self.mechanism._require_reports(self)
        return self._means_of(self.reports)

    def to_bytes(self) -> bytes:
        """A checked file of reports, read by the mechanism's state_from_bytes."""
        return self.mechanism.reports_to_bytes(self.reports)
