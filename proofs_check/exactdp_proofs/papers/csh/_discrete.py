"""Discrete Gaussian masses in balls, and Renyi divergences by summing over the integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb

from exactdp.balls import ball
from exactdp_proofs.rationals import Fraction

#: Masses are cut where they fall below e^-CUT; what is cut off is far below every margin here.
_CUT = 160


def masses(variance: arb) -> dict[int, arb]:
    """P(z) proportional to exp(-z^2/(2 variance)) on the integers, cut far out."""
    reach = int(float((2 * variance * _CUT).sqrt().mid())) + 2
    raw = {z: (-(z * z) / (2 * variance)).exp() for z in range(-reach, reach + 1)}
    total = sum(raw.values(), arb(0))
    return {z: w / total for z, w in raw.items()}


def own_noise(sigma: Fraction) -> dict[int, arb]:
    """Z_i ~ N_Z(0, 4 sigma^2)."""
    return masses(4 * ball(sigma**2))


def shared_noise(k: int, sigma: Fraction) -> dict[int, arb]:
    """Z ~ N_Z(0, 4 sigma^2/sqrt k)."""
    return masses(4 * ball(sigma**2) / arb(k).sqrt())


def at_most_this(law: Mapping[int, arb], limit: arb) -> arb:
    """P(Z <= limit)."""
    return sum((p for z, p in law.items() if z <= limit), arb(0))


def split(k: int, sigma: Fraction, tau: Fraction) -> arb:
    """Lemma 7.6: 1 - P(Z <= 2 tau (1 - s)) P(Z_i <= 2 tau s)^k, s = 1/(k^(-1/4) + 1)."""
    limit = 2 * ball(tau)
    # at k = 1 the share is exact, as ties at tau matter
    share = 1 / (1 + 1 / arb(k).root(4)) if k > 1 else arb(0.5)
    common = at_most_this(shared_noise(k, sigma), limit * (1 - share))
    return 1 - common * at_most_this(own_noise(sigma), limit * share) ** k


def sum_law(first: Mapping[int, arb], second: Mapping[int, arb]) -> dict[int, arb]:
    """The law of a sum of two independent integers."""
    law: dict[int, arb] = {}
    for x, p in first.items():
        for y, q in second.items():
            law[x + y] = law.get(x + y, arb(0)) + p * q
    return law


def renyi(law: Mapping[Any, arb], shift: Any, alpha: Fraction) -> arb:
    """D_alpha(X + shift || X), from the masses; the cut ends are left out.

    X: an integer or a pair of integers.
    """
    total, power = arb(0), ball(alpha)
    for z, p in law.items():
        moved = (z[0] + shift[0], z[1] + shift[1]) if isinstance(z, tuple) else z + shift
        if moved in law:
            q = law[moved]  # the mass of X at z + shift, where X + shift has mass p
            total += (power * p.log() + (1 - power) * q.log()).exp()
    return total.log() / (power - 1)
