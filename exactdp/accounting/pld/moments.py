"""E e^(s L) of one step, for any real s > 0: in closed form, as a sum, or as an integral of balls.

It is s (s + 1) times the integral of D(x) x^(s - 1) over x > 0, D the curve: it rises with it. Of
Gaussian noise around random shifts it is the integral of p^(s + 1) q^(-s) phi, p and q the mixtures
over phi; by convexity of the first power, what lies far out is at most

    sum_i w_i v_j^(-s) e^((s + 1)(a_i x - a_i^2/2) - s (b_j x - b_j^2/2)) phi(x),

whatever j: normal tails. Likewise on the integers mixtures leave no more than what is mixed, and no
more than their mass times e^(s L) at the largest loss, where there is one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from flint import acb, arb

from exactdp.accounting.pld.atoms import AtomicLoss, SampledAtoms
from exactdp.accounting.pld.guesses import OneLoss
from exactdp.accounting.pld.integers import DiscreteGaussianLoss
from exactdp.accounting.pld.laplace import OFF, EndedLoss
from exactdp.accounting.pld.laws import GaussianLoss, LossLaw, SampledLoss
from exactdp.accounting.pld.mixtures import MixtureLoss, Weights
from exactdp.accounting.pld.replaced_atoms import BatchAtoms, ReplacedAtoms
from exactdp.accounting.pld.replacement import BatchLoss, ReplacedLoss
from exactdp.balls import ball
from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.normal import cdf, tail
from exactdp.normal_sums import sum_all

__all__ = ["log_moment", "wide_noise"]

#: About 2^-this of a moment is bounded, not computed.
_BITS = 128

#: An integral is cut into pieces of length 1, at most so many.
_MOST_PIECES = 1 << 13

_NONE: Weights = ((Fraction(0), Fraction(1)),)

_TOO_LARGE = "the order is too large for an integral"


@lru_cache(maxsize=4096)
def log_moment(law: OneLoss, s: Fraction, *, finite: bool = False) -> arb:
    """log E e^(s L) under the first law, s > 0, at the working precision.

    finite: over finite losses only. Raises InvalidParameter where it is infinite, Undecided where
    it takes too long.
    """
    if isinstance(law, GaussianLoss):
        return ball(s * (s + 1) * law.mu**2 / 2)
    return _moment(law, s, finite).log()


def _moment(law: OneLoss, s: Fraction, finite: bool) -> arb:
    if isinstance(law, DiscreteGaussianLoss):
        return _of_discrete(law, s)
    if isinstance(law, AtomicLoss):
        return _of_atoms(law, s, finite)
    if isinstance(law, EndedLoss):
        return _between_ends(law, s)
    if isinstance(law, BatchLoss):
        return _of_batch(law, s)
    p, q = _mixtures(law)
    return _integral(p, q, s, None)


def _mixtures(law: LossLaw) -> tuple[Weights, Weights]:
    """The shifts of normal laws that both laws of the noise are made of."""
    if isinstance(law, MixtureLoss):
        return law.p, law.q
    if isinstance(law, ReplacedLoss):
        rate, mu = law.rate, law.mu
        none = (Fraction(0), 1 - rate)
        return (none, (mu, rate)), ((-mu, rate), none)
    if isinstance(law, GaussianLoss):
        return ((law.mu, Fraction(1)),), _NONE
    if not isinstance(law, SampledLoss):
        raise InvalidParameter("mechanism", type(law).__name__, "one with Renyi divergences")
    with_, without = _mixtures(law.base)
    moved = tuple((shift, law.rate * weight) for shift, weight in with_)
    mixed = ((Fraction(0), 1 - law.rate), *moved)
    return (mixed, without) if law.removed else (without, mixed)


def _of_batch(law: BatchLoss, s: Fraction) -> arb:
    """Losses above 0 of one law, below 0 of its reverse: both lie beyond half the shift."""
    p, q = _mixtures(law.removed)
    half = max(shift for shift, _ in p) / 2
    return _integral(p, q, s, half) + _integral(q, p, s, half) + law.atom()


def _integral(p: Weights, q: Weights, s: Fraction, start: Fraction | None) -> arb:
    """The integral of p^(s + 1) q^(-s) phi, from start on."""
    power, root = ball(s + 1), ball(s)

    def integrand(x: acb, _: bool) -> acb:
        above, below = (_mixed(weights, x) for weights in (p, q))
        # holomorphic where neither is on the negative axis
        if not (above.real > 0 and below.real > 0):
            return acb("nan", "nan")
        return (power * above.log() - root * below.log() - x * x / 2).exp()

    # q is at least each of its terms: on the right the last one, on the left the first
    right, left = ([_beyond(a, b, s) for a in p] for b in (q[-1], q[0]))
    if any(math.isinf(spare) for _, _, spare in right + left):
        raise Undecided(_TOO_LARGE)
    high = math.ceil(max(centre + Fraction(spare) for centre, _, spare in right))
    low = Fraction(math.floor(min(centre - Fraction(spare) for centre, _, spare in left)))
    if start is not None:
        low, left = start, []
    if high - low > _MOST_PIECES:
        raise Undecided(_TOO_LARGE)
    ends = [low, *range(math.floor(low) + 1, high + 1)]
    pieces = (acb.integral(integrand, ball(a), ball(b)).real for a, b in pairwise(ends))
    rest = sum((size * tail(ball(high - centre)) for centre, size, _ in right), arb(0))
    rest += sum((size * cdf(ball(low - centre)) for centre, size, _ in left), arb(0))
    return sum(pieces, arb(0)) / (2 * arb.pi()).sqrt() + arb(0.5, 0.5) * rest


def _beyond(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], s: Fraction
) -> tuple[Fraction, arb, float]:
    """The centre and the size of a normal law, and how far from it little is left."""
    (shift, weight), (other, share) = a, b
    centre = (s + 1) * shift - s * other
    exponent = (centre**2 - (s + 1) * shift**2 + s * other**2) / 2
    size = ball(weight) * (ball(exponent) - ball(s) * ball(share).log()).exp()
    most = float((ball(exponent) - ball(s) * ball(share).log()).mid())
    return centre, size, math.sqrt(2 * max(0.0, most) + 200)


def _mixed(weights: Weights, x: acb) -> acb:
    return sum((ball(w) * (ball(a) * x - ball(a * a / 2)).exp() for a, w in weights), acb(0))


def _between_ends(law: EndedLoss, s: Fraction) -> arb:
    """The atoms at the marks, and the integrals between them."""
    off = arb(0) if law.exact else ball(OFF) * arb(0.5, 0.5)
    places = [ball(law.anchor + i * law.unit) + off for i, _ in law.marks()]
    total = sum(
        (mass * (ball(s) * at).exp() for at, (_, mass) in zip(places, law.marks(), strict=True)),
        arb(0),
    )
    for part, (low, high) in zip(law.parts(), pairwise(places), strict=True):
        total += _integral_of(part, s, low, high)
    return total


def _integral_of(law: LossLaw, s: Fraction, low: arb, high: arb) -> arb:
    power = ball(s)

    def integrand(x: acb, _: bool) -> acb:
        found: acb = law.density(x) * (power * x).exp()
        return found

    return acb.integral(integrand, low, high).real


def _of_atoms(law: AtomicLoss, s: Fraction, finite: bool) -> arb:
    noise, bits, beyond = wide_noise(law), _BITS, arb(0)
    if isinstance(law, SampledAtoms) and not law.removed:
        largest = -ball(1 - law.rate).log()
        bits += math.ceil(float(s) * float(largest.upper()) * 1.5)
        beyond = (ball(s) * largest).exp() * arb(2) ** -bits
    elif noise is not None:
        bits = _bits_for(noise, s)
        beyond = 2 * (_left_out(noise, s, bits) + arb(2) ** -bits)
    total = arb(0)
    for loss, p, _ in law.outcomes(bits):
        if not isinstance(loss, float):
            total += p * (ball(s) * (ball(loss) if isinstance(loss, Fraction) else loss)).exp()
        elif loss == math.inf and p > 0 and not finite:
            raise InvalidParameter(
                "delta", Described("mass at infinity"), "0 for Renyi divergences"
            )
    return total + arb(0.5, 0.5) * beyond


def wide_noise(law: AtomicLoss) -> DiscreteGaussianLoss | None:
    """The unbounded noise, moved as far as both laws are apart, that a loss is made of."""
    if isinstance(law, DiscreteGaussianLoss):
        return law
    if isinstance(law, ReplacedAtoms) and isinstance(law.noise, DiscreteGaussianLoss):
        return DiscreteGaussianLoss(law.noise.sigma2, 2 * law.noise.shift)
    if isinstance(law, SampledAtoms | BatchAtoms):
        return wide_noise(law.base)
    return None


def _bits_for(noise: DiscreteGaussianLoss, s: Fraction) -> int:
    """So many that what is left out is about 2^-_BITS."""
    centre = float(s) * noise.shift
    enough = math.sqrt(centre * (centre + noise.shift) + 2 * float(noise.sigma2) * _BITS)
    return _BITS + math.ceil((centre + enough) ** 2 / (2 * float(noise.sigma2)))


def _left_out(noise: DiscreteGaussianLoss, s: Fraction, bits: int) -> arb:
    """At least the moment of what is beyond the outcomes listed.

    n(z)^(s + 1) n(z - shift)^(-s) is n(z + s shift) e^(s (s + 1) shift^2/(2 sigma2)).
    """
    reach = ball(noise.reach(bits)) - ball(s * noise.shift)
    if not reach > 0:
        raise Undecided("the order is too large for a sum")
    rate = 1 / (2 * ball(noise.sigma2))
    first = (-rate * reach * reach).exp() / (1 - (-rate * (2 * reach + 1)).exp())
    return 2 * first * ball(s * (s + 1) * noise.shift**2 / (2 * noise.sigma2)).exp()


def _of_discrete(law: DiscreteGaussianLoss, s: Fraction) -> arb:
    """That of the continuous one, times a ratio of two sums next to 1."""
    most = ball(s * (s + 1) * Fraction(law.shift**2) / (2 * law.sigma2)).exp()
    return most * _sum_around(s * law.shift, law.sigma2) / sum_all(law.sigma2)


def _sum_around(centre: Fraction, sigma2: Fraction) -> arb:
    """sum_z e^(-(z + centre)^2/(2 sigma2)), by either of two equal sums (Poisson)."""
    place, total, z = centre - round(centre), arb(0), 0
    wide = sigma2 > 1
    rate = 2 * ball(sigma2) * arb.pi() ** 2 if wide else 1 / (2 * ball(sigma2))
    while True:
        if wide:
            term = (2 if z else 1) * (-rate * z * z).exp() * (2 * ball(place * z)).cos_pi()
            bound = 2 * (-rate * z * z).exp()
        else:
            signs = (1, -1) if z else (1,)
            term = sum(((-rate * ball(z + i * place) ** 2).exp() for i in signs), arb(0))
            # |place| <= 1/2
            bound = 2 * (-rate * ball(Fraction(max(2 * z - 1, 0), 2)) ** 2).exp()
        total += term
        if z and bound < arb(2) ** -_BITS * 2**-72:
            # each further term is less than half of the one before
            found = total + bound * arb(0, 1)
            return (2 * arb.pi() * ball(sigma2)).sqrt() * found if wide else found
        z += 1
