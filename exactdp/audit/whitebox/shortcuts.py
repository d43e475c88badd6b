"""Subroutines whose law is computed once and then drawn from, where following them is too much."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from exactdp.audit.whitebox.draws import Draws, RecordedDraws
from exactdp.audit.whitebox.foreign import followed_law
from exactdp.audit.whitebox.garbage import tidy
from exactdp.audit.whitebox.generators import ExactRandom
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.memory import state
from exactdp.audit.whitebox.outcomes import Outcome
from exactdp.audit.whitebox.quiet import quiet
from exactdp.audit.whitebox.rounds import exact_key, is_generator, is_plain
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.audit.whitebox.watch import unwatched
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real
from exactdp.samplers.enumeration import MAX_RUNS
from exactdp.samplers.enumeration_branches import Lost

__all__ = ["shortcut", "shortcut_where_possible"]

#: Bits of a probability in a shortcut.
_LONG = 128

#: A sampler inside is followed so much further than the law that it is part of, in bits, and so
#: much less where it is seldom called; in steps, that not every call needs a law of its own.
_FURTHER, _STEP = 8, 8
_MOST_RUNS = 5_000

#: What a function reaches is compared in so many calls, then in one of so many.
_COMPARED, _SELDOM = 200, 61


def shortcut(
    function: Callable[..., Any], *, residual: Real = Fraction(1, 2**96)
) -> Callable[..., Any]:
    """A foreign subroutine with its law computed once per arguments, then drawn from.

    A loop of samplers inside samplers has too many branches to follow; with a shortcut put in place
    of an inner sampler (module.sampler = shortcut(module.sampler)) each call has one branch per
    outcome. The law stays that of the code: what the subroutine's own law left unexplored, and what
    is rounded off a probability of more than 128 bits, is added to the residual.
    function: called with a generator among its arguments; the others are hashable, and its result
    (numbers, text, or tuples of them) may depend on nothing else. residual: unexplored probability
    of each of its laws; keep it far below that of the whole.

    >>> from exactdp.audit import foreign_law
    >>> def heads(rng):                        # how many in a row
    ...     return 1 + heads(rng) if rng.randrange(2) else 0
    >>> quick = shortcut(heads)
    >>> len(foreign_law(lambda rng: min(quick(rng) + quick(rng), 4), residual="1e-9"))
    5
    """
    laws = _Laws(function, MAX_RUNS)

    @wraps(function)
    def drawing(*arguments: Any, **named: Any) -> Any:
        call = _Call(arguments, named)
        if call.generator is None:
            raise InvalidParameter("arguments", call.generators, "with one generator among them")
        if (key := call.key()) is None:
            raise InvalidParameter("arguments", arguments, "hashable for a shortcut")
        return _drawn(laws.of(call, key, residual), call.generator)

    return drawing


def shortcut_where_possible(function: Callable[..., Any]) -> Callable[..., Any]:
    """A shortcut for calls with a generator and immutable arguments that have a law; others go on
    to the function itself."""
    laws = _Laws(function, _MOST_RUNS)
    without: set[Hashable] = set()

    def law(call: _Call) -> _Choices | None:
        key = call.key()
        if key is None or key in without or call.generator is None:
            return None
        without.add(key)  # a call of the function from within itself goes on to the function
        try:
            found = laws.of(call, key, Fraction(1, 1 << _fineness(call.generator.draws)))
        except Exception:  # whatever it is, the function itself will show it
            return None
        without.remove(key)
        return found

    @quiet
    def drawn(*arguments: Any, **named: Any) -> tuple[_Call | None, Any]:
        """The call, if it has to be made, or what was drawn."""
        call = _Call(arguments, named)
        known = law(call)
        return (call, None) if known is None else (None, _drawn(known, call.generator))

    @wraps(function)
    def drawing(*arguments: Any, **named: Any) -> Any:
        call, outcome = drawn(*arguments, **named)
        return outcome if call is None else function(*call.arguments, **call.named)

    return drawing


def _fineness(draws: Any) -> int:
    """To how many bits a law is followed that is drawn from here: the same for every visit."""
    seldom = -math.log2(draws.source.reached)
    steps: int = math.ceil((draws.bits + _FURTHER - seldom) / _STEP)
    return max(steps, 1) * _STEP


class _Call:
    """Arguments without lazy numbers, and the generator among them; None unless there is one."""

    def __init__(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.arguments = tuple(map(_plain, arguments))
        self.named = {name: _plain(x) for name, x in named.items()}
        found = [x for x in (*self.arguments, *self.named.values()) if is_generator(x)]
        self.generators = len(found)
        self.generator = found[0] if len(found) == 1 else None

    def key(self) -> Hashable:
        """Equal for arguments that nothing tells apart; None where that cannot be known."""
        try:
            named = ((name, exact_key(x)) for name, x in sorted(self.named.items()))
            return tuple(map(self._part, self.arguments)), tuple(named)
        except NotEnumerable:
            return None

    def _part(self, value: Any) -> Hashable:
        return "generator" if value is self.generator else exact_key(value)

    def with_generator(self, other: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same arguments with another generator."""
        before = self.generator
        named = {name: other if x is before else x for name, x in self.named.items()}
        return tuple(other if x is before else x for x in self.arguments), named


