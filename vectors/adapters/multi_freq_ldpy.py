"""multi-freq-ldpy: the laws of its clients, by following their code.

- Clients are compiled; what is followed is the Python function that they were compiled from, with
  its random numbers replaced by choices that are enumerated (`vectors/clients/laws.py`).
- GRR_Client is randomized response, UE_Client optimized unary encoding, SS_Client subset selection,
  whose report is an array: the vectors ask for it as a set. RSpFD_GRR_Client, RSpFD_UE_zero_Client
  and RSpFD_UE_rnd_Client are random sampling plus fake data.
- They draw with numba's Mersenne Twister, whose state 624 outputs reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByClient, Response

_PACKAGE = "multi_freq_ldpy.pure_frequency_oracles"


def _client(name: str, module: Any, value: int, parameters: Mapping[str, str]) -> Any:
    client = getattr(module, f"{name}_Client")
    report = client(value, int(parameters["k"]), float(parameters["budget"]))
    return (
        Unsupported() if "size" in parameters and len(report) != int(parameters["size"]) else report
    )


def _response(name: str, report_of: Callable[[Any], Any] = lambda report: report) -> Response:
    return Response((f"{_PACKAGE}.{name}",), partial(_client, name), report_of)


def _tuple(name: str, module: Any, value: tuple[int, ...], parameters: Mapping[str, str]) -> Any:
    d = int(parameters["attributes"])
    client = getattr(module, f"RSpFD_{name}_Client")
    return client(value, [int(parameters["k"])] * d, d, float(parameters["budget"]))


def _fake(name: str, randomizer: str) -> Response:
    tuples = "multi_freq_ldpy.mdim_freq_est.RSpFD_solution"
    return Response((tuples, f"{_PACKAGE}.{randomizer}"), partial(_tuple, name))


_RESPONSES = {
    "fake_values": _fake("GRR", "GRR"),
    "fake_zero_bits": _fake("UE_zero", "UE"),
    "fake_random_bits": _fake("UE_rnd", "UE"),
    "randomized_response": _response("GRR"),
    "unary": _response("UE"),
    "subset": _response("SS", lambda r: r if isinstance(r, Unsupported) else tuple(sorted(r))),
}


def make() -> Any:
    """The adapter; raises ImportError where multi-freq-ldpy is not installed."""
    import_module(_PACKAGE)
    return ByClient("multi_freq_ldpy", version("multi-freq-ldpy"), _RESPONSES)
