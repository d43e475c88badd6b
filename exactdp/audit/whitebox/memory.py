"""What a program can reach that outlives a run, written down so that a change is noticed.

Reached are the program and its data, closures, defaults, attributes, the global names that its code
uses, and what those hold in turn. A law is that of one run; where something was kept, the next run
has another one.
"""

from __future__ import annotations

import array
import contextvars
import datetime
import decimal
import functools
import hashlib
import logging
import os
import random
import re
import threading
import types
import warnings
import weakref
from abc import get_cache_token
from collections import deque, namedtuple
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import numpy as np

from exactdp.audit.whitebox.generators import ExactGenerator, ExactRandom
from exactdp.audit.whitebox.plainness import objection_to, written_in_python
from exactdp.audit.whitebox.purity import impurity, named
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.errors import ExactDPError
from exactdp.samplers.branches import NotReproducible
from exactdp.samplers.source import Source

__all__ = ["Memory"]

_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction, decimal.Decimal, range, slice),
    *(type(...), type(NotImplemented), datetime.date, datetime.time, datetime.timedelta),
    *(datetime.tzinfo, re.Pattern, types.CodeType, np.generic, np.dtype),
)
_BY_VALUE = (type(None), bool, int, str, bytes, types.CodeType)
_TUPLE_FIELD = type(vars(namedtuple("_Pair", "left"))["left"])
#: Without state of their own that Python code can change.
_OPAQUE = (
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType),
    *(types.MemberDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType),
    *(np.ufunc, type(threading.Lock()), type(threading.RLock()), _TUPLE_FIELD),
    *(itemgetter, attrgetter, methodcaller, contextvars.Token),
)
_TRUSTED = frozenset({"exactdp", "flint", "gmpy2", "numpy", "scipy"})
_LIBRARY = os.path.dirname(os.__file__)
_MOST = 200_000  # things to visit
_FEW = 3_000  # so many are looked at after every run
_OFTEN = 64  # and after so many runs everything is
_CACHED = type(functools.lru_cache(len))


