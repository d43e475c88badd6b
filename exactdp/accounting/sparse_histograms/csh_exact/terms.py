"""Terms of the exact delta of the CSH: its closed ends, cheap bounds, and the integrated pairs.

The ends are 1 - q_n at r = n = min(k, m), and the Gaussian H(epsilon, D) at r = 0; notation and
derivation as in :mod:`csh_exact` and exactdp/pages/exact-csh.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from math import isqrt

from flint import arb, ctx

from exactdp.accounting.sparse_histograms.csh_exact.half_lines import half_lines
from exactdp.accounting.sparse_histograms.csh_exact.interior import Loss, integral
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import (
    Profile,
    SharedNoise,
    floor_of,
)
from exactdp.balls import FLOOR_BITS, ball
from exactdp.errors import Undecided
from exactdp.normal import hockey_stick, tail

#: Beyond this working precision :func:`evaluate` gives up: its cost grows with the precision's
#: third power, and what is still open then is open because the search is.
MOST_BITS = 1024


@dataclass(frozen=True)
class Family:
    """Parameters of the mechanism, exactly.

    threshold_sigma: the noise the threshold is measured against, as in analysis.Point.
    correlation: kappa, where the shared noise has variance sigma^2/kappa; None means sqrt(k).
    contributions: most counters one user changes, 1 <= m <= k.
    """

    k: int
    sigma: Fraction
    tau: Fraction
    epsilon: Fraction
    threshold_sigma: Fraction
    correlation: Fraction | None
    contributions: int


@dataclass(frozen=True)
class Worst:
    """Neighbours: j shared counters of which a change, and r on one side only.

    side: "A" is the side with the extra counters.
    """

    j: int
    a: int
    r: int
    side: str

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def text(self) -> str:
        """In words."""
        return f"{self.j} shared counters, of which {self.a} change, and {self.r} on one side only"


def kappa_of(correlation: Fraction | None, k: int) -> arb:
    return arb(k).sqrt() if correlation is None else ball(correlation)


def _half(j: int, correlation: Fraction | None, k: int) -> int:
    """floor((j + kappa)/2), below which D^2 rises with a."""
    return (j + (isqrt(k) if correlation is None else int(correlation))) // 2


def _distance(j: int, a: int, kappa: arb) -> arb:
    """D^2 sigma^2."""
    return a - a * a / (j + kappa)


def largest_distance(j: int, most: int, correlation: Fraction | None, k: int) -> tuple[arb, int]:
    """The largest D^2 sigma^2 over the integers 0 <= a <= most, and an a that reaches it."""
    kappa, half = kappa_of(correlation, k), _half(j, correlation, k)
    values = [(_distance(j, a, kappa), a) for a in {min(half, most), min(half + 1, most)}]
    best, a = max(values, key=lambda pair: pair[0].mid())
    for value, _ in values:
        best = best.max(value)
    return best, a


def one_passes(kappa: arb, ratio: arb) -> arb:
    """1 - q_1."""
    return tail(ratio / (1 + 1 / kappa).sqrt())


def grid_for(kappa: arb, ratio: arb, k: int, n: int, scale: arb) -> SharedNoise:
    """The grid for results of about `scale` or more, to a third of the working precision's bits."""
    relative = (ctx.prec // 3 + 8) * 7 // 10 + n.bit_length() + 4
    below = -scale.log() if scale > 0 else arb(FLOOR_BITS)
    return SharedNoise(kappa, ratio, k, relative, relative + floor_of(below.min(arb(FLOOR_BITS))))


def _hockey_bound(epsilon: arb, mu: arb) -> arb:
    """A ball whose upper end bounds H(epsilon, mu), for mu >= 0; H rises with mu."""
    if mu > 0:
        return hockey_stick(epsilon, mu)
    return hockey_stick(epsilon, mu.upper().max(arb(2) ** -ctx.prec))


class Terms:
    """One family: its ends, and terms and bounds of what lies between."""

    def __init__(self, family: Family) -> None:
        if ctx.prec > MOST_BITS:
            raise Undecided(f"the exact delta is not settled at {MOST_BITS} bits of precision")
        self.k, self.n = family.k, min(family.k, family.contributions)
        self.correlation = family.correlation
        self.kappa = kappa_of(family.correlation, family.k)
        self.scale, self.epsilon = ball(1 / family.sigma), ball(family.epsilon)
        ratio = ball(family.tau / family.threshold_sigma)
        squared, self.noise_a = self.largest(self.k, self.n)
        self.noise_end = hockey_stick(self.epsilon, squared.sqrt())
        size = self.noise_end.lower().max(one_passes(self.kappa, ratio))
        self.noise = grid_for(self.kappa, ratio, self.k, self.n, size)
        self.exceeded = cache(self.noise.exceeded)

    def half(self, j: int) -> int:
        return _half(j, self.correlation, self.k)

    def squared(self, j: int, a: int) -> arb:
        """D^2."""
        return self.scale**2 * _distance(j, a, self.kappa)

    def covariance(self, j: int, a: int) -> arb:
        """t."""
        return self.scale * a / (j + self.kappa)

    def largest(self, j: int, most: int) -> tuple[arb, int]:
        squared, a = largest_distance(j, most, self.correlation, self.k)
        return self.scale**2 * squared, a

    def pair(self, j: int, a: int, r: int) -> arb:
        squared = self.squared(j, a)
        if r == 0:
            return hockey_stick(self.epsilon, squared.sqrt()) if a else arb(0)
        if a == 0:  # G <= 1 <= e^epsilon
            return self.exceeded(r)
        return self.between(Profile(self.noise, j, r), squared, self.covariance(j, a), a == j)

    def between(self, profile: Profile, squared: arb, covariance: arb, all_change: bool) -> arb:
        """1 - q_r plus the integral, for 0 < a <= j and r > 0."""
        if all_change:
            rest = half_lines(profile, self.epsilon, squared, covariance)
        else:
            rest = integral(profile, Loss.of(profile, self.epsilon, squared, covariance))
        return self.exceeded(profile.r) + rest

    def sum_bound(self, r: int, squared: arb) -> arb:
        """1 - q_r (1 - H(epsilon, D)).

        min(G, y) >= G min(1, y), and M and U are associated (Pitt 1982): t >= 0.
        """
        exceeded = self.exceeded(r)
        return exceeded + (1 - exceeded) * _hockey_bound(self.epsilon, squared.sqrt())
