"""A leak of ln 9 in a small part of outputs that are otherwise noise: found with few outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from exactdp.audit import Event, audit
from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.features import column

Make = Callable[[np.random.Generator, int], Any]


def letters(rng: np.random.Generator, many: int) -> str:
    return bytes(rng.integers(0, 256, many, dtype=np.uint8)).hex()


def odd_digit(rng: np.random.Generator, bit: int) -> str:
    return f"{2 * int(rng.integers(0, 8)) + bit:x}"


def odd_byte(rng: np.random.Generator, bit: int) -> bytes:
    return bytes([2 * int(rng.integers(0, 128)) + bit])


def number(rng: np.random.Generator, bit: int, place: int, bits: int) -> int:
    value = int(rng.integers(0, 1 << min(bits, 62))) << max(bits - 62, 0)
    return value & ~(1 << place) | bit << place


LEAKS: dict[str, Make] = {
    "the first letter": lambda rng, bit: odd_digit(rng, bit) + letters(rng, 8),
    "the last letter": lambda rng, bit: letters(rng, 8) + odd_digit(rng, bit),
    "the last letter of a field": lambda rng, bit: {"id": letters(rng, 8) + odd_digit(rng, bit)},
    "byte 100": lambda rng, bit: rng.bytes(100) + odd_byte(rng, bit) + rng.bytes(20),
    "the tenth number": lambda rng, bit: ",".join(
        f"{x:.6f}" for x in (*rng.random(9), (rng.random() + bit) / 2, *rng.random(5))
    ),
    "bit 9 of 16": lambda rng, bit: number(rng, bit, 9, 16),
    "bit 40 of 62": lambda rng, bit: number(rng, bit, 40, 62),
    "bit 100 of 128": lambda rng, bit: number(rng, bit, 100, 128),
    "item 90 of a list": lambda rng, bit: [*rng.bytes(90), bit, *rng.bytes(9)],
    "item 600 of a list": lambda rng, bit: [*rng.bytes(600), bit, *rng.bytes(99)],
    "key 600 of a dictionary": lambda rng, bit: dict(enumerate([*rng.bytes(600), bit, 7])),
    "item 600 of a nested list": lambda rng, bit: {"a": [*rng.bytes(600), bit], "b": 1},
    "bit 77 of a UUID": lambda rng, bit: UUID(int=number(rng, bit, 77, 128)),
    "a rare key": lambda rng, bit: {*rng.integers(0, 10**6, 3).tolist(), *[-1] * bit, bit - 3},
}


LONG = {
    "item 600 of a list",
    "key 600 of a dictionary",
    "item 600 of a nested list",
    "byte 100",
    "the last letter",
    "bit 40 of 62",
    "a rare key",
}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow) if one in LONG else one for one in LEAKS]
)
def test_a_leak_in_a_part_is_found(name: str) -> None:
    rng = np.random.default_rng(2)

    def run(data: int, n: int) -> list[Any]:
        return [LEAKS[name](rng, int(lie) ^ data) for lie in rng.random(n) < 0.1]

    report = audit(run, 0, 1, samples=10_000)
    assert report.violation, report.text()
    again = Event.from_dict(json.loads(json.dumps(report.event.as_dict())))
    assert again == report.event


@pytest.mark.slow
def test_keys_of_one_training_batch_do_not_pass_for_an_event() -> None:
    """Keys that come up once tell training outputs apart perfectly, and fresh ones not at all."""
    rng = np.random.default_rng(4)

    def run(data: int, n: int) -> list[Any]:
        return [
            {*rng.integers(0, 10**6, 3).tolist(), *[-1] * (int(lie) ^ data)}
            for lie in rng.random(n) < 0.1
        ]

    report = audit(run, 0, 1, samples=6000)
    assert report.violation
    assert "other than" not in str(report.event)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_bits_are_exact_and_belong_to_each_output_alone(dtype: Any) -> None:
    values = [0, 1, 5, 2**40 + 2**9, 2**62 + 1]
    for k in (0, 9, 40, 62, 100):
        together = column(as_outputs(np.array(values, dtype=dtype)), ("bit", ("coordinate", 0), k))
        alone = [column(as_outputs([v]), ("bit", ("coordinate", 0), k))[0] for v in values]
        assert together.tolist() == alone == [v >> k & 1 for v in values]


def test_letters_are_counted_from_both_ends() -> None:
    outputs = as_outputs(["abc", "", "z", None, 7])
    for i, expected in ((0, ["a", "", "z", "", ""]), (-2, ["b", "", "", "", ""])):
        assert column(outputs, ("character", (), i)).tolist() == expected
