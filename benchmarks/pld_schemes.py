"""What sampling schemes and neighbours cost, beside Poisson samples for add-remove neighbours.

python -m benchmarks.pld_schemes: seconds cold (a process each, imports included) and warm, as
ratios to the first row too, and the certified epsilon.
"""

from __future__ import annotations

import json
import subprocess
import sys

from tabulate import tabulate

_GAUSSIAN = "pld.gaussian(sigma=1)"
_CASES = {
    "Poisson, add-remove": f"{_GAUSSIAN}.sampled('0.01').composed(10_000)",
    "Poisson, replace-one": f"{_GAUSSIAN}.sampled('0.01').replaced().composed(10_000)",
    "batches, sigma 2": "pld.gaussian(sigma=2).batched('0.01').composed(10_000)",
    "a group of 3": f"{_GAUSSIAN}.sampled('0.01').grouped(3).composed(1000)",
    "Laplace, Poisson": "pld.laplace(scale=1).sampled('0.01').composed(10_000)",
    "Laplace, replace-one": "pld.laplace(scale=1).sampled('0.01').replaced().composed(10_000)",
    "GSHM, 10 releases": "pld.gshm(k=10, sigma=100, tau=700).composed(10)",
    "CSH, 10 releases": "pld.csh(sparsity=10, sigma=60, tau=450).composed(10)",
}

_PROGRAM = """
import json, sys, time
start = time.perf_counter()
from exactdp.accounting import pld
found = eval(sys.argv[1]).epsilon("1e-5")
cold = time.perf_counter() - start
loss, warm = eval(sys.argv[1]), []
for factor in (1.1, 1.3, 0.9, 1.2, 0.8):
    start = time.perf_counter()
    loss.epsilon(factor * 1e-5)
    warm.append(time.perf_counter() - start)
print(json.dumps([cold, sorted(warm)[2], found.float_lower(), found.float_upper()]))
"""


def main() -> None:
    """Run every case in a process of its own and print a table."""
    rows, first = [], 0.0
    for name, text in _CASES.items():
        command = [sys.executable, "-c", _PROGRAM, text]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        cold, warm, low, high = json.loads(done.stdout)
        first = first or cold
        rows.append([name, cold, cold / first, warm, f"{low:.6f}", f"{high:.6f}", high - low])
    headers = ["steps", "cold s", "of the first", "warm s", "lower", "upper", "width"]
    print(tabulate(rows, headers, floatfmt=".4g"))


if __name__ == "__main__":
    main()
