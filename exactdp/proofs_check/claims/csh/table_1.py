"""CSH, Table 1: symbols."""

from __future__ import annotations

from exactdp.proofs_check.entries import CSH

__all__ = ["CLAIMS"]

CLAIMS = (
    CSH.not_checkable(
        "Table 1",
        "Symbols: the threshold is 1 + tau with tau > 0; delta_gauss, delta_inf (for j "
        "counters, delta_inf^j); Phi and its inverse.",
        "notation only, consistent with the text",
    ),
)
