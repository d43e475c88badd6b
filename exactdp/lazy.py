"""Packages that import modules on first use, so that programs start quickly; what `dir` shows."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data
from typing import Any


def face(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub of its public names.

    room: the name of the package. Its ``__init__.pyi`` is the only list of the names, for type
    checkers and at run time: a line ``from module import name as name`` for each. The module is
    imported when its name is first used.
    """
    modules = _modules_by_name(get_data(room, "__init__.pyi") or b"")

    def offered(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = _imported(modules[name], name, room)
        vars(sys.modules[room])[name] = value  # the next use does not ask again
        return value

    names = sorted(modules)
    return offered, names.copy, names


def own_names(module: str) -> Callable[[], list[str]]:
    """``__dir__`` of a module whose functions and classes are the interface: no imported names.

    module: its name.
    """

    def names() -> list[str]:
        held = vars(sys.modules[module]).items()
        return sorted(n for n, v in held if n[0] != "_" and getattr(v, "__module__", "") == module)

    return names


def _modules_by_name(stub: bytes) -> dict[str, str]:
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def _imported(module: str, name: str, room: str) -> Any:
    """An attribute of a module, by its name; or the module of this name in a package."""
    package = import_module(module)
    if module == room or not hasattr(package, name):
        return import_module(f"{module}.{name}")
    return getattr(package, name)
