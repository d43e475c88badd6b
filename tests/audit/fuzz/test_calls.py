"""Odd calls of a generator, and odd uses of its numbers: production's outcomes, or refused."""

from __future__ import annotations

import builtins
import math
import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exactdp.audit import foreign_law
from exactdp.errors import ExactDPError
from tests.audit.fuzz.brute import written

#: Draws in production: an outcome of probability 1/24 is missed with probability 10^-18.
_DRAWS = 1000

NUMPY = [
    "rng.integers(4, 2)",
    "rng.integers(0, endpoint=True)",
    "rng.integers(np.int64(3))",
    "rng.integers(np.array(3))",
    "rng.integers(np.array([2, 3]))",
    "rng.integers(2, dtype=np.int32)",
    "rng.integers(2, dtype=bool)",
    "rng.integers(256, dtype=np.uint8) > 255",
    "rng.integers(2**63, 2**63 + 1)",
    "rng.integers(-(2**63), -(2**63) + 2)",
    "rng.integers(high=3)",
    "rng.random(dtype=np.float32) < 2",
    "rng.choice([5, 6])",
    "rng.choice([5, 6.5])",
    "rng.choice(['a', 3])",
    "rng.choice([[1, 2], [3, 4]])",
    "rng.choice([(1, 2), (3, 4)], axis=1)",
    "rng.choice(np.array([1, 2], dtype=np.int8))",
    "rng.choice(np.array([1, 2], dtype=np.float32))",
    "rng.choice(range(3))",
    "rng.choice(3, p=[0.2, 0.3, 0.5])",
    "rng.permutation([1, 2])",
    "rng.permutation([[1, 2], [3, 4]])",
    "rng.permutation([[1, 2], [3, 4]], axis=1)",
    "rng.permutation(np.int64(2))",
    "(lambda a: (rng.shuffle(a), a))([1, 2, 3])",
    "(lambda a: (rng.shuffle(a), a))(np.array([1, 2]))",
    "(lambda a: (rng.shuffle(a, axis=1), a))(np.array([[1, 2], [3, 4]]))",
    "(lambda a: (rng.shuffle(a), a))((1, 2))",
    "(lambda a: (rng.shuffle(a), a))(np.array([[1, 2], [3, 4]]))",
    "rng.geometric(0.5) > 0",
    "rng.randrange(2)",
    "hasattr(rng, 'bit_generator')",
    "isinstance(rng, np.random.Generator)",
    "rng.integers(2).dtype.name",
    "range(3)[rng.integers(2)]",
    "{0: 'x'}.get(rng.integers(2))",
    "rng.integers(3).bit_length()",
    "rng.integers(3).astype(np.int8)",
    "rng.integers(3) / 0",
    "rng.integers(3) ** -1",
    "rng.integers(3) << 63",
    "rng.integers(3) + 2**63",
    "rng.integers(3) & 1.5",
    "'%s' % (rng.integers(2) > 0)",
    "(rng.integers(2) > 0) + (rng.integers(2) > 0)",
]

RANDOM = [
    "rng.randrange(0)",
    "rng.randrange(2.5)",
    "rng.randrange(start=3)",
    "rng.getrandbits(-1)",
    "rng.randbytes(-1)",
    "rng.randbytes(1) <= b'\\xff'",
    "rng.choice({0: 'a', 1: 'b'})",
    "rng.choice(np.array([1, 2]))",
    "rng.choices([1, 2], [0, 0])",
    "rng.choices([1, 2], cum_weights=[1, 3])",
    "rng.choices([1, 2], [float('nan'), 1])",
    "rng.choices([1, 2], [float('inf'), 1])",
    "rng.sample({1, 2}, 1)",
    "rng.sample(range(3), 1, counts=[1, 1, 1])",
    "rng.sample([1, 2], 1, counts=[0, 0])",
    "(lambda a: (rng.shuffle(a), a))((1, 2))",
    "(lambda a: (rng.shuffle(a, None), a))([1, 2])",
    "rng.gauss(0, 0)",
    "rng.seed(1)",
    "rng.getstate()[0]",
    "rng.integers(2)",
    "hasattr(rng, 'binomialvariate')",
    "hasattr(rng, 'gauss_next')",
    "rng.randrange(2) * 'a'",
    "rng.randrange(3) ** -1",
    "pow(2, rng.randrange(3), 5)",
    "int(rng.randrange(3), 10)",
    "chr(rng.randrange(65, 68))",
    "list(enumerate('a', rng.randrange(3)))",
    "round(2.71828, rng.randrange(3))",
    "'{:>{w}}'.format('a', w=rng.randrange(3))",
    "'%*d' % (rng.randrange(3), 5)",
    "sum([0.1] * rng.randrange(4))",
]

_NAMES = {"__builtins__": builtins, "math": math, "np": np, "random": random}


def guarded(call: str) -> Callable[[Any], Any]:
    """The outcome of a call, or what it raised."""
    body = compile(f"def program(rng):\n    return {call}\n", "call", "exec").co_consts[0]
    assert isinstance(body, types.CodeType)
    function = types.FunctionType(body, _NAMES, "program")

    def program(rng: Any) -> Any:
        try:
            return function(rng)
        except (TypeError, np.exceptions.AxisError):
            return "TypeError"
        except ValueError:
            return "ValueError"
        except ZeroDivisionError:
            return "ZeroDivisionError"
        except OverflowError:
            return "OverflowError"
        except LookupError:
            return "LookupError"
        except AttributeError:
            return "AttributeError"

    return program


CALLS = [("numpy", call) for call in NUMPY] + [("random", call) for call in RANDOM]


@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("interface", "call"),
    [pytest.param(*case, marks=pytest.mark.slow if i % 12 else ()) for i, case in enumerate(CALLS)],
)
def test_production_or_refused(interface: str, call: str) -> None:
    program = guarded(call)
    try:
        law = foreign_law(program, interface=interface, progress=False)
    except ExactDPError:
        return
    assert not law.residual
    rng: Any = random.Random(1) if interface == "random" else np.random.default_rng(1)
    seen = {written(program(rng)) for _ in range(_DRAWS)}
    assert {written(outcome) for outcome in law} == seen
