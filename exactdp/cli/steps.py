"""The mechanisms in a file for exactdp compose, one JSON object per line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import choice, json_value

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld

#: Functions of exactdp.accounting.pld that no line can call: three take laws, losses or functions,
#: and three answer for a whole run.
_OTHERS = ("laws", "together", "from_density", "matrix", "sampled_matrix", "sgd")


@cache
def mechanisms() -> dict[str, Callable[..., Pld]]:
    """The functions of exactdp.accounting.pld that return one loss, by their names with dashes."""
    from exactdp.accounting import pld

    functions = {name: getattr(pld, name) for name in dir(pld) if name not in _OTHERS}
    return {
        name.replace("_", "-"): function
        for name, function in functions.items()
        if getattr(function, "__annotations__", {}).get("return") == "Pld"
    }


def steps_of(text: str, name: str, neighbours: str, group: str) -> Pld:
    """The composition of the mechanisms in a text. name: of its file. Raises InvalidParameter."""
    loss: Pld | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            place = f"line {number} of {name}"
            # numbers are read as the decimals in the text
            step = _step(json_value(place, line, "one JSON object", str), place, neighbours)
            one, times = step if group == "1" else (step[0].grouped(group), step[1])
            repeated = one.composed(times)
            loss = repeated if loss is None else loss.then(repeated)
    if loss is None:
        raise InvalidParameter("file", name, "a file with at least one mechanism")
    return loss


def _step(value: Any, place: str, neighbours: str) -> tuple[Pld, Any]:
    """The mechanism of an object, on a sample if it has a rate, and its number of repetitions."""
    if not isinstance(value, dict):
        raise InvalidParameter(place, value, "one JSON object")
    fields = dict(value)
    rate, times = fields.pop("rate", 1), fields.pop("times", 1)
    sampling = choice("sampling", fields.pop("sampling", "poisson"), ("poisson", "batches"))
    replaces = choice("neighbours", neighbours, ("add-remove", "replace-one")) == "replace-one"
    if "run" in fields:  # of this mechanism another one is run
        one, runs = _step(fields.pop("run"), f"run in {place}", neighbours)
        fields["run"] = one.composed(runs)
    loss = _loss_of(fields, place, replaces)
    if sampling == "batches":
        if not replaces:
            raise InvalidParameter("neighbours", neighbours, "replace-one for batches")
        return loss.batched(rate), times
    return _sampled(loss, rate, replaces), times


def _sampled(loss: Pld, rate: Any, replaces: bool) -> Pld:
    from exactdp.accounting.pld import REPLACE_ONE

    if loss.neighbours == REPLACE_ONE and rate == 1:
        return loss
    sampled = loss.sampled(rate)
    return sampled.replaced() if replaces else sampled


def _loss_of(fields: dict[str, Any], place: str, replaces: bool) -> Pld:
    from exactdp.accounting import pld
    from exactdp.accounting.sparse_histograms.bounds import refuse_k

    name = fields.pop("mechanism", None)
    if not isinstance(name, str) or name not in mechanisms():
        raise InvalidParameter(f"mechanism in {place}", name, "one of " + ", ".join(mechanisms()))
    factory = mechanisms()[name]
    takes = dict(inspect.signature(factory).parameters)
    if takes.pop("neighbours", None):
        relation = {"neighbours": pld.REPLACE_ONE if replaces else pld.ADD_REMOVE}
    else:
        relation = {}
    if name == "approximate":  # a promise without delta is epsilon-DP
        fields.setdefault("delta", "0")
    if "sparsity" in takes:
        refuse_k(fields, "sparsity")
    if not set(fields) <= set(takes):
        extra = sorted(set(fields) - set(takes))[0]
        unknown = Described(f"{extra} in {place}")
        raise InvalidParameter("file", unknown, f"{name} with {', '.join(takes)}")
    needed = [n for n, parameter in takes.items() if parameter.default is parameter.empty]
    if not set(needed) <= set(fields):
        raise InvalidParameter("file", place, f"{name} with {', '.join(needed)}")
    for key, value in fields.items():
        if "Sequence" in str(takes[key].annotation) and not isinstance(value, list):
            raise InvalidParameter(key, value, "a list of numbers")
    return factory(**fields, **relation)
