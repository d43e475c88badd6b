"""CSH, Table 1: symbols."""

from __future__ import annotations

from exactdp.proofs_check.claim import NotCheckable

__all__ = ["CLAIMS"]

CLAIMS = (
    NotCheckable(
        paper="CSH",
        item="Table 1",
        statement="Symbols: the threshold is 1 + tau with tau > 0; delta_gauss, delta_inf (for j "
        "counters, delta_inf^j); Phi and its inverse.",
        reason="notation only, consistent with the text",
    ),
)
