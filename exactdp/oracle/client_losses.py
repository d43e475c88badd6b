"""Local clients of other libraries: is the epsilon they state what their reports lose?

White box: the exact law of every client for every value. What is infinite is confirmed by running
the client as it is, on its own random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module, util
from importlib.metadata import version
from typing import Any

from exactdp.oracle.clients import Loss, client_law, loss, plain

__all__ = ["CLIENTS", "Client", "examined", "section"]

#: Relative excess of e^epsilon that is put down to the rounding of probabilities.
_ROUNDING = Fraction(1, 10**9)

_RUNS = 20_000

_HEAD = """\
## Clients of local privacy

Each client's own code, with its random numbers replaced by choices that are enumerated
(`exactdp/oracle/clients.py`): the exact law of what it sends for every value, and the largest ratio
of two probabilities of one report. Even where epsilon is kept on paper, pure-ldp and
multi-freq-ldpy draw with Mersenne Twisters, whose future is known to whoever has seen 624 outputs;
the estimators of multi-freq-ldpy set negative frequencies to 0 and are biased. Local hashing of
both fails with the current xxhash (4.1), which no longer takes text.

| library | client | states epsilon | loses epsilon | verdict |
|---|---|---:|---:|---|"""

_REPRODUCTIONS = {
    "RAPPORClient": """\
from pure_ldp.frequency_oracles.rappor.rappor_client import RAPPORClient
client = RAPPORClient(0.5, 2, [[int]], 1, index_mapper=int)  # f = 0.5, a value is its own hash
shown = [min(client.privatise(value)[0][0] for _ in range(10_000)) for value in (0, 1)]
print(shown)  # bit 0 of value 0 is never 0, where f/2 = 1/4 of the reports should have it
""",
    "SS_Client": """\
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
reports = [[list(SS_Client(value, 5, 0.5)) for _ in range(10_000)] for value in (0, 1)]
behind = [sum(0 in report[1:] for report in each) for each in reports]
print(behind)  # value 0 is in the report, but not first: never, where the user's value is 0
""",
}


@dataclass(frozen=True)
class Client:
    """One client, and the epsilon that it states.

    values: how many are tried. modules: those that draw. make(modules, value): a call that reports.
    """

    package: str
    name: str
    epsilon: float
    values: int
    modules: tuple[str, ...]
    make: Callable[[tuple[Any, ...], int], Callable[[], Any]]


def _pure(module: str, call: Callable[[Any, int], Any], *more: str) -> Any:
    names = (f"pure_ldp.frequency_oracles.{module}", *more)
    return names, lambda modules, value: call(modules[0], value)


def _multi(module: str, call: Callable[[Any, int], Any]) -> Any:
    return (f"multi_freq_ldpy.{module}",), lambda modules, value: call(modules[0], value)


def _followed(function: Any) -> Any:
    return getattr(function, "py_func", function)


def _rappor(module: Any) -> Any:
    return module.RAPPORClient(0.5, 3, [[int]], 1, index_mapper=int)


def _clients() -> Iterator[Client]:
    one = 1.0
    for name, names_and_make in (
        ("DEClient", _pure(
            "direct_encoding.de_client",
            lambda m, x: m.DEClient(one, 4, index_mapper=int).privatise(x))),
        ("UEClient", _pure(
            "unary_encoding.ue_client",
            lambda m, x: m.UEClient(one, 3, index_mapper=int).privatise(x))),
        ("UEClient, use_oue", _pure(
            "unary_encoding.ue_client",
            lambda m, x: m.UEClient(one, 3, use_oue=True, index_mapper=int).privatise(x))),
        ("HadamardResponseClient", _pure(
            "hadamard_response.hr_client",
            lambda m, x: m.HadamardResponseClient(one, 3, None, index_mapper=int).privatise(x),
            "pure_ldp.frequency_oracles.hadamard_response.internal.k2k_hadamard")),
        ("HadamardMechClient", _pure(
            "hadamard_mechanism.hadamard_mechanism_client",
            lambda m, x: m.HadamardMechClient(one, 4, 1, index_mapper=int).privatise(x))),
    ):  # fmt: skip
        names, make = names_and_make
        yield Client("pure-ldp", name, one, 3, names, _later(make))
    names, make = _pure("rappor.rappor_client", lambda m, x: _rappor(m).privatise(x)[0])
    yield Client("pure-ldp", "RAPPORClient", 2 * math.log(3), 3, names, _later(make))
    frequency, longitudinal = "pure_frequency_oracles", "long_freq_est"
    for name, folder, arguments in (
        ("GRR", frequency, (4, one)),
        ("UE", frequency, (3, one, True)),
        ("SS", frequency, (5, one / 2)),
        ("L_SUE", longitudinal, (3, 2.0, one)),
        ("L_OSUE", longitudinal, (3, 2.0, one)),
        ("L_OUE", longitudinal, (3, 2.0, one)),
        ("L_SOUE", longitudinal, (3, 2.0, one)),
        ("dBitFlipPM", longitudinal, (3, 3, 1, one)),
    ):

        def call(m: Any, x: int, name: str = name, arguments: Any = arguments) -> Any:
            return _followed(getattr(m, f"{name}_Client"))(x, *arguments)

        names, make = _multi(f"{folder}.{name}", call)
        stated = one / 2 if name == "SS" else one
        yield Client("multi-freq-ldpy", f"{name}_Client", stated, 3, names, _later(make))


def _later(make: Any) -> Any:
    return lambda modules, value: lambda: make(modules, value)


CLIENTS = tuple(_clients())


def examined(client: Client) -> Loss:
    """What a client's reports lose, from their exact laws."""
    modules = tuple(import_module(name) for name in client.modules)
    return loss([client_law(client.make(modules, x), modules) for x in range(client.values)])


def section() -> str:
    """The part of the conformance page, for the libraries that are installed."""
    installed = [c for c in CLIENTS if util.find_spec(c.package.replace("-", "_")) is not None]
    found = [(client, examined(client)) for client in installed]
    if not found:
        return ""
    lines = [_HEAD, *(_row(client, lost) for client, lost in found), ""]
    for client, lost in found:
        if lost.ratio is None:
            lines += _broken(client, lost)
    return "\n".join(lines)


def _row(client: Client, lost: Loss) -> str:
    library = f"{client.package} {version(client.package)}"
    stated = f"{client.epsilon:.6g}"
    if lost.ratio is None:
        return f"| {library} | {client.name} | {stated} | infinite | **broken** |"
    measured = math.log(lost.ratio)
    within = lost.ratio <= Fraction(math.exp(client.epsilon)) * (1 + _ROUNDING)
    verdict = "kept, up to rounding" if within else "**broken**"
    return f"| {library} | {client.name} | {stated} | {measured:.6g} | {verdict} |"


def _broken(client: Client, lost: Loss) -> Iterator[str]:
    """The report that only one of two values can lead to, on paper and on the client's own runs."""
    can, cannot = lost.values
    modules = tuple(import_module(name) for name in client.modules)
    counts = [_count(client.make(modules, value), lost.report) for value in lost.values]
    yield f"### {client.package}: {client.name}"
    yield ""
    yield (
        f"The report {lost.report} is possible for value {can} and impossible for value {cannot}. "
        f"In {_RUNS} runs of the client as it is: {counts[0]} times for {can}, {counts[1]} times "
        f"for {cannot}."
    )
    code = _REPRODUCTIONS.get(client.name)
    if code is not None:
        yield from ("", "```python", code.rstrip(), "```")
    yield ""


def _count(client: Callable[[], Any], report: Any) -> int:
    return sum(plain(client()) == report for _ in range(_RUNS))
