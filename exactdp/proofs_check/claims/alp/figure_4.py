"""ALP, Figure 4: distribution of the error, computed instead of simulated."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._exact_errors import near, uniform
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS", "numbers"]


def numbers(collision: Fraction, stated: tuple[str, str, str, str], half: str) -> str:
    """Mean |error|, standard deviation (within half), mean error and the 90th percentile."""
    law = uniform(Fraction(3), collision)
    absolute, deviation, mean, limit = stated
    low, high = ((Fraction(deviation) + sign * Fraction(half)) ** 2 for sign in (-1, 1))
    variance, share = law.variance(), law.share_within(float(limit))
    found, off = law.mean_absolute(), law.mean()
    require(low <= variance.lower and variance.upper <= high, f"variance {variance}")
    require(near(share, "0.9", "0.0015"), f"{share} of the errors are within {limit}")
    require(near(found, absolute, "0.1"), f"mean |error| {found}, printed {absolute}")
    require(near(off, mean, "0.015"), f"mean error {off}, printed {mean}")
    ends = (found.lower, variance.lower, off.lower, share.lower)
    return "mean |error|, variance, mean, share: " + ", ".join(f"{float(x):.4f}" for x in ends)


CLAIMS = (
    ALP.reproduced(
        "Figure 4",
        "Error distribution for epsilon = 1, alpha = 3 and collision probability 0.1: mean "
        "absolute error 6.4 (within 0.1), standard deviation 11 (0.5), mean error 2.33 (0.015), "
        "90th percentile 15.78 (the share of errors up to that is within 0.0015 of 0.9).",
        "exact law",
        **varied(
            numbers,
            Fraction(1, 10),
            Fraction(103, 1000),
            "collision probability 0.103",
            ("6.4", "11", "2.33", "15.78"),
            "0.5",
        ),
        note="Exactly, away from both ends: 6.458, 10.81, 2.336 and 15.85 (0.8993 within 15.78). "
        "The tolerances are half a digit and five standard errors of 10^6 runs.",
    ),
)
