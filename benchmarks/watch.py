"""What it costs not to plan: outputs until a violation is certain, by audit and by watch.

    python -m benchmarks.watch [budget]

Over the suite of broken mechanisms, alpha = 0.01. An audit plans its looks for the budget; a watch
may be stopped at any time. Cases that neither finds within the budget are left out.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from tabulate import tabulate
from tqdm import tqdm

from exactdp.audit import CopiedRandomness, audit, watch
from tests.audit.broken.case import Case
from tests.audit.broken.suite import SUITE


def main(budget: int) -> None:
    rows = []
    for case in tqdm(SUITE, disable=None):
        needed = [_needed(method, case, budget) for method in (_audited, _watched)]
        rows.append([case.name, *(str(one) if one else "-" for one in needed), _ratio(*needed)])
    found = [row for row in rows if row[1] != "-" or row[2] != "-"]
    print(tabulate(found, headers=["case", "audit", "watch", "ratio"], disable_numparse=True))
    ratios = [float(row[3]) for row in found if row[3]]
    missed = [sum(row[i] == "-" for row in found) for i in (1, 2)]
    print(f"found by both: {len(ratios)}; by watch alone: {missed[0]}, by audit alone: {missed[1]}")
    middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
    print(f"outputs, watch/audit: median {middle:.2f}, {least:.2f} to {most:.2f}")


def _needed(method: Any, case: Case, budget: int) -> int | None:
    """Outputs drawn until a violation was certain; None where none was found."""
    promise = {"epsilon": case.epsilon, "delta": case.delta, "samples": budget}
    try:
        report = method(case.make_broken(1), case.left, case.right, promise)
    except CopiedRandomness:
        return None
    return report.samples if report.violation else None


def _audited(run: Any, left: Any, right: Any, promise: Any) -> Any:
    return audit(run, left, right, **promise)


def _watched(run: Any, left: Any, right: Any, promise: Any) -> Any:
    *_, last = watch(run, left, right, **promise)
    return last


def _ratio(one: int | None, two: int | None) -> str:
    return f"{two / one:.2f}" if one and two else ""


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
