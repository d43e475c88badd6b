"""Other accountants on random training runs, beside the certified bounds.

python -m benchmarks.pld_peers --runs 200: how often an answer is below the certified lower bound
(more privacy is claimed than there is), not a number, negative, or missing; the worst of each, with
a second opinion: mpmath's, where one step is asked for, else exact integers' on a grid of its own.
Each library answers in a process of its own.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator
from typing import Any

from mpmath import mp, mpf
from tabulate import tabulate

from benchmarks.pld_points import Shared
from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.oracle.training_runs import PROGRAMS, Peer, judged, one_step


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    peers = {name: Peer(program) for name, (_, program) in PROGRAMS.items()}
    found: dict[str, list[tuple[str, float, list[Any], Any, Enclosure]]] = {n: [] for n in peers}
    for question, certified in _questions(random.Random(given.seed), given.runs):
        for name, peer in peers.items():
            answer = peer.ask(question)
            verdict, off = judged(answer, certified)
            found[name].append((verdict, off, question, answer, certified))
            if verdict != "safe":
                print(name, verdict, question, answer, certified.float_lower(), flush=True)
    for peer in peers.values():
        peer.stop()
    _report(found)


def _questions(draw: random.Random, runs: int) -> Iterator[tuple[list[Any], Enclosure]]:
    made = 0
    while made < runs:
        sigma = float(f"{math.exp(draw.uniform(math.log(0.4), math.log(20))):.3g}")
        rate = float(f"{math.exp(draw.uniform(math.log(1e-4), 0)):.3g}")
        steps = draw.choice([1, 1, 2, 10, 100, 1000, 10_000])
        question = draw.choice(["delta", "epsilon"])
        least = math.log(draw.choice([1e-3, 1e-8, 1e-14]))
        value = math.exp(draw.uniform(least, math.log(0.1)))
        if question == "delta":
            value = math.exp(draw.uniform(math.log(0.01), math.log(20)))
        value = float(f"{value:.3g}")
        loss = pld.sgd(noise_multiplier=str(sigma), rate=str(rate), steps=steps)
        try:
            certified = getattr(loss, question)(str(value))
        except Undecided:
            continue
        if certified.upper == 0 or certified.float_upper() < 1e-300:
            continue
        made += 1
        yield [sigma, rate, steps, question, value], certified


def confirmed(question: list[Any], answer: float) -> str:
    """delta at the answer, or at epsilon, by another method than the calculator's."""
    sigma, rate, steps, asked, value = question
    epsilon = value if asked == "delta" else max(answer, 0.0)
    with mp.workdps(60):
        mu, q = 1 / mpf(str(sigma)), mpf(str(rate))
        if steps == 1:
            true, doubt = one_step(epsilon, sigma, rate), mpf(0)
        elif steps <= 100:
            shared = Shared(mu, q, steps, 160)
            true, doubt = shared.extrapolated(epsilon, max(5.0, 2 / (epsilon + 0.1)))
        else:
            return "not asked for: too long for integers"
        wrong = true - doubt > (mpf(answer) if asked == "delta" else mpf(value))
        return f"delta({epsilon:.6g}) = {mp.nstr(true, 8)}" + (" confirmed" if wrong else " NOT")


def _report(found: dict[str, list[tuple[str, float, list[Any], Any, Enclosure]]]) -> None:
    verdicts = ("safe", "unsafe", "negative", "nan", "no answer")
    lines = [
        [name, *(sum(f[0] == v for f in all_) for v in verdicts)] for name, all_ in found.items()
    ]
    print(tabulate(lines, ["library", *verdicts]))
    for name, all_ in found.items():
        bad = sorted((f for f in all_ if f[0] in ("unsafe", "negative")), key=lambda f: -f[1])
        for verdict, off, question, answer, certified in bad[:8]:
            print(name, verdict, f"by {off:.2g}", question, "answers", answer, end=" ")
            print("certified at least", certified.float_lower(), confirmed(question, answer))
        for verdict, _, question, answer, _ in [f for f in all_ if f[0] == "nan"][:3]:
            print(name, verdict, question, answer)
        print(name, "no answer:", sorted({str(f[3])[:60] for f in all_ if f[0] == "no answer"})[:4])


if __name__ == "__main__":
    main()
