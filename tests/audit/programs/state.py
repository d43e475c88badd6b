"""Programs with something that survives a run: the law of one call is not that of the next."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

from tests.audit.programs.case import Group, Program, coin

STATE = Group()


def mostly(x: int, rng: Any) -> int:
    """The bit but for one time in a hundred: what a stale value hides."""
    return x if rng.randrange(100) else 1 - x


@STATE.maker(apart=0.8)
def memo_in_a_closure() -> Program:
    """The first draw is kept, and given for every later one."""
    memo: dict[str, int] = {}

    def program(x, rng):
        if x not in memo:
            memo[x] = mostly(x, rng)
        return memo[x]

    return program


@STATE.twin_maker
def memo_in_a_closure_twin() -> Program:
    def program(x, rng):
        memo: dict[str, int] = {}
        if "u" not in memo:
            memo["u"] = coin(x, rng)
        return memo["u"]

    return program


@STATE.maker()
def memo_shared_by_all() -> Program:
    """The memo does not even tell the two data sets apart."""
    memo: dict[str, int] = {}

    def program(x, rng):
        if "u" not in memo:
            memo["u"] = mostly(x, rng)
        return memo["u"]

    return program


@STATE.twin_maker
def memo_shared_by_all_twin() -> Program:
    memo: dict[str, int] = {"scale": 1}

    def program(x, rng):
        return coin(x, rng) * memo["scale"]

    return program


@STATE.maker()
def memo_by_value() -> Program:
    """A private answer kept by its value looks like a leak."""
    memo: dict[int, int] = {}

    def program(x, rng):
        drawn = rng.randrange(4)
        if drawn not in memo:
            memo[drawn] = coin(x, rng)
        return memo[drawn]

    return program


@STATE.twin_maker
def memo_by_value_twin() -> Program:
    def program(x, rng):
        memo: dict[int, int] = {}
        drawn = rng.randrange(4)
        if drawn not in memo:
            memo[drawn] = coin(x, rng)
        return memo[drawn]

    return program


@STATE.maker()
def default_argument() -> Program:
    """A mutable default remembers the first answer."""

    def program(x, rng, seen=[]):
        if not seen:
            seen.append(mostly(x, rng))
        return seen[0]

    return program


@STATE.twin_maker
def default_argument_twin() -> Program:
    def program(x, rng, seen=(3,)):
        return coin(x, rng) * len(seen)

    return program


@STATE.maker()
def cached_function() -> Program:
    """lru_cache keyed by something that is not the randomness."""

    @cache
    def noisy(name: str) -> int:
        return mostly(current[0], generator[0])

    generator: list[Any] = [None]
    current = [0]

    def program(x, rng):
        generator[0], current[0] = rng, x
        return noisy("count")

    return program


@STATE.twin_maker
def cached_function_twin() -> Program:
    @cache
    def threshold(size: int) -> int:
        return size // 2 + 1

    def program(x, rng):
        return x if rng.randrange(21) < threshold(21) else 1 - x

    return program


@STATE.maker()
def instance_attribute() -> Program:
    """An object that answers once and then repeats itself."""

    class Server:
        answer: int | None = None

        def ask(self, x, rng):
            if self.answer is None:
                self.answer = mostly(x, rng)
            return self.answer

    return Server().ask


@STATE.twin_maker
def instance_attribute_twin() -> Program:
    class Server:
        odds = 21

        def ask(self, x, rng):
            return x if rng.randrange(self.odds) < 11 else 1 - x

    return Server().ask


@STATE.maker()
def class_attribute() -> Program:
    """The same on the class, where a fresh instance does not help."""

    class Server:
        answers: dict[str, int] = {}

        def ask(self, x, rng):
            return self.answers.setdefault("u", mostly(x, rng))

    return lambda x, rng: Server().ask(x, rng)


@STATE.twin_maker
def class_attribute_twin() -> Program:
    class Server:
        answers: dict[str, int] = {"odds": 21}

        def ask(self, x, rng):
            return x if rng.randrange(self.answers["odds"]) < 11 else 1 - x

    return lambda x, rng: Server().ask(x, rng)


_calls = 0


def _reset() -> None:
    global _calls
    _calls = 0


@STATE.maker()
def global_counter() -> Program:
    """Every thousandth call answers without noise."""
    _reset()

    def program(x, rng):
        global _calls
        _calls += 1
        return x if _calls % 1000 == 0 else coin(x, rng)

    return program


@STATE.twin_maker
def global_counter_twin() -> Program:
    _reset()

    def program(x, rng):
        return x if _calls else coin(x, rng)

    return program


@STATE.maker()
def closure_counter() -> Program:
    """A counter in a cell, far from what a few runs reach."""
    calls = 0

    def program(x, rng):
        nonlocal calls
        calls += 1
        return x if calls > 10**6 else coin(x, rng)

    return program


@STATE.twin_maker
def closure_counter_twin() -> Program:
    calls = 5

    def program(x, rng):
        return x if calls > 10**6 else coin(x, rng)

    return program


@STATE.maker()
def closure_list() -> Program:
    """A budget spent by every call; when it is gone the answer is exact."""
    budget = [1] * 5000

    def program(x, rng):
        if not budget:
            return x
        budget.pop()
        return coin(x, rng)

    return program


@STATE.twin_maker
def closure_list_twin() -> Program:
    budget = [1] * 50

    def program(x, rng):
        left = list(budget)
        left.pop()
        return coin(x, rng) if left else x

    return program


@STATE.maker()
def iterator_of_noise() -> Program:
    """Noise from an iterator made once: itertools.cycle has no randomness at all."""
    noise = itertools.cycle([0] * 2000 + [1])

    def program(x, rng):
        return x if next(noise) else coin(x, rng)

    return program


@STATE.twin_maker
def iterator_of_noise_twin() -> Program:
    def program(x, rng):
        noise = itertools.cycle([0] * 2000 + [1])
        return x if next(noise) else coin(x, rng)

    return program


@STATE.maker()
def suspended_generator() -> Program:
    """A generator function that lives on between calls."""

    def stream():
        for _ in range(2000):
            yield False
        while True:
            yield True

    spent = stream()

    def program(x, rng):
        return x if next(spent) else coin(x, rng)

    return program


@STATE.twin_maker
def suspended_generator_twin() -> Program:
    def stream():
        yield False
        yield True

    def program(x, rng):
        return x if next(stream()) else coin(x, rng)

    return program
