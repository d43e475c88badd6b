"""Adapters: how questions are put to other libraries. Each imports its library when it is made.

An adapter follows the library's own documentation and answers Unsupported where the library does
not offer the quantity; it repairs nothing and computes nothing of its own beyond changes of units.
"""

from __future__ import annotations

from importlib import import_module, util
from typing import TYPE_CHECKING

from exactdp.parameters import choice

if TYPE_CHECKING:
    from exactdp.oracle.conformance import Adapter

__all__ = ["ADAPTERS", "installed", "make"]

#: Name of the adapter, and the package it imports.
ADAPTERS = {
    "exactdp": "exactdp",
    "opendp": "opendp",
    "dp_accounting": "dp_accounting",
    "diffprivlib": "diffprivlib",
    "autodp": "autodp",
    "prv_accountant": "prv_accountant",
    "pure_ldp": "pure_ldp",
    "multi_freq_ldpy": "multi_freq_ldpy",
    "ldp_toolbox": "ldp_toolbox",
}


def installed() -> list[str]:
    """Names of the adapters whose libraries can be imported."""
    return [name for name, package in ADAPTERS.items() if util.find_spec(package) is not None]


def make(name: str) -> Adapter:
    """An adapter by name; raises ImportError where its library is not installed."""
    module = import_module(f"exactdp.oracle.adapters.{choice('adapter', name, tuple(ADAPTERS))}")
    adapter: Adapter = module.make()
    return adapter
