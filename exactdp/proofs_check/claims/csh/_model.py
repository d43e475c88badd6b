"""What the claims of CSH share: closed forms in balls, points to check at, sets of histograms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from flint import acb, arb

from exactdp.accounting import csh
from exactdp.accounting.sparse_histograms.csh_exact import Family
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.normal import cdf, hockey_stick, tail

__all__ = [
    "BITS",
    "MIXED",
    "POINTS",
    "SMALL",
    "Point",
    "at_most",
    "binary",
    "cdf",
    "equal",
    "exact_delta",
    "excess",
    "family",
    "hockey",
    "one_shows",
    "point",
    "precision",
    "real",
    "square_root",
    "tail",
]

BITS = 128

Vector = tuple[int, ...]


class Point(NamedTuple):
    """Parameters of a sparse histogram mechanism."""

    k: int
    sigma: Fraction
    tau: Fraction
    epsilon: Fraction


def real(value: str | int) -> Fraction:
    """An exact number from its decimal text."""
    return Fraction(value)


def point(k: int, sigma: str, tau: str, epsilon: str) -> Point:
    return Point(k, Fraction(sigma), Fraction(tau), Fraction(epsilon))


#: Small k, all regimes: threshold only, noise only, both, epsilon = 0, hardly any noise.
SMALL = (
    point(1, "2", "8", "1"),
    point(2, "3", "9", "0.5"),
    point(3, "40", "12", "1.5"),
    point(4, "2", "7", "0"),
    point(5, "6", "20", "1"),
    point(9, "3", "12", "0.35"),
    point(9, "0.4", "2.5", "3"),
    point(10, "17.8", "97.1", "0.35"),
    point(16, "30", "40", "0.1"),
)

#: Square k, so that sqrt(k) is exact.
MIXED = (point(4, "0.2", "1", "1"), point(9, "2", "5", "0.5"), point(100, "20", "60", "0.35"))

POINTS = (*SMALL, point(100, "51", "290", "0.35"), point(51914, "1113.8", "6987", "0.35"))


def square_root(k: int) -> Fraction:
    """sqrt k for square k."""
    root = int(k**0.5)
    assert root * root == k
    return Fraction(root)


def at_most(low: arb, high: arb) -> bool:
    """Whether low <= high for certain, up to the relative 1e-8 that two equal balls need."""
    return bool(low <= high + abs(high) * arb(10) ** -8 + arb(10) ** -20)


def equal(first: arb, second: arb) -> bool:
    """Whether two balls overlap, both being narrow (to a relative 1e-8)."""
    narrow = (arb(x.rad()) <= abs(x) * arb(10) ** -8 + arb(10) ** -20 for x in (first, second))
    return all(map(bool, narrow)) and bool(first.overlaps(second))


def hockey(epsilon: arb, mu: arb) -> arb:
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), the Gaussian delta."""
    return hockey_stick(epsilon, mu)


def one_shows(ratio: arb, copies: arb | int) -> arb:
    """1 - Phi(ratio)^copies."""
    return -(copies * (-tail(ratio)).log1p()).expm1()


def excess(epsilon: arb, mu: arb, log_p: arb | int = 0, log_q: arb | int = 0) -> arb:
    """The integral of (p - e^epsilon q)_+ for p = e^log_p N(mu, 1) and q = e^log_q N(0, 1).

    The densities themselves are integrated, no distribution function is used.
    """
    # the log-ratio of the densities, mu x - mu^2/2 + log_p - log_q, is epsilon at the cut
    cut = (epsilon + log_q - log_p) / mu + mu / 2
    start, end = cut.max(arb(-16)), (cut.max(arb(-16)) + 20).max(mu + 16)
    root = (2 * arb.pi()).sqrt()

    def difference(x: acb, _: bool) -> acb:
        return ((log_p - (x - mu) ** 2 / 2).exp() - (epsilon + log_q - x**2 / 2).exp()) / root

    value: arb = acb.integral(difference, acb(start), acb(end)).real
    # cut off: at most P(|N| > 16) of each density
    return value + (1 + epsilon.exp()) * (-arb(128)).exp() * arb(0, 1)


def exact_delta(at: Point) -> Enclosure:
    """The exact delta of Algorithm 2, by the certified search of the library."""
    return csh.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)


def family(at: Point, kappa: Fraction | None = None, most: int | None = None) -> Family:
    """The same parameters for the library's terms of single pairs of neighbours."""
    return Family(at.k, at.sigma, at.tau, at.epsilon, at.sigma, kappa, most or at.k)


def binary(length: int) -> Iterator[Vector]:
    """All vectors of zeros and ones."""
    return product((0, 1), repeat=length)


def as_ball(value: Fraction | int) -> arb:
    return ball(value)
