"""What a thing holds, in an order that does not change by itself: its part of a program's memory.

What cannot be looked into raises NotEnumerable: something might be kept there from run to run.
"""

from __future__ import annotations

import array
import contextvars
import datetime
import decimal
import functools
import gc
import hashlib
import inspect
import logging
import random
import re
import sys
import threading
import traceback
import types
import warnings
import weakref
from collections import deque, namedtuple
from collections.abc import Iterator, Mapping
from fractions import Fraction
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import numpy as np

from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.kinship import is_generator_type, spelled
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.plainness import written_in_python
from exactdp.audit.whitebox.purity import named
from exactdp.audit.whitebox.rounds import is_plain
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.samplers.branches import NotReproducible
from exactdp.samplers.source import Source

__all__ = ["BY_VALUE", "CACHED", "Names", "is_atom", "named_by", "parts"]

_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction, decimal.Decimal, range, slice),
    *(type(...), type(NotImplemented), datetime.date, datetime.time, datetime.timedelta),
    *(datetime.tzinfo, re.Pattern, types.CodeType, np.generic, np.dtype),
)
#: Compared as they are, where the type is exactly one of these.
BY_VALUE = frozenset({type(None), bool, int, str, bytes, types.CodeType})
_attribute = getattr  # as it is when no program runs
_TUPLE_FIELD = type(vars(namedtuple("_Pair", "left"))["left"])
#: Without state of their own that Python code can change.
_OPAQUE = (
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType),
    *(types.MemberDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType),
    *(np.ufunc, _TUPLE_FIELD, itemgetter, attrgetter, methodcaller, contextvars.Token),
)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_TRUSTED = frozenset({"exactdp", "flint", "gmpy2", "numpy", "scipy"})
CACHED = type(functools.lru_cache(len))


@functools.lru_cache(maxsize=1 << 12)
def is_atom(kind: type) -> bool:
    """Whether instances of a type are told apart by what is written of them, attributes aside."""
    return issubclass(kind, _ATOMS)


def parts(thing: Any) -> Iterator[Any]:
    """What a thing holds, in an order that does not change by itself."""
    if isinstance(thing, LazyNumber):
        raise NotReproducible("the program keeps a number that it drew: another run has another")
    if isinstance(thing, Names):
        yield from thing
    elif isinstance(thing, (types.FunctionType, types.MethodType, functools.partial, CACHED)):
        yield from _of_function(thing)
    elif isinstance(thing, type):
        if _trusted(thing.__module__):
            yield _constants(thing)
        else:
            yield from _of_class(thing)
    elif isinstance(thing, types.ModuleType):
        return  # its attributes are reached by the names that code uses
    elif isinstance(thing, types.BuiltinFunctionType):
        if not isinstance(thing.__self__, types.ModuleType):
            yield thing.__self__
    elif isinstance(thing, logging.Logger):
        yield from (thing.level, thing.disabled, thing.propagate, thing.name)
        yield [number_of(part) for part in (*thing.handlers, *thing.filters)]
    elif isinstance(thing, _LOCKS):
        yield repr(thing)
    elif isinstance(thing, _OPAQUE):
        return
    elif isinstance(thing, Source):
        yield vars(thing)
    elif isinstance(thing, np.ndarray) or type(thing).__module__.partition(".")[0] in _TRUSTED:
        yield from _of_numpy(thing)
    else:
        yield from _of_object(thing)


def _constants(kind: type) -> str:
    """The numbers and texts among the attributes of a class, by what is written of them."""
    held: list[tuple[str, type, Any]] = [(name, type(x), x) for name, x in vars(kind).items()]
    return repr([each for each in held if is_atom(each[1])])


def _of_class(kind: type) -> Iterator[Any]:
    yield kind.__name__
    # nothing can be kept in what every class derives from
    yield from (
        base for base in (*kind.__bases__, type(kind)) if base is not object and base is not type
    )
    for name, value in sorted(vars(kind).items()):
        if name in _ANNOTATIONS:
            yield spelled(value)
        elif name not in _CLASS_NOISE:
            yield value


_ANNOTATIONS = frozenset({"__annotations__", "__dataclass_fields__"})
_CLASS_NOISE = frozenset({"__dict__", "__weakref__", "_abc_impl"})


