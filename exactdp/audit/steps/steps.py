"""The steps into which a function is translated, and which variables are needed after each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from exactdp.audit.steps.draws import Drawn
from exactdp.audit.steps.values import GENERATOR, UNSET, Place, Refused, refuse, truth

#: The values of variables, by slot.
Slots = list[Any]
#: The most steps without a draw.
_MOST_STEPS = 1 << 16


def _unset(*values: Any) -> Any:
    refuse("a step without a function")


@dataclass(frozen=True)
class Expression:
    """An expression without draws. slots: the variables that it reads.

    copied: the variable whose items it is, in their order, if it is nothing else.
    """

    value: Callable[[Slots], Any]
    slots: frozenset[int] = frozenset()
    copied: int | None = None


@dataclass
class Step:
    """A step: reads `slots`, sets `sets`, and goes on at one of `nexts`."""

    slots: frozenset[int]
    sets: tuple[int, ...] = ()
    nexts: list[int] = field(default_factory=list)

    def run(self, slots: Slots) -> int:
        """Change the variables; returns the next step."""
        raise NotImplementedError


@dataclass
class Set(Step):
    """slot = value

    copied: as for Expression. grows: what changes the variable by items that do not depend on it.
    """

    value: Callable[[Slots], Any] = _unset
    copied: int | None = None
    grows: Callable[..., Any] | None = None

    def run(self, slots: Slots) -> int:
        slots[self.sets[0]] = self.value(slots)
        return self.nexts[0]


@dataclass
class Jump(Step):
    """Go on elsewhere."""

    def run(self, slots: Slots) -> int:
        return self.nexts[0]


@dataclass
class If(Step):
    """Go on at the first step if a condition holds, else at the second."""

    test: Callable[[Slots], Any] = _unset

    def run(self, slots: Slots) -> int:
        return self.nexts[0] if truth(self.test(slots)) else self.nexts[1]


@dataclass
class Next(Step):
    """Take the next item of a loop, whose place is in a slot, and go on at the first step; at the
    second if there is none."""

    place: int = 0
    assign: Callable[[Slots, Any], None] = _unset

    def run(self, slots: Slots) -> int:
        items = slots[self.place].items
        if not items:
            return self.nexts[1]
        slots[self.place] = Place(items[1:])
        self.assign(slots, items[0])
        return self.nexts[0]


@dataclass
class Pause(Step):
    """A step with several results, one of which goes into the slot that it sets."""


@dataclass
class Draw(Pause):
    """slot = a draw. generator: the slot that must hold it."""

    generator: int = 0
    draw: Callable[[Slots], Drawn] = _unset

    def drawn(self, slots: Slots) -> Drawn:
        """What may be drawn."""
        if slots[self.generator] is not GENERATOR:
            refuse("a method of something else than the generator")
        return self.draw(slots)


@dataclass
class Call(Pause):
    """slot = function(arguments)"""

    function: Code = field(default_factory=lambda: Code(""))
    arguments: tuple[Callable[[Slots], Any], ...] = ()


@dataclass
class Return(Pause):
    """return value. copied: as for Expression."""

    value: Callable[[Slots], Any] = _unset
    copied: int | None = None


@dataclass(eq=False)
class Code:
    """A function. Its arguments fill the first slots. width: number of slots.

    needed: the variables that are needed before each step.
    """

    name: str
    parameters: list[str] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    width: int = 0
    steps: list[Step] = field(default_factory=list)
    needed: list[frozenset[int]] = field(default_factory=list)

    def finish(self, width: int) -> None:
        """Find the variables that are needed before each step."""
        self.width, self.needed = width, [frozenset[int]()] * len(self.steps)
        changes = True
        while changes:
            changes = False
            for place in reversed(range(len(self.steps))):
                step = self.steps[place]
                after = union(self.needed[each] for each in step.nexts)
                needed = (after - frozenset(step.sets)) | step.slots
                if needed != self.needed[place]:
                    self.needed[place], changes = needed, True

    def start(self, arguments: Iterable[Any], ways: Ways) -> tuple[int, Slots]:
        """The first pause of a call."""
        values = list(arguments)
        return self.advance(0, values + [UNSET] * (self.width - len(values)), ways)

    def advance(self, place: int, slots: Slots, ways: Ways) -> tuple[int, Slots]:
        """Go on to the next pause, and forget the variables that are not needed there.

        ways: takes the steps that are passed, each with the step after it.
        """
        for _ in range(_MOST_STEPS):
            step = self.steps[place]
            if isinstance(step, Pause):
                ways.add((self, place, place))
                needed = self.needed[place]
                return place, [v if i in needed else UNSET for i, v in enumerate(slots)]
            after = step.run(slots)
            ways.add((self, place, after))
            place = after
        raise Refused("a loop that does not end")


#: Steps that were passed, each with the step after it.
Ways = set[tuple[Code, int, int]]


def union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset[int]().union(*sets)
