"""multi-freq-ldpy: the laws of its clients, by following their code.

- Clients are compiled; what is followed is the Python function that they were compiled from, with
  its random numbers replaced by choices that are enumerated (`exactdp/oracle/clients.py`).
- GRR_Client is randomized response, UE_Client optimized unary encoding, SS_Client subset selection,
  whose report is an array: the vectors ask for it as a set.
- They draw with numba's Mersenne Twister, whose state 624 outputs reveal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.law import Law
from exactdp.oracle.adapters.by_method import ByMethod
from exactdp.oracle.clients import client_law
from exactdp.oracle.conformance import Unsupported

__all__ = ["MultiFreqLDPy", "make"]

_PACKAGE = "multi_freq_ldpy.pure_frequency_oracles"


@dataclass(frozen=True)
class MultiFreqLDPy(ByMethod):
    """Follows the clients of multi-freq-ldpy."""

    version: str
    name: str = "multi_freq_ldpy"

    def _local_responses_pmf(self, given: Mapping[str, str]) -> Fraction | Unsupported:
        name = given["mechanism"]
        if name == "randomized_response":
            return _law("GRR", given)[int(given["report"])]
        if name == "unary":
            return _law("UE", given)[tuple(map(float, given["report"]))]
        if name == "subset":
            sets = _law("SS", given).map(lambda report: tuple(sorted(report)))
            wanted = tuple(map(int, given["report"].split()))
            if {len(chosen) for chosen in sets} != {int(given["size"])}:
                return Unsupported("it chooses another size")
            return sets[wanted]
        return Unsupported()


def _law(name: str, given: Mapping[str, str]) -> Law[Any]:
    module = import_module(f"{_PACKAGE}.{name}")
    client = getattr(module, f"{name}_Client").py_func
    value, k, budget = int(given["value"]), int(given["k"]), float(given["budget"])
    return client_law(lambda: client(value, k, budget), [module])


def make() -> Any:
    """The adapter; raises ImportError where multi-freq-ldpy is not installed."""
    import_module(_PACKAGE)
    return MultiFreqLDPy(version("multi-freq-ldpy"))
