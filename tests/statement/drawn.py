"""Statements drawn at random over all calculators and losses, and false ones made from them.

python -m tests.statement.drawn COUNT: both checkers say valid of every drawn statement, and of none
that claims less than the truth, whose bound comes from the library.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tqdm import tqdm

from exactdp import statement
from exactdp.accounting import pld
from exactdp.accounting.calculator import CALCULATORS, calculator
from exactdp.enclosure import Enclosure
from exactdp.errors import ExactDPError
from exactdp.statement import Statement
from tests.checker.examples import verdicts_in_node
from tests.checker.fuzz import damage


@dataclass(frozen=True)
class Drawn:
    """truth: the library's enclosure of the claimed delta; None: the claim is of something else."""

    kind: str
    made: Statement
    truth: Enclosure | None


def draw(drawn: random.Random) -> Drawn:
    """The next statement that can be made."""
    while True:
        kind = drawn.choice([*CALCULATORS, *["loss"] * 6, "promise", "budget"])
        try:
            if kind in CALCULATORS:
                return _calculated(kind, drawn)
            return {"loss": _of_loss, "promise": _promise, "budget": _budget}[kind](drawn)
        except ExactDPError:  # no parameters of this mechanism, or no claim
            continue


def mutant(original: Drawn, drawn: random.Random) -> str | None:
    """A statement that claims less than the truth, often with other choices; None: of no delta."""
    if original.truth is None:
        return None
    fields = deepcopy(dict(original.made.fields))
    hair = 1 + Fraction(drawn.choice([1, 10**3, 10**8]), 10**9)
    for claim in fields["claims"]:
        if "at_most" in claim:
            claim["at_most"] = _text(original.truth.lower / hair)
        if "at_least" in claim:
            claim["at_least"] = _text(min(original.truth.upper * hair + Fraction(1, 10**40), 2))
        if drawn.random() < 0.7:
            damage(claim["derivation"], drawn)
    if all(claim.get("at_most") == "0" for claim in fields["claims"]):
        return None
    return json.dumps(fields)


def _text(value: Fraction) -> str:
    return f"{round(value * 10**50)}e-50" if value else "0"


def _number(drawn: random.Random, low: float, high: float) -> str:
    return f"{drawn.uniform(low, high):.3g}"


def _calculated(name: str, drawn: random.Random) -> Drawn:
    """The example of a calculator, with other numbers."""
    values: dict[str, str] = {}
    for each, text in calculator(name).example.items():
        factor = drawn.uniform(0.7, 1.6)
        whole = each in ("k", "n", "columns", "threshold")
        values[each] = (
            str(max(1, round(int(text) * factor))) if whole else f"{float(text) * factor:.4g}"
        )
    made = statement.calculated(name, **values)
    return Drawn(name, made, calculator(name)(**values).delta())


_MECHANISMS: list[Callable[[random.Random], pld.Pld]] = [
    lambda r: pld.gaussian(sigma=_number(r, 2, 20), sensitivity=r.choice([1, 2, "0.5"])),
    lambda r: pld.laplace(scale=_number(r, 2, 20)),
    lambda r: pld.discrete_gaussian(sigma2=r.randint(4, 100), sensitivity=r.randint(1, 2)),
    lambda r: pld.discrete_laplace(epsilon=r.choice(["0.1", "0.5", "1"]), sensitivity=1),
    lambda r: pld.randomized_response(epsilon=_number(r, 0.05, 1)),
    lambda r: pld.approximate(epsilon=_number(r, 0.05, 1), delta="1e-7"),
    lambda r: pld.gshm(k=r.randint(1, 30), sigma=r.randint(20, 60), tau=r.randint(100, 300)),
    lambda r: pld.gaussian(sigma=_number(r, 1, 5)).sampled(r.choice(["0.01", "0.1", "0.5"])),
    lambda r: pld.laplace(scale=_number(r, 1, 5)).sampled(r.choice(["0.01", "0.1", "0.5"])),
]


def _of_loss(drawn: random.Random) -> Drawn:
    """Up to three mechanisms, each once or some times, and one claim."""
    steps = [
        drawn.choice(_MECHANISMS)(drawn).composed(drawn.choice([1, 1, 2, 20]))
        for _ in range(drawn.choice([1, 1, 1, 2, 3]))
    ]
    loss = steps[0]
    for step in steps[1:]:
        loss = loss.then(step)
    claim = drawn.choice(["epsilon", "epsilon", "delta", "order", "type_one", "rho", "mu"])
    value: Any = {
        "epsilon": _number(drawn, 0, 2),
        "delta": drawn.choice(["1e-3", "1e-5", "1e-6"]),
        "order": drawn.choice(["2", "3", "12"]),
        "type_one": drawn.choice(["0.01", "0.05", "0.5"]),
    }.get(claim, True)
    made = statement.of(loss, **{claim: value})
    if claim not in ("epsilon", "delta"):
        return Drawn(claim, made, None)
    return Drawn("loss", made, loss.delta(made.fields["claims"][0]["epsilon"]))


def _promise(drawn: random.Random) -> Drawn:
    loss = pld.approximate(epsilon=_number(drawn, 0.1, 3), delta=_number(drawn, 1e-7, 1e-4))
    promise = loss.guarantee(_number(drawn, 0.05, 3))
    return Drawn("promise", statement.of(promise), promise.delta)


def _budget(drawn: random.Random) -> Drawn:
    limits = drawn.choice([{"epsilon": 3, "delta": "1e-5"}, {"rho": 1}])
    budget = pld.Budget(**limits)
    for _ in range(drawn.randint(0, 5)):
        budget.spend(pld.gaussian(sigma=drawn.randint(10, 40)))
    return Drawn("budget", statement.of(budget), None)


def run(count: int, seed: int) -> Counter[str]:
    """Both checkers on so many drawn statements, and on so many false ones.

    Raises AssertionError if a true statement is not proved, or a false one is.
    """
    drawn = random.Random(seed)
    originals = [draw(drawn) for _ in tqdm(range(count), "statements", disable=count < 100)]
    false: list[str] = []
    while len(false) < count:
        text = mutant(drawn.choice(originals), drawn)
        false += [] if text is None else [text]
    for texts, valid in (([each.made.to_json() for each in originals], True), (false, False)):
        ours = [statement.check(text) for text in tqdm(texts, "checked", disable=count < 100)]
        theirs = verdicts_in_node(texts)
        for text, one, (other, sha256) in zip(texts, ours, theirs, strict=True):
            agreed = (one.verdict, one.sha256) == (other, sha256)
            if not agreed or (one.verdict == "valid") != valid:
                raise AssertionError(f"{one} and {other} {sha256}: {text}")
    return Counter(each.kind for each in originals)


if __name__ == "__main__":
    print(dict(run(int(sys.argv[1]), 1)))
