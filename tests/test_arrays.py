"""Lists in the place of numpy: every function against numpy, and answers where numpy is missing."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exactdp.arrays import lists
from exactdp.errors import MissingExtra

#: A program that hides numpy and prints the answers of exactdp to the commands in its input.
WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import json
from exactdp.cli.main import main
for words in json.load(sys.stdin):
    try:
        main(words)
    except SystemExit as stop:
        if stop.code:
            raise
"""


NUMBERS = [0.0, 1.5, -2.25, 3.0, math.inf, 1e-300, math.nan, 0.1]
OTHERS = [0.0, 0.0, 4.0, -1.0, 2.0, 1e300, 1.0, 3.0]
FLAGS = [True, False, True, True, False, False, True, False]
SHIFTS = [0, 2000, -1, 5, 3, -2000, 1, 0]

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda n: n.array([0.5, 0.25, 3.0]) + 1.0,
    "+ array": lambda n: n.array(NUMBERS) + n.array(OTHERS),
    "number -": lambda n: 1.0 - n.array(NUMBERS),
    "- number": lambda n: n.array(NUMBERS) - 1.0,
    "*": lambda n: 2.0 * n.array(NUMBERS) * n.array(OTHERS),
    "/ with zeros": lambda n: n.array(NUMBERS) / n.array(OTHERS),
    "**": lambda n: n.arange(1, 9) ** 2,
    "negative": lambda n: -n.array(NUMBERS),
    "compared": lambda n: (n.array(NUMBERS) < 1.0) | (n.array(NUMBERS) >= n.array(OTHERS)),
    "and": lambda n: (n.array(NUMBERS) <= 1.0) & ~(n.array(NUMBERS) > n.array(OTHERS)),
    "mask": lambda n: n.array(NUMBERS)[n.array(FLAGS)],
    "slices": lambda n: n.array(NUMBERS)[::2] + n.array(NUMBERS)[1::2][::-1],
    "maximum": lambda n: n.maximum(n.array(NUMBERS), n.array(OTHERS)),
    "minimum": lambda n: n.minimum(n.array(NUMBERS), n.array(OTHERS)),
    "maximum of a number": lambda n: n.maximum(n.array(NUMBERS), 1.0),
    "clip": lambda n: n.clip(n.array(SHIFTS), -1000, 1000),
    "where": lambda n: n.where(n.array(FLAGS), n.array(NUMBERS), 7.0),
    "flatnonzero": lambda n: n.flatnonzero(n.array(FLAGS)),
    "ldexp": lambda n: n.ldexp(n.array(OTHERS), n.array(SHIFTS).astype(n.int32)),
    "ldexp of a number": lambda n: n.ldexp(0.75, n.array(SHIFTS).astype(n.int32)),
    "log2": lambda n: n.log2(n.array([0.0, 1.0, 8.0, 0.5])),
    "exp": lambda n: n.exp(n.array([0.0, 1000.0, -math.inf])),
    "sqrt": lambda n: n.sqrt(n.array([0.0, 2.0])),
    "abs": lambda n: n.abs(n.array(NUMBERS)),
    "isnan": lambda n: n.isnan(n.array(NUMBERS)),
    "isfinite": lambda n: n.isfinite(n.array(NUMBERS)),
    "append": lambda n: n.append(n.array(NUMBERS), n.array(OTHERS)),
    "arange": lambda n: n.arange(2, 9),
    "full": lambda n: n.full(3, 2.5),
    "zeros": lambda n: n.append(n.zeros(2, dtype=n.int64), n.ones(1, dtype=n.int64)),
    "ends": lambda n: [n.array(OTHERS).max(), n.array(OTHERS).min(), n.array(OTHERS).argmin()],
    "all": lambda n: [n.array(FLAGS).all(), n.array([True]).all()],
    "einsum": lambda n: n.einsum("i,i,i", n.array([1.0, 2.0]), n.arange(2), n.full(2, 0.5)),
    "polyval": lambda n: n.polyval(n.array([2.0, 0.1, 3.0]), n.array([0.1, 0.7])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_compute_as_numpy(name: str) -> None:
    with np.errstate(all="ignore"):
        one, other = FUNCTIONS[name](lists), FUNCTIONS[name](np)
    one, other = (list(x) if hasattr(x, "__len__") else [x] for x in (one, other))
    assert len(one) == len(other)
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(one, other, strict=True))


def test_assignment() -> None:
    for library in (lists, np):
        values = library.zeros(5)
        values[1:3] = library.array([1.0, 2.0])
        values[3:] += 1.0
        values[0] = values[-1] = 9.0
        assert values.tolist() == [9.0, 1.0, 2.0, 1.0, 9.0]
        with pytest.raises(ValueError, match=r"elements|broadcast"):
            values[1:3] = library.array([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match=r"elements|broadcast"):
            values + library.ones(3)
        with pytest.raises((TypeError, ValueError)):
            bool(values > 1.0)


def test_sums_are_rounded_once() -> None:
    assert lists.array([1.0, 1e100, 1.0, -1e100] * 1000).sum() == 2000.0


def test_other_functions_need_numpy() -> None:
    one = lists.ones(1)
    uses: tuple[Callable[[], object], ...] = (
        lambda: lists.matmul,
        lambda: one.T,
        lambda: lists.einsum("ij,j", one),
    )
    for use in uses:
        with pytest.raises(MissingExtra, match="this question needs numpy"):
            use()


def _trainings() -> list[list[str]]:
    """Fifty questions, those with the shortest windows first."""
    draw = random.Random(50)
    questions = []
    for _ in range(50):
        steps = round(math.exp(draw.uniform(0, math.log(20_000))))
        noise = f"{math.exp(draw.uniform(math.log(0.5), math.log(20))):.2g}"
        rate = f"{math.exp(draw.uniform(math.log(1e-4), math.log(0.5))):.2g}"
        delta = f"{10 ** -draw.uniform(2, 12):.1e}"
        questions.append((steps, ["--noise-multiplier", noise, "--rate", rate, "--delta", delta]))
    words = [["sgd", "--steps", str(steps), *rest] for steps, rest in sorted(questions)]
    words[3] += ["--neighbours", "replace-one"]
    return words


@pytest.mark.few(1)
@pytest.mark.parametrize("place", range(5))
def test_answers_without_numpy_are_the_same(place: int) -> None:
    """The commands' whole output, to the last digit."""
    program = WITHOUT_NUMPY.replace("main(words)", 'main([*words, "--json"])')
    questions = json.dumps(_trainings()[10 * place : 10 * place + 10])
    outputs = []
    for text in (program, program.replace('sys.modules["numpy"] = None', "")):
        run = [sys.executable, "-c", text]
        done = subprocess.run(run, input=questions, capture_output=True, text=True, check=True)
        outputs.append(done.stdout.splitlines())
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) == 10


def test_a_question_that_needs_numpy_says_so() -> None:
    allocated = "sgd --noise-multiplier 2 --rate 1/4 --steps 4 --delta 1e-5 --sampling allocated"
    run = [sys.executable, "-c", WITHOUT_NUMPY]
    done = subprocess.run(
        run, input=json.dumps([allocated.split()]), capture_output=True, text=True, check=False
    )
    assert "this question needs numpy: pip install numpy" in done.stderr
