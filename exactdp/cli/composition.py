"""exactdp sgd | compose: the privacy loss of DP-SGD, or of any sequence of mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exactdp.cli.options import json_option, options, statement_option
from exactdp.cli.output import print_json, print_table
from exactdp.cli.publishing import save_statement
from exactdp.cli.reading import existing, text_in
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import choice, json_value
from exactdp.progress import counted

if TYPE_CHECKING:
    from exactdp.accounting.pld import Pld
    from exactdp.enclosure import Enclosure
    from exactdp.statement import Statement


@click.command(
    epilog="Example: exactdp sgd --noise-multiplier 1 --rate 0.01 --steps 10000 --delta 1e-5"
)
@options("rate", "noise_multiplier steps epsilon delta sampling neighbours")
@statement_option
@json_option
def sgd(
    as_json: bool,
    statement: Path | None,
    rate: str,
    sampling: str | None,
    neighbours: str | None,
    **given: str | None,
) -> None:
    """The privacy loss of DP-SGD, or its parameters for a target.

    Give exactly three of --noise-multiplier, --steps, --epsilon and --delta. The fourth is
    computed with certified lower and upper bounds. --sampling batches draws batches of a fixed size
    without replacement, for replace-one neighbours; for several steps only the upper bound is
    certified.
    """
    scheme = {"sampling": sampling, "neighbours": neighbours}
    if sampling == "batches" and neighbours is None:
        scheme["neighbours"] = "replace-one"
    chosen = {name: value for name, value in scheme.items() if value is not None}
    wanted = [name for name, value in given.items() if value is None]
    if len(wanted) != 1:
        names = ", ".join("--" + name.replace("_", "-") for name in given)
        found = Described(f"{4 - len(wanted)} of them")
        raise InvalidParameter("options", found, f"exactly three of {names}")
    known = {name: value for name, value in given.items() if value is not None}
    report: dict[str, Any] = {"mechanism": "sgd", "given": {"rate": rate, **chosen, **known}}
    with counted("certifying"):
        report.update(_found(wanted[0], rate, dict(known), chosen))
    _print(report, as_json)
    values = {**known, **report.get("parameters", {})}
    asked = {"delta": known["delta"]} if wanted == ["epsilon"] else {"epsilon": known["epsilon"]}
    noise, steps = values["noise_multiplier"], values["steps"]
    save_statement(statement, lambda: _statement(_sgd(noise, rate, steps, chosen), asked))


def _statement(loss: Pld, asked: Mapping[str, str | None]) -> Statement:
    from exactdp import statement

    with counted("deriving the statement"):
        return statement.of(loss, epsilon=asked.get("epsilon"), delta=asked.get("delta"))


def _found(wanted: str, rate: str, known: dict[str, str], chosen: dict[str, str]) -> dict[str, Any]:
    """The one of noise multiplier, steps, epsilon and delta that was not given."""
    from exactdp.accounting import pld

    if wanted == "noise_multiplier":
        return _fields(pld.calibrate_sgd(rate=rate, **known, **chosen).as_dict())
    if wanted == "steps":
        most = pld.most_steps(rate=rate, **known, **chosen)
        return {
            "parameters": {"steps": str(most.steps)},
            "delta": most.delta.as_dict(),
            "refuted": {"steps": str(most.too_many), "delta": most.refuted.as_dict()},
        }
    noise, steps = known.pop("noise_multiplier"), known.pop("steps")
    return _answer(_sgd(noise, rate, steps, chosen), **known)


def _sgd(noise: str, rate: str, steps: str, scheme: dict[str, str]) -> Pld:
    from exactdp.accounting import pld

    return pld.sgd(noise_multiplier=noise, rate=rate, steps=steps, **scheme)


@click.command(epilog="Example: exactdp compose steps.jsonl --delta 1e-5")
@click.argument("file", metavar="FILE")
@options("", "epsilon delta neighbours group")
@statement_option
@json_option
def compose(
    file: str,
    statement: Path | None,
    epsilon: str | None,
    delta: str | None,
    neighbours: str | None,
    group: str | None,
    as_json: bool,
) -> None:
    """The joint privacy loss of several mechanisms.

    Computes delta for a given epsilon, or epsilon for a given delta.

    FILE has one JSON object per line, for example {"mechanism": "gaussian", "sigma": 2, "rate":
    "0.01", "times": 100}. Mechanisms and parameters: gaussian (sigma), gaussian-mixture (sigma,
    sensitivities, weights), discrete-gaussian (sigma2, sensitivity), discrete-laplace (epsilon,
    sensitivity), laplace (scale, sensitivity), randomized-response (epsilon), approximate (epsilon,
    delta), gshm and csh (k, sigma, tau). Optional: rate, times, and sampling ("poisson", or
    "batches" for replace-one neighbours). Each repetition and each line draws its own sample.
    """
    if (epsilon is None) == (delta is None):
        raise InvalidParameter("options", Described("both, or none"), "either --epsilon or --delta")
    asked = {"epsilon": epsilon} if delta is None else {"delta": delta}
    steps = _steps(existing(file), neighbours or "add-remove", group or "1")
    relation = {"neighbours": neighbours, "group": group}
    given = {"file": file, **{n: value for n, value in relation.items() if value}, **asked}
    with counted("certifying"):
        answer = _answer(steps, **asked)
    _print({"mechanism": "composition", "given": given, **answer}, as_json)
    save_statement(statement, lambda: _statement(steps, asked))


def _answer(loss: Pld, *, epsilon: str | None = None, delta: str | None = None) -> dict[str, Any]:
    if delta is not None:
        found: Enclosure = loss.epsilon(delta)
        return {"epsilon": found.as_dict(), "neighbours": loss.neighbours, "source": loss.source}
    promise = loss.guarantee(epsilon if epsilon is not None else 0)
    return {
        "delta": promise.delta.as_dict(),
        "neighbours": loss.neighbours,
        "source": loss.source,
    }


def _fields(calibration: dict[str, Any]) -> dict[str, Any]:
    return {
        "parameters": calibration["parameters"],
        "delta": calibration["delta"],
        "refuted": calibration["refuted"],
        "neighbours": calibration["guarantee"]["neighbours"],
        "source": calibration["guarantee"]["source"],
    }


def _steps(path: Path, neighbours: str, group: str) -> Pld:
    found: Pld | None = None
    for number, line in enumerate(text_in(path).splitlines(), 1):
        if line.strip():
            step = _step(line, f"line {number} of {path.name}", neighbours, group)
            found = step if found is None else found.then(step)
    if found is None:
        raise InvalidParameter("file", path.name, "a file with at least one mechanism")
    return found


def _step(line: str, place: str, neighbours: str, group: str) -> Pld:
    # numbers are read as the decimals in the text
    given = json_value(place, line, "one JSON object", str)
    if not isinstance(given, dict):
        raise InvalidParameter(place, line, "one JSON object")
    factories = _factories(neighbours)
    name = given.pop("mechanism", None)
    if not isinstance(name, str) or name not in factories:
        raise InvalidParameter(f"mechanism in {place}", name, "one of " + ", ".join(factories))
    rate, times = given.pop("rate", 1), given.pop("times", 1)
    sampling = choice("sampling", given.pop("sampling", "poisson"), ("poisson", "batches"))
    factory, needed, more = factories[name]
    if not set(given) <= {*needed, *more}:
        extra = sorted(set(given) - {*needed, *more})[0]
        allowed = ", ".join([*needed, *more])
        raise InvalidParameter("file", Described(f"{extra} in {place}"), f"{name} with {allowed}")
    if not set(needed) <= set(given):
        raise InvalidParameter("file", place, f"{name} with {', '.join(needed)}")
    made = _between(factory(**given), rate, sampling, neighbours)
    return made.composed(times) if group == "1" else made.grouped(group).composed(times)


def _between(made: Pld, rate: Any, sampling: str, neighbours: str) -> Pld:
    """The sampled mechanism for this neighbouring relation."""
    from exactdp.accounting.pld import REPLACE_ONE

    replaces = choice("neighbours", neighbours, ("add-remove", "replace-one")) == "replace-one"
    if sampling == "batches":
        if not replaces:
            raise InvalidParameter("neighbours", neighbours, "replace-one for batches")
        return made.batched(rate)
    if made.neighbours == REPLACE_ONE and rate == 1:
        return made
    sampled = made.sampled(rate)
    return sampled.replaced() if replaces else sampled


def _factories(
    neighbours: str,
) -> dict[str, tuple[Callable[..., Pld], tuple[str, ...], tuple[str, ...]]]:
    """Name -> (factory, required parameters, optional parameters)."""
    from exactdp.accounting import pld

    relation = pld.REPLACE_ONE if neighbours == "replace-one" else pld.ADD_REMOVE

    def response(epsilon: str) -> Pld:
        return pld.randomized_response(epsilon=epsilon, neighbours=relation)

    def approximate(epsilon: str, delta: str = "0") -> Pld:
        return pld.approximate(epsilon=epsilon, delta=delta, neighbours=relation)

    return {
        "gaussian": (pld.gaussian, ("sigma",), ("sensitivity",)),
        "gaussian-mixture": (_mixture, ("sigma", "sensitivities", "weights"), ()),
        "discrete-gaussian": (pld.discrete_gaussian, ("sigma2",), ("sensitivity",)),
        "discrete-laplace": (pld.discrete_laplace, ("epsilon",), ("sensitivity",)),
        "laplace": (pld.laplace, ("scale",), ("sensitivity",)),
        "randomized-response": (response, ("epsilon",), ()),
        "approximate": (approximate, ("epsilon",), ("delta",)),
        "gshm": (pld.gshm, ("k", "sigma", "tau"), ()),
        "csh": (pld.csh, ("k", "sigma", "tau"), ("correlation", "contributions")),
    }


def _mixture(sigma: str, sensitivities: Any, weights: Any) -> Pld:
    from exactdp.accounting import pld

    for name, values in (("sensitivities", sensitivities), ("weights", weights)):
        if not isinstance(values, list):
            raise InvalidParameter(name, values, "a list of numbers")
    return pld.gaussian_mixture(sigma=sigma, sensitivities=sensitivities, weights=weights)


def _print(report: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    # the neighbouring relation comes last, as text
    rows = [[name, value] for name, value in report["given"].items() if name != "neighbours"]
    rows += [[name, value] for name, value in report.get("parameters", {}).items()]
    for name in ("epsilon", "delta"):
        if name in report:
            ends = report[name]
            rows.append([name, f"[{_short(ends['lower'])}, {_short(ends['upper'], up=True)}]"])
    if report.get("refuted"):
        value = next(f"{n} = {v}" for n, v in report["refuted"].items() if n != "delta")
        rows.append(["refuted", f"{value}: delta > {_short(report['refuted']['delta']['lower'])}"])
    if "neighbours" in report:
        rows.append(["neighbours", report["neighbours"]])
    print_table(f"{report['mechanism']}, certified", [], rows)


def _short(number: str, *, up: bool = False) -> str:
    """A decimal with ten digits, rounded down, or up."""
    from exactdp.enclosure import Enclosure

    exact = Enclosure.exact(number)
    return exact.decimal_upper(10) if up else exact.decimal_lower(10)
