"""Random programs: the exact law is that of brute force on real numbers, or it is refused."""

from __future__ import annotations

import builtins
import json
import linecache
import math
import random
import types
import warnings
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp.audit import foreign_law
from exactdp.errors import ExactDPError
from exactdp.law import Law
from tests.audit.fuzz.brute import PLAIN, Table, Tape, TooMany, pieces, table, written
from tests.audit.fuzz.grammar import Kind, Writer

_NAMES = {
    "Counter": Counter,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "json": json,
    "math": math,
    "np": np,
}

_SIZES = {"huge": None, "float": 1 << 53}
#: Most runs of brute force, and branches of an exact law, before a program is left aside.
_RUNS = {"narrow": 3000, "middle": 20_000, "broad": 250_000, "huge": 200, "float": 200}
_BRANCHES = {"narrow": 20_000, "middle": 20_000, "broad": 100_000, "huge": 1000, "float": 1000}


def helper(t: Any) -> Any:
    return t * t - 3 if t > 1 else t


def built(source: str) -> Callable[[Any], Any]:
    """The function of a source, its errors turned into outcomes as a careful caller would."""
    linecache.cache["fuzzed"] = len(source), None, source.splitlines(keepends=True), "fuzzed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "is" with a number is what is being tried
        code = compile(source, "fuzzed", "exec").co_consts
    body = next(part for part in code if isinstance(part, types.CodeType))
    defaults = ({}, []) if body.co_argcount == 3 else ()
    names = {"__builtins__": builtins, **_NAMES, "helper": helper}
    function = types.FunctionType(body, names, "program", defaults)

    def guarded(rng: Any) -> Any:
        try:
            return function(rng)
        except ZeroDivisionError:
            return "ZeroDivisionError"
        except OverflowError:
            return "OverflowError"
        except ArithmeticError:
            return "ArithmeticError"
        except ValueError:
            return "ValueError"
        except TypeError:
            return "TypeError"
        except (LookupError, AttributeError):
            return "no such thing"

    return guarded


def brute(source: str, kind: Kind, near: int = 40) -> Table:
    """The law of real runs, of a fresh function each; near: so many values on either side of 0,
    and at both ends of a range too large for all, are tried one by one."""
    most = _RUNS[kind.width]

    def fresh(rng: Any) -> Any:
        return built(source)(rng)

    program = fresh if kind.stateful else built(source)
    if kind.width in ("narrow", "middle", "broad"):
        return table(program, kind.interface, limit=1 << 18, most=most)
    size = _width(program, kind)
    rng = random.Random(len(source))
    around = [size * i // j + d for j in (2, 3, 4, 5, 8, 10) for i in range(j) for d in (-1, 0, 1)]
    ends = [2**i + d for i in range(64) for d in (-1, 0, 1)]
    places = (0, size // 2, size)
    close = [place + d for place in places for d in range(-near, near)]
    probes = [*close, *around, *ends, *(size - k for k in ends), *_uniform(rng, size, 300)]
    starts = _uniform(rng, size - 40, 6)  # neighbours see residues, strangers what is rare
    fresh = [*_uniform(rng, size, 300), *(start + i for start in starts for i in range(40))]
    return pieces(program, kind.interface, size, probes, fresh, most=most)


def _uniform(rng: random.Random, size: int, n: int) -> list[int]:
    return [rng.randrange(size) for _ in range(n)]


def _width(program: Callable[[Any], Any], kind: Kind) -> int:
    tape = Tape([], 0)
    program(PLAIN[kind.interface](tape, 1 << 14))
    if not tape.wide_size:
        raise TooMany
    return tape.wide_size


def library_law(source: str, kind: Kind) -> Law[Any] | None:
    """What the library says, None for "not exact"."""
    try:
        return foreign_law(
            built(source),
            interface=kind.interface,
            residual=Fraction(1, 2**30),
            max_runs=_BRANCHES[kind.width],
            progress=False,
        )
    except (ExactDPError, NameError):
        return None


def wrong(source: str, kind: Kind, law: Law[Any]) -> str | None:
    """What is wrong with the law of a program, if anything; TooMany where nobody knows.

    Where it keeps state, the law is that of the first call of a fresh function.
    """
    said: Table = {}
    for outcome, weight in law.items():
        said[written(outcome)] = said.get(written(outcome), Fraction(0)) + weight
    slack = law.residual + (Fraction(1, 2**40) if kind.width in _SIZES else 0)
    truth: Table = {}
    for near in (40, 6000):  # a few values between others are met by trying more
        truth = brute(source, kind, near)
        gap = sum((abs(said.get(x, 0) - truth.get(x, 0)) for x in {*said, *truth}), Fraction(0))
        if gap <= slack + law.residual:
            return None
    return f"law {_text(said)}\nbrute force {_text(truth)}"


def _text(law: Table) -> str:
    return ", ".join(f"{x}: {float(p):.9g}" for x, p in sorted(law.items(), key=repr)[:12])


def fuzz(kind: Kind, programs: int, seed: int) -> Counter[str]:
    """How many programs had a law that was right, were refused, or too long to check."""
    rng = random.Random(f"{kind} {seed}")
    tally: Counter[str] = Counter()
    for _ in range(programs):
        source = Writer(rng, kind).program()
        law = library_law(source, kind)
        try:
            fault = None if law is None else wrong(source, kind, law)
        except TooMany:
            tally["too long"] += 1
            continue
        if fault is not None:
            pytest.fail(f"{kind}\n{source}\n{fault}")
        tally["refused" if law is None else "right"] += 1
    return tally


KINDS = [
    Kind("random", "narrow"),
    Kind("numpy", "narrow"),
    Kind("random", "middle"),
    Kind("numpy", "middle"),
    Kind("random", "huge"),
    Kind("numpy", "huge"),
    Kind("random", "float"),
    Kind("numpy", "float"),
    Kind("random", "narrow", stateful=True),
]

pytestmark = pytest.mark.filterwarnings("ignore")


#: by measured time: fresh programs of narrow draws are run most often
SLOW = (
    *(Kind("random", "narrow"), Kind("numpy", "narrow")),
    *(Kind("numpy", "huge"), Kind("numpy", "float")),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.slow if kind in SLOW else ())
        for kind in KINDS
        if kind.width != "middle"
    ],
    ids=str,
)
def test_a_few(kind: Kind) -> None:
    tally = fuzz(kind, 5, seed=1)
    assert tally.total() == 5
    # a law that is always refused is never wrong; of wide numpy integers, which wrap, most are
    assert tally["right"] or kind.interface == "numpy"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, Kind("random", "broad"), Kind("numpy", "broad")], ids=str)
def test_many(kind: Kind) -> None:
    tally = fuzz(kind, 60 if kind.width == "broad" else 400, seed=2)  # about two minutes
    assert tally["right"] > tally.total() / 10  # a law that is always refused is never wrong
