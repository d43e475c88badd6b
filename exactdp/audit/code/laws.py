"""The exact law of a program."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from exactdp.audit.code.judge import SECONDS, Judge
from exactdp.errors import NotEnumerable
from exactdp.law import Law
from exactdp.parameters import Real
from exactdp.samplers.enumeration import MAX_RUNS


def foreign_law(
    program: Callable[[Any], Any],
    *,
    interface: str = "random",
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    exceptions: str = "raise",
    progress: bool = True,
    seconds: Real = SECONDS,
) -> Law[Any]:
    """The exact output law of one call of a program, from the present state.

    program: called with a generator, in forked processes: what it changes is not seen here. Lists
        and arrays in its result become tuples, dicts frozensets of pairs. A module that imports
        random for itself is served by setting its name random to the generator in the program.
    interface: "random" for an object like random.SystemRandom, or the module secrets; "numpy" for
        the part of numpy.random.Generator that has an exact law; "source" for a Source of exactdp.
    residual: probability that may remain unexplored, >= 0 and < 1; the law carries what is.
    max_runs: largest number of runs for the program.
    exceptions: "raise", or "outcome" to make ("raised", name of the exception) an outcome.
    progress: show a bar for long searches, on a terminal only.
    seconds: time after which the search is given up (TooManyBranches), > 0.

    Raises NotEnumerable for a use of randomness that has no exact law here, for outcomes that are
    no plain values, and for randomness beside the generator; TooManyBranches; NotReproducible
    if equal draws lead to different results. The program's own exceptions are raised here, with the
    traceback of the forked process as a note.

    >>> def biased(rng):                       # a die from the low bits of a byte
    ...     return 1 + rng.getrandbits(8) % 6
    >>> print(foreign_law(biased)[1], foreign_law(biased)[6])  # takes seconds
    43/256 21/128
    """
    law = Judge(interface, residual, max_runs, exceptions, progress, seconds).law(program).law
    weights: dict[Any, Fraction] = {}
    for outcome, weight in law.items():
        if outcome.value in weights:
            raise NotEnumerable(
                f"two different outcomes compare equal: {outcome.value!r}; return them as text"
            )
        weights[outcome.value] = weight
    return Law(weights, law.residual)
