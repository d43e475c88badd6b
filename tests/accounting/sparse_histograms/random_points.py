"""Random calls of csh.delta and csh.calibrate: none undecided, and how long the slowest take.

    python -m tests.accounting.sparse_histograms.random_points 2000 --first 0

runs calls 0 to 1999; a later run may go on from there.

sparsity <= 1000, epsilon 0, tiny or usual, the threshold about where it is calibrated. The last
lines count what was decided and list the slowest calls (seconds of this process, beside a median
one).
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

from exactdp.accounting import csh
from exactdp.errors import Undecided


def call(number: int) -> tuple[str, dict[str, str | int]]:
    """The call of that number: a name and its arguments."""
    draw = random.Random(number)
    k = max(1, int(1000 ** draw.uniform(0, 1)))
    epsilon = draw.choice(["0", f"{10 ** draw.uniform(-9, -2):.3g}", f"{draw.uniform(0, 3):.3f}"])
    delta = f"{10 ** draw.uniform(-12, -1):.3g}"
    if number % 2:
        return "calibrate", {"sparsity": k, "epsilon": epsilon, "delta": delta}
    near = csh.calibrate(sparsity=k, epsilon=epsilon, delta=delta, analysis="published")
    share = draw.uniform(0.5, 1.2)  # of the published threshold: the exact one is about 0.7
    sigma, tau = f"{float(near.sigma):.6g}", f"{float(near.tau or 0) * share:.6g}"
    return "delta", {"sparsity": k, "epsilon": epsilon, "sigma": sigma, "tau": tau}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args()
    taken: list[tuple[float, int]] = []
    open_calls = []
    for number in range(chosen.first, chosen.first + chosen.count):
        name, arguments = call(number)
        start = time.process_time()
        try:
            getattr(csh, name)(**arguments)
        except Undecided as error:
            open_calls.append((number, str(error)))
        taken.append((time.process_time() - start, number))
        if taken[-1][0] > 5 or (number + 1) % 50 == 0:
            print(f"{number}: {taken[-1][0]:.2f} s, csh.{name}({arguments})", flush=True)
    median = statistics.median(seconds for seconds, _ in taken)
    print(f"{len(taken)} calls, {len(open_calls)} undecided {open_calls}; median {median:.3f} s")
    for seconds, number in sorted(taken, reverse=True)[:10]:
        print(f"{seconds:7.2f} s  {seconds / median:6.0f} medians  {call(number)}")


if __name__ == "__main__":
    main()
