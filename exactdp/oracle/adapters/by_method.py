"""What the adapters to other libraries share: one method per group and question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactdp.oracle.conformance import Unsupported, beyond_doubles

__all__ = ["ByMethod"]


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
