"""Balls around quantities of Laplace noise, and of thresholds, that have closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.discrete_laplace import above as geometric_above
from exactdp.balls import ball
from exactdp.normal import tail

COMPARISONS = (">", ">=")
NOISES = ("laplace", "geometric", "gaussian", "discrete_gaussian")


def laplace_delta(copies: int, scale: Fraction, epsilon: Fraction) -> arb:
    """The least delta of copies of Laplace noise on queries that all move by 1.

    With a = 1/scale the law of one loss is e^(l/2) times the symmetric measure e^(-a/2) (half an
    atom at each of -a and a, density 1/4 between). So delta is an integral of
    g(l) = (e^(l/2) - e^(epsilon - l/2))_+ against a product of such measures; its part with n
    uniform factors is an alternating sum of n-fold antiderivatives of g. For epsilon scale <
    copies; otherwise delta is 0.
    """
    total, distance = arb(0), ball(1 / scale)
    for n in range(copies + 1):
        values = {}
        # the corners of the cube, moved by the atoms: all of them have the parity of copies
        for corner in range(-copies, copies + 1, 2):
            if corner > epsilon * scale:
                gap = ball(corner / scale - epsilon) / 2
                values[corner] = _antiderivative(n, gap)
        for up in range(copies - n + 1):
            centre = 2 * up - (copies - n)
            ways = math.comb(copies, n) * math.comb(copies - n, up)
            part = arb(0)
            for i in range(n + 1):
                value = values.get(centre + n - 2 * i)
                if value is not None:
                    part += (-1) ** i * math.comb(n, i) * value
            total += part * ways / arb(2) ** (copies + n)
    return total * (ball(epsilon) / 2).exp() * (-distance * copies / 2).exp()


def _antiderivative(n: int, z: arb) -> arb:
    """n-fold antiderivative of 2 sinh(x/2) from 0, at x = 2 z."""
    odd: arb = _exp_rest(n, z) - (-1) ** n * _exp_rest(n, -z)
    return odd * arb(2) ** n


def _exp_rest(n: int, z: arb) -> arb:
    """e^z minus the first n terms of its series."""
    term, total = arb(1), z.exp()
    for m in range(n):
        total -= term
        term = term * z / (m + 1)
    return total


def threshold_delta(
    noise: str, scale: Fraction, threshold: Fraction, comparison: str, copies: int
) -> arb:
    """P(one of copies counts of 1 passes the threshold)."""
    one = _passes(noise, scale, threshold - 1, comparison)
    return -((-one).log1p() * copies).expm1()


def _passes(noise: str, scale: Fraction, distance: Fraction, comparison: str) -> arb:
    """P(noise passes a distance)."""
    if noise == "laplace":
        ratio = ball(distance / scale)
        return (-ratio).exp() / 2 if distance >= 0 else 1 - ratio.exp() / 2
    if noise == "gaussian":
        return tail(ball(distance / scale))
    hidden = math.floor(distance) if comparison == ">" else math.ceil(distance) - 1
    return geometric_above(hidden, scale) if noise == "geometric" else above(hidden, scale**2)
