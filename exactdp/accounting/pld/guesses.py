"""Where to look: saddle points of compositions, in doubles. Nothing here decides anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.certify.hints import falling_root, minimum
from exactdp.accounting.pld.atoms import AtomicLoss
from exactdp.accounting.pld.laplace import EndedLoss
from exactdp.accounting.pld.laws import LossLaw, Masses
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["OneLoss", "Order", "Saddle", "saddle"]

Floats = NDArray[np.float64]

#: The law of the loss of one step.
OneLoss: TypeAlias = LossLaw | AtomicLoss | EndedLoss

#: The laws of the losses of all steps, each with how often it is run.
Order: TypeAlias = tuple[tuple[OneLoss, int], ...]

_BITS = 128

#: Small losses are followed to a mass of 2^-this.
_LEFT_BITS = 96

#: Large losses are followed to a mass of 2^-these, one after the other.
_RIGHT_BITS = (128, 1280, 4096)

#: Cells between two marks of a loss with ends.
_CELLS = 256

#: Where they end: ever closer to the marks, at which a density may be steep.
_SHARES = sorted(
    {Fraction(i, _CELLS) for i in range(_CELLS + 1)}
    | {Fraction(1, _CELLS << k) for k in range(60)}
    | {1 - Fraction(1, _CELLS << k) for k in range(60)}
)

_MOST_PLACES = 1 << 14

#: Tilts are looked for within factors of e^this about one over the largest loss.
_SPAN = 17.0

#: Logarithms of orders less 1.
_LOG_ORDERS = (-12.0, 8.0)

_TOO_FAR = "the losses of one step are too small or too large to be followed"


@dataclass(frozen=True)
class Saddle:
    """The logarithm of delta of a composition, as a function of epsilon, by the saddle point.

    parts: losses of each step, the logarithms of their masses, and how often.
    """

    parts: tuple[tuple[Floats, Floats, int], ...]

    def tilt(self, epsilon: float) -> float:
        """The exponent theta > 0 that brings the mean of the loss near epsilon."""
        farthest = max(float(np.abs(losses).max()) for losses, _, _ in self.parts)
        if not 0 < farthest < math.inf:
            raise Undecided(_TOO_FAR)
        low, high = (sign * _SPAN - math.log(farthest) for sign in (-1, 1))
        return math.exp(minimum(lambda x: self.exponent(math.exp(x), epsilon), low, high, 0.02))

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

    def log_order(self, epsilon: float) -> float:
        """log s of the s > 0 at which the Renyi divergence of order s + 1 bounds delta best."""

        def exponent(log_s: float) -> float:
            s = math.exp(log_s)
            value, _, _ = self._cumulants(s)
            return value - s * epsilon + s * log_s - (1 + s) * math.log1p(s)

        return minimum(exponent, *_LOG_ORDERS, 1e-3)

    def exponent(self, theta: float, epsilon: float) -> float:
        """About the logarithm of Chernoff's bound on delta at any theta > 0."""
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


def saddle(order: Order, fits: Callable[[Saddle, int], bool]) -> Saddle:
    """Followed so far into the tail that it fits.

    fits: is given the saddle, and the bits to which its masses were followed.
    """
    for bits in _RIGHT_BITS:
        found = _followed(order, bits)
        if fits(found, bits):
            break
    return found


@lru_cache(maxsize=64)
def _followed(order: Order, bits: int) -> Saddle:
    return Saddle(tuple((*_places(law, bits), times) for law, times in order))


@lru_cache(maxsize=128)
def _places(law: OneLoss, bits: int) -> tuple[Floats, Floats]:
    """Losses of one step and the logarithms of their masses."""
    with precision(_BITS):
        if isinstance(law, EndedLoss):
            found = list(_between_ends(law))
        elif isinstance(law, AtomicLoss):
            found = list(_of_atoms(law, bits))
        else:
            found = list(_of_cells(law, bits))
    if not found:
        raise Undecided(_TOO_FAR)
    every = -(-len(found) // _MOST_PLACES)
    losses, logs = np.array(found[::every]).T
    return losses, logs + math.log(every)


def _of_atoms(law: AtomicLoss, bits: int) -> Iterator[tuple[float, float]]:
    for loss, p, _ in law.outcomes(bits):
        if not isinstance(loss, float) and p.mid() > 0:
            yield float(loss if not isinstance(loss, arb) else loss.mid()), _log(p)


def _between_ends(law: EndedLoss) -> Iterator[tuple[float, float]]:
    marks = [(law.anchor + i * law.unit, mass) for i, mass in law.marks()]
    yield from ((float(place), _log(mass)) for place, mass in marks if mass > 0)
    for part, (start, _), (end, _) in zip(law.parts(), marks, marks[1:], strict=False):
        places = [start + (end - start) * share for share in _SHARES]
        masses = [part.below(ball(place))[0] for place in places]
        for (place, after), (one, two) in zip(pairwise(places), pairwise(masses), strict=True):
            if two - one > 0:
                yield float(place + after) / 2, _log(two - one)


def _of_cells(law: LossLaw, bits: int) -> Iterator[tuple[float, float]]:
    centre, scale = float(law.centre().mid()), float(law.scale().mid())
    yield from _side(law.above, centre, scale, bits)
    yield from _side(law.below, centre, -scale, _LEFT_BITS)


def _side(
    masses: Callable[[arb], Masses], centre: float, scale: float, bits: int
) -> Iterator[tuple[float, float]]:
    """Cells away from the centre; in each the mass that is left falls by about a third of a
    standard deviation's worth."""
    place, width = centre, scale / 8
    p, q = masses(arb(place))
    while p > 0 and (log_left := -_log(p)) < bits * math.log(2):
        wished = max(0.5, 0.35 * math.sqrt(2 * log_left))
        p_next, q_next = masses(arb(place + width))
        fallen = -_log(p_next) - log_left if p_next > 0 else math.inf
        if fallen > 2 * wished and abs(width) > abs(scale) / 64:
            width /= 2
            continue
        in_p, in_q = p - p_next, q - q_next
        if not (in_p > 0 and in_q > 0):
            break
        yield _log(in_p) - _log(in_q), _log(in_p)
        place, p, q = place + width, p_next, q_next
        width *= 1.5 if fallen < wished / 2 else 2 / 3 if fallen > wished else 1


def _log(value: arb) -> float:
    return float(value.mid().log().mid())