def _of_function(thing: Any) -> Iterator[Any]:
    if isinstance(thing, types.MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, functools.partial):
        yield from (thing.func, *thing.args, thing.keywords, vars(thing))
    elif isinstance(thing, CACHED):
        yield thing.__wrapped__
        _only_plain(thing)
    elif _trusted(str(thing.__globals__.get("__name__"))):
        yield _attribute(thing, "registry", None)  # of functools.singledispatch
    else:
        yield f"{thing.__name__} {thing.__doc__}"
        yield from (thing.__code__, thing.__defaults__, thing.__kwdefaults__, vars(thing))
        if thing.__annotations__:
            yield spelled(thing.__annotations__)
        yield from (_content(cell) for cell in thing.__closure__ or ())
        yield named_by(thing.__code__, thing.__globals__)


def _only_plain(cached: Any) -> None:
    """What a function keeps of its results must be such that nobody can keep anything in it."""
    own = (cached.__wrapped__, vars(cached))
    held = [part for part in gc.get_referents(cached) if not any(part is each for each in own)]
    tables = [part for part in held if type(part) is dict]
    results = [x for x in held if type(x) is not dict] + list(tables[0].values() if tables else ())
    if len(tables) > 1 or not all(map(_cannot_keep, results)):
        raise NotEnumerable("the program keeps results in which something else may be kept")


def _cannot_keep(thing: Any) -> bool:
    """Whether nothing can be kept in what a cache holds: a result, or its own bookkeeping."""
    if type(thing) is tuple:
        return all(map(_cannot_keep, thing))
    return is_plain(thing) or type(thing).__module__ == "functools" or type(thing) in (object, type)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return cell


class Names(list[Any]):
    """Names that code uses, each followed by what it stands for."""


def named_by(code: types.CodeType, names: Mapping[str, Any]) -> Names:
    """What code and the functions inside it name: globals, and attributes of modules.

    Functions of C modules hold nothing; which of them may be called, and what may be asked of the
    types of generators, is looked at elsewhere.
    """
    found = [pair for each in _nested(code) for pair in named(each, names)]
    kept = dict(
        pair
        for pair in found
        if not isinstance(pair[1], types.BuiltinFunctionType) and not is_generator_type(pair[1])
    )
    return Names(part for pair in sorted(kept.items(), key=itemgetter(0)) for part in pair)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _nested(inner)


def _of_numpy(thing: Any) -> Iterator[Any]:
    if isinstance(thing, np.ndarray):
        content = thing.tolist() if thing.dtype.hasobject else _digest(thing.tobytes())
        yield from (thing.dtype.str, thing.shape, thing.strides, thing.flags.num, content)
    elif isinstance(thing, (np.random.Generator, np.random.RandomState)):
        generator = thing if isinstance(thing, np.random.Generator) else thing._bit_generator
        yield _attribute(generator, "bit_generator", generator)
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
        yield from thing  # its order is kept from run to run as well
    elif isinstance(thing, (bytearray, memoryview, array.array)):
        yield from (type(thing).__name__, bytes(thing))
    elif isinstance(thing, (property, classmethod, staticmethod)):
        yield from (_attribute(thing, n, None) for n in ("fget", "fset", "fdel", "__func__"))
    elif isinstance(thing, contextvars.ContextVar):
        yield thing.get(None)
    elif isinstance(thing, random.Random):
        yield _digest(repr(thing.getstate()).encode())
    elif isinstance(thing, types.GeneratorType):
        if (state := inspect.getgeneratorstate(thing)) not in ("GEN_CREATED", "GEN_CLOSED"):
            raise NotEnumerable("where a generator stands cannot be seen")
        yield state
    elif isinstance(thing, BaseException):
        yield from (thing.args, thing.__cause__, thing.__context__)
        yield len(list(traceback.walk_tb(thing.__traceback__)))
    elif isinstance(thing, (types.SimpleNamespace, threading.local)):
        pass
    elif thing is sys.stdout or thing is sys.stderr:
        return  # what programs write there is not read
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
    attributes = _attribute(thing, "__dict__", None)
    if isinstance(attributes, dict):
        yield from (part for pair in attributes.items() for part in pair)
    slots = [name for name in _slots(type(thing)) if hasattr(thing, name)]
    yield from (_attribute(thing, name) for name in slots)
    if written_in_python(type(thing)) and not _trusted(type(thing).__module__):
        yield type(thing)
    elif not known and not written_in_python(type(thing)):
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


_STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
