"""Functions explored one by one: calls share a law only where nothing can tell them apart.

Every program here has too many branches to be followed whole: `flip` looks at an endless number of
draws. Expected laws are formulas.
"""

from __future__ import annotations

import functools
import os
import select
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from exactdp.audit import compare, foreign_law
from exactdp.law import Law


def flip(rng):
    """1 or 0, each with probability 1/2: whether at least one head came before the first tail."""
    heads = 0
    while rng.randrange(2):
        heads += 1
    return min(heads, 1)


def told(n, rng):
    """1 for n = 1; else n, or n + 10 with probability 1/2."""
    bit = flip(rng)
    return n + (10 * bit if n > 1 else 0)


def reassigning(n, rng):
    kept, n = n, 0
    bit = flip(rng)
    return kept + n + (10 * bit if kept > 1 else 0)


class Box:
    def __init__(self, n):
        self.n = n

    def set(self, n):
        self.n = n

    def told(self, rng):
        return told(self.n, rng)


def through(draw, rng):
    return draw(rng)


def of_list(numbers, rng):
    return told(sum(numbers), rng)


def arguments_that_change(rng):
    return reassigning(1, rng), reassigning(2, rng)


ONE, TWO = Box(1), Box(2)


def methods(rng):
    return through(ONE.told, rng), through(TWO.told, rng)


def closures(rng):
    one, two = (lambda rng, n=n: told(n, rng) for n in (1, 2))
    return through(one, rng), through(two, rng)


def new_objects(rng):
    return Box(1).told(rng), Box(2).told(rng)


def an_object_that_changes(rng):
    box = Box(1)
    first = box.told(rng)
    box.set(2)
    return first, box.told(rng)


def a_list_in_place(rng):
    numbers = [1]
    first = of_list(numbers, rng)
    numbers += [1]
    return first, of_list(numbers, rng)


@pytest.mark.parametrize(
    "program",
    [
        *(arguments_that_change, methods, closures, new_objects),
        *(an_object_that_changes, a_list_in_place),
    ],
)
def test_calls_that_differ_have_their_own_laws(program: Callable[[Any], Any]) -> None:
    law = foreign_law(program, residual="1e-9", max_runs=500, progress=False)
    expected = Law({(1, 2): Fraction(1, 2), (1, 12): Fraction(1, 2)})
    assert compare(law, expected, tolerance="1e-8").verdict == "agrees"


def looked_at(u):
    return u < 5 and 0


def an_argument_is_looked_at(rng):
    u = rng.randrange(10)
    return int(looked_at(u)), flip(rng), flip(rng), flip(rng), int(u < 5)


def an_attribute_is_looked_at(rng):
    box = Box(rng.randrange(10))

    def look():
        return box.n < 5 and 0

    return int(look()), flip(rng), flip(rng), flip(rng), int(box.n < 5)


@pytest.mark.parametrize("program", [an_argument_is_looked_at, an_attribute_is_looked_at])
def test_what_a_call_learns_about_an_older_number_is_kept(program: Callable[[Any], Any]) -> None:
    law = foreign_law(program, residual="1e-9", max_runs=500, progress=False)
    assert {outcome[-1] for outcome in law.support} == {0, 1}
    likely = sum(p for outcome, p in law.items() if outcome[-1])
    assert abs(likely - Fraction(1, 2)) < Fraction(1, 10**8)


def test_rounds_that_the_residual_covers_are_not_followed() -> None:
    noise = iter(range(1 << 20))

    def program(rng):  # each call from the present state has one law, which forks alone can find
        next(noise)
        return 0 if next(noise) != 1 else flip(rng)

    law = foreign_law(program, residual="1/50", progress=False)
    assert law.residual <= Fraction(1, 50)
    assert abs(law[1] - Fraction(1, 2)) <= Fraction(1, 50)


_SEARCH = """
import os, sys, time
from fractions import Fraction
from exactdp.audit.code.program import Program
from exactdp.audit.code.search import InForks
from exactdp.samplers.enumeration_branches import START

def program(rng):
    rng.getrandbits(1)
    bits = [rng.randrange(2) == 1 for _ in range(3)]
    os.write(1, f"{os.getpid()} ".encode())
    time.sleep(600)

InForks(Program(program, "random", False), True, []).follow(START, Fraction(0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux alone ends children")
def test_forks_of_a_search_end_with_the_process_that_began_it() -> None:
    command = [sys.executable, "-c", _SEARCH]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as search:
        assert search.stdout is not None
        assert os.read(search.stdout.fileno(), 100)  # the first leaf sleeps
        search.kill()
        # the pipe ends with the last process that could write to it
        assert select.select([search.stdout], [], [], 60)[0]
        assert search.stdout.read() == b""


def test_a_round_that_learns_about_an_older_number_does_not_start_over() -> None:
    def rounds(rng):  # u = 0 with probability 1/2; then, or for a low draw, another round
        box = Box(rng.randrange(2))
        for _ in range(2):
            if rng.randrange(4) < 3 * box.n:
                return 1
        return 0

    law = foreign_law(rounds, progress=False)
    assert law[1] == Fraction(1, 2) * (1 - Fraction(1, 16))


def sparse_vector(queries, rng):
    """Which queries are at least a noisy threshold, until two are; it is drawn anew after each."""
    bar = 3 + rng.randint(-2, 2)
    answers: list[bool] = []
    for query in queries:
        answers.append(query + rng.randint(-4, 4) >= bar)
        if answers[-1]:
            bar = 3 + rng.randint(-2, 2)
        if sum(answers) == 2:
            break
    return answers


def _sparse_vector(queries: list[int]) -> dict[tuple[bool, ...], Fraction]:
    """The law of :func:`sparse_vector`: sums over the thresholds in use."""
    law: dict[tuple[bool, ...], Fraction] = {}
    states = {((), bar): Fraction(1, 5) for bar in range(1, 6)}
    while states:
        later: dict[Any, Fraction] = {}
        for (answers, bar), weight in states.items():
            if len(answers) == len(queries) or sum(answers) == 2:
                law[answers] = law.get(answers, Fraction(0)) + weight
                continue
            above = Fraction(sum(queries[len(answers)] + z >= bar for z in range(-4, 5)), 9)
            for bars, answer, p in (([bar], False, 1 - above), (range(1, 6), True, above)):
                for new in bars if p else ():
                    key = (*answers, answer), new
                    later[key] = later.get(key, Fraction(0)) + weight * p / len(bars)
        states = later
    return law


@pytest.mark.slow
def test_a_sparse_vector_technique_of_14_000_leaves() -> None:
    queries = [1, 4, 2, 3, 0, 2]
    law = foreign_law(functools.partial(sparse_vector, queries), progress=False)
    assert {x: law[x] for x in law.support} == _sparse_vector(queries)
