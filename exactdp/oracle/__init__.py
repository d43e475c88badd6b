"""Conformance vectors, and assertions and strategies for tests of other code.

The assertions are imported on first use, so that the pytest plugin starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.oracle.assertions import Evidence, assert_law, assert_private, assert_sensitivity

__all__ = ["Evidence", "assert_law", "assert_private", "assert_sensitivity"]

__getattr__, __dir__ = lazily(
    __name__, {"assertions": "Evidence assert_law assert_private assert_sensitivity"}
)