#: Outcomes and their weights; a last weight without an outcome is what is not known.
_Choices = tuple[list[Any], list[Fraction]]


class _Laws:
    """The laws of one function, computed once per arguments and residual.

    A program may change a scale between two calls: what the function reaches is compared in the
    first calls and in some of the others, so for the program and for each of the samplers that its
    samplers are made of, and in all of the program's own runs that are repeated.
    """

    _depth: ClassVar[int] = 0  # laws that are just being computed, one inside another

    def __init__(self, function: Callable[..., Any], max_runs: int) -> None:
        self._function, self._max_runs = function, max_runs
        self._state: Any = None
        self._calls = Counter[tuple[int, type]]()
        self._known: dict[Hashable, _Choices] = {}
        self._exact: dict[Hashable, _Choices] = {}

    def of(self, call: _Call, key: Hashable, residual: Real) -> _Choices:
        generator: Any = call.generator
        draws: Draws = generator.draws
        if self._is_compared(draws):
            self._compare(draws)
        place = key, residual
        if place not in self._known and key in self._exact:
            self._known[place] = self._exact[key]
        if place not in self._known:

            @wraps(self._function)
            def program(generator: Any) -> Any:
                arguments, named = call.with_generator(generator)
                return _reusable(self._function(*arguments, **named))

            with unwatched(), tidy(), _deeper():
                law = followed_law(
                    program,
                    interface="random" if type(call.generator) is ExactRandom else "numpy",
                    residual=residual,
                    max_runs=self._max_runs,
                    progress=False,
                )
            self._known[place] = found = _rounded(law)
            if len(found[0]) == len(found[1]):
                self._exact[key] = found
        return self._known[place]

    def _is_compared(self, draws: Draws) -> bool:
        here = _Laws._depth, type(draws)
        self._calls[here] += 1
        count, repeated = self._calls[here], here == (0, RecordedDraws)
        return repeated or count <= _COMPARED or count % _SELDOM == 0

    @quiet
    def _compare(self, draws: Draws) -> None:
        """What the function reaches must be as it was in the first call."""
        with np.errstate(all="ignore"):  # as it is while lazy numbers are about
            now = state(self._function)
        if self._state is None:
            self._state = now
        if now != self._state:
            name = self._function.__name__
            draws.refuse(f"the program changes what {name} depends on between two calls of it")


@contextmanager
def _deeper() -> Iterator[None]:
    """The law of a sampler is computed inside of what calls it."""
    _Laws._depth += 1
    try:
        yield
    finally:
        _Laws._depth -= 1


@quiet
def _drawn(choices: _Choices, generator: Any) -> Any:
    outcomes, weights = choices
    chosen = generator.draws.choose(weights)
    if chosen == len(outcomes):
        generator.draws.source.stop(Lost())
    return outcomes[chosen]


def _plain(argument: Any) -> Any:
    return argument.settle() if isinstance(argument, LazyNumber) else argument


def _rounded(law: Law[Outcome]) -> _Choices:
    """Outcomes and weights; long fractions are rounded down, and a last weight holds the rest.

    Products of long fractions would take up most of the time.
    """
    outcomes = [outcome.value for outcome in law]
    weights = [_shortened(weight) for weight in law.weights.values()]
    rest = 1 - sum(weights, Fraction(0))
    return outcomes, [*weights, rest] if rest else weights


def _reusable(value: Any) -> Any:
    """A result that may be given again: nobody can have changed it meanwhile."""
    if type(value) is tuple:
        return tuple(map(_reusable, value))
    if not (is_plain(value) or isinstance(value, LazyNumber)):
        raise InvalidParameter("function", value, "one that returns numbers, text or tuples")
    return value


def _shortened(weight: Fraction) -> Fraction:
    unit = 1 << _LONG
    return weight if weight.denominator <= unit else Fraction(math.floor(weight * unit), unit)