class Memory:
    """Everything that a program reaches, as it was before the first run.

    cached: the code of reached functions whose results are kept by functools. objection: why lazy
    numbers must not meet what is reached, or "".
    """

    def __init__(self, program: Any) -> None:
        self.cached: set[types.CodeType] = set()
        self.objection = ""
        self._surroundings = _surroundings()
        self._amid: tuple[Any, ...] = ()
        self._roots: list[Callable[[], Any]] = [lambda: program]
        self._before = [_walk(program, self._judge)]
        self._checks, self._next = 0, 1

    def meet(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        """A function starts for the first time: the globals that its code names are reached."""

        def root() -> Any:
            return _named(code, names)

        self._roots.append(root)
        self._before.append(_walk(root(), self._judge))

    def check(self, last: bool = False) -> None:
        """Raise NotReproducible if anything changed; large memories are not looked at each time."""
        self._checks += 1
        if not last and self._checks < self._next:
            return
        if _surroundings() != self._surroundings:
            raise NotReproducible(
                "the program changes numpy's generator, an arithmetic context or a class of ours"
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
        here = (*_surroundings(), flags)
        self._amid = self._amid or here
        try:
            return here == self._amid and self._change() is None
        except ExactDPError:
            return False

    def _change(self) -> str | None:
        """What has changed since it was met, by a name near it."""
        for root, before in zip(self._roots, self._before, strict=True):
            if (now := _walk(root(), _indifferent)) != before:
                return _changed(before, now)
        return None

    def _judge(self, thing: Any) -> None:
        if isinstance(thing, _CACHED):
            self.cached.add(thing.__wrapped__.__code__)
        elif isinstance(thing, types.BuiltinFunctionType) and (why := impurity(thing)):
            raise NotEnumerable(f"the program can reach {why}, which depends on other things")
        if not self.objection and not isinstance(thing, (types.ModuleType, _CACHED)):
            self.objection = objection_to(thing, _label(thing))


def _indifferent(thing: Any) -> None:
    """For a walk that only compares."""


def _walk(root: Any, judge: Callable[[Any], None]) -> list[Any]:
    """The content reached from a root; things met again are named by their number."""
    tokens: list[Any] = []
    seen: dict[int, tuple[int, Any]] = {}
    todo = deque([root])
    while todo:
        thing = _unwrapped(todo.popleft())
        if isinstance(thing, _ATOMS) and not hasattr(thing, "__dict__"):
            tokens.append((type(thing), thing if isinstance(thing, _BY_VALUE) else repr(thing)))
            continue
        if id(thing) in seen:
            tokens.append(seen[id(thing)][0])
            continue
        seen[id(thing)] = len(seen), thing  # kept alive: its id stays its own
        if len(seen) > _MOST:
            raise NotEnumerable(f"the program reaches more than {_MOST} objects")
        judge(thing)
        parts = list(_parts(thing))
        tokens += [_label(thing), len(parts)]
        todo.extend(parts)
    return tokens


def _surroundings() -> tuple[Any, ...]:
    """State of the process that arithmetic and numpy depend on, and that of our own classes."""
    here = decimal.getcontext()
    context = here.prec, here.rounding, here.Emin, here.Emax, here.capitals, here.clamp, here.traps
    state = np.random.mtrand._rand._bit_generator.state["state"]
    numpy_state = [x.tobytes() if isinstance(x, np.ndarray) else x for x in state.values()]
    classes = [len(vars(kind)) for kind in (ExactRandom, ExactGenerator)]
    return (
        repr(context),
        np.geterr(),
        np.get_printoptions(),
        numpy_state,
        get_cache_token(),
        classes,
    )


def _unwrapped(thing: Any) -> Any:
    """What a function of this library stands for (a shortcut, say)."""
    ours = isinstance(thing, types.FunctionType) and _is_ours(thing)
    return getattr(thing, "__wrapped__", thing) if ours else thing


def _is_ours(function: types.FunctionType) -> bool:
    return str(function.__globals__.get("__name__")).startswith("exactdp.audit.whitebox")


def _label(thing: Any) -> str:
    name = getattr(thing, "__qualname__", None)
    return name if isinstance(name, str) else type(thing).__qualname__


def _changed(before: list[Any], now: list[Any]) -> str:
    """A name near the first difference, for people."""
    place = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), 0)
    names = [token for token in now[: place + 1] if isinstance(token, str)]
    return names[-1] if names else "its surroundings"


def _parts(thing: Any) -> Iterator[Any]:
    """What a thing holds, in an order that does not change by itself."""
    if isinstance(thing, (types.FunctionType, types.MethodType, functools.partial, _CACHED)):
        yield from _of_function(thing)
    elif isinstance(thing, type):
        if _trusted(thing.__module__):
            yield {name: x for name, x in vars(thing).items() if isinstance(x, _ATOMS)}
        else:
            yield from (x for k, x in sorted(vars(thing).items()) if k not in _CLASS_NOISE)
    elif isinstance(thing, types.ModuleType):
        return  # its attributes are reached by the names that code uses
    elif isinstance(thing, types.BuiltinFunctionType):
        if not isinstance(thing.__self__, types.ModuleType):
            yield thing.__self__
    elif isinstance(thing, logging.Logger):
        yield from (thing.level, thing.disabled)
    elif isinstance(thing, _OPAQUE):
        return
    elif isinstance(thing, Source):
        yield vars(thing)
    elif isinstance(thing, np.ndarray) or type(thing).__module__.partition(".")[0] in _TRUSTED:
        yield from _of_numpy(thing)
    else:
        yield from _of_object(thing)


_CLASS_NOISE = frozenset({"__dict__", "__weakref__", "__doc__", "_abc_impl"})


def _of_function(thing: Any) -> Iterator[Any]:
    if isinstance(thing, types.MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, functools.partial):
        yield from (thing.func, thing.args, thing.keywords, vars(thing))
    elif isinstance(thing, _CACHED):
        yield thing.__wrapped__
    elif _trusted(str(thing.__globals__.get("__name__"))):
        return
    else:
        yield from (thing.__code__, thing.__defaults__, thing.__kwdefaults__, vars(thing))
        yield from (_content(cell) for cell in thing.__closure__ or ())
        yield _named(thing.__code__, thing.__globals__)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return cell


