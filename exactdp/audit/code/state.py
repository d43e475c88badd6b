"""What a variable of a module holds, as a digest that is equal only for equal contents.

A module that draws when it is imported holds something else in every process. Read are plain
values, and functions, classes and objects of Python down to the plain values in them. Modules, and
what the modules of a closed list of libraries define, are read as their names. Everything else (an
iterator, an array.array, a cache that is filled) cannot be read, and nobody can say that it is
equal.
"""

from __future__ import annotations

import collections
import functools
import gc
import logging
import random
import re
import sys
import threading
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import PosixPath, WindowsPath
from typing import Any

import numpy as np

from exactdp.audit.code.generators import ExactRandom
from exactdp.audit.code.lines import is_program
from exactdp.audit.code.numpy_generators import ExactGenerator
from exactdp.audit.code.runs import Run
from exactdp.audit.plain import Reader, array_text, by_id, is_plain_dtype, not_plain, type_name

#: Types of Python whose objects other classes extend -> the plain value that such an object is.
_BASES: dict[type, Callable[[Any], Any]] = {
    dict: lambda value: dict(dict.items(value)),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    int: lambda value: int.__add__(value, 0),
    float: lambda value: float.__float__(value),
    str: lambda value: str.__str__(value),
    bytes: lambda value: bytes.__add__(value, b""),
    types.GenericAlias: lambda value: [value.__origin__, value.__args__],
    object: lambda value: None,
}
#: Types of elements whose place in a set does not depend on the process.
_HASHED_ALIKE = (bool, int, float, complex, Fraction, Decimal)
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE
#: Libraries, beside Python's own, that are known to draw nothing when they are imported.
_LIBRARIES = {
    *("numpy", "pandas", "polars", "pyarrow", "dateutil", "pytz", "scipy"),
    *("flint", "gmpy2", "mpmath", "exactdp"),
}
#: Attributes of classes that Python sets for itself: annotations, and caches of checks.
_OF_PYTHON = {
    *("__dict__", "__weakref__", "__annotations__", "__annotate__", "__annotate_func__"),
    *("__annotations_cache__", "__static_attributes__", "_abc_impl"),
}
#: Attributes of loggers that belong to the module logging.
_OF_LOGGING = {"parent", "manager", "_cache"}


def state_digest(value: Any) -> str:
    """A digest of what a variable holds. Raises NotPlain where it cannot be read."""
    try:
        text = Reader(_read).text(value)
    except RecursionError:
        raise not_plain(value) from None
    return sha256(text.encode()).hexdigest()


def _read(reader: Reader, value: Any) -> str:
    """The text of a value that is not plain."""
    kind = type(value)
    is_class = issubclass(kind, type)
    if (is_class or kind is types.FunctionType) and _is_named_by_library(value):
        return f"{value.__module__}.{value.__qualname__}"
    if kind is types.ModuleType:
        return f"module {value.__name__}"
    if kind is ExactRandom or kind is ExactGenerator or kind is Run:
        return "generator"
    if value is Ellipsis or value is NotImplemented:
        return repr(value)
    if kind in (set, frozenset):
        return reader.once(value, lambda: f"{kind.__name__}({', '.join(_elements(value))})")
    parts = _PARTS.get(id(kind))
    if parts is None and is_class:
        parts = _class_parts
    if parts is None and _is_of_python(kind):
        parts = _object_parts
    inside = None if parts is None else parts(value)
    if inside is not None:
        return reader.once(value, lambda: reader.group(kind.__name__, inside))
    if name := _name_in_library(value):
        return name
    raise not_plain(value)


def _elements(value: Any) -> list[str]:
    """The elements of a set: in their order where it tells something, else sorted."""
    texts = [Reader(_read).text(each) for each in value]
    alike = all(any(type(each) is kind for kind in _HASHED_ALIKE) for each in value)
    return texts if alike else sorted(texts)


# -- what libraries define -------------------------------------------------------------------------


def is_of_library(module: str | None) -> bool:
    """Whether a module belongs to a library that is known to draw nothing when it is imported."""
    name = str(module).partition(".")[0]
    spec = getattr(sys.modules.get(name), "__spec__", None)
    place = getattr(spec, "origin", None) or ""  # a folder test of the program is not Python's test
    of_python = place in ("built-in", "frozen") or (place and not is_program(place))
    return name in _LIBRARIES or (name in sys.stdlib_module_names and bool(of_python))


def _is_named_by_library(value: Any) -> bool:
    """Whether a function or class is what its name says in a module of a library."""
    held: Any = sys.modules.get(value.__module__) if is_of_library(value.__module__) else None
    for name in value.__qualname__.split("."):
        held = vars(held).get(name) if isinstance(held, (types.ModuleType, type)) else None
    return held is value


def _name_in_library(value: Any) -> str:
    """The name by which a module of a library knows a value, or ""."""
    for title, module in list(sys.modules.items()):
        if is_of_library(title):
            for name, known in list(vars(module).items()):
                if known is value:
                    return f"{title}.{name}"
    return ""


# -- functions, classes and objects ----------------------------------------------------------------


def _function_parts(value: types.FunctionType) -> list[Any]:
    names = [value.__name__, value.__qualname__, value.__module__, value.__doc__]
    cells = [_cell(cell) for cell in value.__closure__ or ()]
    return [*names, value.__code__, value.__defaults__, value.__kwdefaults__, vars(value), *cells]


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return NotImplemented


