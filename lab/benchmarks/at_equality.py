"""Honest mechanisms whose loss is exactly the claim: how often the audit of outputs is wrong.

    python -m lab.benchmarks.at_equality [runs] [alpha]

Half of the runs test the claim itself: each violation is false. The other half test a claim that
is a quarter larger, so that no run stops early: each bound above the loss is false. Both may happen
with a probability of alpha at most.
"""

from __future__ import annotations

import math
import sys

from tabulate import tabulate
from tqdm import tqdm

from exactdp.audit import audit
from tests.audit.at_equality import HONEST, Honest

_OUTPUTS = 2_000, 10_000, 40_000


def main(runs: int, alpha: str) -> None:
    rows = [_row(one, runs, alpha) for one in tqdm(HONEST, disable=None)]
    header = ["mechanism", "loss", "runs", "false violations", "runs", "bounds above the loss"]
    totals = [sum(int(row[i]) for row in rows) for i in range(2, 6)]
    print(tabulate([*rows, ["all", "", *totals]], headers=header, disable_numparse=True))


def _row(one: Honest, runs: int, alpha: str) -> list[str]:
    claim = math.nextafter(one.loss, 9)
    violations = above = 0
    for seed in range(2 * runs):
        wide, outputs = seed % 2, _OUTPUTS[seed // 2 % 3]
        report = audit(
            one.run(seed), 0, 1, epsilon=claim * (1.25 if wide else 1), samples=outputs, alpha=alpha
        )
        violations += report.violation and not wide
        above += report.epsilon_lower > claim and wide
    return [one.name, f"{one.loss:.4f}", *map(str, (runs, violations, runs, above))]


if __name__ == "__main__":
    runs, alpha, *_ = [*sys.argv[1:], *("40", "0.1")[len(sys.argv) - 1 :]]
    main(int(runs), alpha)
