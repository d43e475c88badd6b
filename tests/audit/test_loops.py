"""Rejection loops are followed round after round, until the residual is reached.

Expected laws are those of a plain search over all sequences of draws, which shares no code with
the library.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from exactdp.audit import compare, foreign_law
from exactdp.errors import TooManyBranches
from exactdp.samplers import DiscreteGaussian
from tests.audit.cks import dgauss

#: Probability that the search, and the law, may leave out.
OPEN = Fraction(1, 128)


class Script:
    """A generator that repeats given draws, and notes how wide the next one is."""

    def __init__(self, draws: tuple[int, ...]) -> None:
        self.draws, self.place, self.width = draws, 0, 0

    def randrange(self, n: int) -> int:
        if self.place == len(self.draws):
            self.width = n
            raise EOFError
        self.place += 1
        return self.draws[self.place - 1]


def searched(program: Callable[[Any], Any]) -> dict[Any, Fraction]:
    """The law of a program up to OPEN, by running it on longer and longer sequences of draws."""
    law: dict[Any, Fraction] = {}
    todo, left = [((), Fraction(1))], Fraction(1)
    while left > OPEN:
        later = []
        for draws, weight in todo:
            script = Script(draws)
            try:
                outcome = program(script)
            except EOFError:
                later += [((*draws, i), weight / script.width) for i in range(script.width)]
            else:
                law[outcome] = law.get(outcome, Fraction(0)) + weight
                left -= weight
        todo = later
    return law


def assert_law(program: Callable[[Any], Any]) -> None:
    law, expected = foreign_law(program, residual=OPEN), searched(program)
    assert law.residual <= OPEN
    for outcome in {*law.support, *expected}:
        assert abs(law[outcome] - expected.get(outcome, Fraction(0))) <= OPEN


def draw(n: int, rng: Any) -> int:
    return rng.randrange(n)


def pair(rng: Any, n: int = 3, *, m: int = 2) -> tuple[int, int]:
    return rng.randrange(n), rng.randrange(m)


# Loops that start over: exact, with nothing left out.


def rejection(rng):
    while True:
        u = rng.randrange(4)
        if u < 3:
            return u


def by_a_helper(rng):
    while True:
        u, v = pair(rng, m=2)
        if u != v:
            return u, v


def with_variables_that_are_dead(rng):
    limit = 2
    while True:
        u = draw(2, rng)
        weight = u + 3
        if draw(2, rng) < weight % limit + u:
            return u, weight


def two_loops(rng):
    while True:
        u = draw(3, rng)
        if u:
            break
    return u + draw(2, rng)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "program",
    [rejection, by_a_helper, with_variables_that_are_dead, two_loops],
)
def test_rounds_that_carry_nothing_along(program: Callable[[Any], Any]) -> None:
    assert_law(program)


@pytest.mark.slow
def test_a_loop_inside_a_call_and_behind_a_partial() -> None:
    assert_law(lambda rng: rejection(rng) + 1)
    assert_law(functools.partial(lambda shift, rng: shift + by_a_helper(rng)[0], 5))


def test_numpy_too() -> None:
    def program(rng):
        while True:
            u = rng.integers(5)
            if u < 3:
                return int(u)

    law = foreign_law(program, interface="numpy")
    assert law.residual <= Fraction(1, 1 << 64)
    assert all(0 <= Fraction(1, 3) - law[outcome] <= law.residual for outcome in range(3))


# Loops that carry something along, each in a place of its own.


def counter(rng):
    tries = 0
    while True:
        tries += 1
        if draw(2, rng):
            return min(tries, 3)


def stale_variable(rng):
    u = 0
    while True:
        before = u
        u = draw(3, rng)
        if u == 2:
            return before


def on_the_stack(rng):
    return sum(draw(2, rng) for _ in range(3))


def in_a_list(rng):
    seen = []
    while not draw(2, rng):
        seen.append(0)
    return min(len(seen), 3)


def by_its_type(rng):
    flag: Any = 1
    while True:
        if draw(2, rng):
            return str(flag)
        flag = True


def in_a_cell(rng):
    tries = 0

    def count():
        nonlocal tries
        tries += 1
        return draw(2, rng)

    while not count():
        pass
    return min(tries, 3)


def seen_by_an_inner_function(rng):
    tries = 0

    def capped_tries():
        return min(tries, 3)

    while True:
        if draw(2, rng):
            return capped_tries()
        tries += 1


def in_a_generator(rng):
    def tries():
        while True:
            yield draw(2, rng)

    return min(next(i for i, hit in enumerate(tries()) if hit), 3)


def in_an_argument(rng):
    n = 2
    while not draw(n, rng):
        n += 1
    return min(n, 5)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "program",
    [
        *(counter, stale_variable, in_a_list, by_its_type, in_a_cell, seen_by_an_inner_function),
        *(in_an_argument, in_a_generator),
    ],
)
def test_what_is_carried_along_is_followed(program: Callable[[Any], Any]) -> None:
    assert_law(program)


def test_a_loop_with_an_end_is_followed_to_it() -> None:
    assert_law(on_the_stack)


class Shared:
    tries = 0


def in_a_global(rng):
    Shared.tries = 0
    try:
        while True:
            if draw(2, rng):
                return min(Shared.tries, 3)
            Shared.tries += 1
    finally:
        Shared.tries = 0


def noted(rng, notes=[]):  # noqa: B006
    notes.append(draw(2, rng))
    return notes[-1]


def in_a_default(rng):
    try:
        while True:
            if noted(rng):
                return min(len(noted.__defaults__[0]), 3)
    finally:
        noted.__defaults__[0].clear()


@pytest.mark.few(1)
@pytest.mark.parametrize("program", [in_a_global, in_a_default])
def test_state_that_is_put_back_in_the_end(program: Callable[[Any], Any]) -> None:
    """Nothing outlives a run, so only a look in the middle of one tells the rounds apart.

    The k-th round is the last one with probability 2^-k.
    """
    law = foreign_law(program, residual=OPEN)
    first = 0 if program is in_a_global else 1
    expected = {k: Fraction(1, 2 ** (k - first + 1)) for k in range(first, 3)}
    for outcome, p in expected.items():
        assert law[outcome] == p


def test_a_loop_that_cannot_end() -> None:
    def program(rng):
        while True:
            if draw(2, rng) > 1:
                return

    with pytest.raises(TooManyBranches, match="has not ended"):
        foreign_law(program)


@pytest.mark.slow
def test_published_gaussian_noise() -> None:
    law = foreign_law(lambda rng: dgauss(1, rng))
    assert compare(law, DiscreteGaussian(sigma2=1).pmf, tolerance="1e-18").verdict == "agrees"
