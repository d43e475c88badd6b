"""Where to look: saddle points of compositions, in doubles. Nothing here decides anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactdp.accounting.certify.hints import falling_root, minimum
from exactdp.accounting.pld.measure import Measure

__all__ = ["Saddle"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Saddle:
    """The logarithm of delta of a composition, as a function of epsilon, by the saddle point.

    parts: up to 16000 losses of each step, the logarithms of their masses, and how often.
    """

    parts: tuple[tuple[Floats, Floats, int], ...]

    @classmethod
    def of(cls, measures: Sequence[tuple[Measure, int]]) -> Saddle:
        return cls(tuple((*_coarse(measure), times) for measure, times in measures))

    def tilt(self, epsilon: float) -> float:
        """The exponent theta > 0 that brings the mean of the loss near epsilon."""
        return math.exp(minimum(lambda x: self._exponent(math.exp(x), epsilon), -16, 16, 0.02))

    def log_delta(self, epsilon: float) -> float:
        """About log delta(epsilon)."""
        theta = self.tilt(epsilon)
        value, _, variance = self._cumulants(theta)
        spread = theta * (1 + theta) * math.sqrt(2 * math.pi * variance)
        return value - theta * epsilon - math.log1p(spread)

    def epsilon(self, log_delta: float) -> float:
        """About the epsilon at which delta has this logarithm."""
        _, mean, variance = self._cumulants(0.0)
        unit = max(abs(mean) + math.sqrt(max(variance, 0.0)), 1e-12)
        return unit * falling_root(lambda x: self.log_delta(unit * x) - log_delta, 1.0)

    def _exponent(self, theta: float, epsilon: float) -> float:
        value, _, _ = self._cumulants(theta)
        return value - theta * epsilon - math.log(theta) - math.log1p(theta)

    def _cumulants(self, theta: float) -> tuple[float, float, float]:
        """log E e^(theta L) of the composition, with mean and variance of the tilted loss."""
        value = mean = variance = 0.0
        for losses, logs, times in self.parts:
            exponent = logs + theta * losses
            top = float(exponent.max())
            weights = np.exp(exponent - top)
            total = float(weights.sum())
            first = float(np.einsum("i,i", weights, losses)) / total
            value += times * (top + math.log(total))
            mean += times * first
            variance += (
                times * float(np.einsum("i,i,i", weights, losses - first, losses - first)) / total
            )
        return value, mean, variance


def _coarse(measure: Measure) -> tuple[Floats, Floats]:
    masses = measure.masses
    size = max(1, len(masses) // 16000)
    pad = -len(masses) % size
    logs = np.pad(masses.log2() * math.log(2), (0, pad), constant_values=-np.inf)
    bins = logs.reshape(-1, size)
    top = np.maximum(bins.max(axis=1), -1e300)
    with np.errstate(divide="ignore"):
        merged = top + np.log(np.exp(bins - top[:, None]).sum(axis=1))
    grid = measure.grid
    places = measure.first + size * (np.arange(len(bins)) + 0.5) - 0.5
    losses = float(grid.offset) + float(grid.step) * places
    seen = np.isfinite(merged)
    return losses[seen], merged[seen]
