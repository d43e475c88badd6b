"""Compositions of small exact laws, drawn at random, against all orders of the neighbours.

The expected numbers are exact: a dynamic program over all outputs, orders of the neighbours and
orders of the mechanisms, in fractions. It imports nothing of the accountant.

    python -m tests.accounting.pld.orders_at_random library 100000  # both ends of the answers
    python -m tests.accounting.pld.orders_at_random laws 100000     # the upper laws: faster
    python -m tests.accounting.pld.orders_at_random checker 100000  # false statements
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

from exactdp import statement
from exactdp.accounting import pld
from exactdp.accounting.pld.ask.adaptive import worst_runs
from exactdp.law import Law

#: Outcomes with their probabilities under P and Q.
Pair = tuple[tuple[Fraction, Fraction], ...]

#: A statement's name of each relation, and the text of the library.
RELATIONS = {
    "add-remove": pld.ADD_REMOVE,
    "replace-one": pld.REPLACE_ONE,
    "pair": "two values of one user",
}

_DIGITS = 70

#: Relative errors of sums in doubles are below this.
DUST = Fraction(1, 10**12)


@dataclass(frozen=True)
class Case:
    """A composition, the relation of its neighbours, and an epsilon.

    mechanisms: each with the number of its runs.
    """

    mechanisms: tuple[tuple[Pair, int], ...]
    relation: str
    epsilon: Fraction

    @property
    def loss(self) -> pld.Pld:
        """The composition in the library."""
        losses = []
        for pair, times in self.mechanisms:
            p, q = (Law({i: m[side] for i, m in enumerate(pair) if m[side]}) for side in (0, 1))
            losses.append(pld.laws(p, q, neighbours=RELATIONS[self.relation]).composed(times))
        first, *others = losses
        for other in others:
            first = first.then(other)
        return first

    def truth(self) -> tuple[Fraction, Fraction]:
        """The largest delta of all orders, between two fractions."""
        low, high = self.ratios()
        return self.largest(high), self.largest(low)

    def largest(self, x: Fraction) -> Fraction:
        """The largest delta at e^epsilon = x."""
        pairs = tuple(pair for pair, _ in self.mechanisms)
        counts = tuple(times for _, times in self.mechanisms)
        if self.relation != "add-remove":
            return worst(pairs, counts, x)
        return max(common(each, counts, x) for each in (pairs, tuple(map(turned, pairs))))

    def largest_fixed(self, x: Fraction) -> Fraction:
        """The largest delta of all orders that do not depend on outputs."""
        runs = [pair for pair, times in self.mechanisms for _ in range(times)]
        return max(
            common(
                tuple(turned(p) if way >> i & 1 else p for i, p in enumerate(runs)),
                (1,) * len(runs),
                x,
            )
            for way in range(1 << len(runs))
        )

    def ratios(self) -> tuple[Fraction, Fraction]:
        """Fractions around e^epsilon."""
        with mp.workdps(_DIGITS + 10):
            near = mp.exp(mp.mpf(self.epsilon.numerator) / self.epsilon.denominator)
            value = Fraction(mp.nstr(near, _DIGITS + 8))
        unit = Fraction(1, 10**_DIGITS)
        return value * (1 - unit), value * (1 + unit)

    def false_statement(self) -> str:
        """A statement that claims a little less than the true delta."""
        releases = [
            {"mechanism": "finite-law", "times": n, "outcomes": [[str(a), str(b)] for a, b in pair]}
            for pair, n in self.mechanisms
        ]
        span = (
            math.ceil(
                64 * max(abs(math.log(a / b)) for p, _ in self.mechanisms for a, b in p if a * b)
            )
            + 1
        )
        runs = sum(n for _, n in self.mechanisms)
        rule = {
            "rule": "grid",
            "step": "1/64",
            "mass_bits": 100,
            "nodes": [[-span, span]] * len(releases),
            "window": [-span * runs, span * runs],
        }
        least = self.truth()[0] * (1 - Fraction(1, 10**6))
        claim = {
            "measure": "delta",
            "epsilon": str(self.epsilon),
            "at_most": f"{math.floor(least * 10**40)}e-40",
            "derivation": rule,
        }
        return json.dumps(
            {
                "format": "dp-statement/1",
                "unit": {"neighbours": self.relation, "of": "user", "bounds": []},
                "releases": releases,
                "claims": [claim],
                "premises": [RELATIONS[self.relation]],
                "not_shown": [],
                "made_by": {"name": "a test", "version": "1"},
            }
        )


def turned(pair: Pair) -> Pair:
    """The pair in the opposite order."""
    return tuple((q, p) for p, q in pair)


def common(pairs: tuple[Pair, ...], counts: tuple[int, ...], x: Fraction) -> Fraction:
    """delta of all runs in the order in which they are given."""
    none, products = Fraction(0), {Fraction(1): Fraction(1)}  # ratio q/p -> mass under P
    for pair, times in zip(pairs, counts, strict=True):
        for _ in range(times):
            longer: dict[Fraction, Fraction] = {}
            for ratio, mass in products.items():
                for p, q in pair:
                    if p:
                        longer[ratio * q / p] = longer.get(ratio * q / p, none) + mass * p
            products = longer
    return sum((mass * max(1 - x * ratio, none) for ratio, mass in products.items()), none)


def worst(pairs: tuple[Pair, ...], counts: tuple[int, ...], x: Fraction) -> Fraction:
    """The largest delta, if earlier outputs may decide which run is next and in which order.

    p and q are the probabilities of the outputs so far, as integers in a common unit.
    """
    units = [math.lcm(*(m.denominator for masses in pair for m in masses)) for pair in pairs]
    whole = [
        [[(int(p * unit), int(q * unit)) for p, q in each if p] for each in (pair, turned(pair))]
        for pair, unit in zip(pairs, units, strict=True)
    ]

    def largest(p: int, q: int, left: tuple[int, ...]) -> int:
        if not any(left):
            return max(p * x.denominator - q * x.numerator, 0)
        return max(
            sum(largest(p * a, q * b, (*left[:i], left[i] - 1, *left[i + 1 :])) for a, b in rows)
            for i, both in enumerate(whole)
            if left[i]
            for rows in both
        )

    unit = math.prod(unit**times for unit, times in zip(units, counts, strict=True))
    return Fraction(largest(1, 1, counts), unit * x.denominator)


def cases(seed: int) -> Iterator[Case]:
    """Endless random cases."""
    rng = random.Random(seed)

    def pair() -> Pair:
        size = rng.randint(2, 4)
        while True:
            most = rng.choice((5, 20, 100))
            rows = [[rng.randint(rng.choice((0, 1)), most) for _ in range(size)] for _ in "pq"]
            sums = [sum(row) for row in rows]
            if all(sums) and any(a and b for a, b in zip(*rows, strict=True)):
                return tuple(
                    (Fraction(a, sums[0]), Fraction(b, sums[1]))
                    for a, b in zip(*rows, strict=True)
                    if a or b
                )

    while True:
        runs = rng.choice((2, 2, 2, 3, 3, 4))
        first = rng.choice((runs, runs, rng.randint(1, runs - 1)))
        mechanisms = [(pair(), first)] + ([(pair(), runs - first)] if first < runs else [])
        reach = sum(n * max(abs(math.log(a / b)) for a, b in p if a * b) for p, n in mechanisms)
        epsilon = Fraction(round(1000 * reach * rng.uniform(-0.2, 1)), 1000)
        yield Case(tuple(mechanisms), rng.choice(list(RELATIONS)), epsilon)


def fault(case: Case) -> str:
    """What is wrong with the library's answer; "" if nothing is."""
    answer, (least, most) = case.loss.delta(case.epsilon, relative_width=1), case.truth()
    if answer.upper < least:
        return f"{case}: {answer} is below {float(least)}"
    if answer.lower > most:
        return f"{case}: {answer} is above {float(most)}"
    return ""


