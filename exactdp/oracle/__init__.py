"""Conformance vectors, and assertions and strategies for tests of other code.

assert_law and assert_private are imported on first use, so that the pytest plugin starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.oracle.assertions import Evidence, assert_law, assert_private

__all__ = ["Evidence", "assert_law", "assert_private"]

__getattr__, __dir__ = lazily(__name__, {"assertions": "Evidence assert_law assert_private"})
