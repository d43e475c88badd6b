"""Which C functions depend on their arguments alone, and which code reaches others.

Clocks, files, processes, threads and other generators are C functions in the end. They are refused
when they are called, and already where code names them: handed to map, partial or sorted they would
be called by C, which nobody sees.
"""

from __future__ import annotations

import _random
import dis
import importlib
import sys
import types
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.instructions import SILENT
from exactdp.audit.whitebox.plainness import written_in_python

__all__ = ["TOLD", "Variable", "impurity", "impurity_in", "named"]

#: Modules of C functions and types that depend on their arguments alone.
_PURE_TEXT = """
_abc _bisect _blake2 _codecs _collections _collections_abc _contextvars _csv _datetime _decimal
_functools _hashlib _heapq _json _md5 _operator _pickle _sha1 _sha2 _sha256 _sha512 _sre
_statistics _string _struct _weakref array binascii builtins cmath collections datetime decimal
flint functools gmpy2 itertools math numpy operator re types unicodedata weakref zlib
"""
_PURE = frozenset(_PURE_TEXT.split())
_IMPURE = frozenset(
    [("builtins", name) for name in ("breakpoint", "globals", "hash", "id", "input", "open")]
    + [("datetime", name) for name in ("now", "today", "utcnow")]
    + [("_csv", name) for name in ("field_size_limit", "register_dialect", "unregister_dialect")]
    + [("_codecs", name) for name in ("lookup", "lookup_error", "register", "register_error")]
    + [("_codecs", "unregister")]
    + [("_pickle", "copy")]  # of a memo: its keys are addresses
    + [
        ("builtins", "__hash__"),
        ("_thread", "get_ident"),
        ("_thread", "_release_save"),
        ("_thread", "_recursion_count"),
        ("array", "buffer_info"),
        ("array", "fromfile"),
        ("array", "tofile"),
        ("_contextvars", "copy_context"),
        ("numpy", "dump"),
        ("numpy", "empty"),
        ("numpy", "empty_like"),
        ("numpy", "fromfile"),
        ("numpy", "tofile"),
    ]
)
_ALSO_PURE = frozenset(
    [("posix", name) for name in ("fspath", "_path_normpath", "_path_splitroot_ex")]
    + [("sys", "getrecursionlimit"), ("sys", "intern")]
    + [("_thread", name) for name in ("allocate_lock", "RLock", "lock", "_local")]
    + [("_io", "StringIO"), ("_io", "BytesIO")]  # in memory alone
)


_attribute = getattr  # as it is when no program runs


def impurity(function: Any) -> str:
    """Why a function written in C may depend on more than its arguments, or ""."""
    owner, name = _attribute(function, "__self__", None), function.__name__
    if isinstance(owner, _random.Random):
        return f"{name}() of another generator"
    if owner is None or isinstance(owner, types.ModuleType):
        module = str(function.__module__ or "")
    else:
        kind: type = type(owner)
        return _impurity_of_method(owner if isinstance(owner, type) else None, kind, name)
    return _impurity_in_module(module, name)


@lru_cache(maxsize=1 << 12)
def _impurity_of_method(owner: type | None, kind: type, name: str) -> str:
    """owner: the class, if the method is one of a class itself."""
    line = (*(owner.__mro__ if owner is not None else ()), *kind.__mro__)
    found = next((base for base in line if name in vars(base)), line[0])
    pure = (found.__module__, found.__name__) in _ALSO_PURE
    pure = pure and (found.__module__, name) not in _IMPURE
    return "" if pure else _impurity_in_module(found.__module__, name)


@lru_cache(maxsize=1 << 12)
def _impurity_in_module(module: str, name: str) -> str:
    top = module.partition(".")[0]
    if "rand" in name.lower():  # generators inside of flint, gmpy2 and numpy
        return f"{module}.{name}()"
    if (top in _PURE and (top, name) not in _IMPURE) or (top, name) in _ALSO_PURE:
        return ""
    return f"{module}.{name}()"


