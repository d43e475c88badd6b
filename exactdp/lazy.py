"""Packages that import their modules on first use, so that short programs start quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    room: str, offers: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose modules are imported on first use.

    room: the name of the package. offers: module within the package -> its public names, separated
    by spaces; without names, the module itself is public, under the last part of its name.
    Returns the two functions; the first raises AttributeError for every other name.
    """
    names = {name: module for module, some in offers.items() for name in some.split()}
    wholes = {module.rpartition(".")[2]: module for module, some in offers.items() if not some}

    def offered(name: str) -> Any:
        if name in wholes:
            return import_module(f"{room}.{wholes[name]}")
        if name in names:
            return getattr(import_module(f"{room}.{names[name]}"), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted([*names, *wholes])

    return offered, listed
