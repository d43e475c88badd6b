"""CP, Figures 1 to 3."""

from __future__ import annotations

from exactdp.proofs_check.entries import CP

__all__ = ["CLAIMS"]

_PLOT = "a plot whose data are not published; nor are the code, the seed and the value of s"

CLAIMS = (
    CP.not_checkable(
        "Figure 1",
        "Users privatize; the server estimates q, recovers and projects.",
        "a diagram without numbers; its steps are checked under Algorithm 1",
    ),
    CP.not_checkable(
        "Figure 2",
        "l1 errors over the number of samples for k = 10000, m = 500, eps = 0.5.",
        _PLOT,
    ),
    CP.not_checkable(
        "Figure 3",
        "l1 errors for k = 10000, m = 500 and several eps.",
        _PLOT,
    ),
)
