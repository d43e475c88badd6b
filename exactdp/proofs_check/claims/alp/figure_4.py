"""ALP, Figure 4: distribution of the error, computed instead of simulated."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._exact_errors import uniform
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_ALPHA, _FLIP = Fraction(3), Fraction(1, 5)

#: Simulated: five standard errors of a share of 0.9 in 10^6 runs.
_SHARE = 0.0015


def _numbers(collision: Fraction, stated: tuple[float, float, float, float]) -> str:
    """Mean |error|, standard deviation, mean error and the share within the 90th percentile."""
    law = uniform(_ALPHA, _FLIP, collision)
    absolute, deviation, mean, limit = stated
    found = (law.mean_absolute(), law.deviation(), law.mean())
    close = ((absolute, 0.1), (deviation, 0.2), (mean, 0.015))
    for value, (printed, allowed) in zip(found, close, strict=True):
        require(abs(value - printed) <= allowed, f"{value:.4f}, printed {printed}")
    share = law.share_within(limit)
    require(abs(share - 0.9) <= _SHARE, f"{share:.5f} of the errors are within {limit}")
    return (
        f"{found[0]:.4f}, {found[1]:.4f}, {found[2]:.4f}, and {share:.5f} within {limit}: exact "
        "law, entries far from both ends"
    )


CLAIMS = (
    ALP.reproduced(
        "Figure 4",
        "Error distribution for epsilon = 1, alpha = 3 and collision probability 0.1: mean "
        "absolute error 6.4, standard deviation 11, mean error 2.33, 90th percentile 15.78.",
        "exact law",
        **varied(
            _numbers,
            Fraction(1, 10),
            Fraction(11, 100),
            "collision probability 0.11",
            (6.4, 11.0, 2.33, 15.78),
        ),
        seconds=30,
        note="Exactly, away from both ends: 6.458, 10.81, 2.336 and 15.85 (0.8993 within 15.78).",
    ),
    ALP.reproduced(
        "Figure 4, collision probability 0.01",
        "Mean absolute error 4.8, standard deviation 7.8, mean error 0.18, 90th percentile 11.5.",
        "exact law",
        **varied(
            _numbers,
            Fraction(1, 100),
            Fraction(2, 100),
            "collision probability 0.02",
            (4.8, 7.8, 0.18, 11.5),
        ),
        seconds=30,
        ours=True,
        note="The numbers of Section 9, by the law of Figure 4: 4.782, 7.848, 0.171, 11.51.",
    ),
)
