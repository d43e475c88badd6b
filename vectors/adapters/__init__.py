"""Adapters: how questions are put to other libraries. Each imports its library when it is made.

An adapter follows the library's own documentation and answers Unsupported where the library does
not offer the quantity; it repairs nothing and computes nothing of its own beyond changes of units.
From the repository's top: ``exactdp audit vectors run --adapter vectors.adapters.opendp:make``.
"""

from __future__ import annotations

from importlib import util

#: Where an adapter is made, by the name of its package.
ADAPTERS = {"exactdp": "exactdp"} | {
    package: f"vectors.adapters.{package.lower()}:make"
    for package in (
        "opendp",
        "dp_accounting",
        "diffprivlib",
        "autodp",
        "prv_accountant",
        "pure_ldp",
        "multi_freq_ldpy",
        "ldp_toolbox",
        "riskcal",
        "gdpnum",
        "PLD_accounting",
        "opake",
        "jax_privacy",
    )
}


def installed() -> list[str]:
    """The adapters whose libraries are installed, as `exactdp.oracle.adapter.make` takes them."""
    return [where for package, where in ADAPTERS.items() if util.find_spec(package) is not None]
