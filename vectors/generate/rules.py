"""Laws of privacy losses as quadrature rules: points of noise, their masses, their losses.

Gaussian noise: the rule of trapezoids on the line, which converges faster than geometrically.
Laplace noise: atoms where all parts of both mixtures move together, the double exponential rule
between two centres. Noise on integers: closed forms, or its points themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from mpmath import mp, mpf

from vectors.generate.contour import Rule

#: (weight, centre) of each part of a mixture of noise of scale 1.
Mixture = list[tuple[mpf, mpf]]

_NONE: Mixture = [(mpf(1), mpf(0))]


def pair(shifts: Mixture, rate: mpf, neighbours: str) -> tuple[Mixture, Mixture]:
    """The worst pair: with the user on a Poisson sample against without, or replaced.

    shifts: what a user adds, which is 0 or more. neighbours: "remove", "add" or "replace".
    """
    rest = [(1 - rate, mpf(0))] if rate < 1 else []
    moved = rest + [(rate * w, s) for w, s in shifts]
    if neighbours == "replace":
        return moved, rest + [(rate * w, -s) for w, s in shifts]
    return (moved, _NONE) if neighbours == "remove" else (_NONE, moved)


def gaussian(p: Mixture, q: Mixture, level: int) -> Rule:
    """The loss log p/q under p."""
    reach = mp.sqrt(2 * mp.log(10) * (mp.dps + 5))
    centres = [s for _, s in [*p, *q]]
    widest = max(mpf(1), max(centres) - min(centres))
    step = mpf(2) ** -(level + 3) / widest
    start = mp.floor((min(centres) - reach) / step)
    # what is tilted lies up to theta times farther out than the centres
    count = int((max(centres) - min(centres) + 2 * reach) / step) + 1
    points = (step * (start + i) for i in range(count))
    return [
        _point(p, q, x, step, lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)) for x in points
    ]


def _point(
    p: Mixture, q: Mixture, x: mpf, width: mpf, density: Callable[[mpf], mpf]
) -> tuple[mpf, mpf]:
    above, below = (mp.fsum(w * density(x - s) for w, s in part) for part in (p, q))
    return mp.log(above / below), above * width


def laplace(p: Mixture, q: Mixture, level: int) -> Rule:
    """The same for Laplace noise."""
    centres = sorted({s for _, s in [*p, *q]})

    def density(x: mpf) -> mpf:
        return mp.exp(-abs(x)) / 2

    # outside, a mass is the density at the end
    ends = [_point(p, q, x, mpf(1), density) for x in (centres[0], centres[-1])]
    inside = [
        _point(p, q, a + (b - a) * x, (b - a) * w, density)
        for a, b in pairwise(centres)
        for x, w in _double_exponential(level, mp.prec)
    ]
    return ends + inside


@lru_cache(maxsize=8)
def _double_exponential(level: int, bits: int) -> tuple[tuple[mpf, mpf], ...]:
    """Points and weights for the integral from 0 to 1."""
    step, nodes = mpf(2) ** -(level + 5), []
    count = int(mp.ceil(mp.asinh(bits * mp.log(2) / mp.pi) / step)) + 1
    for i in range(-count, count + 1):
        t = step * i
        x = 1 / (1 + mp.exp(-mp.pi * mp.sinh(t)))
        nodes.append((x, step * mp.pi * mp.cosh(t) * x * (1 - x)))
    return tuple(nodes)


def discrete_laplace(each: mpf, shift: int) -> Rule:
    """Masses (1 - a)/(1 + a) a^|z| on integers, a = e^-each, moved by shift against not moved."""
    a = mp.exp(-each)
    unit = (1 - a) / (1 + a)
    ends = [(-each * shift, unit * a**shift / (1 - a)), (each * shift, unit / (1 - a))]
    return ends + [(each * (2 * x - shift), unit * a ** (shift - x)) for x in range(1, shift)]


def discrete_gaussian(variance: mpf) -> Rule:
    """Masses in proportion to e^(-z^2/(2 variance)) on integers, moved by 1 against not moved."""
    reach = int(mp.ceil(mp.sqrt(2 * variance * mp.log(10) * (mp.dps + 40))))
    masses = {z: mp.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)}
    total = mp.fsum(masses.values())
    return [((2 * z + 1) / (2 * variance), mass / total) for z, mass in masses.items()]