def impurity_in(code: types.CodeType, names: Mapping[str, Any]) -> str:
    """The first impure function that code names, by itself or as an attribute, or ""."""
    constants = (each if type(each) is tuple else (each,) for each in code.co_consts)
    texts = {text for each in constants for text in each if type(text) is str}
    for text in sorted(TOLD & texts):
        return f"{text} as a text"
    if {"now", "today"} & texts and any("datetime64" in text for text in (*texts, *code.co_names)):
        return "datetime64('now')"
    if why := _looks_at_stand_ins(code, names):
        return why
    values = list(named(code, names))
    if why := _fetched(texts, [value for _, value in values]):
        return why
    for name, value in values:
        function = value.__func__ if type(value) is types.MethodType else value
        python = isinstance(function, (types.FunctionType, types.ModuleType, type))
        random = "rand" in name.lower() and callable(value) and not python
        address = name == "ctypes" and not isinstance(value, types.ModuleType)  # of an array
        unset = name.startswith("empty") and _home(value).startswith("numpy")
        if name in _TELLING or random or address or unset:
            return f"{name}()"
        if isinstance(function, types.FunctionType) and function.__module__ == "threading":
            return f"{name}()"
        if name == "hash" or not isinstance(value, types.BuiltinFunctionType):
            continue  # hash() is replaced while a program runs
        if why := impurity(value):
            return why
    return ""


def _home(value: Any) -> str:
    """The module of a function, or of the type of something else, which is not asked itself."""
    functions = (types.FunctionType, types.BuiltinFunctionType)
    return str((value if type(value) in functions else type(value)).__module__)


#: Attributes by which code looks at its process, or at the variables of other code.
_TELLING = frozenset(
    {
        "__builtins__",
        "__globals__",
        "__hash__",
        "__sizeof__",
        "cache_info",
        "f_back",
        "f_builtins",
        "f_code",
        "f_globals",
        "f_locals",
        "gi_frame",
        "loggerDict",
    }
    | {"__code__", "__func__", "__self__", "__slotnames__", "tb_frame"}
    | {"__array_interface__", "__array_struct__"}  # addresses
)
#: Texts by which a function in C would be told from one in Python, a generator from a module.
TOLD = _TELLING | {"SystemRandom", "randbelow", "randbits"}
TOLD |= {"token_bytes", "token_hex", "token_urlsafe"}


def _fetched(texts: set[str], values: list[Any]) -> str:
    """Whether what code names has an attribute in C, under a text that code holds, that is impure,
    or is a module that it writes to or reads by such means."""
    owners = [x for x in values if isinstance(x, types.ModuleType) or _is_c_type(x)]
    modules = any(isinstance(x, types.ModuleType) for x in owners)
    for tool in (*_IMPORTING, *(_TOUCHING if modules else ())):
        if any(x is tool for x in values):
            return f"a module that {tool.__name__}() gets at"
    for owner in owners:
        for text in sorted(texts & vars(owner).keys()):
            value = getattr(owner, text, None)
            if isinstance(value, types.BuiltinFunctionType) and (why := impurity(value)):
                return why
    return ""


def _looks_at_stand_ins(code: types.CodeType, names: Mapping[str, Any]) -> str:
    """Whether code asks what hash() or getattr() is, which are replaced while a program runs."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in (*SILENT, "PRECALL")]
    for asked, step in pairwise(s for s in steps if s.opname != "PUSH_NULL"):
        stands_in, asks = _stands_in(step), asked.opname.startswith("LOAD_GLOBAL")
        if stands_in and asks and asked.argval in _ASKING:
            return f"{asked.argval}({step.argval})"
        if _stands_in(asked) and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            return f"{asked.argval}.{step.argval}"
    return ""


def _stands_in(step: dis.Instruction) -> bool:
    return step.opname.startswith("LOAD_GLOBAL") and step.argval in ("getattr", "hash", "id")


_IMPORTING = (importlib.import_module, __import__)
_TOUCHING = (setattr, delattr, vars)
_ASKING = frozenset({"callable", "dir", "getattr", "hasattr", "isinstance", "type", "vars"})


def named(code: types.CodeType, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The globals that code reads or writes, and the attributes of modules and C types among them.

    A name without a value comes with None.
    """
    return ((part.name, part.value) for part in referred(code, names))


