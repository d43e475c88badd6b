"""A sequence of mechanisms as one privacy loss, read from the JSON list of a conformance vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import choice, integer, json_value, rational

_Event = Mapping[str, Any]


def loss_of(*, events: str, neighbours: str) -> pld.Pld:
    """The loss of all events together.

    events: a JSON list of mechanisms. neighbours: "add-remove" or "replace-one". Raises
    InvalidParameter where an entry is no mechanism with its parameters.
    """
    choice("neighbours", neighbours, ("add-remove", "replace-one"))
    relation = pld.REPLACE_ONE if neighbours == "replace-one" else pld.ADD_REMOVE
    found = json_value("events", str(events), "a JSON list of mechanisms", str)
    if not isinstance(found, list) or not found:
        raise InvalidParameter("events", events, "a JSON list of mechanisms")
    first, *others = (_repeated(event, relation) for event in found)
    for other in others:
        first = first.then(other)
    return first


def _repeated(event: Any, neighbours: str) -> pld.Pld:
    if not isinstance(event, dict) or event.get("mechanism") not in _MADE:
        raise InvalidParameter("mechanism", event, "an object with one of " + ", ".join(_MADE))
    try:
        made = _MADE[event["mechanism"]](event, neighbours)
    except KeyError as missing:
        raise InvalidParameter("events", event, f"with {missing.args[0]}") from None
    return made.composed(integer("count", event.get("count", 1), least=1))


def _noise(made: pld.Pld, event: _Event, neighbours: str) -> pld.Pld:
    """The mechanism on samples, if there is a rate, for these neighbours."""
    sampled = made.sampled(event["rate"]) if "rate" in event else made
    return sampled.replaced() if neighbours == pld.REPLACE_ONE else sampled


def _gaussian(event: _Event, neighbours: str) -> pld.Pld:
    return _noise(pld.gaussian(sigma=event["sigma"]), event, neighbours)


def _mixture(event: _Event, neighbours: str) -> pld.Pld:
    lengths, weights = (str(event[name]).split() for name in ("sensitivities", "weights"))
    made = pld.gaussian_mixture(sigma=event["sigma"], sensitivities=lengths, weights=weights)
    return _noise(made, event, neighbours)


def _laplace(event: _Event, neighbours: str) -> pld.Pld:
    return _noise(pld.laplace(scale=event["scale"]), event, neighbours)


def _discrete_laplace(event: _Event, neighbours: str) -> pld.Pld:
    size = integer("sensitivity", event["sensitivity"], least=1)
    made = pld.discrete_laplace(epsilon=event["epsilon"], sensitivity=size)
    return _noise(made, event, neighbours)


def _discrete_gaussian(event: _Event, neighbours: str) -> pld.Pld:
    return _noise(pld.discrete_gaussian(sigma2=event["sigma2"], sensitivity=1), event, neighbours)


def _response(event: _Event, neighbours: str) -> pld.Pld:
    noise, answers = (
        rational("noise", event["noise"]),
        integer("answers", event["answers"], least=2),
    )
    if not 0 < noise < 1:
        raise InvalidParameter("noise", event["noise"], "> 0 and < 1")
    other = noise / answers
    rest = {"rest": (answers - 2) * other} if answers > 2 else {}
    laws = [Law({a: 1 - noise + other, b: other, **rest}) for a, b in (("x", "y"), ("y", "x"))]
    return pld.laws(*laws, neighbours=neighbours)


def _approximate(event: _Event, neighbours: str) -> pld.Pld:
    return pld.approximate(epsilon=event["epsilon"], delta=event["delta"], neighbours=neighbours)


_MADE: dict[str, Callable[[_Event, str], pld.Pld]] = {
    "gaussian": _gaussian,
    "gaussian-mixture": _mixture,
    "laplace": _laplace,
    "discrete-laplace": _discrete_laplace,
    "discrete-gaussian": _discrete_gaussian,
    "randomized-response": _response,
    "approximate": _approximate,
}
