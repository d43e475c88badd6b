"""What a program can reach that outlives a run, written down so that a change is noticed.

Reached are the program and its data, closures, defaults, attributes, the global names that its code
uses, and what those hold in turn. A law is that of one run; where something was kept, the next run
has another one.
"""

from __future__ import annotations

import decimal
import sys
import types
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from exactdp.audit.whitebox.atoms import is_atom, is_nan, trusted, within, written
from exactdp.audit.whitebox.contents import (
    BY_VALUE,
    CACHED,
    Names,
    keys_of,
    named_by,
    parts,
)
from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.kinship import is_generator_type
from exactdp.audit.whitebox.libraries import Shelves
from exactdp.audit.whitebox.orders import is_set_of_text
from exactdp.audit.whitebox.outcomes import key_of
from exactdp.audit.whitebox.plainness import objection_to
from exactdp.audit.whitebox.purity import Variable, impurity
from exactdp.audit.whitebox.rounds import is_generator
from exactdp.audit.whitebox.surroundings import surroundings
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Memory", "state"]

_attribute = getattr  # as it is when no program runs
_MOST = 200_000  # things to visit
_FEW = 3_000  # so many are looked at after every run
_OFTEN = 64  # and after so many runs everything is


class Memory:
    """Everything that a program reaches, as it was before the first run.

    cached: by its number, the code of reached functions whose results functools keeps. objection:
    why lazy numbers must not meet what is reached, or "".
    """

    def __init__(self, program: Any) -> None:
        self.cached: dict[int, types.CodeType] = {}
        self._caches: list[Any] = []
        self._asked: dict[tuple[int, Any], Hashable] = {}
        self._found: dict[int, Any] = {}
        self.objection = ""
        self._surroundings = surroundings()
        self._amid: tuple[Any, ...] = ()
        self._shelves = Shelves()
        self._variables: dict[Variable, Mapping[str, Any]] = {}
        self._roots: list[tuple[Callable[[], Any], frozenset[Variable]]] = []
        self._before: list[list[Any]] = []
        self._reach(lambda: program, frozenset())
        self._checks, self._next = 0, 1

    def meet(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        """A function starts for the first time: the globals that its code names are reached."""
        lent = self._lent()
        self._reach(lambda: named_by(code, names, lent), lent)

    def visit(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        """A function of a library starts for the first time."""
        self._shelves.find(code, names)

    def find(self, thing: Any) -> None:
        """Something that was there before the run is found in another way than by names."""
        if number_of(thing) not in self._found:
            self._found[number_of(thing)] = thing
            self._reach(lambda: thing, self._lent())

    def _lent(self) -> frozenset[Variable]:
        """The variables that stand for the generator now: what they stood for before the run has
        been met, and is compared when the run is over."""
        known = self._variables.items()
        return frozenset(each for each, inside in known if is_generator(inside.get(each[1])))

    def _reach(self, root: Callable[[], Any], lent: frozenset[Variable]) -> None:
        self._roots.append((root, lent))
        self._before.append(_walk(root(), self._judge, lent))

    def forget(self) -> None:
        """Results that the program's functions have kept are given up: they are to be the same.

        What two calls share that differ, f(1) and f(True), is that of the first of them.
        """
        for i, cached in enumerate(self._caches):
            for key in keys_of(cached):
                exact = _exact(key)
                if self._asked.setdefault((i, key), exact) != exact:
                    raise NotReproducible(
                        f"{cached.__name__} keeps one result for calls that differ in a type or a"
                        " sign: which one depends on the first call; keep them apart by typed=True"
                    )
            cached.cache_clear()

    def check(self, last: bool = False) -> None:
        """Raise NotReproducible if anything changed; large memories are not looked at each time."""
        self._checks += 1
        if not last and self._checks < self._next:
            return
        if surroundings() != self._surroundings:
            raise NotReproducible(
                "the program changes a global generator, an arithmetic context or a class of ours"
            )
        if last and (name := self._shelves.changed()):
            raise NotReproducible(
                f"the program changes what a library keeps for everybody ({name}): the law of one"
                " call is not that of another"
            )
        size = sum(map(len, self._before))
        stride = 1 if self._checks < _OFTEN else 1 + size // _FEW
        self._next = self._checks + stride
        if (change := self._change()) is not None:
            raise NotReproducible(
                "the program keeps something from one run to the next "
                f"({change}): the law of one call is not that of another"
            )

    def unchanged(self) -> bool:
        """Whether everything is as it was before the first run, in the middle of a run.

        The surroundings (numpy's handling of errors, say) are those of the first time it is asked.
        """
        flags = {kind for kind, up in decimal.getcontext().flags.items() if up}
        here = (*surroundings(), flags)
        self._amid = self._amid or here
        try:
            return here == self._amid and self._change() is None
        except ExactDPError:
            return False

    def _change(self) -> str | None:
        """What has changed since it was met, by a name near it."""
        for (root, lent), before in zip(self._roots, self._before, strict=True):
            if (now := _walk(root(), _indifferent, lent)) != before:
                return _changed(before, now)
        return None

    def _judge(self, thing: Any, held: list[Any]) -> None:
        if not isinstance(thing, _NAMING) and any(map(is_set_of_text, held)):
            raise NotEnumerable(
                "the program can reach a set of text inside of something else, where nobody sees "
                "whether its order is looked at, another one in every process; sort it"
            )
        if isinstance(thing, Names):
            self._variables |= thing.variables
        if thing is sys.modules:
            raise NotEnumerable("the program can reach the table of all modules, of this process")
        if is_generator_type(thing):
            raise NotEnumerable(f"the program keeps the type {thing.__name__} to compare it with")
        if isinstance(thing, CACHED):
            code = thing.__wrapped__.__code__
            self.cached[number_of(code)] = code
            if not trusted(str(thing.__module__)) and not any(
                thing is each for each in self._caches
            ):
                self._caches.append(thing)
        elif isinstance(thing, types.BuiltinFunctionType) and (why := impurity(thing)):
            raise NotEnumerable(f"the program can reach {why}, which depends on other things")
        if not self.objection and not isinstance(thing, (types.ModuleType, CACHED, Names)):
            self.objection = objection_to(thing, _label(thing))


def state(root: Any) -> Any:
    """All that is reached from a root, and what arithmetic depends on: equal while nothing that is
    calculated there can differ."""
    return surroundings(), _walk(root, _indifferent)


def _indifferent(thing: Any, held: list[Any]) -> None:
    """For a walk that only compares."""


#: What holds variables: how a set in one is used is read from the code.
_NAMING = (Names, types.FunctionType, types.CellType, partial)


def _walk(
    root: Any,
    judge: Callable[[Any, list[Any]], None],
    lent: frozenset[Variable] = frozenset(),
) -> list[Any]:
    """The content reached from a root; things met again are named by their number."""
    tokens: list[Any] = []
    seen: dict[int, tuple[int, Any]] = {}
    todo = deque([root])
    while todo:
        thing = todo.popleft()
        kind: type = type(thing)
        if kind in BY_VALUE:
            tokens.append((kind, thing))
            continue
        if is_atom(kind) and not hasattr(thing, "__dict__"):
            tokens.append((kind, written(thing)))
            todo.extend(within(thing))
            if is_nan(thing):  # found in a list by where it is
                tokens.append(seen.setdefault(number_of(thing), (len(seen), thing))[0])
            continue
        if issubclass(kind, types.FunctionType):
            thing = _unwrapped(thing)
        if (met := seen.get(number_of(thing))) is not None:
            tokens.append(met[0])
            continue
        seen[number_of(thing)] = len(seen), thing  # kept alive: its id stays its own
        if len(seen) > _MOST:
            raise NotEnumerable(f"the program reaches more than {_MOST} objects")
        held = list(parts(thing, lent))
        judge(thing, held)
        tokens += (_label(thing), len(held))
        todo += held
    return tokens


def _exact(key: Any) -> Hashable:
    """Equal only for arguments that nothing tells apart."""
    if type(key) is tuple:
        return tuple(map(_exact, key))
    try:
        return key_of(key)
    except NotEnumerable:
        return number_of(key)


def _unwrapped(function: Any) -> Any:
    """What a function of this library stands for (a shortcut, say)."""
    return _attribute(function, "__wrapped__", function) if _is_ours(function) else function


def _is_ours(function: types.FunctionType) -> bool:
    return str(function.__globals__.get("__name__")).startswith("exactdp.audit.whitebox")


def _label(thing: Any) -> str:
    kind = type(thing)  # which may answer for any attribute
    named = issubclass(kind, (type, types.FunctionType, types.BuiltinFunctionType))
    return str(_attribute(thing, "__qualname__")) if named else kind.__qualname__


def _changed(before: list[Any], now: list[Any]) -> str:
    """A name near the first difference, for people."""
    place = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), 0)
    names = [token for token in now[: place + 1] if isinstance(token, str)]
    return names[-1] if names else "its surroundings"
