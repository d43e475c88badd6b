"""A server that keeps the reports: for keyed functions, and for too many items to count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from exactdp.errors import Described, InvalidParameter
from exactdp.local.frame import State
from exactdp.local.sparse.estimates import Listed, Means
from exactdp.local.wire import Reports
from exactdp.parameters import choice

if TYPE_CHECKING:
    from exactdp.local.sparse.mean import SparseVectorMean

__all__ = ["KeptReports"]


class KeptReports(State):
    """Reports of users, in any order; its size is that of the reports."""

    __slots__ = ("_parts",)
    mechanism: SparseVectorMean

    def __init__(self, mechanism: SparseVectorMean, parts: Iterable[Reports] = ()) -> None:
        self._parts = list(parts)
        super().__init__(mechanism, np.zeros(0, np.int64), sum(map(len, self._parts)))

    @property
    def reports(self) -> Reports:
        """All reports, as rows in the order of their numbers: where they came from is no matter."""
        empty = np.empty((0, len(self.mechanism.form.sizes)), np.int64)
        rows = np.concatenate([empty, *self._parts])
        return rows[np.lexsort(rows.T[::-1])]

    def add(self, reports: Any) -> State:
        """Keep the reports of more users; returns this state."""
        rows = self.mechanism.form.rows(reports)
        self._parts.append(rows)
        self.n += len(rows)
        return self

    def __add__(self, other: State) -> State:
        if not isinstance(other, KeptReports):
            return NotImplemented
        self._require_same(other.mechanism.fingerprint_text)
        return KeptReports(self.mechanism, self._parts + other._parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptReports):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def estimate(self, method: str = "unbiased") -> Means:
        """Means, computed where they are asked for; raises InvalidParameter without reports."""
        choice("method", method, ("unbiased",))
        if not self.n:
            raise InvalidParameter("state", Described("no reports"), "at least one report")
        return self.mechanism.means(self.n, Listed(self.mechanism, self.reports))

    def to_bytes(self) -> bytes:
        """A checked file of reports, read back by the mechanism's state_from_bytes."""
        return self.mechanism.reports_to_bytes(self.reports)

    def _require_same(self, configuration: str) -> None:
        ours = self.mechanism.fingerprint_text
        if configuration != ours:
            raise InvalidParameter("state", configuration, f"one of {ours}")
