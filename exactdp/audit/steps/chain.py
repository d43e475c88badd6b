"""The law of a function, from the states that its calls can reach.

A state is a draw or call that is about to happen, with the values that are still needed. States
are followed from the most probable one on, each once, until the states left have a small
probability. The probability that a call returns a value is then a sum over ways between states,
which is exact also where ways return to an earlier state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

from flint import fmpq, fmpq_mat

from exactdp.audit.steps.components import components
from exactdp.audit.steps.steps import Code, Draw, Return, Slots, Ways
from exactdp.audit.steps.values import OutOfReach, key, refuse

#: The most states that lead back to each other, and the most states of a function.
_MOST_CYCLIC, _MOST_STATES = 64, 200_000
_ZERO = fmpq(0)
#: How much smaller the open probability of a function that is called is.
_INNER = 64
#: Bits of probabilities beside an open one, beyond those of the residual.
_FINER = 64


@dataclass(frozen=True)
class Values:
    """The values that a call returns, with probabilities, and the probability that is open."""

    weights: list[tuple[Any, Fraction]]
    residual: Fraction


@dataclass
class State:
    """A draw or call that is about to happen.

    after: numbers of states, or of results from -1 down.
    """

    place: int
    slots: Slots
    after: dict[int, fmpq] | None = None


class Chain:
    """Finds laws of functions, each once.

    until: when to give up, by time.monotonic(). tick: called for each state that is followed.
    ways: takes the steps that are passed.
    """

    def __init__(self, until: float, tick: Callable[[], object], ways: Ways) -> None:
        self._until, self._tick, self.ways = until, tick, ways
        self._known: dict[Any, Values] = {}
        self._kept: list[Code] = []  # whose ids are in the keys
        self.states = 0

    def law(self, code: Code, arguments: Iterable[Any], residual: Fraction) -> Values:
        """The law of a call, of which at most the residual is open, or a little more."""
        listed = list(arguments)
        name = id(code), key(tuple(listed)), residual
        if name not in self._known:
            self._kept.append(code)
            self._known[name] = Exploration(self, code, residual).law(listed)
        return self._known[name]

    def count(self) -> None:
        """Called for each state that is followed."""
        self.states += 1
        self._tick()
        if self.states > _MOST_STATES:
            raise OutOfReach(f"more than {_MOST_STATES} states")
        if time.monotonic() > self._until:
            raise OutOfReach(
                f"{self.states} states in the time that is allowed (seconds=), and more are left"
            )


class Exploration:
    """The states of one function, from a state on until results are reached."""

    def __init__(self, chain: Chain, code: Code, residual: Fraction) -> None:
        self._chain, self.code, self._residual = chain, code, residual
        self._unit = 1 << _FINER + int(1 / residual if residual else 0).bit_length()
        self._numbers: dict[Any, int] = {}
        self.states: list[State] = []
        self._results: dict[Any, int] = {}
        self._values: list[Any] = []
        self._pending: list[float] = []
        self._heap: list[tuple[float, int]] = []

    def name(self, place: int, slots: Slots) -> Any:
        """Equal only for states after which the same happens."""
        return place, *map(key, slots)

    def result(self, place: int, slots: Slots) -> tuple[Any] | None:
        """The result, if a state is the end."""
        step = self.code.steps[place]
        return (step.value(slots),) if isinstance(step, Return) else None

    def law(self, arguments: list[Any]) -> Values:
        """The law of a call."""
        return self.law_from(*self.code.start(arguments, self._chain.ways))

    def law_from(self, place: int, slots: Slots) -> Values:
        """The law of the results that are reached from a state."""
        first = self._number(place, slots)
        if first < 0:
            return Values([(self._values[0], Fraction(1))], Fraction(0))
        self._reach(first, 1.0)
        check = 16
        while self._heap:
            weight, number = heappop(self._heap)
            state = self.states[number]
            if state.after is not None or -weight < self._pending[number] * 0.99:
                continue
            self._follow(state)
            after: dict[int, fmpq] = state.after or {}
            for each, share in after.items():
                self._reach(each, self._pending[number] * (int(share.p) / int(share.q)))
            check -= 1
            if not check:
                values = self._solve()
                if values.residual <= self._residual:
                    return values
                check = len(self.states) // 2 + 16
        return self._solve()

    def _reach(self, number: int, weight: float) -> None:
        if number < 0 or self.states[number].after is not None:
            return
        if not isinstance(self.code.steps[self.states[number].place], Return):
            self._pending[number] += weight
            heappush(self._heap, (-self._pending[number], number))

    def _number(self, place: int, slots: Slots) -> int:
        """The number of a state; of a result, a negative number."""
        result = self.result(place, slots)
        if result is not None:
            text = key(result[0])
            if text not in self._results:
                self._results[text] = -1 - len(self._values)
                self._values += result
            return self._results[text]
        text = self.name(place, slots)
        if text not in self._numbers:
            self._numbers[text] = len(self.states)
            self.states.append(State(place, slots))
            self._pending.append(0.0)
        return self._numbers[text]

    def _follow(self, state: State) -> None:
        self._chain.count()
        step = self.code.steps[state.place]
        before = list(state.slots)  # what a function is handed is shared from now on
        options = self._options(step, before)
        state.after = {}
        for value, share in options:
            slots = list(before)
            slots[step.sets[0]] = value
            number = self._number(*self.code.advance(step.nexts[0], slots, self._chain.ways))
            state.after[number] = state.after.get(number, _ZERO) + fmpq(*share.as_integer_ratio())

    def _options(self, step: Any, slots: Slots) -> list[tuple[Any, Fraction]]:
        if isinstance(step, Draw):
            return step.drawn(slots).options()
        arguments = [each(slots) for each in step.arguments]
        return self._chain.law(step.function, arguments, self._residual / _INNER).weights

    # -- from shares to probabilities ------------------------------------------------------------

    def _solve(self) -> Values:
        """The probabilities of the results. Every state is reached from the first."""
        arrived = [_ZERO] * len(self.states)
        arrived[0] = fmpq(1)
        results = [_ZERO] * len(self._values)
        after = [list(state.after or ()) for state in self.states]
        for group in components([[each for each in some if each >= 0] for some in after]):
            if any(self.states[each].after is None for each in group):
                continue
            visits = self._visits(group, arrived)
            inside = set(group)
            for number, times in zip(group, visits, strict=True):
                for each, share in (self.states[number].after or {}).items():
                    if each < 0:
                        results[-1 - each] += times * share
                    elif each not in inside:
                        arrived[each] += times * share
        if sum(results, _ZERO) < 1:  # rounded down: what is left out is open
            results = [(each * self._unit).floor() / fmpq(self._unit) for each in results]
        shares = [_fraction(each) for each in results]
        rest = _fraction(1 - sum(results, _ZERO))
        return Values(list(zip(self._values, shares, strict=True)), rest)

    def _visits(self, group: list[int], arrived: list[fmpq]) -> list[fmpq]:
        """How often each state of a group, whose ways lead back, is passed in the mean."""
        place = {number: i for i, number in enumerate(group)}
        if len(group) == 1:
            back = (self.states[group[0]].after or {}).get(group[0], _ZERO)
            if back == 1:
                refuse("a loop that does not end")
            return [arrived[group[0]] / (1 - back)]
        if len(group) > _MOST_CYCLIC:
            refuse("too many states that lead back to each other")
        matrix = [[fmpq(int(i == j)) for j in range(len(group))] for i in range(len(group))]
        for number, i in place.items():
            for each, share in (self.states[number].after or {}).items():
                if each in place:
                    matrix[place[each]][i] -= share
        right = fmpq_mat(len(group), 1, [arrived[each] for each in group])
        try:
            visits = fmpq_mat(matrix).solve(right)
        except ZeroDivisionError:
            refuse("a loop that does not end")
        return [visits[i, 0] for i in range(len(group))]


def _fraction(share: fmpq) -> Fraction:
    return Fraction(int(share.p), int(share.q))
