"""Single runs, read step by step: the draws of each, and what the program must then return."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from exactdp.audit.steps.draws import Drawn
from exactdp.audit.steps.steps import Call, Code, Draw, Return, Ways
from exactdp.audit.steps.values import Refused, outcome
from exactdp.samplers.enumeration_branches import Choice, Path

#: The most draws of a run that is repeated.
_MOST_DRAWS = 4_096
#: The most runs, and the draws of all runs after which they may be enough.
_RUNS, _MANY_DRAWS = 200, 1 << 12


class _Endless(Refused):
    """A run of too many draws, which is left out; what else is refused ends the reading."""


class _Script:
    def __init__(self, choose: Callable[[Drawn], tuple[Any, int]]) -> None:
        self._choose, self.path, self.ways = choose, list[Choice](), Ways()

    def run(self, code: Code, arguments: list[Any]) -> Any:
        """What a call returns."""
        place, slots = code.start(arguments, self.ways)
        while not isinstance(step := code.steps[place], Return):
            if isinstance(step, Draw):
                value = self._draw(step.drawn(slots))
            else:
                assert isinstance(step, Call)
                value = self.run(step.function, [each(slots) for each in step.arguments])
            slots[step.sets[0]] = value
            place, slots = code.advance(step.nexts[0], slots, self.ways)
        return step.value(slots)

    def _draw(self, law: Drawn) -> Any:
        value, number = self._choose(law)
        if law.width > 1:
            self.path.append(Choice(number, law.width, Fraction(1, law.width)))
        if len(self.path) > _MOST_DRAWS:
            raise _Endless("a run of thousands of draws")
        return value


def runs(
    code: Code, arguments: list[Any], ways: Ways, enough: Callable[[], bool]
) -> Iterator[tuple[Path, Any]]:
    """Some runs: the choices of each, and the object that it returns.

    ways: takes the steps that these runs pass. enough: whether these are all that matter.
    Numbers are the least, the greatest, at the ends of what leads to one value, or any.
    """
    # S311: which runs are repeated; nothing is drawn for a release
    draws = 0
    for seed in range(_RUNS):
        generator = random.Random(seed)  # noqa: S311
        script = _Script(lambda law: _chosen(law, seed, generator))  # noqa: B023
        with suppress(_Endless):
            value = script.run(code, arguments)
            ways |= script.ways
            yield tuple(script.path), outcome(value)
            draws += len(script.path)
        if draws > _MANY_DRAWS and enough():
            return


def _chosen(law: Drawn, seed: int, generator: random.Random) -> tuple[Any, int]:
    """A value and its number. Every other run takes all values alike, so that rare ones occur."""
    if seed > 1 and seed % 2:
        value, low, high = generator.choice(law.pieces)
        return value, generator.choice((low, high - 1))
    number = {0: 0, 1: law.width - 1}.get(seed, generator.randrange(law.width))
    for value, low, high in law.pieces:
        if low <= number < high:
            ends = (low, high - 1, number, number)
            return value, ends[0] if seed < 2 and number == low else generator.choice(ends)
    raise Refused("a draw without a value")
