"""ldp-toolbox: the laws of its clients, by following their code.

- `pip install --no-deps ldp-toolbox` is enough for them, with numba and joblib.
- What is followed is obfuscate of each class, with its random numbers replaced by choices that are
  enumerated (`vectors/clients/laws.py`), and compiled functions as they were written.
- GeneralizedRandomizedResponse is randomized response, UnaryEncoding optimized unary encoding,
  SubsetSelection an array: the vectors ask for it as a set.
- They draw with numpy's and numba's Mersenne Twister, whose state 624 outputs reveal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByClient, Response

_PACKAGE = "ldp_toolbox.protocols.frequency"


def _client(name: str, module: Any, value: int, parameters: Mapping[str, str]) -> Any:
    report = getattr(module, name)(int(parameters["k"]), float(parameters["budget"])).obfuscate(
        value
    )
    return (
        Unsupported() if "size" in parameters and len(report) != int(parameters["size"]) else report
    )


def _response(
    name: str, module: str, report_of: Callable[[Any], Any] = lambda report: report
) -> Response:
    return Response((f"{_PACKAGE}.{module}",), partial(_client, name), report_of)


_RESPONSES = {
    "randomized_response": _response("GeneralizedRandomizedResponse", "grr"),
    "unary": _response("UnaryEncoding", "ue"),
    "subset": _response(
        "SubsetSelection", "ss", lambda r: r if isinstance(r, Unsupported) else tuple(sorted(r))
    ),
}


def make() -> Any:
    """The adapter; raises ImportError where ldp-toolbox is not installed."""
    import_module(_PACKAGE)
    return ByClient("ldp_toolbox", version("ldp-toolbox"), _RESPONSES)
