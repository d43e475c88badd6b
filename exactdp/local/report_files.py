"""Files of reports and states, read by the mechanism that their header names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from exactdp.container import kind_of
from exactdp.errors import Described, InvalidParameter
from exactdp.local.comparison import ORACLES
from exactdp.local.compressive import CompressiveResponse
from exactdp.local.longitudinal import PermanentRappor
from exactdp.local.mechanism import REPORTS, STATE, LocalMechanism, State
from exactdp.local.sparse import SparseVectorMean
from exactdp.parameters import json_value

#: Name on the command line -> mechanism.
MECHANISMS: dict[str, type[LocalMechanism[int]]] = {
    **ORACLES,
    "permanent-rappor": PermanentRappor,
    "compressive": CompressiveResponse,
}


def mechanism_from(kind: Any, parameters: Mapping[str, Any]) -> LocalMechanism[int]:
    """A mechanism from its parameters by name; raises InvalidParameter for unknown or missing."""
    known = {f.name: f.default is MISSING for f in fields(kind) if f.init}
    parts = f"{kind.__name__} has the parameters {', '.join(known)}"
    for name in sorted(parameters.keys() - known.keys()):
        raise InvalidParameter(name, parameters[name], f"left out: {parts}")
    for name in known:
        if known[name] and name not in parameters:
            raise InvalidParameter(name, Described("nothing"), f"given: {parts}")
    mechanism: LocalMechanism[int] = kind(**parameters)
    return mechanism


def mechanism_of(data: bytes) -> LocalMechanism[int]:
    """The mechanism that a file of reports or of a state was made for.

    The mechanism is built from the parameters in the file. Raises InvalidParameter, also if its
    configuration differs from the file's.
    """
    kind = STATE if kind_of(data) == STATE.name else REPORTS
    text = kind.unpack(data)[0]["configuration"]
    configuration = _object(text)
    known: dict[str, Any] = {kind.__name__: kind for kind in MECHANISMS.values()}
    known[SparseVectorMean.__name__] = SparseVectorMean
    name = configuration.pop("mechanism", None)
    if not isinstance(name, str) or name not in known:
        raise InvalidParameter("mechanism", name, "one of " + ", ".join(known))
    for derived in ("e_epsilon", "ratio", "plan"):
        configuration.pop(derived, None)
    mechanism = mechanism_from(known[name], configuration)
    if mechanism.fingerprint_text != text:
        raise InvalidParameter("configuration", text, mechanism.fingerprint_text)
    return mechanism


def state_of(data: bytes, mechanism: LocalMechanism[Any]) -> State:
    """The state in a file of a state, or the state of the reports in a file of reports.

    Raises InvalidParameter, also for another configuration than the mechanism's.
    """
    if kind_of(data) == REPORTS.name:
        return mechanism.aggregate().add(mechanism.reports_from_bytes(data))
    return mechanism.state_from_bytes(data)


def _object(text: object) -> dict[str, Any]:
    allowed = "one JSON object"
    parsed = json_value("configuration", text, allowed) if isinstance(text, str) else None
    if not isinstance(parsed, dict):
        raise InvalidParameter("configuration", text, allowed)
    return parsed
