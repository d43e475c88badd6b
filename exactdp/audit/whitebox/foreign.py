"""The exact output law of foreign code that takes its randomness from an object.

Such code needs no change and no knowledge of this library: it calls the methods of random.Random
(or of a numpy Generator), and every branch of what they may return is followed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import wraps
from typing import Any

from exactdp.audit.whitebox.generators import ExactGenerator, ExactRandom
from exactdp.audit.whitebox.lazy import LazyNumber, NotEnumerable, settled
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, choice
from exactdp.samplers.enumeration import (
    MAX_RUNS,
    EnumeratingSource,
    NotReproducible,
    TooManyBranches,
    exact_law,
)

__all__ = ["foreign_law", "shortcut"]

_INTERFACES: dict[str, Callable[[EnumeratingSource], Any]] = {
    "random": ExactRandom,
    "numpy": ExactGenerator,
    "source": lambda source: source,
}

#: How much of a law is computed again to see whether the program is a function of its generator,
#: and how many outcomes are wanted from that: a law of one outcome is computed so many times.
_REPEATED = Fraction(1, 2)
_WANTED = 20


#: Bits of a probability in a shortcut.
_LONG = 128


class _Lost(BaseException):
    """A run reached the unexplored part of a shortcut: not an Exception, so nobody catches it."""


class _Again(BaseException):
    """A rejection loop starts its next round."""


_LOST = ("lost", object())
_AGAIN = ("again", object())


def foreign_law(
    program: Callable[[Any], Any],
    *,
    interface: str = "random",
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    exceptions: str = "raise",
    progress: bool = True,
) -> Law[Any]:
    """The exact output law of a program that takes its randomness from a generator object.

    program: called with the generator; its result may depend on nothing else. Lists and arrays in
    the result become tuples, sets and dicts frozensets. A module that imports random for itself is
    served by setting its name random to the generator while the program runs.
    interface: "random" for an object like random.Random, random.SystemRandom or secrets; "numpy"
    for the part of numpy.random.Generator that has an exact law; "source" for a Source of exactdp.
    residual: unexplored probability that may remain; the law carries it.
    max_runs: most branches to follow; see :func:`shortcut` for programs that need too many.
    exceptions: "raise", or "outcome" to make ("raised", name of the exception) an outcome.
    Raises NotEnumerable for a use of randomness that has no exact law here, TooManyBranches, and
    NotReproducible for a program that was seen to depend on something else.

    >>> def biased(rng):                       # a die from the low bits of a byte
    ...     return 1 + rng.getrandbits(8) % 6
    >>> print(foreign_law(biased)[1], foreign_law(biased)[6])
    43/256 21/128
    """
    make = _INTERFACES[choice("interface", interface, tuple(_INTERFACES))]
    choice("exceptions", exceptions, ("raise", "outcome"))

    def run(source: Any) -> Hashable:
        try:
            outcome: Hashable = settled(program(make(source)))
        except _Lost:
            outcome = _LOST
        except (NotEnumerable, NotReproducible, TooManyBranches):
            raise
        except Exception as error:
            if exceptions == "raise":
                raise
            outcome = ("raised", type(error).__name__)
        return outcome

    law = exact_law(run, residual=residual, max_runs=max_runs, progress=progress)
    for _ in range(max(_WANTED // max(len(law), 1), 1)):
        _repeat(run, law, max_runs)
    kept = {outcome: weight for outcome, weight in law.items() if outcome is not _LOST}
    return Law(kept, law.residual + law[_LOST])


def _repeat(run: Callable[[Any], Hashable], law: Law[Any], max_runs: int) -> None:
    part = max(law.residual, _REPEATED)
    again = exact_law(run, residual=part, max_runs=max_runs, progress=False)
    if any(weight > law[outcome] for outcome, weight in again.items()):
        raise NotReproducible(
            "the same choices gave another outcome when repeated: the program depends on "
            "something else than its generator"
        )


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
    may depend on nothing else. residual: unexplored probability of each of its laws; keep it far
    below that of the whole.
    rounds: for a rejection loop, (module, name) of the function it calls first in every round, and
    only there. One round is enumerated and the law conditioned on its being accepted, instead of
    following the loop. Only right for a loop that carries nothing from one round to the next.

    >>> def heads(rng):                        # how many in a row
    ...     return 1 + heads(rng) if rng.randrange(2) else 0
    >>> quick = shortcut(heads)
    >>> len(foreign_law(lambda rng: min(quick(rng) + quick(rng), 4), residual="1e-9"))
    5
    """
    known: dict[Hashable, tuple[list[Any], list[Fraction]]] = {}
    once = function if rounds is None else _one_round(function, *rounds)

    @wraps(function)
    def drawing(*arguments: Any, **named: Any) -> Any:
        values = tuple(map(_plain, arguments)), {n: _plain(x) for n, x in named.items()}
        found = [x for x in (*arguments, *named.values()) if isinstance(x, _GENERATORS)]
        if len(found) != 1:
            raise InvalidParameter("arguments", len(found), "with one generator among them")
        generator = found[0]
        key = _key(values[0], values[1], generator)
        if key not in known:

            def program(other: Any) -> Any:
                swap = {id(generator): other}
                return once(
                    *(swap.get(id(x), x) for x in values[0]),
                    **{name: swap.get(id(x), x) for name, x in values[1].items()},
                )

            interface = "random" if isinstance(generator, ExactRandom) else "numpy"
            law = foreign_law(program, interface=interface, residual=residual)
            known[key] = _rounded(_accepted(law))
        outcomes, weights = known[key]
        chosen = generator.source.choose(weights)
        if chosen == len(outcomes):
            raise _Lost
        return outcomes[chosen]

    return drawing


def _one_round(function: Callable[..., Any], module: Any, name: str) -> Callable[..., Any]:
    """The function up to its second direct call of module.name, where it returns _AGAIN."""
    code = getattr(function, "__code__", None)

    def once(*arguments: Any, **named: Any) -> Any:
        first, calls = getattr(module, name), 0

        def counted(*inner: Any, **also: Any) -> Any:
            nonlocal calls
            calls += sys._getframe(1).f_code is code
            if calls > 1:
                raise _Again
            return first(*inner, **also)

        setattr(module, name, counted)
        try:
            return function(*arguments, **named)
        except _Again:
            return _AGAIN
        finally:
            setattr(module, name, first)

    return once


def _accepted(law: Law[Any]) -> Law[Any]:
    """The law given that no further round is needed; what is left out stays a lower bound."""
    if _AGAIN not in law.support:
        return law
    share = 1 - law[_AGAIN]  # at least the probability of accepting, so weights / share are lower
    kept = {x: weight / share for x, weight in law.items() if x != _AGAIN}
    return Law(kept, 1 - sum(kept.values(), Fraction(0)))


def _plain(argument: Any) -> Any:
    return settled(argument) if isinstance(argument, LazyNumber) else argument


def _rounded(law: Law[Any]) -> tuple[list[Any], list[Fraction]]:
    """Outcomes and weights; long fractions are rounded down, and a last weight holds the rest.

    Products of long fractions would take up most of the time.
    """
    weights = [_shortened(weight) for weight in law.weights.values()]
    rest = 1 - sum(weights, Fraction(0))
    return list(law), [*weights, rest] if rest else weights


def _shortened(weight: Fraction) -> Fraction:
    unit = 1 << _LONG
    return weight if weight.denominator <= unit else Fraction(math.floor(weight * unit), unit)


_GENERATORS = (ExactRandom, ExactGenerator)


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
