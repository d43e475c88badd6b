"""This library, as an adapter: the upper ends of its certified enclosures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exactdp import __version__
from exactdp.audit.numbers.certified import answer, quantities
from exactdp.oracle.conformance import Unsupported

__all__ = ["ExactDP", "make"]


@dataclass(frozen=True)
class ExactDP:
    """Certified calculators; the upper end of an enclosure is the safe answer."""

    name: str = "exactdp"
    version: str = __version__

    def answer(self, question: str, group: str, parameters: Mapping[str, str]) -> str | Unsupported:
        """The upper end of the certified value, as a decimal rounded up."""
        if question not in quantities(group):
            return Unsupported()
        return answer(group, question, parameters).decimal_upper(30)


def make() -> ExactDP:
    """The adapter."""
    return ExactDP()
