"""Functions and objects sent to another process, which makes its own of them.

They are sent by the pickle of multiprocessing: functions of a module by their names, so that the
module is imported anew; other functions by their code and what they refer to; objects by what they
hold. Generators are sent as new ones of their kind, with seeds that follow from theirs and from the
number of the process, because copies would all draw the same.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import marshal
import random
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.reduction import ForkingPickler
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

MAIN = "__main__"  # a program can only be imported by running it again
_number = 0
variables = set[tuple[str, str]]()  # variables that the latest received value has by name


def number(process: int) -> None:
    """Give this process a number; generators that it receives draw by this number."""
    global _number
    _number = process


def received(data: bytes) -> Any:
    """The value that was passed to :func:`sent`, rebuilt in this process."""
    variables.clear()
    return ForkingPickler.loads(data)


def sent(value: Any, names: Mapping[int, tuple[str, str]] | None = None) -> bytes:
    """The bytes from which another process rebuilds the value; empty where it cannot.

    names: module and name of objects, by their ids, that are sent by these names.
    """
    buffer = io.BytesIO()
    sender = _Sender(buffer)
    sender.names = names or {}
    try:
        sender.dump(value)
    except Exception:  # whatever the value's own methods raise, it cannot be sent
        return b""
    return b"" if MAIN.encode() in buffer.getvalue() else buffer.getvalue()


class _Sender(ForkingPickler):
    names: Mapping[int, tuple[str, str]]

    def reducer_override(self, value: Any) -> Any:
        by_itself = isinstance(value, type) or _is_importable(value)
        if id(value) in self.names and not by_itself:
            return _variable, self.names[id(value)]
        if isinstance(value, np.random.Generator):
            return _generator, (type(value.bit_generator), _seed(value.bit_generator.state))
        if isinstance(value, np.random.RandomState):
            return _legacy, (_seed(value.get_state()),)
        if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
            return _python, (type(value), _seed(value.getstate()))
        if isinstance(value, ModuleType):
            return import_module, (value.__name__,)
        if isinstance(value, FunctionType) and not by_itself:
            return _function, _by_code(value)
        return NotImplemented


def _variable(module: str, name: str) -> Any:
    variables.add((module, name))
    return getattr(import_module(module), name)


def _is_importable(value: Any) -> bool:
    """Whether module and name are enough: not for lambdas, closures, or what a script defines."""
    if not isinstance(value, FunctionType):
        return isinstance(value, BuiltinFunctionType)
    return value.__module__ != MAIN and "<" not in value.__qualname__


def _by_code(function: FunctionType) -> tuple[Any, ...]:
    """Code, globals, defaults and closure of a function.

    The globals are the name of its module; for a script, the variables that the function names.
    """
    scope: Any = function.__module__
    if scope == MAIN:
        known = function.__globals__
        scope = {name: known[name] for name in sorted(_names(function.__code__)) if name in known}
    code = function.__code__.replace(co_qualname=function.__name__)
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return marshal.dumps(code), scope, function.__defaults__, function.__kwdefaults__, cells


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def _function(code: bytes, scope: Any, defaults: Any, named: Any, cells: Any) -> FunctionType:
    known = dict(vars(import_module(scope))) if isinstance(scope, str) else scope
    known["__builtins__"] = builtins
    closure = tuple(CellType(one) for one in cells)
    function = FunctionType(marshal.loads(code), known, None, defaults, closure)  # noqa: S302
    function.__kwdefaults__ = named
    return function


def _seed(state: Any) -> int:
    """A seed that follows from the state of a generator."""
    return int.from_bytes(hashlib.sha256(repr(state).encode()).digest(), "big")


def _generator(kind: Any, seed: int) -> np.random.Generator:
    return np.random.Generator(kind([seed, _number]))


def _legacy(seed: int) -> np.random.RandomState:
    return np.random.RandomState(np.random.MT19937([seed, _number]))


def _python(kind: Any, seed: int) -> random.Random:
    generator: random.Random = kind()
    generator.seed(f"{seed} {_number}")
    return generator
