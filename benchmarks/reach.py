"""Seconds to the exact laws of published samplers, found by the white box without any help.

    python -m benchmarks.reach

CPU seconds; beside them a yardstick, a million additions in Python, as machines differ.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from tabulate import tabulate

from exactdp.audit import foreign_law
from tests.audit.cks import dgauss, dlaplace


def main() -> None:
    rows = []
    for name, program in (
        ("discrete Laplace, t = 1", lambda rng: dlaplace(1, rng)),
        ("discrete Gaussian, sigma^2 = 1", lambda rng: dgauss(1, rng)),
    ):
        yardstick = seconds(lambda: sum(i + 1 for i in range(1_000_000)))
        laws = []
        spent = seconds(lambda program=program, laws=laws: laws.append(foreign_law(program)))
        rows.append(
            [name, f"{spent:.1f}", f"{spent / yardstick:.0f}", f"{float(laws[0].residual):.1e}"]
        )
    print(tabulate(rows, headers=["sampler", "CPU s", "yardsticks", "left out"]))


def seconds(work: Callable[[], object]) -> float:
    start = spent()
    work()
    return spent() - start


def spent() -> float:
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
