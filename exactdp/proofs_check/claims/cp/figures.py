"""CP, Figures 1 to 3."""

from __future__ import annotations

from exactdp.proofs_check.claim import NotCheckable

__all__ = ["CLAIMS"]

_PLOT = "a plot whose data are not published; nor are the code, the seed and the value of s"

CLAIMS = (
    NotCheckable(
        paper="CP",
        item="Figure 1",
        statement="Users privatize; the server estimates q, recovers and projects.",
        reason="a diagram without numbers; its steps are checked under Algorithm 1",
    ),
    NotCheckable(
        paper="CP",
        item="Figure 2",
        statement="l1 errors over the number of samples for k = 10000, m = 500, eps = 0.5.",
        reason=_PLOT,
    ),
    NotCheckable(
        paper="CP",
        item="Figure 3",
        statement="l1 errors for k = 10000, m = 500 and several eps.",
        reason=_PLOT,
    ),
)
