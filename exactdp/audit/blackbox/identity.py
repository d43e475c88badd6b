"""What makes an audit the same audit: its run and its data sets, the same in every process.

A checkpoint holds counts. Were they continued with a run that differs in a parameter, or after its
code was changed, the sum would be of two mechanisms. So a callable is known by its code, by what it
holds, and by the text of the file it comes from and of those that this imports beside it. What is
known by an address alone, such as a generator, counts by its type.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from exactdp.audit.blackbox.sources import files
from exactdp.audit.events.codes import text_of
from exactdp.audit.events.forms import form
from exactdp.audit.events.parts import attributes, name_of
from exactdp.audit.events.plain import plain
from exactdp.errors import InvalidParameter
from exactdp.samplers.source import Source

__all__ = ["identity"]

_SIMPLE = (bool, int, float, complex, str, bytes, tuple, frozenset, type(None))

#: ids of what a value is inside of
Inside = tuple[int, ...]


def identity(value: Any) -> str:
    """What a value is, in a hash that is the same in every process."""
    return hashlib.sha256(_text(value, ()).encode()).hexdigest()


def _text(value: Any, inside: Inside) -> str:
    if id(value) in inside:
        return "itself"
    inside = (*inside, id(value))
    kind = name_of(type(value))
    return f"{kind}({';'.join(_part(part, inside) for part in _parts(value))})"


def _part(part: Any, inside: Inside) -> str:
    return part if isinstance(part, _Said) else _text(part, inside)


class _Said(str):
    """A text that is said as it is."""


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, FunctionType):
        yield from _function(value)
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, CodeType):
        yield from (value.co_code, value.co_names, value.co_varnames, value.co_freevars)
        yield from value.co_consts
    elif isinstance(value, Source):
        return  # where it stands is no part of what is run
    elif isinstance(value, (type, ModuleType)):
        yield _Said(value.__name__)
    elif type(value) is np.ndarray and not value.dtype.hasobject:
        yield _Said(f"{value.dtype.descr}{value.shape}{_digest(value.tobytes())}")
    elif isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, (set, frozenset)):
        yield from map(_Said, sorted(_text(one, ()) for one in value))
    elif lazily := _calculated(type(value)):
        yield from (pair for pair in attributes(value) if pair[0] not in lazily)
    else:
        yield from _other(value)


def _calculated(kind: type) -> set[str]:
    """Attributes that are there once they have been asked for."""
    named = (pair for base in kind.__mro__ for pair in vars(base).items())
    return {name for name, value in named if isinstance(value, cached_property)}


def _function(function: FunctionType) -> Iterator[Any]:
    file = _file(function.__module__)
    yield from (_Said(f"{function.__module__}.{function.__qualname__}"), file)
    yield from (function.__code__, function.__defaults__, function.__kwdefaults__)
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    if not file:  # it was typed in: what it refers to is in no file either
        for name in sorted(_names(function.__code__)):
            found = function.__globals__.get(name)
            if isinstance(found, (*_SIMPLE, FunctionType)):
                yield (name, found)


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def _other(value: Any) -> Iterator[Any]:
    if not callable(value):
        try:
            yield _Said(text_of(plain(value)) + form(value))
        except InvalidParameter:
            yield from attributes(value)
        return
    yield _Said(getattr(value, "__qualname__", ""))  # of what is built in
    yield _file(type(value).__module__)
    yield from attributes(value)
    if hasattr(value, "__wrapped__"):
        yield value.__wrapped__


def _file(module: str) -> _Said:
    """A digest of the text a module comes from, and of what it imports beside it; "" for none."""
    return _Said("".join(_digest(file.read_bytes()) for file in files(module)))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
