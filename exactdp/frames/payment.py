"""Releases that are paid from a budget: each by itself, or a series with its first release.

The ledger says what became of each release, so that an expense without a release can be told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee

#: Outcomes for the ledger; a process that is killed leaves the last one that it wrote.
BEGUN, RETURNED, NOTHING = "begun", "returned", "nothing was released"


class Payment:
    """Pays for one release, just before its noise is drawn.

    note: what the ledger says; each series of releases needs its own note. times: number of
    releases by `mechanism` that keep the guarantee together. The first release pays for all of
    them, the others cost nothing, and a release after the last one raises Exhausted. The note holds
    a digest of the mechanism, so that a mechanism with less noise cannot use a paid release.
    """

    def __init__(
        self, budget: pld.Budget | None, note: str, times: int = 1, mechanism: Any = None
    ) -> None:
        self._budget, self._note, self._times, self._paid = budget, note, times, False
        if times > 1:
            digest = hashlib.sha256(repr(mechanism).encode()).hexdigest()[:16]
            self._note += f", one of {times} by {type(mechanism).__name__} {digest}"

    def __call__(self, guarantee: Guarantee) -> None:
        """Pay, or raise Exhausted."""
        if self._budget is not None:
            self._budget.spend(guarantee, note=self._note, times=self._times, outcome=BEGUN)
            self._paid = True

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Say in the ledger that the block, which pays and releases, returned its release, or that
        an exception ended it, and nothing was released."""
        try:
            yield
        except BaseException:  # Ctrl-C as well
            self._settle(NOTHING)
            raise
        self._settle(RETURNED)

    def _settle(self, outcome: str) -> None:
        if self._budget is not None and self._paid:
            self._budget.settle(outcome)
