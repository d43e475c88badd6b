"""How the bound of an audit of outputs grows with the number of outputs.

    python -m lab.benchmarks.monotone [seeds]

Outputs of many weak parts: seven weak bits among 20; the report of RAPPOR, 20 bits of which eight
differ; the sparse vector technique without a limit on the answers above (Algorithm 6 of Lyu, Su,
Li) with 34 queries. v marks a violation: there the audit stops.
"""

from __future__ import annotations

import sys
from functools import partial

from tabulate import tabulate
from tqdm import tqdm

from exactdp.audit import audit
from tests.audit.at_equality import weak_bits
from tests.audit.broken.case import Draw, Mechanism
from tests.audit.published_algorithms import rappor, sparse_vector

SIZES = 20_000, 50_000, 100_000, 200_000, 400_000, 1_000_000
_BITS, _REPORT = partial(weak_bits, weak=7), partial(rappor, f=0.95, p=0, q=1)
_VECTOR = partial(sparse_vector, rho=2, nu=2)
_HALVES = (0,) * 17 + (1,) * 17, (1,) * 17 + (0,) * 17
CASES: list[tuple[str, Draw, object, object, str]] = [
    ("seven bits", _BITS, 0, 1, "0.4"),
    ("seven bits", _BITS, 0, 1, "0.75"),
    ("RAPPOR", _REPORT, (0, 1, 2, 3), (4, 5, 6, 7), "0.80067"),
    ("sparse vector", _VECTOR, *_HALVES, "6"),
]


def main(seeds: int) -> None:
    rows = [
        [name, claim, seed, *(_bound(draw, left, right, claim, seed, n) for n in SIZES)]
        for name, draw, left, right, claim in tqdm(CASES, disable=None)
        for seed in range(1, seeds + 1)
    ]
    header = ["mechanism", "claim", "seed", *(f"{n:,}".replace(",", " ") for n in SIZES)]
    print(tabulate(rows, headers=header, disable_numparse=True))


def _bound(draw: Draw, left: object, right: object, claim: str, seed: int, n: int) -> str:
    report = audit(Mechanism(draw, seed), left, right, epsilon=claim, samples=n)
    return f"{float(report.epsilon_lower):.3f}{' v' if report.violation else ''}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
