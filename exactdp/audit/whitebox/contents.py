"""What a thing holds, in an order that does not change by itself: its part of a program's memory.

What cannot be looked into raises NotEnumerable: something might be kept there from run to run.
"""

from __future__ import annotations

import dataclasses
import functools
import gc
import logging
import threading
import types
from abc import ABC
from collections import deque
from collections.abc import Iterator, Mapping, Set
from operator import itemgetter
from typing import Any

import numpy as np

from exactdp.audit.whitebox.atoms import is_atom, is_library, trusted, written
from exactdp.audit.whitebox.holdings import held_by
from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.kinship import is_generator_type
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.purity import Variable, referred
from exactdp.audit.whitebox.rounds import is_generator, is_plain
from exactdp.audit.whitebox.uniform import NotEnumerable
from exactdp.samplers.enumeration_branches import NotReproducible
from exactdp.samplers.source import Source

__all__ = ["BY_VALUE", "CACHED", "Names", "keys_of", "named_by", "parts"]

#: Compared as they are, where the type is exactly one of these.
BY_VALUE = frozenset({type(None), bool, int, str, bytes, types.CodeType})
_attribute = getattr  # as it is when no program runs
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
CACHED = type(functools.lru_cache(len))


def parts(thing: Any, without: Set[Variable] = frozenset()) -> Iterator[Any]:
    """What a thing holds, in an order that does not change by itself.

    without: variables that are left out where code names them.
    """
    kind = type(thing)  # whatever it says of its __class__
    if kind is dict:  # most of all that is met
        yield from (part for pair in thing.items() for part in pair)
        return
    if kind is tuple or kind is list:
        yield from thing
        return
    if issubclass(kind, LazyNumber):
        raise NotReproducible("the program keeps a number that it drew: another run has another")
    if is_generator(thing):
        raise NotReproducible("the program keeps its generator: another run has another")
    if kind is Names:
        yield from thing
    elif issubclass(kind, (types.FunctionType, types.MethodType, functools.partial, CACHED)):
        yield from _of_function(thing, without)
    elif issubclass(kind, type):
        yield from _outline(vars(thing)) if is_library(thing) else _of_class(thing)
    elif issubclass(kind, types.ModuleType):
        yield from _of_module(thing)
    elif issubclass(kind, (types.BuiltinFunctionType, types.MethodWrapperType)):
        if not isinstance(thing.__self__, types.ModuleType):
            yield thing.__self__
    elif issubclass(kind, logging.Logger):
        yield from _of_logger(thing)
    elif issubclass(kind, _LOCKS):
        yield repr(thing)
    elif kind.__name__ == "cython_function_or_method":
        raise NotEnumerable(
            f"the program can reach {thing.__module__}.{thing.__name__}(), of which nobody sees"
            " what it draws and keeps; draw from the generator that is handed over"
        )
    elif issubclass(kind, Source):
        yield vars(thing)
    else:
        yield from held_by(thing)


_OF_LOGGERS = frozenset({"manager", "parent", "root", "handlers", "filters", "_cache"})


def _of_logger(thing: logging.Logger) -> Iterator[Any]:
    yield from (_attributes(thing, _OF_LOGGERS), thing.level, thing.disabled, thing.name)
    yield [number_of(part) for part in (*thing.handlers, *thing.filters)]
    known = logging.getLevelNamesMapping().values()  # for which answers are kept by themselves
    yield from ({k: x for k, x in vars(thing)["_cache"].items() if k not in known}, thing.parent)
    yield _constants(_attributes(thing.manager, _OF_LOGGERS))


def _attributes(thing: Any, without: frozenset[str]) -> dict[str, Any]:
    """Its own attributes, but for some."""
    return {name: value for name, value in vars(thing).items() if name not in without}


def _of_module(module: types.ModuleType) -> Iterator[Any]:
    """What is in a module that is reached as a value: elsewhere, the names that code uses are."""
    own = _attributes(module, frozenset({"__builtins__"}))
    path = str(own.get("__name__"))
    if not trusted(path):
        yield own
        return
    yield _constants(own)
    for name, value in own.items():
        kind: type = type(value)
        if kind not in _EXCHANGED and not is_atom(kind):
            yield from (name, number_of(value))
            if _is_part(value, path) and not name.startswith("_"):
                yield value


def _is_part(value: Any, path: str) -> bool:
    """Whether what a library's module has is its own, and somebody may keep something in it."""
    if isinstance(value, types.ModuleType):
        return str(vars(value).get("__name__")).startswith(f"{path}.")
    tables = () if path == "sys" else (list, dict)  # those of imports change by themselves
    return isinstance(value, (types.FunctionType, type, *tables)) and not is_generator_type(value)


#: Of what the watch puts something else in the place for the time of a run.
_EXCHANGED = (types.BuiltinFunctionType, functools.partial, types.MethodType)


def _outline(own: Mapping[str, Any]) -> Iterator[Any]:
    """Of what a library has made, what somebody may have put there, and what may be changed."""
    constants, tables, rest = list[Any](), list[Any](), list[Any]()
    for name, x in own.items():
        kind: type = type(x)
        if is_atom(kind):
            constants.append((name, kind, written(x)))
        elif name not in _NOISE:
            table = kind in _TABLES
            rest.append(name if table else (name, number_of(x)))
            if table and not name.startswith("__"):
                tables.append(x)
    yield repr((constants, rest))
    yield tables


