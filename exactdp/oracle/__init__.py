"""Conformance vectors, tools for tests of other code, and adapters to other libraries.

assert_law and assert_private are loaded when used, so that the pytest plugin costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exactdp.oracle.assertions import Evidence, assert_law, assert_private

__all__ = ["Evidence", "assert_law", "assert_private"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from exactdp.oracle import assertions

        return getattr(assertions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
