"""ALP, Lemma 2.6: the expected error of random rounding."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied
from exactdp.samplers import exact_law, random_rounding

__all__ = ["CLAIMS"]


def _error(bound: Fraction) -> str:
    """2 f (1 - f) for fractional part f, exactly, by the shipped sampler; at most the bound."""
    found = {}
    for numerator in range(-24, 25):
        r = Fraction(numerator, 12)
        law = exact_law(lambda source: random_rounding(r, source), residual=0, progress=False)
        error = law.expectation(lambda y: abs(r - y))
        part = r - (r.numerator // r.denominator)
        require(error == 2 * part * (1 - part), f"r={r}: {error}")
        found[part] = error
    require(max(found, key=found.__getitem__) == Fraction(1, 2), "the maximum is elsewhere")
    require(max(found.values()) <= bound, f"largest error {max(found.values())}")
    return "49 values; the error is 2 f (1 - f) = 1/2 - 2 (f - 1/2)^2"


CLAIMS = (
    ALP.verified(
        "Lemma 2.6",
        "E|r - RandRound(r)| = 2 f (1 - f) for the fractional part f, at most 1/2, at f = 1/2.",
        "exact law",
        **varied(_error, Fraction(1, 2), Fraction(49, 100), "at most 0.49"),
    ),
)
