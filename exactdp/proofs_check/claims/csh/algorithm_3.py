"""CSH, Algorithm 3: top-k by subtracting the (k + 1)-th largest count, and the shipped code."""

from __future__ import annotations

from exactdp import mechanisms
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._top_k import reduced
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]

_HISTOGRAMS = ((5, 3, 3, 1), (2, 2, 2, 2, 2), (7, 1, 0), (4,), (9, 6, 4, 4, 3), (0, 5, 2, 8))
_SEEDS = 12


def _shipped(place_after: int) -> str:
    """The shipped mechanism runs Algorithm 2 on max(0, H_i - H^(k + place_after))."""
    k, sigma, tau, epsilon, released = 4, 2, 1, 1, 0
    parameters = (k, sigma, tau, epsilon, "0.999")
    top, plain = mechanisms.TopK(*parameters), mechanisms.CSH(*parameters)
    for counts in _HISTOGRAMS:
        left = dict(enumerate(reduced(counts, k, place_after)))
        for seed in range(_SEEDS):
            found = top.draw(dict(enumerate(counts)), SeededSource(seed))
            stated = plain.draw(left, SeededSource(seed))
            released += len(found)
            require(found == stated, f"{counts}, seed {seed}: code {found}, stated {stated}")
    return f"{len(_HISTOGRAMS)} histograms, {_SEEDS} seeds each, {released} counters released"


CLAIMS = (
    CSH.verified(
        "Algorithm 3",
        "Subtract the (k+1)-th largest count from every counter, cut at 0, and release "
        "the result with Algorithm 2.",
        "enumeration",
        **varied(_shipped, 1, 0, "the k-th largest count"),
        note="with at most k counters the (k+1)-th largest is 0",
    ),
)
