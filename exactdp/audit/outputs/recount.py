"""A violation is counted again, in fresh processes, before it is stated.

Outputs of one process may share what the process remembers: a number drawn once, a cache by data
set, a generator that drifts. Then they vary less than independent outputs do, and the counts of an
event may be chance. So its outputs are drawn again, as many as before, in 8 processes that are
started anew, with the calls for both sides in random order. The processes' counts must vary as
those of independent outputs do, agree with the first counts, and break the promise by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs import fresh
from exactdp.audit.outputs.copies import CopiedRandomness, different, uneven
from exactdp.audit.outputs.counting import SIDES, Run, Tally
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.fresh import Call, Drawn

__all__ = ["Recount", "recount"]

#: With 8, outputs that are each k copies raise false alarms no more often than alpha = 0.01 allows.
#: They must pass both counts, Phi(-2.33/sqrt(k))^2, and the spread of eight counts, k times a
#: chi-square variable with 7 degrees of freedom, must stay below its 10^-4 quantile 29.9: a product
#: of at most 0.01, at k = 5 and 6. More processes cost more time to start.
_PROCESSES = 8
_MOST = 1 << 28  # outputs of a side

_FRESH = "counted again in {processes} fresh processes: {counts}"
_HERE = (
    "counted again in this process: {counts}; what it drew before is taken as fixed (run cannot be "
    "started anew, or draws the same in every process)"
)
_CONSTANT = (
    "run returned one and the same output for each data set, and cannot be started anew: either it "
    "draws no randomness, and no audit is needed, or it remembers what it once drew"
)


@dataclass(frozen=True)
class Recount:
    """What the second count found, and what it rests on."""

    tally: Tally
    basis: str


def recount(
    run: Run, sent: bytes | None, data: dict[str, Any], event: Event, tally: Tally, single: bool,
    largest: int,
) -> Recount:  # fmt: skip
    """Count an event again, on as many outputs as before.

    run: as it is called here; sent: as fresh processes are sent it. tally: of the first count.
    single: whether run is called once for every output. largest: outputs of a call.
    Raises CopiedRandomness where the hits do not vary as those of independent outputs do.
    """
    sizes = {side: min(tally.of(side)[1], _MOST) for side in SIDES}
    plans = [_plan(sizes, i // 2, largest) for i in range(_PROCESSES)]
    found = fresh.drawn_anew(sent, data, event, plans, single)
    basis = _FRESH if found is not None else _HERE
    if found is None:
        plans = [_shuffled([call for plan in plans for call in plan], _PROCESSES)]
        found = [fresh.counted(run, data, event, plans[0])]
    again = Tally()
    for side in SIDES:
        groups = _groups(side, plans, found)
        hits, trials = sum(int(one.sum()) for one in groups), sum(map(len, groups))
        for sign in (different(*tally.of(side), hits, trials), uneven(groups)):
            if sign:
                raise CopiedRandomness(f"run returned copies ({side}: {sign})")
        again += Tally.counted(side, hits, trials)
    varied = again.mixed or any(mark for drawn in found for _, mark in drawn)
    if basis is _HERE and not varied:
        raise CopiedRandomness(_CONSTANT)
    counts = ", ".join(f"{side} {k} of {n}" for side in SIDES for k, n in (again.of(side),))
    return Recount(again, basis.format(processes=len(plans), counts=counts))


def _plan(sizes: dict[str, int], seed: int, largest: int) -> list[Call]:
    """The calls of one process, both sides in random order."""
    calls: list[Call] = []
    for side, size in sizes.items():
        share = -(-size // _PROCESSES)
        calls += [(side, min(largest, share - at)) for at in range(0, share, largest)]
    return _shuffled(calls, seed)


def _shuffled(calls: list[Call], seed: int) -> list[Call]:
    return [calls[i] for i in np.random.default_rng(seed).permutation(len(calls))]


def _groups(side: str, plans: list[list[Call]], found: list[Drawn]) -> list[NDArray[np.bool_]]:
    """The hits of a side by processes; by calls where all are of one process."""
    groups = []
    for plan, drawn in zip(plans, found, strict=True):
        own = [hits for (where, _), (hits, _) in zip(plan, drawn, strict=True) if where == side]
        groups += own if len(plans) == 1 else [np.concatenate(own)]
    return groups
