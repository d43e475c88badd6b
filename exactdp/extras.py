"""Libraries that exactdp uses only for some tasks: an extra installs each of them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from exactdp.errors import MissingExtra

#: Extra -> import names of the packages that it installs.
_EXTRAS = {
    "frames": ("duckdb", "narwhals", "pyarrow"),
    "local": ("sklearn",),
    "peers": ("diffprivlib", "dp_accounting", "opendp"),
    "plots": ("matplotlib",),
    "registry": ("yaml",),
    "testing": ("hypothesis", "pytest"),
}

_RENAMED = {"sklearn": "scikit-learn", "yaml": "pyyaml"}

#: Import name of a package -> (its name for pip, the extra that installs it).
DISTRIBUTIONS = {
    package: (_RENAMED.get(package, package.replace("_", "-")), extra)
    for extra, packages in _EXTRAS.items()
    for package in packages
}


def optional(module: str) -> ModuleType:
    """Import a module of an optional library, such as ``"sklearn.linear_model"``.

    Raises MissingExtra if the library is not installed, and the library's own error if it is
    installed but fails to import (installing the extra would not help).
    """
    package = module.partition(".")[0]
    distribution, extra = DISTRIBUTIONS[package]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
    needed = f"this needs {distribution}: pip install 'exactdp[{extra}]'"
    raise MissingExtra(needed, name=package)
