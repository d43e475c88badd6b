"""Parts of an output that are independent of each other.

A program that appends to a list, or fills a dictionary, and never looks at it does the same
whatever it has filled in so far. Where all its runs then pass one state, what is filled in before
and what is filled in after are independent, and the probability of an output is a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from exactdp.audit.steps import operators
from exactdp.audit.steps.chain import Chain, Exploration, State, Values
from exactdp.audit.steps.components import components
from exactdp.audit.steps.steps import Call, Code, Return, Set, Slots, Step
from exactdp.audit.steps.values import Held, new

#: Open probability of the search for states that all runs pass.
_FIRST = Fraction(1, 1 << 8)


class Passed(NamedTuple):
    """A function whose output has parts. states: its first state, and states that all its runs
    pass. filled: the variables that hold the output."""

    code: Code
    states: list[State]
    filled: frozenset[int]


def states_passed(chain: Chain, code: Code, arguments: list[Any]) -> Passed | None:
    """The states that all runs of a function pass, if its output has more than one part."""
    code, arguments = _called(chain, code, arguments)
    filled = _filled(code)
    if not filled:
        return None
    search = _Search(chain, code, _FIRST, filled)
    search.law(arguments)
    states = [search.states[number] for number in _passed_by_all(search.states)]
    if len(states) < 2 or not all(_is_fit(code, each.slots, filled) for each in states[1:]):
        return None
    return Passed(code, states, filled)


def laws_of_parts(chain: Chain, whole: Passed, residual: Fraction) -> list[Values]:
    """The laws of what is filled in between the states; of the last part, of what is returned."""
    code, states, filled = whole
    laws = []
    for number, begin in enumerate(states):
        end = states[number + 1] if number + 1 < len(states) else None
        slots = _emptied(begin.slots, filled) if number else begin.slots
        laws.append(_Part(chain, code, residual, filled, end).law_from(begin.place, slots))
    return laws


class _Search(Exploration):
    """States told apart without what the output holds so far."""

    def __init__(
        self, chain: Chain, code: Code, residual: Fraction, filled: frozenset[int]
    ) -> None:
        super().__init__(chain, code, residual)
        self.filled = filled

    def name(self, place: int, slots: Slots) -> Any:
        return super().name(place, _emptied(slots, self.filled))

    def result(self, place: int, slots: Slots) -> tuple[Any] | None:
        step = self.code.steps[place]
        whole = isinstance(step, Return) and step.copied in self.filled
        return super().result(place, slots) if whole else None


class _Part(_Search):
    """What is filled in up to the next state, or what is returned in the end."""

    def __init__(
        self,
        chain: Chain,
        code: Code,
        residual: Fraction,
        filled: frozenset[int],
        end: State | None,
    ) -> None:
        super().__init__(chain, code, residual, filled)
        self._end = end
        self._name_of_end = None if end is None else _Search.name(self, end.place, end.slots)

    def name(self, place: int, slots: Slots) -> Any:
        return Exploration.name(self, place, slots)

    def result(self, place: int, slots: Slots) -> tuple[Any] | None:
        if self._end is None:
            return super().result(place, slots)
        if place == self._end.place and _Search.name(self, place, slots) == self._name_of_end:
            return (next(iter(_held(slots, self.filled)), new(list, ())),)
        return None


def _held(slots: Slots, filled: frozenset[int]) -> list[Held]:
    return [slots[each] for each in sorted(filled) if type(slots[each]) is Held]


def _emptied(slots: Slots, filled: frozenset[int]) -> Slots:
    return [
        v._replace(items=()) if i in filled and type(v) is Held else v for i, v in enumerate(slots)
    ]


def _is_fit(code: Code, slots: Slots, filled: frozenset[int]) -> bool:
    """Whether the output so far, if any, is one list to which is appended, or one dictionary."""
    kinds = [each.kind for each in _held(slots, filled)]
    grown = [each for each in code.steps if isinstance(each, Set) and _fills(each, filled)]
    appends = {each.grows for each in grown} <= {None, operators.appended}
    return not kinds or kinds == [dict] or (kinds == [list] and appends)


def _called(chain: Chain, code: Code, arguments: list[Any]) -> tuple[Code, list[Any]]:
    """The function whose result a function only hands on, with its arguments."""
    while True:
        place, slots = code.start(arguments, chain.ways)
        step = code.steps[place]
        if not isinstance(step, Call):
            return code, arguments
        after = code.steps[step.nexts[0]]
        if not isinstance(after, Return) or after.copied != step.sets[0]:
            return code, arguments
        code, arguments = step.function, [each(slots) for each in step.arguments]


# -- where a program fills in its output -----------------------------------------------------------


def _filled(code: Code) -> frozenset[int]:
    """The variables that hold the output, if they are only filled, copied and returned."""
    returned = [step for step in code.steps if isinstance(step, Return)]
    filled = frozenset(each.copied for each in returned if each.copied is not None)
    before = None
    while filled != before:
        before = filled
        sets = [each for each in code.steps if isinstance(each, Set) and _fills(each, filled)]
        filled |= {each.copied for each in sets if each.copied is not None}
    for step in code.steps:
        returns = isinstance(step, Return) and step.copied in filled
        if step.slots & filled and not returns and not _keeps(step, filled):
            return frozenset()
    growing = [
        n for n, s in enumerate(code.steps) if isinstance(s, Set) and s.grows and _fills(s, filled)
    ]
    for place in _reachable(code, growing):
        step = code.steps[place]
        if _fills(step, filled) and not _keeps(step, filled):
            return frozenset()  # what was filled in is dropped there
    return filled if growing else frozenset()


def _fills(step: Step, filled: frozenset[int]) -> bool:
    return bool(filled & frozenset(step.sets))


def _keeps(step: Step, filled: frozenset[int]) -> bool:
    """Whether a step puts into the output what it holds, perhaps with a new item."""
    if not isinstance(step, Set) or not _fills(step, filled):
        return False
    return step.grows is not None or step.copied in filled


def _reachable(code: Code, places: Sequence[int]) -> set[int]:
    """The places of steps that may follow others."""
    reached: set[int] = set()
    waiting = list(places)
    while waiting:
        for each in code.steps[waiting.pop()].nexts:
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    return reached


def _passed_by_all(states: list[State]) -> list[int]:
    """The states that all runs with a result pass, from the first one on."""
    before: list[list[int]] = [[] for _ in states]
    waiting = []
    for number, state in enumerate(states):
        for each in state.after or ():
            if each < 0:
                waiting.append(number)
            else:
                before[each].append(number)
    ending: set[int] = set()
    while waiting:
        if (number := waiting.pop()) not in ending:
            ending.add(number)
            waiting += before[number]
    after = [
        [each for each in state.after or () if each in ending] if n in ending else []
        for n, state in enumerate(states)
    ]
    groups = [each for each in components(after) if each[0] in ending]
    place = {number: n for n, group in enumerate(groups) for number in group}
    farthest, passed = 0, []
    for n, group in enumerate(groups):
        (number, *others) = group
        if n == farthest and not others and number not in after[number]:
            passed.append(number)
        ends = [len(groups) for each in group if any(m < 0 for m in states[each].after or ())]
        farthest = max([farthest, *ends, *(place[m] for each in group for m in after[each])])
    return passed
