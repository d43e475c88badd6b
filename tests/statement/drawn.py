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
    """A random statement.

    truth: the library's enclosure of the claimed delta; None if the claim has another measure.
    """

    kind: str
    document: Statement
    truth: Enclosure | None


def draw(rng: random.Random) -> Drawn:
    """A random statement; draws again where none can be made."""
    while True:
        kind = rng.choice([*CALCULATORS, *["loss"] * 6, "promise", "budget"])
        try:
            if kind in CALCULATORS:
                return _calculated(kind, rng)
            return {"loss": _of_loss, "promise": _promise, "budget": _budget}[kind](rng)
        except ExactDPError:  # no parameters of this mechanism, or no claim
            continue


def mutant(original: Drawn, rng: random.Random) -> str | None:
    """A statement that claims less than the truth, often with other choices.

    None if the original claims no delta.
    """
    if original.truth is None:
        return None
    fields = deepcopy(dict(original.document.fields))
    hair = 1 + Fraction(rng.choice([1, 10**3, 10**8]), 10**9)
    for claim in fields["claims"]:
        if "at_most" in claim:
            claim["at_most"] = _text(original.truth.lower / hair)
        if "at_least" in claim:
            claim["at_least"] = _text(min(original.truth.upper * hair + Fraction(1, 10**40), 2))
        if rng.random() < 0.7:
            damage(claim["derivation"], rng)
    if all(claim.get("at_most") == "0" for claim in fields["claims"]):
        return None
    return json.dumps(fields)


def _text(value: Fraction) -> str:
    return f"{round(value * 10**50)}e-50" if value else "0"


def _number(rng: random.Random, low: float, high: float) -> str:
    return f"{rng.uniform(low, high):.3g}"


def _calculated(name: str, rng: random.Random) -> Drawn:
    """The example of a calculator, with other numbers."""
    values: dict[str, str] = {}
    example = calculator(name).example
    instance = calculator(name)(**example)
    for each, text in example.items():
        factor = rng.uniform(0.7, 1.6)
        whole = isinstance(getattr(instance, each), int)
        values[each] = (
            str(max(1, round(int(text) * factor))) if whole else f"{float(text) * factor:.4g}"
        )
    document = statement.calculated(name, **values)
    return Drawn(name, document, calculator(name)(**values).delta())


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


def _of_loss(rng: random.Random) -> Drawn:
    """Up to three mechanisms, each once or some times, and one claim."""
    steps = [
        rng.choice(_MECHANISMS)(rng).composed(rng.choice([1, 1, 2, 20]))
        for _ in range(rng.choice([1, 1, 1, 2, 3]))
    ]
    loss = steps[0]
    for step in steps[1:]:
        loss = loss.then(step)
    claim = rng.choice(["epsilon", "epsilon", "delta", "order", "type_one", "rho", "mu"])
    value: Any = {
        "epsilon": _number(rng, 0, 2),
        "delta": rng.choice(["1e-3", "1e-5", "1e-6"]),
        "order": rng.choice(["2", "3", "12"]),
        "type_one": rng.choice(["0.01", "0.05", "0.5"]),
    }.get(claim, True)
    document = statement.of(loss, **{claim: value})
    if claim not in ("epsilon", "delta"):
        return Drawn(claim, document, None)
    return Drawn("loss", document, loss.delta(document.fields["claims"][0]["epsilon"]))


def _promise(rng: random.Random) -> Drawn:
    loss = pld.approximate(epsilon=_number(rng, 0.1, 3), delta=_number(rng, 1e-7, 1e-4))
    promise = loss.guarantee(_number(rng, 0.05, 3))
    return Drawn("promise", statement.of(promise), promise.delta)


def _budget(rng: random.Random) -> Drawn:
    limits = rng.choice([{"epsilon": 3, "delta": "1e-5"}, {"rho": 1}])
    budget = pld.Budget(**limits)
    for _ in range(rng.randint(0, 5)):
        budget.spend(pld.gaussian(sigma=rng.randint(10, 40)))
    return Drawn("budget", statement.of(budget), None)


def run(count: int, seed: int) -> Counter[str]:
    """Both checkers on so many drawn statements, and on so many false ones.

    Raises AssertionError if a true statement is not proved, or a false one is.
    """
    rng = random.Random(seed)
    originals = [draw(rng) for _ in tqdm(range(count), "statements", disable=count < 100)]
    false: list[str] = []
    while len(false) < count:
        text = mutant(rng.choice(originals), rng)
        false += [] if text is None else [text]
    for texts, valid in (([each.document.to_json() for each in originals], True), (false, False)):
        ours = [statement.check(text) for text in tqdm(texts, "checked", disable=count < 100)]
        theirs = verdicts_in_node(texts)
        for text, one, (other, sha256) in zip(texts, ours, theirs, strict=True):
            agreed = (one.verdict, one.sha256) == (other, sha256)
            if not agreed or (one.verdict == "valid") != valid:
                raise AssertionError(f"{one} and {other} {sha256}: {text}")
    return Counter(each.kind for each in originals)


if __name__ == "__main__":
    print(dict(run(int(sys.argv[1]), 1)))
