"""Saddle points of compositions, in doubles: they say where to look. Nothing here decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from exactdp.accounting.certify.hints import minimum
from exactdp.accounting.pld.losses.base import LossLaw, Order
from exactdp.arrays import Floats, np
from exactdp.balls import precision
from exactdp.errors import Undecided

#: Precision of the sketch of a law; with 64 bits nothing is left of the largest of many noises.
_BITS = 128

#: The law of one step is followed until the larger losses have a mass of 2^-bits; a larger number
#: of bits is tried only if a smaller one does not suffice, because losses that are much rarer than
#: delta would dominate the moments of a sampled step.
_RIGHT_BITS = (128, 256, 512, 768, 1280, 2048, 4096)

#: Largest number of losses of one step.
_MOST_LOSSES = 1 << 14

#: Largest number of tilts whose moments are kept, about 200 bytes each.
_MOST_KNOWN = 1 << 12

#: The search for a tilt covers a factor of e^_SPAN around the inverse of the largest loss.
_SPAN = 17.0

#: Number of times that the search for a place halves the range of log(tilt).
_HALVINGS = 20

#: The range of log(order - 1) in the search for a Renyi order.
_LOG_ORDERS = (-12.0, 8.0)

_TOO_FAR = "the losses of one step are too small or too large to be followed"


@dataclass(frozen=True)
class Saddle:
    """The logarithm of delta of a composition, as a function of epsilon, by the saddle point.

    parts: losses of each step, the logarithms of their masses, and the number of runs.
    """

    parts: tuple[tuple[Floats, Floats, int], ...]
    _known: dict[float, tuple[float, float, float]] = field(default_factory=dict, compare=False)

    def tilt(self, epsilon: float) -> float:
        """The exponent theta > 0 that brings the mean of the loss near epsilon."""
        low, high = self._log_tilts()
        return math.exp(minimum(lambda x: self.exponent(math.exp(x), epsilon), low, high, 0.02))

    def log_delta(self, epsilon: float) -> float:
        """About log delta(epsilon)."""
        theta = self.tilt(epsilon)
        value, _, variance = self._cumulants(theta)
        return value - theta * epsilon - _log_spread(theta, variance)

    def epsilon(self, log_delta: float) -> float:
        """About the epsilon at which delta has this logarithm."""

        def place(theta: float) -> float:
            """The epsilon at which `exponent` is least at theta."""
            return self._cumulants(theta)[1] - 1 / theta - 1 / (1 + theta)

        def is_larger(theta: float) -> bool:
            value, _, variance = self._cumulants(theta)
            return value - theta * place(theta) - _log_spread(theta, variance) > log_delta

        return place(self._largest_tilt(is_larger))

    def threshold(self, log_alpha: float) -> float:
        """About the loss >= 0 above which the losses have a mass of alpha under Q, or their mean.

        (P, Q) is the pair; the mean is under P, and the answer where the threshold is below.
        """

        def is_larger(theta: float) -> bool:
            value, mean, variance = self._cumulants(theta)
            spread = (1 + theta) * math.sqrt(2 * math.pi * max(variance, 0.0))
            return value - (1 + theta) * mean - math.log1p(spread) >= log_alpha

        return max(self._cumulants(self._largest_tilt(is_larger))[1], 0.0)

    def _largest_tilt(self, is_larger: Callable[[float], bool]) -> float:
        """About the largest tilt at which a falling number is larger."""
        low, high = self._log_tilts()
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if is_larger(math.exp(middle)) else (low, middle)
        return math.exp(low)

    def _log_tilts(self) -> tuple[float, float]:
        farthest = max(float(np.abs(losses).max()) for losses, _, _ in self.parts)
        if not 0 < farthest < math.inf:
            raise Undecided(_TOO_FAR)
        return -_SPAN - math.log(farthest), _SPAN - math.log(farthest)

    def deviation(self, theta: float) -> float:
        """About the standard deviation of the sum of all losses, tilted by theta."""
        _, _, variance = self._cumulants(theta)
        return math.sqrt(max(variance, 0.0))

    def moment_bound(self, epsilon: float) -> tuple[float, float]:
        """log s of the s > 0 at which the Renyi divergence of order s + 1 bounds delta best, and
        the logarithm of that bound."""

        def exponent(log_s: float) -> float:
            s = math.exp(log_s)
            value, _, _ = self._cumulants(s)
            return value - s * epsilon + s * log_s - (1 + s) * math.log1p(s)

        best = minimum(exponent, *_LOG_ORDERS, 1e-3)
        return best, exponent(best)

    def exponent(self, theta: float, epsilon: float) -> float:
        """About the logarithm of Chernoff's bound on delta at any theta > 0."""
        value, _, _ = self._cumulants(theta)
        return value - theta * epsilon - math.log(theta) - math.log1p(theta)

    def _cumulants(self, theta: float) -> tuple[float, float, float]:
        """log E e^(theta L) of the composition, with mean and variance of the tilted loss.

        All searches divide the same range of theta alike, so most of their places are known.
        """
        if theta not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[theta] = self._computed(theta)
        return self._known[theta]

    def _computed(self, theta: float) -> tuple[float, float, float]:
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


def _log_spread(theta: float, variance: float) -> float:
    """About the logarithm by which delta is below Chernoff's bound."""
    return math.log1p(theta * (1 + theta) * math.sqrt(2 * math.pi * max(variance, 0.0)))


def saddle(order: Order, fits: Callable[[Saddle, int], bool]) -> Saddle:
    """The saddle points of losses that are followed so far into the tail that they fit.

    fits: whether a Saddle, whose masses were followed to this number of bits, suffices.
    """
    for bits in _RIGHT_BITS:
        saddle_points = _followed(order, bits)
        if fits(saddle_points, bits):
            break
    return saddle_points


@lru_cache(maxsize=64)
def _followed(order: Order, bits: int) -> Saddle:
    return Saddle(tuple((*_losses(law, bits), times) for law, times in order))


@lru_cache(maxsize=128)
def _losses(law: LossLaw, bits: int) -> tuple[Floats, Floats]:
    """Losses of one step and the logarithms of their masses."""
    with precision(_BITS):
        pairs = list(law.sketch(bits))
    if not pairs:
        raise Undecided(_TOO_FAR)
    every = -(-len(pairs) // _MOST_LOSSES)
    losses, logs = (np.array(column) for column in zip(*pairs[::every], strict=True))
    return losses, logs + math.log(every)
