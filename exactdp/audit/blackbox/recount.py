"""A would-be violation is counted again: in fresh processes where that can be, and in blocks.

Outputs of one process may share what it remembers: a base drawn once, a cache by data set, a
generator that drifts. Then they vary less than independent ones, and whatever one event showed is
that process's luck. So before a violation is stated its event is counted again, as often as it was,
in many processes that are started anew, their calls for both sides in random order. The hits must
not depend on each other there (dependence.py), they must agree with those before, and they must
break the promise by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.blackbox import fresh
from exactdp.audit.blackbox.dependence import apart, rhythm, uneven
from exactdp.audit.blackbox.fresh import Drawn, Piece
from exactdp.audit.blackbox.independence import refuse
from exactdp.audit.blackbox.tally import Run, Tally
from exactdp.audit.events.event import Event

__all__ = ["Recount", "recount"]

UNITS = 16
_MOST = 1 << 28  # outputs of a side

_FRESH = "counted again in {units} fresh processes: {counts}"
_HERE = (
    "counted again in this process: {counts}; what it drew before is taken as fixed (run cannot be "
    "started anew, or draws the same in every process)"
)


@dataclass(frozen=True)
class Recount:
    """What the second count found, and what it rests on."""

    tally: Tally
    basis: str


def recount(
    run: Run,
    sent: bytes | None,
    data: dict[str, Any],
    event: Event,
    tally: Tally,
    singly: bool,
    most: int,
) -> Recount:
    """Count an event again, on as many outputs as before.

    run: as it is to be called here; sent: as fresh processes are sent it, see fresh.py. tally: of
    the first count. singly: whether run is called once for every output. most: outputs of a call.
    Raises CopiedRandomness where the hits depend on each other.
    """
    sizes = {side: min(tally.of(side)[1], _MOST) for side in ("left", "right")}
    plans = [_plan(sizes, unit // 2, most) for unit in range(UNITS)]
    found = fresh.drawn_anew(sent, data, event, singly, plans)
    basis = _FRESH if found is not None else _HERE
    if found is None:
        plans = [_shuffled([piece for plan in plans for piece in plan], UNITS)]
        found = [fresh.counted(run, data, event, plans[0])]
    hits = {side: _of(side, plans, found) for side in sizes}
    again = Tally()
    for side, units in hits.items():
        sequence = np.concatenate(units)
        seen, trials = int(sequence.sum()), len(sequence)
        for sign in (apart(*tally.of(side), seen, trials), uneven(units), rhythm(sequence)):
            refuse(sign and f"{side}: {sign}")
        again += Tally.counted(side, seen, trials)
    counts = ", ".join(f"{side} {k} of {n}" for side in hits for k, n in (again.of(side),))
    return Recount(again, basis.format(units=len(plans), counts=counts))


def _plan(sizes: dict[str, int], seed: int, most: int) -> list[Piece]:
    """The calls of one unit, both sides in random order."""
    pieces: list[Piece] = []
    for side, size in sizes.items():
        part = -(-size // UNITS)
        pieces += [(side, min(most, part - at)) for at in range(0, part, most)]
    return _shuffled(pieces, seed)


def _shuffled(pieces: list[Piece], seed: int) -> list[Piece]:
    return [pieces[i] for i in np.random.default_rng(seed).permutation(len(pieces))]


def _of(side: str, plans: list[list[Piece]], found: list[Drawn]) -> list[NDArray[np.bool_]]:
    """The hits of a side by units: processes, or calls where all are of one process."""
    units = []
    for plan, drawn in zip(plans, found, strict=True):
        own = [hits for (where, _), (hits, _) in zip(plan, drawn, strict=True) if where == side]
        units += own if len(plans) == 1 else [np.concatenate(own)]
    return units
