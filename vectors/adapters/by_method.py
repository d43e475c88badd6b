"""What adapters to other libraries share: a method per question, or a client per mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from exactdp.law import Law
from exactdp.oracle.conformance import Unsupported, beyond_doubles
from vectors.clients.laws import client_law


class ByMethod:
    """An adapter that answers by its method _<group>_<question>(parameters), if it has one."""

    def answer(self, question: str, group: str, parameters: Mapping[str, str]) -> Any:
        """What the library says, or Unsupported."""
        method = getattr(self, f"_{group}_{question}", None)
        if method is None:
            return Unsupported()
        if beyond_doubles(parameters):
            return Unsupported("a parameter is beyond double precision")
        return method(parameters)


@dataclass(frozen=True)
class Response:
    """How a library's client answers for one mechanism of the local vectors.

    modules: those that draw random numbers, the client's own first. call(module, value,
    parameters): one report of a client made from a vector's parameters, or Unsupported; value is a
    tuple where the vector has attributes. convert: converts a report to the form of the vectors.
    """

    modules: tuple[str, ...]
    call: Callable[[Any, Any, Mapping[str, str]], Any]
    convert: Callable[[Any], Any] = lambda report: report

    def law(self, parameters: Mapping[str, str]) -> Law[Any]:
        """The exact law of the report, by following the client."""
        modules = [import_module(name) for name in self.modules]
        parts = tuple(map(int, parameters["value"].split()))
        value = parts if "attributes" in parameters else parts[0]
        return client_law(lambda: self.call(modules[0], value, parameters), modules).map(
            self.convert
        )


@dataclass(frozen=True)
class ByClient(ByMethod):
    """An adapter that follows the clients of a library. responses: by mechanism."""

    name: str
    version: str
    responses: Mapping[str, Response]

    def _local_responses_pmf(self, parameters: Mapping[str, str]) -> Fraction | Unsupported:
        response = self.responses.get(parameters["mechanism"])
        if response is None:
            return Unsupported()
        law = response.law(parameters)
        if any(isinstance(report, Unsupported) for report in law):
            return Unsupported("it has another scheme, or another size")
        return law[_report(parameters["mechanism"], parameters["report"])]


def _report(mechanism: str, text: str) -> Any:
    """Read a vector's report: bits, a set, a number, or a tuple of bits or numbers."""
    if mechanism in ("fake_zero_bits", "fake_random_bits"):
        return tuple(tuple(map(int, bits)) for bits in text.split())
    if mechanism in ("unary", "rappor"):
        return tuple(map(int, text))
    several = mechanism in ("subset", "fake_values")
    return tuple(map(int, text.split())) if several else int(text)
