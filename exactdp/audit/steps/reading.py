"""The laws of a program on two data sets, as far as a verdict needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from exactdp.audit.steps.chain import Chain, Values
from exactdp.audit.steps.parts import Passed, laws_of_parts, states_passed
from exactdp.audit.steps.products import Result, joint_laws
from exactdp.audit.steps.scripts import runs
from exactdp.audit.steps.steps import Code, Ways
from exactdp.audit.steps.translation import Program
from exactdp.audit.steps.values import GENERATOR, Refused, key, outcome, read, refuse
from exactdp.law import Law
from exactdp.samplers.enumeration_branches import Path

#: Open probabilities that are tried, one after the other: 2^-8, ...
_BITS = (8, 14, 22, 34, 48, 64)


class Pair(NamedTuple):
    """The laws on two data sets. states: how many were followed."""

    laws: tuple[Law[Result], Law[Result]]
    states: int


class Reading:
    """A program on two data sets. Raises Refused where it cannot be read.

    numpy: whether the generator is numpy's. until, tick: as for Chain.
    """

    def __init__(
        self,
        function: Any,
        data: tuple[Any, Any],
        numpy: bool,
        until: float,
        tick: Callable[[], object] = int,
    ) -> None:
        self._function, self._numpy, self._until, self._tick = function, numpy, until, tick
        self._arguments = [[_guarded(partial(read, each)), GENERATOR] for each in data]
        self._code: Code = _guarded(self._translated)
        self._in_laws, self._in_runs = Ways(), Ways()

    def laws(self, residual: Fraction) -> Iterator[Pair]:
        """The laws, with smaller and smaller open probabilities, down to the residual.

        Where parts of the output are independent, the laws are those of the parts that differ.
        """
        passed = _guarded(self._passed)
        for bits in _BITS:
            chain = Chain(self._until, self._tick, self._in_laws)
            least = max(Fraction(1, 1 << bits), residual)
            pair = _guarded(partial(self._pair, chain, least, passed))
            yield pair
            if least <= residual or not any(law.residual for law in pair.laws):
                return

    def _passed(self) -> list[Passed] | None:
        chain = Chain(self._until, self._tick, self._in_laws)
        sides = [states_passed(chain, self._code, each) for each in self._whole_arguments()]
        known = [each for each in sides if each is not None]
        return known if len(known) == len(sides) else None

    def _pair(self, chain: Chain, residual: Fraction, passed: list[Passed] | None) -> Pair:
        if passed is not None:
            sides = [laws_of_parts(chain, each, residual / len(each.states)) for each in passed]
            laws = joint_laws(*sides)
            if laws is not None:
                return Pair(laws, chain.states)
        left, right = (chain.law(self._code, each, residual) for each in self._whole_arguments())
        return _pair(left, right, chain.states)

    def runs(self, side: int) -> list[tuple[Path, Any]]:
        """Runs on one of the data sets, to be repeated."""
        arguments = self._whole_arguments()[side]
        steps = self._code, arguments, self._in_runs, self.is_repeated
        return list(_guarded(lambda: list(runs(*steps))))

    def is_repeated(self) -> bool:
        """Whether the runs pass every step, and take every turn, that the laws rest on.

        Otherwise the program may do something else there than its text was taken to say.
        """
        return self._in_laws <= self._in_runs

    def _whole_arguments(self) -> list[list[Any]]:
        others = [self._code.defaults[name] for name in self._code.parameters[2:]]
        return [[*each, *others] for each in self._arguments]

    def _translated(self) -> Code:
        code = Program(self._numpy).code(self._function)
        others = code.parameters[2:]
        known = len(code.parameters) >= 2 and set(others) <= code.defaults.keys()
        return code if known else refuse("a function of other parameters")


def _guarded(work: Callable[[], Any]) -> Any:
    """What work() returns; an exception of the program's own, and one of ours, is Refused."""
    try:
        return work()
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from error


def _pair(left: Values, right: Values, states: int) -> Pair:
    laws = [
        Law({Result(key(value), outcome(value)): p for value, p in each.weights}, each.residual)
        for each in (left, right)
    ]
    return Pair((laws[0], laws[1]), states)
