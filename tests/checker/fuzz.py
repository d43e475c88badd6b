"""Damaged statements: python -m tests.checker.fuzz COUNT

Every text gets a verdict in one line, from both checkers the same; and a claim that is false stays
unproved, however its derivation is changed.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import Counter
from fractions import Fraction
from functools import cache

from tests.checker.examples import EXAMPLES, Example, Statement, dpcheck, verdicts_in_node

_QUICK = [example for example in EXAMPLES if not example.name.startswith(("grid", "discrete"))]
_PIECES = [
    *'{}[]",:0123456789.-eE+/\\',
    "NaN",
    "Infinity",
    "1e999",
    "-0",
    "true",
    "null",
    "é",
    "\\ud800",
]
_PIECES += [
    "9" * 40,
    "[" * 2000,
    '{"format":',
    '"k":1,',
    "\u0000",
    "\ufeff",
    "1.5",
    '"1/0"',
    '"-1"',
]


def damaged(random_: random.Random) -> str:
    """A text of a statement with one to three pieces replaced, removed, doubled or put in."""
    text = random_.choice(_texts())
    for _ in range(random_.randint(1, 3)):
        a = random_.randrange(len(text))
        b = min(a + random_.choice([0, 1, 1, 2, 5, 30]), len(text))
        put = random_.choice(["", random_.choice(_PIECES), text[a:b] * 2])
        text = text[:a] + put + text[b:]
    return text


def false_claim(example: Example, random_: random.Random) -> Statement:
    """A claim that is less than the truth by a hair, or more, with a choice that is damaged."""
    low, high = example.truth()
    hair = 1 + Fraction(random_.choice([1, 10**3, 10**8]), 10**9)
    side = random_.random() < 0.5
    statement = example.statement(low / hair if side else None, None if side else high * hair)
    damage(statement["claims"][0]["derivation"], random_)
    return statement


def damage(rule: Statement, random_: random.Random) -> None:
    """Change the choices of a derivation."""
    for name, value in list(rule.items()):
        if name == "order":
            rule[name] = random_.choice(["1.01", "2", "3.5", "12", "100"])
        elif name == "step":
            rule[name] = random_.choice([value, "0.01", "1/64", "1/100", "0.1", "1"])
        elif name == "mass_bits":
            rule[name] = random_.choice([16, 20, 40, 100])
        elif name == "window":
            rule[name] = [
                value[0] // random_.choice([1, 2, 9]),
                value[1] // random_.choice([1, 2, 9]),
            ]
        elif name == "nodes":
            cuts = [random_.choice([1, 1, 2, 5]) for _ in range(2)]
            rule[name] = [[a // cuts[0], max(b // cuts[1], 0)] for a, b in value]
        elif name == "starts":
            rule[name] = sorted({0, *random_.sample(value, min(3, len(value)))})


@cache
def _texts() -> list[str]:
    return [json.dumps(example.honest(), ensure_ascii=False) for example in _QUICK]


def run(texts: list[str]) -> Counter[str]:
    """The verdicts on these texts; an error where the checkers differ or say more than a line."""
    verdicts = [dpcheck.check(text.encode(errors="surrogatepass")) for text in texts]
    for text, (_, reason, _) in zip(texts, verdicts, strict=True):
        if not reason.isprintable() or len(reason) > 200:
            raise AssertionError(f"{reason!r} for {text!r}")
    if shutil.which("node"):
        for text, ours, theirs in zip(texts, verdicts, verdicts_in_node(texts), strict=True):
            if [ours[0], ours[2]] != theirs:
                raise AssertionError(f"{ours} and {theirs} for {text!r}")
    return Counter(verdict for verdict, _, _ in verdicts)


def main(count: int) -> None:
    seen: Counter[str] = Counter()
    for first in range(0, count, 1000):
        random_ = random.Random(first)
        seen += run([damaged(random_) for _ in range(min(1000, count - first))])
    print(dict(seen))
    random_ = random.Random(1)
    texts = [
        json.dumps(false_claim(random_.choice(EXAMPLES), random_)) for _ in range(count // 100)
    ]
    seen = run(texts)
    print("false claims:", dict(seen))
    if seen["valid"]:
        raise AssertionError("a false claim is valid")


if __name__ == "__main__":
    main(int(sys.argv[1]))
