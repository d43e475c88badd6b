"""Subroutines whose law is computed once and then drawn from, where following them is too much."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import wraps
from typing import Any

from exactdp.audit.whitebox.foreign import followed_law
from exactdp.audit.whitebox.generators import ExactGenerator, ExactRandom
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.outcomes import Outcome
from exactdp.audit.whitebox.watch import unwatched
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real
from exactdp.samplers.enumeration import MAX_RUNS, Finished, Lost

__all__ = ["shortcut", "shortcut_where_possible"]

#: Bits of a probability in a shortcut.
_LONG = 128

_AGAIN = "a rejection loop starts its next round"
_REUSABLE = (type(None), bool, int, float, complex, str, bytes, Fraction)


def shortcut(
    function: Callable[..., Any],
    *,
    residual: Real = Fraction(1, 2**96),
    rounds: tuple[Any, str] | None = None,
) -> Callable[..., Any]:
    """A foreign subroutine with its law computed once per arguments, then drawn from.

    A loop of samplers inside samplers has too many branches to follow; with a shortcut put in place
    of an inner sampler (module.sampler = shortcut(module.sampler)) each call has one branch per
    outcome. The law stays that of the code: what the subroutine's own law left unexplored, and what
    is rounded off a probability of more than 128 bits, is added to the residual.
    function: called with a generator among its arguments; the others are hashable, and its result
    (numbers, text, or tuples of them) may depend on nothing else. residual: unexplored probability
    of each of its laws; keep it far below that of the whole.
    rounds: for a rejection loop, (module, name) of the function it calls first in every round, and
    only there. One round is enumerated and the law conditioned on its being accepted, instead of
    following the loop. Only right for a loop that carries nothing from one round to the next.

    >>> from exactdp.audit import foreign_law
    >>> def heads(rng):                        # how many in a row
    ...     return 1 + heads(rng) if rng.randrange(2) else 0
    >>> quick = shortcut(heads)
    >>> len(foreign_law(lambda rng: min(quick(rng) + quick(rng), 4), residual="1e-9"))
    5
    """
    laws = _Laws(function if rounds is None else _one_round(function, *rounds), residual)

    @wraps(function)
    def drawing(*arguments: Any, **named: Any) -> Any:
        values = tuple(map(_plain, arguments)), {n: _plain(x) for n, x in named.items()}
        generator = _generator_among([*values[0], *values[1].values()])
        return _drawn(laws.of(values[0], values[1], generator), generator)

    return drawing


def shortcut_where_possible(function: Callable[..., Any]) -> Callable[..., Any]:
    """A shortcut for calls with a generator and immutable arguments that have a law; others go on
    to the function itself."""
    laws = _Laws(function, Fraction(1, 2**80), _MOST_RUNS)
    without: set[Hashable] = set()

    @wraps(function)
    def drawing(*arguments: Any, **named: Any) -> Any:
        values = tuple(map(_plain, arguments)), {n: _plain(x) for n, x in named.items()}
        found = [x for x in (*values[0], *values[1].values()) if type(x) in _GENERATORS]
        rest = [x for x in (*values[0], *values[1].values()) if type(x) not in _GENERATORS]
        if len(found) != 1 or not all(map(_is_reusable, rest)):
            return function(*arguments, **named)
        key = _key(values[0], values[1], found[0])
        if key not in without:
            try:
                law = laws.of(values[0], values[1], found[0])
            except Exception:  # whatever it is, the function itself will show it
                without.add(key)
            else:
                return _drawn(law, found[0])
        return function(*values[0], **values[1])

    return drawing


_GENERATORS = (ExactRandom, ExactGenerator)
_MOST_RUNS = 5_000


class _Laws:
    """The laws of one function, computed once per arguments."""

    def __init__(self, once: Callable[..., Any], residual: Real, max_runs: int = MAX_RUNS) -> None:
        self._once, self._residual, self._max_runs = once, residual, max_runs
        self._known: dict[Hashable, tuple[list[Any], list[Fraction]]] = {}

    def of(self, arguments: tuple[Any, ...], named: dict[str, Any], generator: Any) -> Any:
        key = _key(arguments, named, generator)
        if key not in self._known:

            def program(other: Any) -> Any:
                swap = {id(generator): other}
                return self._once(
                    *(swap.get(id(x), x) for x in arguments),
                    **{name: swap.get(id(x), x) for name, x in named.items()},
                )

            with unwatched():
                law = followed_law(
                    program,
                    interface="random" if type(generator) is ExactRandom else "numpy",
                    residual=self._residual,
                    max_runs=self._max_runs,
                    progress=False,
                )
                self._known[key] = _rounded(_accepted(law))
        return self._known[key]


def _drawn(law: tuple[list[Any], list[Fraction]], generator: Any) -> Any:
    outcomes, weights = law
    chosen = generator.draws.choose(weights)
    if chosen == len(outcomes):
        generator.draws.source.stop(Lost())
    return outcomes[chosen]


def _generator_among(arguments: list[Any]) -> Any:
    found = [x for x in arguments if type(x) in _GENERATORS]
    if len(found) != 1:
        raise InvalidParameter("arguments", len(found), "with one generator among them")
    return found[0]


def _one_round(function: Callable[..., Any], module: Any, name: str) -> Callable[..., Any]:
    """The function up to its second direct call of module.name, where its run is over."""
    code = getattr(function, "__code__", None)

    def once(*arguments: Any, **named: Any) -> Any:
        generator = _generator_among([*arguments, *named.values()])
        first, calls = getattr(module, name), 0

        @wraps(first)
        def counted(*inner: Any, **also: Any) -> Any:
            nonlocal calls
            calls += sys._getframe(1).f_code is code
            if calls > 1:
                generator.draws.source.stop(Finished(Outcome(_AGAIN, _AGAIN)))
            return first(*inner, **also)

        setattr(module, name, counted)
        try:
            return function(*arguments, **named)
        finally:
            setattr(module, name, first)

    return once


def _accepted(law: Law[Outcome]) -> Law[Outcome]:
    """The law given that no further round is needed; what is left out stays a lower bound."""
    again = Outcome(_AGAIN, _AGAIN)
    share = 1 - law[again]  # at least the probability of accepting, so weights / share are lower
    kept = {x: weight / share for x, weight in law.items() if x != again}
    return Law(kept, 1 - sum(kept.values(), Fraction(0)))


def _plain(argument: Any) -> Any:
    return argument.settle() if isinstance(argument, LazyNumber) else argument


def _rounded(law: Law[Outcome]) -> tuple[list[Any], list[Fraction]]:
    """Outcomes and weights; long fractions are rounded down, and a last weight holds the rest.

    Products of long fractions would take up most of the time.
    """
    outcomes = [_reusable(outcome.value) for outcome in law]
    weights = [_shortened(weight) for weight in law.weights.values()]
    rest = 1 - sum(weights, Fraction(0))
    return outcomes, [*weights, rest] if rest else weights


def _reusable(value: Any) -> Any:
    if not _is_reusable(value):
        raise InvalidParameter("function", value, "one that returns numbers, text or tuples")
    return value


def _is_reusable(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_reusable, value))
    return type(value) in _REUSABLE


def _shortened(weight: Fraction) -> Fraction:
    unit = 1 << _LONG
    return weight if weight.denominator <= unit else Fraction(math.floor(weight * unit), unit)


def _key(arguments: Any, named: dict[str, Any], generator: Any) -> Hashable:
    """The arguments without the generator, with their types: 1 and 1.0 may act differently."""

    def part(x: Any) -> Hashable:
        return "generator" if x is generator else (type(x), x)

    key = (tuple(map(part, arguments)), tuple((n, part(x)) for n, x in sorted(named.items())))
    try:
        hash(key)
    except TypeError:
        raise InvalidParameter("arguments", arguments, "hashable for a shortcut") from None
    return key
