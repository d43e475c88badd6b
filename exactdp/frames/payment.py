"""Releases that are paid from a budget: each by itself, or a series with its first release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee


def paying(
    budget: pld.Budget | None, note: str, times: int = 1, made: Any = None
) -> Callable[[Guarantee], None]:
    """A function that pays for one release, just before its noise is drawn.

    note: what the ledger says; a series of releases has a note of its own. times: number of
    releases by the mechanism `made` that keep the guarantee together. The first one pays for all,
    the others cost nothing; one too many raises Exhausted. A digest of the mechanism in the note
    keeps releases with less noise from passing as those that were paid.
    """

    def pay(guarantee: Guarantee) -> None:
        if budget is None:
            return
        label = note
        if times > 1:
            digest = hashlib.sha256(repr(made).encode()).hexdigest()[:16]
            label += f", one of {times} by {type(made).__name__} {digest}"
        budget.spend(guarantee, note=label, times=times)

    return pay