_TABLES = frozenset({list, dict, set, bytearray, deque})


def _constants(own: Mapping[str, Any]) -> str:
    """The numbers and texts among attributes, by what is written of them."""
    typed: Iterator[tuple[str, type, Any]] = ((name, type(x), x) for name, x in own.items())
    return repr([(name, kind, written(x)) for name, kind, x in typed if is_atom(kind)])


def _of_class(kind: type) -> Iterator[Any]:
    yield kind.__name__
    # nothing can be kept in what every class derives from
    yield from (
        base for base in (*kind.__bases__, type(kind)) if base is not object and base is not type
    )
    for name, value in sorted(vars(kind).items()):
        if name in _ANNOTATIONS:
            yield _spelled(value)
        elif name not in _NOISE and type(value) is not _KNOWN_SUBCLASSES:
            yield value


_ANNOTATIONS = frozenset({"__annotations__", "__dataclass_fields__"})
#: And __slotnames__ is what copying a first instance leaves; code may not name it.
_NOISE = frozenset({"__dict__", "__weakref__", "__slotnames__"})
_KNOWN_SUBCLASSES = type(vars(ABC)["_abc_impl"])


def _spelled(value: Any) -> Any:
    """Annotations with types by their names: nobody compares a generator with these."""
    if isinstance(value, Mapping):
        return {name: _spelled(each) for name, each in value.items()}
    if isinstance(value, dataclasses.Field):
        slots = ((name, getattr(value, name, None)) for name in dataclasses.Field.__slots__)
        own = {name: _spelled(x) if name == "type" else x for name, x in slots}
        return own | {"metadata": dict(value.metadata)}
    if isinstance(value, type) and not is_library(value) and not is_generator_type(value):
        return [str(value), *_outline(vars(value))]
    if isinstance(value, type) or type(value).__module__ in ("types", "typing"):
        return [str(value), *map(_spelled, getattr(value, "__args__", ()))]
    return value


def _of_function(thing: Any, without: Set[Variable]) -> Iterator[Any]:
    if isinstance(thing, types.MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, functools.partial):
        yield from (thing.func, *thing.args, thing.keywords, vars(thing))
    elif isinstance(thing, CACHED):
        yield from (thing.__wrapped__, vars(thing))
        _only_plain(thing)
    elif trusted(str(thing.__globals__.get("__name__"))):
        yield _attributes(thing, _OF_DISPATCH)
        defaults = enumerate(thing.__defaults__ or ())
        yield from _outline({str(i): x for i, x in defaults} | (thing.__kwdefaults__ or {}))
    else:
        yield f"{thing.__name__} {thing.__module__} {thing.__doc__}"
        yield from (thing.__code__, thing.__defaults__, thing.__kwdefaults__, vars(thing))
        if thing.__annotations__:
            yield _spelled(thing.__annotations__)
        yield from (_content(cell) for cell in thing.__closure__ or ())
        yield named_by(thing.__code__, thing.__globals__, without)


#: What functools.singledispatch puts on a function beside its registry: results it has looked up.
_OF_DISPATCH = frozenset({"dispatch", "register", "_clear_cache"})


def _kept_by(cached: Any) -> list[Any]:
    """What a function has for its results, and the table of them."""
    own = (cached.__wrapped__, vars(cached))
    return [part for part in gc.get_referents(cached) if not any(part is each for each in own)]


def keys_of(cached: Any) -> Iterator[Any]:
    """The arguments of which a function keeps the results."""
    yield from (key for part in _kept_by(cached) if type(part) is dict for key in part)


def _only_plain(cached: Any) -> None:
    """What a function keeps of its results must be such that nobody can keep anything in it."""
    held = _kept_by(cached)
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
    """Names that code uses, each followed by what it stands for.

    variables: those that are named so, with the namespaces that they are in.
    """

    def __init__(self) -> None:
        super().__init__()
        self.variables: dict[Variable, Mapping[str, Any]] = {}


def named_by(
    code: types.CodeType, names: Mapping[str, Any], without: Set[Variable] = frozenset()
) -> Names:
    """What code and the functions inside it name: globals, and attributes of modules.

    Functions of C modules hold nothing; which of them may be called, and what may be asked of the
    types of generators, is looked at elsewhere. without: variables that are left out.
    """
    kept: dict[str, Any] = {}
    found = Names()
    everything = (each for c in _nested(code) for each in referred(c, names, without))
    for path, name, value, whole, inside in everything:
        if inside is not None:
            found.variables[number_of(inside), name] = inside
        if inside is _OF_NUMPY and name == "default_rng" and not path.startswith("import"):
            continue  # a stand-in while a program runs, and then no more than called
        if isinstance(value, types.ModuleType) and not whole:
            kept[f"{path}."] = number_of(value)  # what is named of it follows
        elif not isinstance(value, types.BuiltinFunctionType) and not is_generator_type(value):
            kept[path] = value
    found += [part for pair in sorted(kept.items(), key=itemgetter(0)) for part in pair]
    return found


_OF_NUMPY = vars(np.random)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _nested(inner)