def _named(code: types.CodeType, names: Mapping[str, Any]) -> list[Any]:
    """What code and the functions inside it name: globals, and attributes of modules.

    Functions of C modules hold nothing; which of them may be called is looked at elsewhere.
    """
    found = [pair for each in _nested(code) for pair in named(each, names)]
    kept = dict(pair for pair in found if not isinstance(pair[1], types.BuiltinFunctionType))
    return [part for pair in sorted(kept.items(), key=itemgetter(0)) for part in pair]


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _nested(inner)


def _of_numpy(thing: Any) -> Iterator[Any]:
    if isinstance(thing, np.ndarray):
        content = thing.tolist() if thing.dtype.hasobject else _digest(thing.tobytes())
        yield from (thing.dtype.str, thing.shape, content)
    elif isinstance(thing, (np.random.Generator, np.random.RandomState)):
        generator = thing if isinstance(thing, np.random.Generator) else thing._bit_generator
        yield getattr(generator, "bit_generator", generator)
    elif isinstance(thing, np.random.BitGenerator):
        yield thing.state


def _of_object(thing: Any) -> Iterator[Any]:
    """Containers, instances of classes written in Python, and the few C types that show state."""
    known = True
    if isinstance(thing, (dict, types.MappingProxyType)):
        yield from (part for pair in thing.items() for part in pair)
    elif isinstance(thing, (list, tuple, deque)):
        yield from thing
    elif isinstance(thing, (set, frozenset)):
        yield from sorted(thing, key=id)
    elif isinstance(thing, (bytearray, memoryview, array.array)):
        yield from (type(thing).__name__, bytes(thing))
    elif isinstance(thing, (property, classmethod, staticmethod)):
        yield from (getattr(thing, n, None) for n in ("fget", "fset", "fdel", "__func__"))
    elif isinstance(thing, contextvars.ContextVar):
        yield thing.get(None)
    elif isinstance(thing, random.Random):
        yield _digest(repr(thing.getstate()).encode())
    elif isinstance(thing, types.GeneratorType):
        frame = thing.gi_frame
        yield from () if frame is None else (frame.f_lasti, dict(frame.f_locals))
    elif isinstance(thing, weakref.ref):
        yield thing()
    elif isinstance(thing, (str, int, float, bytes)):  # of a subclass, with attributes
        yield _bare(thing)
    elif hasattr(type(thing), "__next__"):
        yield _rest(thing)
    elif isinstance(thing, types.CellType):
        yield "empty"
    else:
        known = False
    attributes = getattr(thing, "__dict__", None)
    if isinstance(attributes, dict):
        yield from (part for pair in attributes.items() for part in pair)
    slots = [name for name in _slots(type(thing)) if hasattr(thing, name)]
    yield from (getattr(thing, name) for name in slots)
    if not known and not isinstance(attributes, dict) and not written_in_python(type(thing)):
        raise NotEnumerable(
            f"the program reaches a {type(thing).__module__}.{type(thing).__qualname__}, and "
            "whether that keeps something from run to run cannot be seen"
        )


def _bare(value: str | int | float | bytes) -> str:
    """A number or text as its plain type would be written."""
    kind = next(base for base in type(value).__mro__ if base in (str, int, float, bytes))
    return kind.__repr__(value)


def _rest(iterator: Any) -> Any:
    """Where an iterator written in C stands, by what it would be pickled as."""
    if type(iterator).__module__ in ("builtins", "itertools"):
        try:
            with warnings.catch_warnings():
                # Python 3.14 takes it away from itertools: then such an iterator is refused
                warnings.simplefilter("ignore", DeprecationWarning)
                return iterator.__reduce__()
        except TypeError:
            pass
    raise NotEnumerable(f"where a {type(iterator).__name__} stands cannot be seen")


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        names = vars(base).get("__slots__", ())
        yield from (names,) if isinstance(names, str) else names


def _trusted(module: str) -> bool:
    """Libraries whose own state does not carry answers from one call to the next."""
    top = module.partition(".")[0]
    return top in _TRUSTED or top in _STANDARD


_STANDARD = frozenset(__import__("sys").stdlib_module_names) - {"__main__"}


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