class Reference(NamedTuple):
    """What code names. path: of which it is a part, by name. whole: no part of it is named next.
    inside: the variables among which it is, where they are known."""

    path: str
    name: str
    value: Any
    whole: bool
    inside: Mapping[str, Any] | None


#: The number of the namespace that a variable is in, and its name.
Variable = tuple[int, str]


def referred(
    code: types.CodeType, names: Mapping[str, Any], without: Set[Variable] = frozenset()
) -> Iterator[Reference]:
    """The same with where they are found, and how they are used.

    without: variables that stand for something else for a while, and are not looked at.
    """
    owner, path = None, ""
    for name, of_what, whole in _references(code):
        inside = names if of_what == "globals" else None
        if of_what == "globals":
            owner, path = names.get(name), name
        elif of_what == "modules":
            owner, path = _module_or_part(name), f"import {name}"
        else:
            known = of_what == "the last" and (
                isinstance(owner, types.ModuleType) or _is_c_type(owner)
            )
            inside = vars(owner) if isinstance(owner, types.ModuleType) and known else None
            owner = getattr(owner, name, None) if known else None
            path = f"{path}.{name}" if known else f"?.{name}"
        if inside is not None and (number_of(inside), name) in without:
            owner = None
        yield Reference(path, name, owner, whole, inside)


@lru_cache(maxsize=1 << 14)
def _references(code: types.CodeType) -> tuple[tuple[str, str, bool], ...]:
    """The globals and attributes that code names, of what (the globals, the modules that it
    imports, the last named or something else), and whether no attribute of them follows.

    Code does not change, and it is asked after every run.
    """
    imports = list(_imports(code))
    imported = {each.variable: each.path for each in imports if each.stored.startswith(_LOCAL)}
    # other code may use what is no variable of this code alone
    found = [(i.path, "modules", True) for i in imports if not i.stored.startswith("STORE_FAST")]
    follows = False
    for step in dis.get_instructions(code):
        local = [name for name in _locals_of(step) if name in imported]
        if step.opname == "IMPORT_NAME":
            found.append((str(step.argval), "modules", False))
            follows = True
        elif local:
            found += [(imported[name], "modules", True) for name in local]
            follows = True
        elif step.opname == "IMPORT_FROM":
            found.append((str(step.argval), "the last", False))
            found.append((found[-2][0], "modules", False))  # more may follow from the same
        elif step.opname.startswith(_OF_GLOBALS):
            found.append((str(step.argval), "globals", True))
            follows = True
        elif step.opname.startswith(_OF_OWNERS):
            if follows:
                found[-1] = (*found[-1][:2], False)
            found.append((str(step.argval), "the last" if follows else "something", True))
        elif step.opname not in SILENT:
            follows = False
    return tuple(found)


def _module_or_part(path: str) -> Any:
    """A module, or what is in it, by its full name."""
    module, _, name = path.rpartition(".")
    return sys.modules.get(path) or getattr(sys.modules.get(module), name, None)


class Import(NamedTuple):
    """A variable that comes to stand for a module, and how: by what instruction."""

    variable: str
    path: str
    stored: str


def _imports(code: types.CodeType) -> Iterator[Import]:
    last = ""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            path = str(step.argval)
            last = path.partition(".")[0]  # what a variable gets where no part is taken
        elif last and step.opname == "IMPORT_FROM":
            last = path if path.endswith(f".{step.argval}") else f"{path}.{step.argval}"
        elif last and step.opname.startswith("STORE_"):
            variables = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            yield Import(str(variables[0]), last, step.opname)
        elif step.opname not in (*SILENT, "POP_TOP", "SWAP"):
            last = ""


def _locals_of(step: dis.Instruction) -> tuple[str, ...]:
    """The variables that an instruction loads."""
    if not step.opname.startswith(_OF_LOCALS):
        return ()
    return step.argval if isinstance(step.argval, tuple) else (str(step.argval),)


_LOCAL = ("STORE_FAST", "STORE_DEREF")
_OF_LOCALS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "STORE_FAST_LOAD_FAST")
_OF_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_OF_OWNERS = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")


def _is_c_type(kind: Any) -> bool:
    return isinstance(kind, type) and not written_in_python(kind)
