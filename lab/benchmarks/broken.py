"""The suite of broken mechanisms: how many outputs and seconds the audit needs for each.

    python -m lab.benchmarks.broken [seed]

Budget 10^7 outputs each, alpha = 0.01; beside it the correct twin at a smaller budget.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from tabulate import tabulate
from tqdm import tqdm

from exactdp.audit import CopiedRandomness, audit
from tests.audit.broken.case import Case
from tests.audit.broken.suite import SUITE

_BUDGET = 10_000_000
_TWIN_BUDGET = 100_000


def main(seed: int) -> None:
    rows = [_row(case, seed) for case in tqdm(SUITE, disable=None)]
    header = ["case", "found", "outputs", "s", "twin flagged"]
    print(tabulate(rows, headers=header, disable_numparse=True))
    bugs_found = sum(row[1] == "yes" for row in rows)
    flagged = sum(row[4] == "yes" for row in rows)
    slowest = max(float(row[3]) for row in rows)
    print(f"{bugs_found} of {len(rows)} found, {flagged} twins flagged, slowest {slowest:.1f} s")


def _row(case: Case, seed: int) -> list[str]:
    start = time.perf_counter()
    verdict, outputs = _audited(case, case.make_broken(seed), _BUDGET)
    seconds = time.perf_counter() - start
    flagged, _ = _audited(case, case.make_correct(seed), _TWIN_BUDGET)
    return [case.name, _word(verdict), outputs, f"{seconds:.1f}", _word(flagged)]


def _audited(case: Case, run: Callable[[Any, int], Any], budget: int) -> tuple[bool, str]:
    try:
        report = audit(
            run,
            case.left,
            case.right,
            epsilon=case.epsilon,
            delta=case.delta,
            samples=budget,
        )
    except CopiedRandomness:
        return True, "copied outputs"
    return report.violation, str(report.samples)


def _word(yes: bool) -> str:
    return "yes" if yes else "no"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
