"""Random statements for the extracted checker: python -m tests.checker.rocq.drawn COUNT

It never contradicts dpcheck on an upper bound that is true, and never proves one that is false.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tqdm import tqdm

from exactdp import statement
from exactdp.accounting import pld
from exactdp.errors import ExactDPError
from tests.checker.examples import dpcheck
from tests.checker.rocq import compiled
from tests.statement.drawn import Drawn, draw, mutant


def _number(rng: random.Random, low: float, high: float) -> str:
    return f"{rng.uniform(low, high):.3g}"


LEAST = Fraction(1, 10**36)

_MECHANISMS: list[Callable[[random.Random], pld.Pld]] = [  # those that have a rule
    lambda r: pld.discrete_gaussian(sigma2=r.randint(4, 100), sensitivity=r.randint(1, 2)),
    lambda r: pld.discrete_laplace(epsilon=r.choice(["0.1", "0.5", "1"]), sensitivity=1),
    lambda r: pld.randomized_response(epsilon=_number(r, 0.05, 1)),
    lambda r: pld.approximate(epsilon=_number(r, 0.05, 1), delta="1e-7"),
]


def with_rules(rng: random.Random) -> Drawn:
    """A statement about one or two mechanisms that have a rule, sampled or not."""
    while True:
        loss = rng.choice(_MECHANISMS)(rng).composed(rng.choice([1, 1, 2, 20]))
        if rng.random() < 0.3:
            loss = loss.then(rng.choice(_MECHANISMS)(rng))
        claim = rng.choice(["epsilon", "delta"])
        value = _number(rng, 0, 2) if claim == "epsilon" else rng.choice(["1e-3", "1e-5"])
        try:
            document = statement.of(loss, **{claim: value})
            return Drawn("loss", document, loss.delta(document.fields["claims"][0]["epsilon"]))
        except ExactDPError:
            continue


def upper(fields: dict[str, Any]) -> str | None:
    """The statement with its claims at_most alone."""
    claims = [{k: v for k, v in c.items() if k != "at_least"} for c in fields["claims"]]
    kept = [claim for claim in claims if "at_most" in claim]
    return json.dumps(fields | {"claims": kept}) if kept else None


def _has_digits(text: str) -> bool:
    """Whether the claims, which mutants round to 50 decimals, are still less than the truth."""
    return all(Fraction(claim["at_most"]) > LEAST for claim in json.loads(text)["claims"])


def run(count: int, seed: int) -> dict[str, Counter[str]]:
    """The verdicts on half of all kinds, half of those with rules; and on as many false ones."""
    rng = random.Random(seed)
    true: Counter[str] = Counter()
    false: Counter[str] = Counter()
    progress = tqdm(total=count, desc="statements", disable=count < 100)
    while true.total() < count:
        original = draw(rng) if rng.random() < 0.5 else with_rules(rng)
        text = upper(dict(original.document.fields))
        changed = mutant(original, rng)
        less = upper(json.loads(changed)) if changed else None
        if text is None or less is None or not _has_digits(less):
            continue
        verdict, theirs = compiled.verdict(text), dpcheck.check(text.encode())[0]
        if verdict not in ("no rule yet", theirs):
            raise AssertionError(f"{verdict}, dpcheck: {theirs}: {text}")
        true[verdict] += 1
        verdict = compiled.verdict(less)
        if verdict == "valid":
            raise AssertionError(f"a false claim is proved: {less}")
        false[verdict] += 1
        progress.update()
    return {"true": true, "false": false}


if __name__ == "__main__":
    print(run(int(sys.argv[1]), 5))
