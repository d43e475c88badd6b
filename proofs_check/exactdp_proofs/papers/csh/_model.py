"""What the entries of CSH share: parameters to check at, closed forms in balls, distances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from flint import acb, arb, fmpq, fmpq_mat

from exactdp.accounting import csh, gshm
from exactdp.accounting.sparse_histograms.csh_exact import Family
from exactdp.balls import ball
from exactdp.enclosure import Enclosure
from exactdp.normal import hockey_stick, tail
from exactdp_proofs.rationals import Fraction

BITS = 128

Vector = tuple[int, ...]


class Point(NamedTuple):
    """Parameters of a sparse histogram mechanism."""

    k: int
    sigma: Fraction
    tau: Fraction
    epsilon: Fraction


def point(k: int, sigma: str, tau: str, epsilon: str) -> Point:
    return Point(k, Fraction(sigma), Fraction(tau), Fraction(epsilon))


def weakened(at: Point, loss: Fraction, threshold: Fraction = Fraction(1)) -> Point:
    """With less noise, and a lower threshold."""
    return at._replace(sigma=at.sigma / loss, tau=at.tau * threshold)


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

#: Nothing but the noise decides (the first two), or the threshold decides (the last).
FAR = (point(9, "4", "400", "0.35"), point(16, "20", "1000", "0"), point(9, "4", "1", "3"))


#: The threshold decides, and splitting it among own and shared noise costs little, as k is large.
LARGE = point(10**7, "20000", "140000", "0.35")


def gauss(at: Point, size: arb, more: arb | int = 0) -> arb:
    """The Gaussian mechanism's delta at this l2 sensitivity and at epsilon + more."""
    return hockey_stick(ball(at.epsilon) + more, size / ball(at.sigma))


def one_shows(ratio: arb, copies: arb | int) -> arb:
    """1 - Phi(ratio)^copies."""
    return -(copies * (-tail(ratio)).log1p()).expm1()


def phi(x: acb) -> acb:
    """The normal distribution function, continued to the plane."""
    return (-x * acb(arb(2).rsqrt())).erfc() / 2


def one_minus_q(kappa: int, r: int, rho: int | Fraction) -> arb:
    """1 - q_r: one of r counters passes tau = rho sigma; by integrating over the shared noise."""
    scale = (arb(kappa) / (2 * arb.pi())).sqrt()

    def integrand(z: acb, _: bool) -> acb:
        return (-kappa * z * z / 2).exp() * scale * (1 - phi(ball(rho) - z) ** r)

    value: arb = acb.integral(integrand, acb(-14), acb(14)).real
    return value + arb(0).union(arb(10) ** -35)


def loosened(value: arb) -> arb:
    """A bound that may be attained, 1e-8 larger so that two balls can be told apart."""
    return value * (1 + arb(10) ** -8) + arb(10) ** -20


def hull(enclosure: Enclosure) -> arb:
    return ball(enclosure.lower).union(ball(enclosure.upper))


@cache
def exact_delta(at: Point) -> Enclosure:
    """The exact delta of Algorithm 2, by the certified search of the library."""
    return csh.delta(sparsity=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)


@cache
def least(code: str, analysis: str, k: int) -> tuple[Fraction, Fraction]:
    """The least threshold at epsilon = 0.35, delta = 1e-5, and the sigma that allows it."""
    options: dict[str, Any] = {"epsilon": "0.35", "delta": "1e-5", "resolution": "1e-3"}
    options["analysis"] = analysis
    calibrated = (
        csh.calibrate(sparsity=k, **options) if code == "csh" else gshm.calibrate(k=k, **options)
    )
    return Fraction(calibrated.tau or 0), Fraction(calibrated.sigma)


def family(at: Point, kappa: Fraction | None = None, most: int | None = None) -> Family:
    """The same parameters for the library's terms of single pairs of neighbours."""
    return Family(at.k, at.sigma, at.tau, at.epsilon, at.sigma, kappa, most or at.k)


def binary(length: int) -> Iterator[Vector]:
    """All vectors of zeros and ones."""
    return product((0, 1), repeat=length)


def reach(d: int, top: int) -> Iterator[tuple[Vector, Vector]]:
    """(H, H') over d counters, where H has one more user than H', and H' counts up to top."""
    for less in product(range(top + 1), repeat=d):
        for user in binary(d):
            yield tuple(c + u for c, u in zip(less, user, strict=True)), less


def either_way(d: int, top: int) -> Iterator[tuple[Vector, Vector]]:
    """The same neighbours in both orders."""
    for more, less in reach(d, top):
        yield from ((more, less), (less, more))


def rank(counts: Vector, place: int) -> int:
    """The place-th largest count, 0 where there are fewer."""
    largest = sorted(counts, reverse=True)
    return largest[place - 1] if len(largest) >= place else 0


def reduced(counts: Vector, k: int, place_after: int = 1) -> Vector:
    """Algorithm 3: max(0, count - H^(k + place_after)), where the paper has place_after = 1."""
    base = rank(counts, k + place_after)
    return tuple(max(0, c - base) for c in counts)


def distance(d: int, a: int, gamma: Fraction) -> Fraction:
    """Squared distance of a change of a among d counters, in units of sigma, shared N(0, 1/gamma).

    v' Cov^-1 v for a vector v with a ones, Cov = I + 11'/gamma.
    """
    return _moved(Fraction(1), 1 / gamma, d, a)


def farthest(own: Fraction, shared: Fraction, d: int) -> Fraction:
    """The largest v' Cov^-1 v over changes of d counters, each with noise of its own and shared."""
    return max(_moved(own, shared, d, a) for a in range(d + 1))


def _moved(own: Fraction, shared: Fraction, d: int, a: int) -> Fraction:
    entries = [_rational(own * (i == j) + shared) for i in range(d) for j in range(d)]
    change = fmpq_mat(d, 1, [fmpq(i < a) for i in range(d)])
    squared = (change.transpose() * fmpq_mat(d, d, entries).solve(change))[0, 0]
    return Fraction(int(squared.p), int(squared.q))


def _rational(value: Fraction) -> fmpq:
    return fmpq(int(value.numerator), int(value.denominator))
