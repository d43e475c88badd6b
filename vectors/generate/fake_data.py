"""Laws of random sampling plus fake data (RS+FD), attribute by attribute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from mpmath import mp, mpf

from vectors.generate.common import number

Law = dict[str, mpf]


def amplified(attributes: str, budget: str) -> mpf:
    """e^(budget of the attribute that is reported) = d (e^budget - 1) + 1."""
    return int(attributes) * (mp.exp(number(budget)) - 1) + 1


def _value(value: int | None, k: int, e: mpf) -> Law:
    """The law of randomized response; value None: a uniform fake value."""
    if value is None:
        return {str(x): mpf(1) / k for x in range(k)}
    return {str(x): (e if x == value else mpf(1)) / (e + k - 1) for x in range(k)}


def _bits(value: int | None, k: int, e: mpf) -> Law:
    """The law of optimized unary encoding; value None: no bit is the user's."""
    law = {"": mpf(1)}
    for x in range(k):
        one = mpf(1) / 2 if x == value else 1 / (e + 1)
        law = {t + b: w * (one if b == "1" else 1 - one) for t, w in law.items() for b in "01"}
    return law


def _bits_of_anyone(value: int | None, k: int, e: mpf) -> Law:
    """The law of optimized unary encoding; value None: of a uniform fake value."""
    if value is not None:
        return _bits(value, k, e)
    laws = [_bits(x, k, e) for x in range(k)]
    return {report: mp.fsum(law[report] for law in laws) / k for report in laws[0]}


KINDS: dict[str, Callable[[int | None, int, mpf], Law]] = {
    "fake_values": _value,
    "fake_zero_bits": _bits,
    "fake_random_bits": _bits_of_anyone,
}


def fake_data(kind: str, values: Sequence[int], k: str, attributes: str, budget: str) -> Law:
    """The law of a user's report: one attribute at random, and fake data for the others."""
    e, law = amplified(attributes, budget), dict[str, mpf]()
    for sampled in range(int(attributes)):
        parts = [
            KINDS[kind](value if place == sampled else None, int(k), e)
            for place, value in enumerate(values)
        ]
        for reports in product(*parts):
            weight = mp.fprod(part[report] for part, report in zip(parts, reports, strict=True))
            text = " ".join(reports)
            law[text] = law.get(text, mpf(0)) + weight / int(attributes)
    return law


PMFS = [
    # kind, k, attributes, budget, value, reports, comment
    ("fake_values", "2", "2", "1", "0 0", "0 0,0 1,1 1", "one attribute is true"),
    ("fake_values", "2", "2", "1", "1 1", "0 0", "all attributes differ"),
    ("fake_values", "3", "2", "0.5", "2 1", "2 1,0 0", "one attribute is true"),
    ("fake_values", "2", "3", "1", "0 1 0", "0 1 0,1 0 1", "one of three is true"),
    ("fake_zero_bits", "2", "2", "1", "0 0", "10 10,00 00", "fake bits of no value"),
    ("fake_zero_bits", "2", "2", "1", "1 1", "10 10", "all attributes differ"),
    ("fake_zero_bits", "3", "2", "2", "1 2", "010 001", "fake bits of no value"),
    ("fake_random_bits", "2", "2", "1", "0 0", "10 10,01 10", "fake bits of a random value"),
    ("fake_random_bits", "2", "2", "1", "1 1", "10 10", "all attributes differ"),
    ("fake_random_bits", "3", "2", "2", "1 2", "010 001", "fake bits of a random value"),
]

DELTAS = [
    # kind, k, attributes, budget, epsilon, comment
    ("fake_values", "2", "2", "1", "1", "at the budget: it is not kept"),
    ("fake_values", "2", "2", "1", "1.4898", "just below the amplified budget"),
    ("fake_values", "2", "2", "1", "1.4899", "just above the amplified budget"),
    ("fake_values", "3", "3", "0.5", "0.5", "at the budget: it is not kept"),
    ("fake_zero_bits", "2", "2", "1", "1", "at the budget: it is not kept"),
    ("fake_random_bits", "2", "2", "1", "1", "at the budget: it is not kept"),
]
