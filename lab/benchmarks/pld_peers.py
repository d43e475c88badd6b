"""Other accountants on random training runs, beside the certified bounds.

python -m lab.benchmarks.pld_peers answers.jsonl --runs 60: how often an answer is below the
certified lower bound (more privacy is claimed than there is), not a number, negative, or missing;
every unsafe one with a second opinion, from the generator of the vectors. Each library answers in a
process of its own and has --seconds for it. What the file holds already is not asked again, so
that it can be stopped and started.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from tabulate import tabulate

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from vectors.conformance.training_runs import PROGRAMS, Peer, delta_at, judged

_Row = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("answers", type=Path)
    arguments.add_argument("--runs", type=int, default=60)
    arguments.add_argument("--seconds", type=float, default=60)
    options = arguments.parse_args()
    kept = (
        options.answers.read_text(encoding="utf-8").splitlines() if options.answers.exists() else []
    )
    rows: list[_Row] = [json.loads(line) for line in kept]
    peers = {name: Peer(program, options.seconds) for name, (_, program) in PROGRAMS.items()}
    with options.answers.open("a", encoding="utf-8") as file:
        for seed in range(len(rows), options.runs):
            rows.append(_row(seed, peers))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    for peer in peers.values():
        peer.stop()
    _report(rows)


def _row(seed: int, peers: dict[str, Peer]) -> _Row:
    question, certified = _question(random.Random(seed))
    row: _Row = {"question": question, "lower": certified.float_lower(), "answers": {}}
    for name, peer in peers.items():
        answer = peer.ask(question)
        verdict, off = judged(answer, certified)
        second = _confirmed(question, answer) if verdict == "unsafe" else ""
        row["answers"][name] = [verdict, off, answer, second]
    return row


def _question(draw: random.Random) -> tuple[list[Any], Enclosure]:
    while True:
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
            certified: Enclosure = getattr(loss, question)(str(value))
        except Undecided:
            continue
        if certified.upper and certified.float_upper() >= 1e-300:
            return [sigma, rate, steps, question, value], certified


def _confirmed(question: list[Any], answer: float) -> str:
    """A second opinion on an answer: delta by another method than the calculator's."""
    sigma, rate, steps, kind, value = question
    epsilon = value if kind == "delta" else answer
    try:
        true = delta_at(epsilon, sigma, rate, steps)
    except ArithmeticError as error:
        return f"not decided: {error}"
    wrong = Fraction(true) > (Fraction(answer) if kind == "delta" else Fraction(str(value)))
    return f"delta({epsilon:.6g}) = {float(true):.8g}" + (" confirmed" if wrong else " NOT")


def _report(rows: list[_Row]) -> None:
    verdicts = ("safe", "unsafe", "negative", "nan", "no answer")
    names = list(rows[0]["answers"])
    lines: list[list[Any]] = []
    for name in names:
        answers = [row["answers"][name] for row in rows]
        confirmed = sum(answer[3].endswith("confirmed") for answer in answers)
        lines.append([name, *(sum(a[0] == v for a in answers) for v in verdicts), confirmed])
    print(tabulate(lines, ["library", *verdicts, "unsafe, confirmed"]))
    for name in names:
        for line in _worst(name, rows):
            print(line)


def _worst(name: str, rows: list[_Row]) -> Iterator[str]:
    """The worst unsafe answers of one library, and its reasons for missing answers."""
    answers = [(row, *row["answers"][name]) for row in rows]
    for row, verdict, off, answer, second in sorted(answers, key=lambda a: -a[2])[:8]:
        if verdict in ("unsafe", "negative"):
            question, least = row["question"], row["lower"]
            yield f"{name} {verdict} by {off:.2g}: {question} {answer}, at least {least}; {second}"
    reasons = {str(answer)[:60] for _, verdict, _, answer, _ in answers if verdict == "no answer"}
    yield f"{name} no answer: {sorted(reasons)[:4]}"


if __name__ == "__main__":
    main()
