"""delta of a measure by definition, and of two laws of noise by their densities."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from exactdp.accounting.pld.grid.measure import Measure

Floats = NDArray[np.float64]
#: (weight, shift) of every part of a law
Mixture = list[tuple[float, float]]


def excess(p: Floats, q: Floats, epsilon: float) -> float:
    """The sum of (p - e^epsilon q)+ over outcomes."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def repeated_excess(p: list[float], q: list[float], times: int, epsilon: float) -> float:
    """The same for a number of independent runs of both laws."""
    runs = (functools.reduce(np.multiply.outer, [np.array(law)] * times) for law in (p, q))
    return excess(*runs, epsilon)


def of_measure(measure: Measure, epsilon: float) -> float:
    """delta(epsilon) of a measure of losses."""
    masses = measure.masses.at(0)
    losses = float(measure.grid.offset) + float(measure.grid.step) * (
        measure.first + np.arange(len(masses))
    )
    gain = np.maximum(-np.expm1(epsilon - losses), 0)
    return float((masses * gain).sum()) + float(measure.infinity)


def _normal(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _normal_tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def _laplace(x: float) -> float:
    return math.exp(-abs(x)) / 2


def _laplace_tail(x: float) -> float:
    return _laplace(x) if x > 0 else 1 - _laplace(x)


#: Density and mass beyond a point, of noise of scale 1.
NORMAL, LAPLACE = (_normal, _normal_tail), (_laplace, _laplace_tail)
Noise = tuple[Callable[[float], float], Callable[[float], float]]


def of_mixtures(p: Mixture, q: Mixture, noise: Noise, epsilon: float) -> float:
    """P(x > t) - e^epsilon Q(x > t) where the loss, which rises with x, passes epsilon."""
    density, tail = noise

    def mixed(law: Mixture, function: Callable[[float], float], x: float) -> float:
        return sum(w * function(x - s) for w, s in law)

    low, high = -50.0, 50.0
    for _ in range(80):
        x = (low + high) / 2
        over = mixed(p, density, x) > math.exp(epsilon) * mixed(q, density, x)
        low, high = (low, x) if over else (x, high)
    return mixed(p, tail, high) - math.exp(epsilon) * mixed(q, tail, high)
