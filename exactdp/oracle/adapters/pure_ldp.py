"""pure-ldp: the laws of its clients, by following their code.

- Clients have no probabilities to ask for; their code is run with its random numbers replaced by
  choices that are enumerated (`exactdp/oracle/clients.py`), so the answer is what they do.
- DEClient is randomized response, UEClient with use_oue optimized unary encoding, RAPPORClient with
  one cohort and a Bloom filter of k bits whose only hash function is the value itself is basic
  RAPPOR, HadamardResponseClient is Hadamard response for epsilon <= 1.
- They draw with Python's and numpy's Mersenne Twister, whose state 624 outputs reveal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.adapters.by_method import ByMethod
from exactdp.oracle.clients import client_law
from exactdp.oracle.conformance import Unsupported

__all__ = ["PureLDP", "make"]

_PACKAGE = "pure_ldp.frequency_oracles"


@dataclass(frozen=True)
class PureLDP(ByMethod):
    """Follows the clients of pure-ldp."""

    version: str
    name: str = "pure_ldp"

    def _local_responses_pmf(self, given: Mapping[str, str]) -> Fraction | Unsupported:
        answer = getattr(self, f"_{given['mechanism']}", None)
        found: Fraction | Unsupported = Unsupported() if answer is None else answer(given)
        return found

    def _randomized_response(self, given: Mapping[str, str]) -> Fraction:
        module = import_module(f"{_PACKAGE}.direct_encoding.de_client")
        client = module.DEClient(float(given["budget"]), int(given["k"]), index_mapper=int)
        law = client_law(lambda: client.privatise(int(given["value"])), [module])
        return law[int(given["report"])]

    def _unary(self, given: Mapping[str, str]) -> Fraction:
        module = import_module(f"{_PACKAGE}.unary_encoding.ue_client")
        budget, k = float(given["budget"]), int(given["k"])
        client = module.UEClient(budget, k, use_oue=True, index_mapper=int)
        law = client_law(lambda: client.privatise(int(given["value"])), [module])
        return law[tuple(map(int, given["report"]))]

    def _rappor(self, given: Mapping[str, str]) -> Fraction:
        module = import_module(f"{_PACKAGE}.rappor.rappor_client")
        f, k = float(given["f"]), int(given["k"])
        client = module.RAPPORClient(f, k, [[int]], 1, index_mapper=int)
        law = client_law(lambda: client.privatise(int(given["value"]))[0], [module])
        return law[tuple(map(int, given["report"]))]

    def _hadamard(self, given: Mapping[str, str]) -> Fraction | Unsupported:
        budget, k = float(given["budget"]), int(given["k"])
        if budget > 1:
            return Unsupported("another scheme above epsilon 1")
        outer = import_module(f"{_PACKAGE}.hadamard_response.hr_client")
        inner = import_module(f"{_PACKAGE}.hadamard_response.internal.k2k_hadamard")
        client = outer.HadamardResponseClient(budget, k, None, index_mapper=int)
        law = client_law(lambda: client.privatise(int(given["value"])), [inner])
        return law[int(given["report"])]


def make() -> Any:
    """The adapter; raises ImportError where pure-ldp is not installed."""
    import_module(_PACKAGE)
    return PureLDP(version("pure-ldp"))
