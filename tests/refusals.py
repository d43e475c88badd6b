"""What a call refuses."""

from __future__ import annotations

from collections.abc import Callable

from exactdp.errors import InvalidParameter


def refused(call: Callable[[], object]) -> str:
    """The name of the parameter that a call refuses."""
    try:
        call()
    except InvalidParameter as refusal:
        return refusal.name
    return "nothing"
