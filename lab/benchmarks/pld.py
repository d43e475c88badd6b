"""Certified epsilon of DP-SGD beside dp_accounting and prv_accountant, in one run.

python -m lab.benchmarks.pld: seconds of the processor, cold and warm, width and peak memory, whole
and beyond what the imports take, in a process each, which is stopped after 300 seconds or at 4 GiB.
"""

from __future__ import annotations

import json
import subprocess
import sys

from tabulate import tabulate

#: Noise multiplier, rate, steps, width of our answer, delta.
_CASES = [
    ("1", "0.01", 10**3, "1e-3", 1e-5),
    ("1", "0.01", 10**4, "1e-3", 1e-5),
    ("1", "0.01", 10**5, "1e-2", 1e-5),
    ("1", "0.01", 10**6, "1e-2", 1e-5),
    ("2", "0.1", 10**3, "1e-3", 1e-5),
    ("1", "0.01", 10**4, "1e-3", 1e-300),
]

_COMMON = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
noise, rate, width = sys.argv[1], sys.argv[2], sys.argv[4]
steps, delta = int(sys.argv[3]), float(sys.argv[5])
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def report(cold, warm, low, high, imported):
    measured = dict(cold=cold, warm=warm, low=low, high=high, peak=peak(), imported=imported)
    print(json.dumps(measured))
"""

_PROGRAMS = {
    "exactdp": """
start = time.process_time()
from exactdp.accounting import pld
imported = peak()
loss = pld.sgd(noise_multiplier=noise, rate=rate, steps=steps)
epsilon = loss.epsilon(delta, width=width)
cold = time.process_time() - start
warm = []
for factor in (1.1, 1.3, 0.9, 1.2, 0.8):
    start = time.process_time()
    loss.epsilon(delta * factor, width=width)
    warm.append(time.process_time() - start)
report(cold, sorted(warm)[2], epsilon.float_lower(), epsilon.float_upper(), imported)
""",
    "dp_accounting": """
start = time.process_time()
from dp_accounting.pld import privacy_loss_distribution as p
imported = peak()
def run(pessimistic):
    one = p.from_gaussian_mechanism(
        float(noise), sampling_prob=float(rate), pessimistic_estimate=pessimistic)
    return one.self_compose(steps)
upper, lower = run(True), run(False)
high, low = upper.get_epsilon_for_delta(delta), lower.get_epsilon_for_delta(delta)
cold = time.process_time() - start
start = time.process_time()
upper.get_epsilon_for_delta(1.1 * delta), lower.get_epsilon_for_delta(1.1 * delta)
report(cold, time.process_time() - start, low, high, imported)
""",
    "prv_accountant": """
start = time.process_time()
from prv_accountant import PRVAccountant, PoissonSubsampledGaussianMechanism
imported = peak()
accountant = PRVAccountant(
    prvs=[PoissonSubsampledGaussianMechanism(
        noise_multiplier=float(noise), sampling_probability=float(rate))],
    max_self_compositions=[steps], eps_error=0.01, delta_error=delta / 1000)
low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])
cold = time.process_time() - start
start = time.process_time()
accountant.compute_epsilon(delta=1.1 * delta, num_self_compositions=[steps])
report(cold, time.process_time() - start, low, high, imported)
""",
}


def main() -> None:
    rows = []
    for noise, rate, steps, width, delta in _CASES:
        case = [noise, rate, str(steps), width, repr(delta)]
        for name, program in _PROGRAMS.items():
            labels = [noise, rate, f"{steps:.0e}", delta, name]
            rows.append([*labels, *_run(program, case)])
            print(*rows[-1], flush=True)
    header = [
        "noise",
        "rate",
        "steps",
        "delta",
        "library",
        "cold s",
        "warm s",
        "epsilon",
        "width",
        "peak MB",
    ]
    header.append("of it beyond imports")
    print("Warm: another delta. One process each.")
    print(tabulate(rows, header, disable_numparse=True))


def _run(program: str, case: list[str]) -> list[str]:
    command = [sys.executable, "-W", "ignore", "-c", _COMMON + program, *case]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return ["over 300"]
    if done.returncode:
        return [(done.stderr.strip().splitlines() or ["died"])[-1][:60]]
    measured = json.loads(done.stdout.splitlines()[-1])
    low, high = measured["low"], measured["high"]
    return [
        f"{measured['cold']:.2f}",
        f"{measured['warm']:.2f}",
        f"[{low:.6f}, {high:.6f}]",
        f"{high - low:.1e}",
        f"{measured['peak']:.0f}",
        f"{measured['peak'] - measured['imported']:.0f}",
    ]


if __name__ == "__main__":
    main()
