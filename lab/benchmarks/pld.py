"""Thirteen questions to accountants, in one run: answers, seconds of the processor and memory.

python -m lab.benchmarks.pld [--python LIBRARY=INTERPRETER ...]: every library answers every
question that it knows in a process of its own, which is stopped after 300 seconds of the processor
(--seconds). Whole: the processor's seconds of the process for the first answer, with the
interpreter's start. First: of it after the imports. Warm: a second answer, for slightly more noise.
Memory: the peak. Width: of both bounds, where the library gives two.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from typing import Any

from tabulate import tabulate

_DELTA = 1e-5


def _sgd(noise: float, rate: float, steps: int, delta: float = _DELTA) -> dict[str, Any]:
    return {"kind": "sgd", "phases": [[noise, rate, steps]], "delta": delta}


_TASKS: dict[str, dict[str, Any]] = {
    "DP-SGD 1, .01, 1000": _sgd(1, 0.01, 1000),
    "DP-SGD 1, .01, 10 000": _sgd(1, 0.01, 10_000),
    "DP-SGD 2, .1, 1000": _sgd(2, 0.1, 1000),
    "DP-SGD .6, .004, 15 000": _sgd(0.6, 0.004, 15_000),
    "DP-SGD 4, .05, 100 000": _sgd(4, 0.05, 100_000),
    "DP-SGD 1, .01, 1000, delta 1e-14": _sgd(1, 0.01, 1000, 1e-14),
    "Laplace 10, 100 times": {"kind": "laplace", "scale": 10, "steps": 100, "delta": _DELTA},
    "allocation 1, one of 100": {
        "kind": "allocation",
        "noise": 1,
        "steps": 100,
        "epochs": 1,
        "delta": 1e-6,
    },
    "allocation 2, one of 100, 10 epochs": {
        "kind": "allocation",
        "noise": 2,
        "steps": 100,
        "epochs": 10,
        "delta": 1e-6,
    },
    "truncated 2, .01, 130 of 10 000, 400": {
        "kind": "truncated",
        "noise": 2,
        "rate": 0.01,
        "limit": 130,
        "users": 10_000,
        "steps": 400,
        "delta": 1e-6,
    },
    "schedule of 5 levels, 200 each": {
        "kind": "sgd",
        "phases": [[noise, 0.01, 200] for noise in (1.4, 1.2, 1.0, 0.9, 0.8)],
        "delta": _DELTA,
    },
    "advantage 1, .01, 1000": {"kind": "advantage", "phases": [[1, 0.01, 1000]]},
    "mu 1, .01, 1000": {"kind": "mu", "phases": [[1, 0.01, 1000]], "delta": _DELTA},
}

#: Around a program that defines ask(task): an answer, or both bounds.
_FRAME = """
import json, resource, sys, time
task = json.loads(sys.argv[1])
{program}
def timed():
    start = time.process_time()
    answer = ask(task)
    return answer, time.process_time() - start
answer, first = timed()
whole = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
for phase in task.get("phases", []):
    phase[0] *= 1.01
for name in ("noise", "scale"):
    if name in task:
        task[name] *= 1.01
_, warm = timed()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
ends = [float(end) for end in (answer if isinstance(answer, tuple) else [answer])]
print(json.dumps([ends, whole, first, warm, peak]))
"""

_EXACTDP = """
from functools import reduce
from exactdp.accounting import pld
def loss_of(task):
    number = {name: str(value) for name, value in task.items()}
    if task["kind"] == "laplace":
        return pld.laplace(scale=number["scale"]).composed(task["steps"])
    if task["kind"] == "allocation":
        noise = pld.gaussian(sigma=number["noise"])
        return noise.allocated(task["steps"]).composed(task["epochs"])
    if task["kind"] == "truncated":
        noise = pld.gaussian(sigma=number["noise"])
        limits = {"batch_limit": task["limit"], "users": task["users"]}
        return noise.sampled(number["rate"], **limits).composed(task["steps"])
    runs = [pld.sgd(noise_multiplier=str(s), rate=str(q), steps=n) for s, q, n in task["phases"]]
    return reduce(lambda a, b: a.then(b), runs)
def ask(task):
    loss = loss_of(task)
    if task["kind"] == "advantage":
        answer = loss.advantage()
    elif task["kind"] == "mu":
        answer = loss.mu(least_delta=str(task["delta"]))
    else:
        answer = loss.epsilon(str(task["delta"]))
    return answer.float_lower(), answer.float_upper()
"""

_DP_ACCOUNTING = """
import dp_accounting as d
from dp_accounting.pld import privacy_loss_distribution as p
def composed(task, pessimistic):
    parts = [
        p.from_gaussian_mechanism(s, sampling_prob=q, pessimistic_estimate=pessimistic)
        .self_compose(n) for s, q, n in task["phases"]]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole
def ask(task):
    if task["kind"] == "laplace":
        whole = p.from_laplace_mechanism(task["scale"]).self_compose(task["steps"])
        return whole.get_epsilon_for_delta(task["delta"])
    if task["kind"] == "truncated":
        event = d.dp_event.TruncatedSubsampledGaussianDpEvent(
            task["users"], task["rate"], task["limit"], task["noise"])
        event = d.dp_event.SelfComposedDpEvent(event, task["steps"])
        return d.pld.PLDAccountant().compose(event).get_epsilon(task["delta"])
    ends = [composed(task, pessimistic) for pessimistic in (False, True)]
    if task["kind"] == "advantage":
        return tuple(end.get_delta_for_epsilon(0) for end in ends)
    return tuple(end.get_epsilon_for_delta(task["delta"]) for end in ends)
