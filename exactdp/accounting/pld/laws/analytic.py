"""Helpers for functions of balls, complex balls and power series."""

from __future__ import annotations

from typing import Any

from flint import acb, arb, arb_series

__all__ = ["middle", "off_cut"]


def off_cut(value: Any) -> bool:
    """Whether no complex number in a ball is on the cut of the logarithm and the square root."""
    return not isinstance(value, acb) or bool(value.real > 0)


def middle(loss: Any) -> arb:
    """The real middle of a ball, of a complex ball, or of the first term of a power series."""
    first = loss.coeffs()[0] if isinstance(loss, arb_series) else loss
    return acb(first).real.mid()
