"""The exact output law of foreign code that takes its randomness from an object.

Such code needs no change and no knowledge of this library: it calls the methods of random.Random
(or of a numpy Generator), and every branch of what they may return is followed. Where those are too
many, the samplers inside the program are enumerated one by one, and drawn from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from exactdp.audit.whitebox.foreign import Exhausted, followed_law
from exactdp.audit.whitebox.outcomes import Outcome
from exactdp.audit.whitebox.shortcuts import shortcut_where_possible
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.law import Law
from exactdp.parameters import Real
from exactdp.samplers.enumeration import MAX_RUNS
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["foreign_law", "outcome_law"]


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
    interface: "random" for an object like random.SystemRandom, or the module secrets; "numpy"
    for the part of numpy.random.Generator that has an exact law; "source" for a Source of exactdp.
    residual: unexplored probability that may remain; the law carries it.
    max_runs: most branches to follow; see :func:`shortcut` for programs that need too many.
    exceptions: "raise", or "outcome" to make ("raised", name of the exception) an outcome.
    Raises NotEnumerable for a use of randomness that has no exact law here, for outcomes that
    cannot be told apart, and for code that may depend on more than its generator (a clock, a file,
    another generator); TooManyBranches; NotReproducible for a program that keeps something from
    one run to the next, or does not repeat itself. A signal of these that the program swallows is
    raised all the same.

    >>> def biased(rng):                       # a die from the low bits of a byte
    ...     return 1 + rng.getrandbits(8) % 6
    >>> print(foreign_law(biased)[1], foreign_law(biased)[6])
    43/256 21/128
    """
    law = outcome_law(
        program,
        interface=interface,
        residual=residual,
        max_runs=max_runs,
        exceptions=exceptions,
        progress=progress,
    )
    weights: dict[Any, Fraction] = {}
    for outcome, weight in law.items():
        if outcome.value in weights:
            raise NotEnumerable(
                f"two different outcomes compare equal: {outcome.value!r}; return them as text"
            )
        weights[outcome.value] = weight
    return Law(weights, law.residual)


def outcome_law(program: Callable[[Any], Any], **options: Any) -> Law[Outcome]:
    """The law of :func:`foreign_law` over Outcomes, which tell apart what == does not."""
    try:
        return followed_law(program, **options)
    except Exhausted as error:
        if not error.drawing:
            raise
        names = ", ".join(name for _, name in error.drawing)
        try:
            with _shortcuts(error.drawing):
                return followed_law(program, **options)
        except TooManyBranches as again:
            raise TooManyBranches(
                f"{again}, also with the laws of {names} computed apart; what helps are samplers "
                "that are functions of their own, called with numbers and the generator"
            ) from None


@contextmanager
def _shortcuts(drawing: list[tuple[dict[str, Any], str]]) -> Iterator[None]:
    """Functions of modules replaced by their laws, as far as they have any."""
    before = [(inside, name, inside[name]) for inside, name in drawing]
    for inside, name, function in before:
        inside[name] = shortcut_where_possible(function)
    try:
        yield
    finally:
        for inside, name, function in before:
            inside[name] = function
