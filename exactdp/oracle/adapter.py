"""Adapters: implementations in Python that answer the questions of conformance vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from exactdp import __version__
from exactdp.audit.numbers.certified import answer, quantities
from exactdp.errors import InvalidParameter
from exactdp.oracle.conformance import Adapter, Unsupported


@dataclass(frozen=True)
class ExactDP:
    """The adapter of this library, which answers with the upper ends of enclosures."""

    name: str = "exactdp"
    version: str = __version__

    def answer(self, question: str, group: str, parameters: Mapping[str, str]) -> str | Unsupported:
        """The upper end of the certified value, as a decimal rounded up."""
        if question not in quantities(group):
            return Unsupported()
        return answer(group, question, parameters).decimal_upper(30)


def make(where: str) -> Adapter:
    """The adapter "exactdp", or the result of the function "package.module:function".

    Raises InvalidParameter if the function does not exist, or a library it needs is missing.
    """
    if where == "exactdp":
        return ExactDP()
    module, colon, function = where.partition(":")
    allowed = "exactdp, or package.module:function for a function that returns an adapter"
    if not (module and colon and function):
        raise InvalidParameter("adapter", where, allowed)
    try:
        adapter: Adapter = getattr(import_module(module), function)()
    except (ImportError, AttributeError) as error:
        raise InvalidParameter("adapter", where, f"{allowed} ({error})") from None
    return adapter
