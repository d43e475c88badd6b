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
    entries = json_value("events", str(events), "a JSON list of mechanisms", str)
    if not isinstance(entries, list) or not entries:
        raise InvalidParameter("events", events, "a JSON list of mechanisms")
    first, *others = (_repeated(event, relation) for event in entries)
    for other in others:
        first = first.then(other)
    return first


def _repeated(event: Any, neighbours: str) -> pld.Pld:
    name = event.get("mechanism") if isinstance(event, dict) else None
    known = [*_NOISE, *_OTHERS]
    if name not in known:  # a list: a name in JSON may be one that has no hash
        raise InvalidParameter("mechanism", event, "an object with one of " + ", ".join(known))
    try:
        loss = _OTHERS[name](event, neighbours) if name in _OTHERS else _noise(event, neighbours)
    except KeyError as missing:
        raise InvalidParameter("events", event, f"with {missing.args[0]}") from None
    return loss.composed(integer("count", event.get("count", 1), least=1))


def _noise(event: _Event, neighbours: str) -> pld.Pld:
    """The loss of noise for these neighbours; on a sample, if the event has a rate."""
    loss = _NOISE[event["mechanism"]](event)
    sampled = loss.sampled(event["rate"]) if "rate" in event else loss
    return sampled.replaced() if neighbours == pld.REPLACE_ONE else sampled


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


#: Noise -> its loss without sampling, for add-remove neighbours.
_NOISE: dict[str, Callable[[_Event], pld.Pld]] = {
    "gaussian": lambda e: pld.gaussian(sigma=e["sigma"]),
    "gaussian-mixture": lambda e: pld.gaussian_mixture(
        sigma=e["sigma"],
        sensitivities=str(e["sensitivities"]).split(),
        weights=str(e["weights"]).split(),
    ),
    "laplace": lambda e: pld.laplace(scale=e["scale"]),
    "discrete-laplace": lambda e: pld.discrete_laplace(
        epsilon=e["epsilon"], sensitivity=integer("sensitivity", e["sensitivity"], least=1)
    ),
    "discrete-gaussian": lambda e: pld.discrete_gaussian(sigma2=e["sigma2"], sensitivity=1),
}

#: Other mechanisms -> their loss for these neighbours.
_OTHERS: dict[str, Callable[[_Event, str], pld.Pld]] = {
    "randomized-response": _response,
    "approximate": lambda e, neighbours: pld.approximate(
        epsilon=e["epsilon"], delta=e["delta"], neighbours=neighbours
    ),
}
