"""CSH, Definition 2.1: neighbouring datasets differ by one data point, added or removed."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Data = tuple[int, ...]

_VALUES = 2


def _without_one(data: Data) -> set[Data]:
    return {data[:i] + data[i + 1 :] for i in range(len(data))}


def _neighbours(first: Data, second: Data) -> bool:
    return first in _without_one(second) or second in _without_one(first)


def _with_one(data: Data, anywhere: bool) -> set[Data]:
    places = range(len(data) + 1) if anywhere else [len(data)]
    return {(*data[:i], x, *data[i:]) for i in places for x in range(_VALUES)}


def _added(anywhere: bool) -> str:
    """The neighbours of a dataset are it with one point less, and it with one point more."""
    datasets = [d for size in range(5) for d in product(range(_VALUES), repeat=size)]
    for data in datasets:
        found = {other for other in datasets if _neighbours(data, other)}
        stated = _without_one(data) | _with_one(data, anywhere)
        require(all(abs(len(d) - len(data)) == 1 for d in found), f"{data}: sizes of {found}")
        require(found == {d for d in stated if len(d) < 5}, f"{data}: neighbours {sorted(found)}")
    return f"all {len(datasets)} datasets of up to 4 points over {_VALUES} values"


CLAIMS = (
    CSH.verified(
        "Definition 2.1",
        "The neighbours of a dataset, as defined by deleting one data point from either, are what "
        "deleting or adding one at any place makes of it: |X'| = |X| - 1 or |X| + 1.",
        "enumeration",
        **varied(_added, True, False, "adding one at the end"),
    ),
)
