"""Algorithms 1 and 2, and the shipped code with discrete noise, on the same random draws."""

from __future__ import annotations

from fractions import Fraction

from exactdp.mechanisms import CSH, GSHM
from exactdp.proofs_check.claim import require
from exactdp.samplers import DiscreteGaussian, SeededSource

__all__ = ["same_release"]

_HISTOGRAMS: tuple[dict[str, int], ...] = (
    {"a": 1, "b": 0},
    {"a": 1, "b": 2, "c": 0},
    {"a": 3, "b": 1},
    {"a": 4, "b": 5, "c": 1, "d": 0},
)
_SEEDS = 20


def _written(code: GSHM | CSH, counts: dict[str, int], limit: Fraction, seed: int) -> object:
    """The pseudocode, line by line; counters that are zero get no noise at all."""
    source, shared = SeededSource(seed), isinstance(code, CSH)
    scale = 2 if shared else 1  # noise in steps of one half, as in Theorem 7.7
    own = DiscreteGaussian(sigma2=scale**2 * Fraction(code.sigma) ** 2)
    common = code._shared.sample(source) if isinstance(code, CSH) else 0
    released = {}
    for x, count in counts.items():
        if count != 0:
            noisy = count + Fraction(own.sample(source) + common, scale)
            if noisy > limit:
                released[x] = noisy
    return released


def same_release(shared: bool, lower: Fraction) -> str:
    """The shipped code releases what the pseudocode does, with its limit lowered by `lower`."""
    tau, released = Fraction(1), 0
    code = (CSH if shared else GSHM)(k=4, sigma=2, tau=tau, epsilon=1, delta="0.999")
    for counts in _HISTOGRAMS:
        for seed in range(_SEEDS):
            found = dict(code.draw(counts, SeededSource(seed)))
            written = _written(code, counts, 1 + tau - lower, seed)
            released += len(found)
            case = f"{counts}, seed {seed}: code {found}, written {written}"
            require(found == written, case)
    return f"{len(_HISTOGRAMS)} histograms, {_SEEDS} seeds each, {released} counters released"
