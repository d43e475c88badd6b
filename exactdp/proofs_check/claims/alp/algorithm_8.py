"""ALP, Algorithm 8: the estimate from both parts."""

from __future__ import annotations

from fractions import Fraction

from exactdp.mechanisms.projections.combined import ThresholdALP, ThresholdSketch
from exactdp.mechanisms.projections.sketch import Sketch
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import estimate
from exactdp.proofs_check.entries import ALP, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]

_MADE = ThresholdALP(d=64, k=8, s=20, u=64, epsilon1=1, epsilon2=1, alpha=3, steps=1, t=8)


def _released(seed: int) -> ThresholdSketch:
    """Eight entries from 2 to 16, twice the threshold, and 56 zeros."""
    vector, source = {7 * i: 2 * (i + 1) for i in range(8)}, SeededSource(seed)
    sketch, limited = _MADE.sketch, {i: min(x, 8) for i, x in vector.items()}
    hashes = UniversalHashes.draw(sketch.levels, 64, 20, source)
    small = Sketch(sketch, hashes, sketch.draw(limited, hashes, source))
    return ThresholdSketch(_MADE, _MADE.stored.draw(vector, source), small)


def _from_bits(released: ThresholdSketch, i: int) -> Fraction:
    """The estimate of the embedding, from the bits and the definition of Algorithm 3."""
    small, rows = released.small, 20
    own = []
    for b in range(_MADE.sketch.levels):
        place = rows * b + int(small.hashes.rows(small.hashes.keys([i]), b)[0])
        own.append(int(small.bits[place // 8]) >> place % 8 & 1)
    return min(estimate(own) * _MADE.sketch.cells.width, Fraction(8))


def _answers(prefer_stored: bool) -> str:
    """All 64 answers of four shipped releases."""
    taken = 0
    for seed in range(4):
        released = _released(seed)
        stored = {i: steps * Fraction(1, 64) for i, steps in released.stored}
        for i in range(64):
            expected = _from_bits(released, i)
            if i in stored and prefer_stored:
                expected, taken = stored[i], taken + 1
            require(released[i] == expected, f"seed {seed}, entry {i}: not {expected}")
    return f"four seeded releases of 64 entries; {taken} answers are stored values"


CLAIMS = (
    ALP.verified(
        "Algorithm 8",
        "The shipped sketch answers with the stored value where there is one, else with the "
        "estimate of Algorithm 3 from the bits.",
        "enumeration",
        **varied(_answers, True, False, "always with the estimate"),
    ),
)
