"""Corners of the accountant: questions that took long or had no answer, in several checkouts.

python -m lab.benchmarks.pld_corners [FOLDER ...]: every question in a process of its own in every
folder, which holds a checkout of the repository (by default this one); stopped after 60
seconds of the processor (--seconds). Seconds are counted after the imports.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys

from tabulate import tabulate

_QUESTIONS = {
    "allocation, sigma 0.5, 2 steps": "pld.gaussian(sigma='0.5').allocated(2).epsilon('1e-7')",
    "allocation, sigma 0.5, 3 steps": "pld.gaussian(sigma='0.5').allocated(3).epsilon('1e-7')",
    "allocation, sigma 0.5, 100 steps": "pld.gaussian(sigma='0.5').allocated(100).epsilon('1e-7')",
    "allocation, sigma 0.4, 1000 steps": (
        "pld.gaussian(sigma='0.4').allocated(1000).epsilon('1e-7')"
    ),
    "allocation, sigma 0.1, 100 steps": "pld.gaussian(sigma='0.1').allocated(100).epsilon('1e-6')",
    "allocation, sigma 0.04, 100 steps": (
        "pld.gaussian(sigma='0.04').allocated(100).epsilon('1e-6')"
    ),
    "the same, 10 epochs": (
        "pld.gaussian(sigma='0.04').allocated(100).composed(10).epsilon('1e-6')"
    ),
    "truncated at rate 1, all users": (
        "pld.gaussian(sigma=2).sampled(1, batch_limit=100, users=100).composed(10).epsilon('1e-6')"
    ),
    "50 Gaussians, 3 Laplace, an exponential": (
        "reduce(pld.Pld.then, [pld.gaussian(sigma=20 + i) for i in range(50)]"
        " + [pld.laplace(scale=10 + i) for i in range(3)]"
        " + [pld.exponential(epsilon='0.1')]).epsilon('1e-6')"
    ),
    "sigma 0.1, rate 250/60000, 14 400 steps": (
        "pld.sgd(noise_multiplier='0.1', rate=Fraction(250, 60000), steps=14400).epsilon('1e-5')"
    ),
    "sigma 0.5, rate 0.5, 10⁶ steps": (
        "pld.sgd(noise_multiplier='0.5', rate='0.5', steps=10**6).epsilon('1e-5')"
    ),
    "schedule of 100 levels": (
        "reduce(pld.Pld.then, [pld.sgd(noise_multiplier=str(round(0.8 + 0.012 * i, 3)),"
        " rate=str(round(0.002 + 0.00018 * (37 * i % 100), 5)), steps=10 + 53 * i % 191)"
        " for i in range(100)]).epsilon('1e-5')"
    ),
    "noisy max, sigma 0.01, 10⁹ options": (
        "pld.gaussian_noisy_max(sigma='0.01', options=10**9).epsilon('1e-6')"
    ),
}

_PROGRAM = """
import time
from fractions import Fraction
from functools import reduce
from exactdp.accounting import pld
pld.sgd, pld.laplace, pld.Pld
start = time.process_time()
answer = {question}
print(answer, time.process_time() - start, sep=";")
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", nargs="*", default=["."], metavar="FOLDER")
    arguments.add_argument("--format", default="simple", help="simple, github, ...")
    arguments.add_argument("--seconds", type=int, default=60)
    options = arguments.parse_args()
    rows = []
    for name, question in _QUESTIONS.items():
        answers = [_run(folder, question, options.seconds) for folder in options.folders]
        rows.append([name, *(part for answer in answers for part in answer)])
        print(*rows[-1], file=sys.stderr, flush=True)
    header = ["question", *(x for folder in options.folders for x in (folder, "seconds"))]
    print(tabulate(rows, header, tablefmt=options.format, disable_numparse=True))
    print("load:", *(f"{load:.1f}" for load in os.getloadavg()))


def _run(folder: str, question: str, seconds: int) -> tuple[str, str]:
    command = [sys.executable, "-c", _PROGRAM.format(question=question)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"none in {seconds} s", "-"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["died"])[-1][:70], "-"
    answer, spent = done.stdout.strip().splitlines()[-1].split(";")
    return answer, f"{float(spent):.2f}"


if __name__ == "__main__":
    main()
