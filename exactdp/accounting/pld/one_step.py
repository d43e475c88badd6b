"""delta of one step with countably many outcomes: a sum over those that lie above epsilon.

Noise on the integers has them beyond one threshold, so that tails are enough, however wide it is. A
sample maps epsilon to one of the step without it, by the rules for e^epsilon = x: with the law A of
the user's data and B without it, at rate q, D((1 - q) B + q A, B)(x) = q D(A, B)((x - 1 + q)/q) and
D(B, (1 - q) B + q A)(x) = c D(B, A)(q x/c), c = 1 - (1 - q) x.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.certify.lattice import above, excess
from exactdp.accounting.pld.atoms import AtomicLoss, SampledAtoms
from exactdp.accounting.pld.integers import DiscreteGaussianLoss, DiscreteLaplaceLoss, IntegerNoise
from exactdp.accounting.pld.known_curves import ExactLoss
from exactdp.accounting.pld.replaced_atoms import BatchAtoms, ReplacedAtoms
from exactdp.accounting.pld.wide import floor
from exactdp.balls import ball, enclosure

__all__ = ["excess_of_atoms"]

#: Laws that are the same in both orders of the neighbours, and that need no list of outcomes.
_ALIKE = (DiscreteGaussianLoss, DiscreteLaplaceLoss, ExactLoss)

_UNKNOWN = arb("nan")


def excess_of_atoms(law: AtomicLoss, epsilon: Fraction) -> arb:
    """delta at epsilon >= 0, a ball at the working precision."""
    if isinstance(law, SampledAtoms | BatchAtoms) and isinstance(law.base, _ALIKE):
        removed = isinstance(law, BatchAtoms) or law.removed
        return _sampled(law.base, law.rate, epsilon, removed=removed)
    if isinstance(law, ReplacedAtoms) and isinstance(law.noise, DiscreteGaussianLoss):
        return _replaced(law.noise, law.rate, epsilon)
    if isinstance(law, _ALIKE):
        return _alike(law, epsilon)
    return _listed(law, epsilon)


def _listed(law: AtomicLoss, epsilon: Fraction) -> arb:
    ratio, total = ball(epsilon).exp(), arb(0)
    for loss, p, q in law.outcomes(ctx.prec):
        if isinstance(loss, Fraction | float):
            total += p - ratio * q if loss > epsilon else 0
        else:
            total += (p - ratio * q).max(arb(0))
    return total


def _sampled(
    base: IntegerNoise | ExactLoss, rate: Fraction, epsilon: Fraction, *, removed: bool
) -> arb:
    share, grown = ball(rate), ball(epsilon).expm1()
    if removed:
        return share * _around(base, (grown / share).log1p())
    # c = rate - (1 - rate) (e^epsilon - 1)
    left = share - (1 - share) * grown
    if left <= 0:
        return arb(0)
    # e^epsilon rate/c = 1 + (e^epsilon - 1)/c
    return left * _around(base, (grown / left).log1p()) if left > 0 else _UNKNOWN


def _around(law: IntegerNoise | ExactLoss, epsilon: arb) -> arb:
    """A ball around delta at every number >= 0 of a ball: it falls."""
    ends = enclosure(epsilon.max(arb(0)))
    return _alike(law, ends.lower).union(_alike(law, ends.upper))


def _alike(law: IntegerNoise | ExactLoss, epsilon: Fraction) -> arb:
    if isinstance(law, DiscreteGaussianLoss):
        return excess(epsilon, law.sigma2, law.shift)
    if isinstance(law, DiscreteLaplaceLoss):
        return _of_laplace(law, epsilon)
    found = law.curve.delta(epsilon)
    return ball(found.lower).union(ball(found.upper))


def _of_laplace(law: DiscreteLaplaceLoss, epsilon: Fraction) -> arb:
    """The loss at x + shift is rate (2 x + shift) for -shift <= x <= 0, and ends there."""
    place = math.floor((epsilon / law.rate - law.shift) / 2)
    if place >= 0:
        return arb(0)
    fall = (-ball(law.rate)).exp()
    at_most, moved = fall**-place, fall ** (place + law.shift + 1)
    return (1 + fall - at_most - ball(epsilon).exp() * moved) / (1 + fall)


def _replaced(noise: DiscreteGaussianLoss, rate: Fraction, epsilon: Fraction) -> arb:
    """A user who adds -shift is replaced by one who adds shift.

    With w = e^(z shift/sigma2) and g = e^(-shift^2/(2 sigma2)) the masses at z have the ratio
    (1 - q + q g w)/(1 - q + q g/w), which passes x where w is the root of a quadratic equation.
    """
    shift, share, grown = noise.shift, ball(rate), ball(epsilon).expm1()
    ratio = 1 + grown
    near = share * (-ball(Fraction(shift * shift) / (2 * noise.sigma2))).exp()
    none = (1 - share) * grown
    root = (none + (none * none + 4 * ratio * near * near).sqrt()) / (2 * near)
    edge = root.log() * ball(noise.sigma2 / shift) if epsilon else arb(0)
    place = floor(edge)
    if not edge < place + 1:
        return _UNKNOWN
    p, q = (
        (1 - share) * above(place, noise.sigma2) + share * above(place + move, noise.sigma2)
        for move in (-shift, shift)
    )
    return p - ratio * q
