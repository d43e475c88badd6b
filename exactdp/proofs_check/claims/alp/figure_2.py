"""ALP, Figure 2: the example of an estimate."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import peaks
from exactdp.proofs_check.claims.alp._shipped import read_off
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _example(answer: int) -> str:
    """Every string of 8 bits whose sum peaks at 3 and 5 only gives the estimate."""
    strings = [bits for bits in product((0, 1), repeat=8) if peaks(bits) == [3, 5]]
    for bits in strings:
        require(read_off(bits) == answer, f"{bits}: estimate {read_off(bits)}")
    flips = min(sum(bit != (b < 5) for b, bit in enumerate(bits)) for bits in strings)
    return f"{len(strings)} strings peak at 3 and 5 only; one needs {flips} flip of y = 5"


CLAIMS = (
    ALP.reproduced(
        "Figure 2",
        "When the partial sums peak at 3 and 5, the estimate is exactly 4 (the true value is 5).",
        "enumeration",
        **varied(_example, 4, 5, "the estimate is 5"),
        note="The plotted bits are not in the text; every string with these peaks is checked.",
    ),
)
