"""pure-ldp: the laws of its clients, by following their code.

- Clients have no probabilities to ask for; their code is run with its random numbers replaced by
  choices that are enumerated (`vectors/clients/laws.py`), so the answer is what they do.
- DEClient is randomized response, UEClient with use_oue optimized unary encoding, RAPPORClient with
  one cohort and a Bloom filter of k bits whose only hash function is the value itself is basic
  RAPPOR, HadamardResponseClient is Hadamard response for epsilon <= 1.
- They draw with Python's and numpy's Mersenne Twister, whose state 624 outputs reveal.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByClient, Response

_PACKAGE = "pure_ldp.frequency_oracles"

Parameters = Mapping[str, str]


def _sizes(parameters: Parameters) -> tuple[float, int]:
    return float(parameters["budget"]), int(parameters["k"])


def _randomized_response(module: Any, value: int, parameters: Parameters) -> Any:
    return module.DEClient(*_sizes(parameters), index_mapper=int).privatise(value)


def _unary(module: Any, value: int, parameters: Parameters) -> Any:
    return module.UEClient(*_sizes(parameters), use_oue=True, index_mapper=int).privatise(value)


def _rappor(module: Any, value: int, parameters: Parameters) -> Any:
    client = module.RAPPORClient(
        float(parameters["f"]), int(parameters["k"]), [[int]], 1, index_mapper=int
    )
    return client.privatise(value)[0]


def _hadamard(module: Any, value: int, parameters: Parameters) -> Any:
    if float(parameters["budget"]) > 1:
        return Unsupported("another scheme above epsilon 1")
    client = module.HadamardResponseClient(*_sizes(parameters), None, index_mapper=int)
    return client.privatise(value)


_RESPONSES = {
    "randomized_response": Response(
        (f"{_PACKAGE}.direct_encoding.de_client",), _randomized_response
    ),
    "unary": Response((f"{_PACKAGE}.unary_encoding.ue_client",), _unary),
    "rappor": Response((f"{_PACKAGE}.rappor.rappor_client",), _rappor),
    "hadamard": Response(
        (
            f"{_PACKAGE}.hadamard_response.hr_client",
            f"{_PACKAGE}.hadamard_response.internal.k2k_hadamard",
        ),
        _hadamard,
    ),
}


def make() -> Any:
    """The adapter; raises ImportError where pure-ldp is not installed."""
    import_module(_PACKAGE)
    return ByClient("pure_ldp", version("pure-ldp"), _RESPONSES)