"""

_PRV = """
from prv_accountant import (
    LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant)
def ask(task):
    if task["kind"] == "laplace":
        laws, times = [LaplaceMechanism(1 / task["scale"])], [task["steps"]]
    else:
        laws = [PoissonSubsampledGaussianMechanism(noise_multiplier=s, sampling_probability=q)
                for s, q, _ in task["phases"]]
        times = [n for _, _, n in task["phases"]]
    accountant = PRVAccountant(
        prvs=laws, max_self_compositions=times, eps_error=0.01,
        delta_error=task.get("delta", 1e-6) / 1000)
    if task["kind"] == "advantage":
        low, _, high = accountant.compute_delta(0.0, times)
    else:
        low, _, high = accountant.compute_epsilon(task["delta"], times)
    return low, high
"""

_OPAKE = """
from opake.api.accounting.core import opake_accounting as o
settings = o.DiscretizationConfig()
def loss_of(task):
    if task["kind"] == "allocation":
        once = o.random_allocation_gaussian_pld(task["noise"], task["steps"], 1, settings)
        return once.self_compose(task["epochs"])
    if task["kind"] == "truncated":
        once = o.truncated_poisson_gaussian_pld(
            task["noise"], task["rate"], task["limit"], task["users"], settings)
        return once.self_compose(task["steps"])
    parts = [o.poisson_pld(o.gaussian_pld(s, settings), q).self_compose(n)
             for s, q, n in task["phases"]]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole
def ask(task):
    loss = loss_of(task)
    return loss.advantage() if task["kind"] == "advantage" else loss.epsilon_at(task["delta"])
"""

_PLD_ACCOUNTING = """
import PLD_accounting as p
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
def ask(task):
    if task["kind"] == "allocation":
        parameters = p.PrivacyParams(
            delta=task["delta"], num_steps=task["steps"], sigma=float(task["noise"]),
            num_epochs=task["epochs"])
        return p.gaussian_allocation_epsilon_configurable(
            params=parameters, config=p.AllocationSchemeConfig())
    (noise, rate, steps), = task["phases"]
    step = p.subsample_pld(pld=from_gaussian_mechanism(noise), sampling_probability=rate)
    return step.self_compose(steps).get_epsilon_for_delta(task["delta"])
"""

_JAX_PRIVACY = """
from jax_privacy import accounting as a
users = 10**6
def ask(task):
    (noise, rate, steps), = task["phases"]
    settings = a.DpParams(
        noise_multipliers=float(noise), num_samples=users, delta=task["delta"],
        batch_size=int(rate * users))
    config = a.PldAccountantConfig()
    return a.DpsgdTrainingAccountant(dp_accountant_config=config).compute_epsilon(steps, settings)
"""

_SINGLE = ("sgd",)
_ALL = ("sgd", "laplace", "allocation", "truncated", "advantage", "mu", "schedule")

#: Library -> (program, the kinds of questions that it answers).
_PROGRAMS = {
    "exactdp": (_EXACTDP, _ALL),
    "dp_accounting": (_DP_ACCOUNTING, ("sgd", "laplace", "truncated", "advantage", "schedule")),
    "prv_accountant": (_PRV, ("sgd", "laplace", "advantage", "schedule")),
    "opake": (_OPAKE, ("sgd", "allocation", "truncated", "advantage", "schedule")),
    "PLD_accounting": (_PLD_ACCOUNTING, ("sgd", "allocation")),
    "jax_privacy": (_JAX_PRIVACY, _SINGLE),
}

_HEADER = ("question", "library", "answer", "width", "whole s", "first s", "warm s", "memory MB")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--python", action="append", default=[], metavar="LIBRARY=INTERPRETER")
    arguments.add_argument("--format", default="simple", help="simple, github, ...")
    arguments.add_argument("--seconds", type=int, default=300)
    options = arguments.parse_args()
    interpreters = dict(text.split("=", 1) for text in options.python)
    rows = []
    for question, task in _TASKS.items():
        kind = "schedule" if len(task.get("phases", [])) > 1 else task["kind"]
        for library, (program, kinds) in _PROGRAMS.items():
            if kind in kinds:
                python = interpreters.get(library, sys.executable)
                rows.append([question, library, *_run(python, program, task, options.seconds)])
                print(*rows[-1], file=sys.stderr, flush=True)
    print(tabulate(rows, _HEADER, tablefmt=options.format, disable_numparse=True))
    print("load:", *(f"{load:.1f}" for load in os.getloadavg()))


def _run(python: str, program: str, task: dict[str, Any], seconds: int) -> list[str]:
    code = _FRAME.replace("{program}", program)
    command = [python, "-W", "ignore", "-c", code, json.dumps(task)]
    limits = {resource.RLIMIT_AS: 8 << 30, resource.RLIMIT_CPU: seconds}

    def limited() -> None:
        for limit, most in limits.items():
            resource.setrlimit(limit, (most, most))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return [f"none in {seconds} s"]
    if done.returncode:
        return [(done.stderr.strip().splitlines() or ["died"])[-1][:60]]
    ends, *times, peak = json.loads(done.stdout.splitlines()[-1])
    width = f"{ends[1] - ends[0]:.1e}" if len(ends) == 2 else "-"
    answer = ", ".join(f"{end:.7g}" for end in ends)
    return [answer, width, *(f"{number:.2f}" for number in times), f"{peak:.0f}"]


if __name__ == "__main__":
    main()
