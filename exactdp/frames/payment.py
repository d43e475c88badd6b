"""Releases that are paid from a budget: each by itself, or a series with its first release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee


def payment_from(
    budget: pld.Budget | None, note: str, times: int = 1, mechanism: Any = None
) -> Callable[[Guarantee], None]:
    """A function that pays for one release, just before its noise is drawn.

    note: what the ledger says; each series of releases needs its own note. times: number of
    releases by `mechanism` that keep the guarantee together. The first release pays for all of
    them, the others cost nothing, and a release after the last one raises Exhausted. The note holds
    a digest of the mechanism, so that a mechanism with less noise cannot use a paid release.
    """

    def pay(guarantee: Guarantee) -> None:
        if budget is None:
            return
        label = note
        if times > 1:
            digest = hashlib.sha256(repr(mechanism).encode()).hexdigest()[:16]
            label += f", one of {times} by {type(mechanism).__name__} {digest}"
        budget.spend(guarantee, note=label, times=times)

    return pay
