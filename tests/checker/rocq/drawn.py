"""Random statements for the extracted checker: python -m tests.checker.rocq.drawn COUNT

It never contradicts dpcheck on a claim that is true, but for masses that are rounded, and never
proves one that is false.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction

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

_MECHANISMS: list[Callable[[random.Random], pld.Pld]] = [
    lambda r: pld.discrete_gaussian(sigma2=r.randint(4, 100), sensitivity=r.randint(1, 2)),
    lambda r: pld.discrete_laplace(epsilon=r.choice(["0.1", "0.5", "1"]), sensitivity=1),
    lambda r: pld.randomized_response(epsilon=_number(r, 0.05, 1)),
    lambda r: pld.approximate(epsilon=_number(r, 0.05, 1), delta="1e-7"),
]
_CONTINUOUS: list[Callable[[random.Random], pld.Pld]] = [
    lambda r: pld.gaussian(sigma=_number(r, 1, 20)),
    lambda r: pld.laplace(scale=_number(r, 1, 20)),
    lambda r: pld.gaussian(sigma=_number(r, 1, 5)).sampled(r.choice(["0.01", "0.1", "0.5"])),
    lambda r: pld.laplace(scale=_number(r, 1, 5)).sampled(r.choice(["0.01", "0.1", "0.5"])),
]


def with_rules(rng: random.Random) -> Drawn:
    """A statement about one or two mechanisms that have a rule, and one of five claims."""
    while True:
        kind = rng.choice([_MECHANISMS, _CONTINUOUS])
        loss = rng.choice(kind)(rng).composed(rng.choice([1, 1, 2, 20]))
        if rng.random() < 0.3:
            loss = loss.then(rng.choice(kind)(rng))
        claim = rng.choice(["epsilon", "epsilon", "delta", "order", "type_one", "rho"])
        value = {
            "epsilon": _number(rng, 0, 2),
            "delta": rng.choice(["1e-3", "1e-5"]),
            "order": rng.choice(["2", "3.5", "12"]),
            "type_one": rng.choice(["0.01", "0.05", "0.5"]),
        }.get(claim, True)
        try:
            document = statement.of(loss, **{claim: value})
            of_delta = claim in ("epsilon", "delta")
            truth = loss.delta(document.fields["claims"][0]["epsilon"]) if of_delta else None
            return Drawn("loss", document, truth)
        except ExactDPError:
            continue


def less(original: Drawn, rng: random.Random) -> str | None:
    """A false statement: of delta, or of a quantity whose least bound the rule `sum` finds."""
    if original.truth is not None:
        return mutant(original, rng)
    fields = deepcopy(dict(original.document.fields))
    discrete = {"discrete-gaussian"} == {r["mechanism"] for r in fields["releases"]}
    unsampled = all(Fraction(r.get("rate", 1)) == 1 for r in fields["releases"])
    claim = fields["claims"][0]
    exact = claim["measure"] == "rho" or Fraction(claim.get("order", "1/2")).denominator == 1
    if not (discrete and unsampled and exact and "at_most" in claim):
        return None
    claim["at_most"] = str(Fraction(claim["at_most"]) * (1 - Fraction(1, 10**9)))
    return json.dumps(fields)


def _has_digits(text: str) -> bool:
    """Whether the claims, which mutants round to 50 decimals, are still less than the truth."""
    claims = json.loads(text)["claims"]
    return all(Fraction(claim.get("at_most", 1)) > LEAST for claim in claims)


def _within_rounding(text: str) -> bool:
    """Whether a claim is closer to 0 than the masses on its grid are to each other.

    Each node of a release and of each product has a mass, rounded up; two checkers may differ by
    one unit at each.
    """
    for claim in json.loads(text)["claims"]:
        rule = claim["derivation"]
        if rule["rule"] == "grid" and "at_most" in claim:
            nodes = sum(last - first for first, last in [*rule["nodes"], rule["window"]])
            if Fraction(claim["at_most"]) < Fraction(64 * nodes, 1 << rule["mass_bits"]):
                return True
    return False


def run(count: int, seed: int) -> dict[str, Counter[str]]:
    """The verdicts on so many true statements, half of all kinds, half of those with rules.

    And on false ones made from them, until as many are not proved; others may have no rule yet.
    """
    rng = random.Random(seed)
    true: Counter[str] = Counter()
    false: Counter[str] = Counter()
    originals = []
    for _ in tqdm(range(count), "statements", disable=count < 100):
        original = draw(rng) if rng.random() < 0.5 else with_rules(rng)
        text = original.document.to_json()
        verdict, theirs = compiled.verdict(text), dpcheck.check(text.encode())[0]
        if verdict not in ("no rule yet", theirs):
            if not _within_rounding(text):
                raise AssertionError(f"{verdict}, dpcheck: {theirs}: {text}")
            verdict = "within rounding"
        true[verdict] += 1
        originals.append(original)
    progress = tqdm(total=count, desc="false ones", disable=count < 100)
    while false["not proved"] < count:
        changed = less(rng.choice(originals), rng)
        if changed is None or not _has_digits(changed):
            originals.append(with_rules(rng))
            continue
        verdict = compiled.verdict(changed)
        if verdict == "valid":
            raise AssertionError(f"a false claim is proved: {changed}")
        false[verdict] += 1
        progress.update(verdict == "not proved")
    return {"true": true, "false": false}


if __name__ == "__main__":
    print(run(int(sys.argv[1]), 5))
