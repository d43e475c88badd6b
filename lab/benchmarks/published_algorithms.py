"""The algorithms on which StatDP and DP-Sniper were evaluated, under the audit of outputs.

    python -m lab.benchmarks.published_algorithms [seed] [samples]

Budget 3 * 10^6 outputs each, alpha = 0.01; the pair of data sets is one of the patterns of StatDP.
"""

from __future__ import annotations

import sys
import time

from tabulate import tabulate
from tqdm import tqdm

from exactdp.audit import audit_pairs
from tests.audit.published_algorithms import ALGORITHMS, Algorithm

_BUDGET = 3_000_000


def main(seed: int, samples: int) -> None:
    rows = [_row(one, seed, samples) for one in tqdm(ALGORITHMS, disable=None)]
    header = ["paper", "algorithm", "claim", "correct", "violation", "epsilon >=", "outputs", "s"]
    print(tabulate(rows, headers=header, disable_numparse=True))
    wrong = [row for row in rows if row[3] == row[4]]
    print(f"{len(rows)} algorithms, {len(wrong)} judged wrongly or missed")


def _row(one: Algorithm, seed: int, samples: int) -> list[str]:
    start = time.process_time()
    worst = audit_pairs(one.run(seed), one.pairs, epsilon=one.epsilon, samples=samples)
    return [
        one.paper, one.name, one.epsilon, _word(one.keeps), _word(worst.violation),
        f"{float(worst.report.epsilon_lower):.3f}", str(worst.samples),
        f"{time.process_time() - start:.1f}",
    ]  # fmt: skip


def _word(yes: bool) -> str:
    return "yes" if yes else "no"


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    main(*[*numbers, *(1, _BUDGET)[len(numbers) :]])