def _code_parts(code: types.CodeType) -> list[Any]:
    counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    return [code.co_code, code.co_exceptiontable, code.co_consts, *counts, *names]


def _builtin_parts(function: Any) -> list[Any]:
    """A method of C belongs to an object, a function of C to a module."""
    return [
        type_name(type(function)),
        function.__qualname__,
        function.__module__,
        function.__self__,
    ]


def _member_parts(member: Any) -> list[Any]:
    return [member.__name__, member.__objclass__.__qualname__]


def _cache_parts(function: Any) -> list[Any] | None:
    if function.cache_info().currsize:
        return None  # nobody but the function can read its cache
    return [vars(function), *function.cache_parameters().items()]


def _class_parts(kind: type) -> list[Any]:
    members = {name: each for name, each in vars(kind).items() if name not in _OF_PYTHON}
    return [kind.__module__, kind.__qualname__, type(kind), kind.__bases__, members]


def _object_parts(value: Any) -> list[Any]:
    """The class, the plain value that the object extends, its attributes and slots."""
    kind = type(value)
    slots = [(name, _slot(member, value)) for name, member in _slots(kind)]
    base = _BASES[_base(kind)](value)
    attributes = _attributes(kind)
    return [kind, base, attributes and attributes.__get__(value), *slots]


def _attributes(kind: type) -> Any:
    """What Python reads the attributes of an object from, or None."""
    return next((vars(each)["__dict__"] for each in kind.__mro__ if "__dict__" in vars(each)), None)


def _slot(member: Any, value: Any) -> Any:
    try:
        return member.__get__(value)
    except AttributeError:  # not set
        return NotImplemented


def _slots(kind: type) -> list[tuple[str, Any]]:
    return [
        (name, member)
        for each in kind.__mro__
        if each.__flags__ & _HEAP
        for name, member in vars(each).items()
        if isinstance(member, types.MemberDescriptorType)
    ]


def _base(kind: type) -> type:
    """The type of C that a class extends."""
    return next(each for each in kind.__mro__ if not each.__flags__ & _HEAP)


def _is_of_python(kind: type) -> bool:
    """Whether the objects of a class are plain values of Python with attributes and slots: their
    size leaves no room for anything else."""
    base, pointer = _base(kind), tuple.__itemsize__
    own = [
        (kind.__dictoffset__, base.__dictoffset__),
        (kind.__weakrefoffset__, base.__weakrefoffset__),
    ]
    # other negative offsets are those of pointers before the object
    pointers = sum(x != y and (x > 0 or x == -pointer) for x, y in own) + len(_slots(kind))
    known = isinstance(_attributes(kind), (types.GetSetDescriptorType, types.NoneType))
    size = base.__basicsize__ + pointers * pointer
    return known and base in _BASES and kind is not base and kind.__basicsize__ <= size


def _array_parts(array: Any) -> list[Any] | None:
    """Of a view, also what lies behind it."""
    if not is_plain_dtype(array.dtype) or array.base is None:
        return None
    return [array_text(array), array.base]


def _logger_parts(logger: logging.Logger) -> list[Any]:
    own = {name: each for name, each in vars(logger).items() if name not in _OF_LOGGING}
    return [own]


#: The type of the items of named tuples.
_ITEM = type(vars(collections.namedtuple("Single", "item"))["item"])
_PARTS: dict[int, Callable[[Any], list[Any] | None]] = by_id(
    {
        types.FunctionType: _function_parts,
        types.CodeType: _code_parts,
        types.MethodType: lambda method: [method.__self__, method.__func__],
        types.BuiltinFunctionType: _builtin_parts,
        types.MethodWrapperType: lambda method: [method.__name__, method.__self__],
        **dict.fromkeys(
            (
                *(
                    types.MemberDescriptorType,
                    types.GetSetDescriptorType,
                    types.WrapperDescriptorType,
                ),
                *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
            ),
            _member_parts,
        ),
        functools.partial: lambda each: [each.func, each.args, each.keywords, vars(each)],
        functools._lru_cache_wrapper: _cache_parts,
        property: lambda each: [each.fget, each.fset, each.fdel, each.__doc__],
        staticmethod: lambda each: [each.__func__, vars(each)],
        classmethod: lambda each: [each.__func__, vars(each)],
        _ITEM: lambda item: list(item.__reduce__()[1]),
        object: lambda each: [],
        bytearray: lambda each: [bytes(each)],
        types.SimpleNamespace: lambda each: [vars(each)],
        types.MappingProxyType: lambda each: gc.get_referents(each),
        types.GenericAlias: lambda each: [each.__origin__, each.__args__],
        types.UnionType: lambda each: [each.__args__],
        collections.defaultdict: lambda each: [each.default_factory, dict(each)],
        collections.OrderedDict: lambda each: [dict(each), vars(each)],
        collections.deque: lambda each: [each.maxlen, list(each)],
        re.Pattern: lambda each: [each.pattern, each.flags],
        type(threading.Lock()): lambda each: [each.locked()],
        type(threading.RLock()): lambda each: [each._is_owned()],
        logging.Logger: _logger_parts,
        np.ndarray: _array_parts,
        random.SystemRandom: lambda each: [
            vars(each)
        ],  # the system's bits, and no state of its own
        **dict.fromkeys((PosixPath, WindowsPath), lambda path: [str(path)]),
    }
)