def fault_of_laws(case: Case) -> str:
    """What is wrong with the laws for upper ends; "" if nothing is, or sides have names.

    Of one mechanism the bound at a node of the grid; of two the product of their laws, in doubles.
    """
    if case.relation == "add-remove":
        return ""
    # equal mechanisms are one, with all runs
    laws, runs = zip(*((step.removed, times) for step, times in case.loss.dominating), strict=True)
    if len(laws) == 1 and laws[0].family is not None:
        curve: Any = worst_runs(laws[0].family, runs[0])
        node = min(math.ceil(max(case.epsilon, 0) / curve.step), len(curve.deltas) - 1)
        there = replace(case, epsilon=node * curve.step)
        claimed, exact = curve.deltas[node], there.largest(there.ratios()[1])
    else:
        x, exact = float(case.ratios()[1]), case.largest(case.ratios()[1])
        p, q = np.ones(1), np.ones(1)
        for law, times in zip(laws, runs, strict=True):
            for _ in range(times):
                p, q = (np.outer(m, n).ravel() for m, n in zip((p, q), masses_of(law), strict=True))
        claimed = Fraction(float(np.maximum(p - x * q, 0).sum())) / (1 - DUST)
    return f"{case}: {float(claimed)} is below {float(exact)}" if claimed < exact else ""


def masses_of(law: Any) -> tuple[np.ndarray, np.ndarray]:
    """The masses of a law under P and Q, in doubles."""
    rows = [(float(x.p), float(x.q)) for x in law.outcomes(1)]
    only, never = map(float, law.infinite(1))
    p, q = np.array([*rows, (only, 0.0), (0.0, never)]).T
    return p, q


def false_claim(case: Case) -> str:
    """The verdict of the checker on a false statement, if it is wrong."""
    if case.epsilon < 0 or not case.truth()[0]:
        return ""
    verdict = statement.check(case.false_statement()).verdict
    return "" if verdict == "not proved" else f"{case}: {verdict}"


TESTS = {"library": fault, "laws": fault_of_laws, "checker": false_claim}


def main(name: str, count: int) -> None:
    """Print every fault, and the number of cases."""
    faults, begun, test = 0, time.monotonic(), TESTS[name]
    for number, case in zip(range(1, count + 1), cases(time.time_ns()), strict=False):
        if text := test(case):
            faults += 1
            print(text, flush=True)
        if number % 1000 == 0 or number == count:
            print(f"{number} cases, {faults} faults, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
