"""The privacy loss of single mechanisms, and of several on one sample.

Every function imports the laws of its own mechanism, so that programs start quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from exactdp.accounting.neighbours import ADD_REMOVE, known
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import LossLaw, Step
from exactdp.accounting.pld.losses.normal import Gaussian, mixture
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, integer, non_negative, positive

if TYPE_CHECKING:
    from exactdp.law import Law

#: Parameters lie between 1/_EXTREME and _EXTREME.
_EXTREME = 10**100

#: An irrational distance is enclosed to this many bits, relatively: the narrowest enclosure that
#: can be asked for (a relative width of 1e-100) needs 333.
_BITS = 512

_OTHERS = (
    "Gaussian mechanisms without sampling; of others, pld.approximate(epsilon=..., delta=...)"
    ".sampled(rate) bounds what all leak on one sample, with the delta of their composition"
)

#: The largest sensitivity of integer queries: the loss has as many values.
_MOST_SHIFTS = 100_000


def gaussian(*, sigma: Real, sensitivity: Real = 1) -> Pld:
    """The Gaussian mechanism.

    sigma: standard deviation of the noise, > 0, in the units of the query (the noise multiplier,
    where sensitivity is 1). sensitivity: l2 distance by which one user moves the query, > 0.
    Source: Balle and Wang 2018, Theorem 8.
    """
    mu = moderate("sensitivity", sensitivity) / moderate("sigma", sigma)
    return _alike(Gaussian(mu), "Balle and Wang 2018, Theorem 8")


def gaussian_mixture(*, sigma: Real, sensitivities: Sequence[Real], weights: Sequence[Real]) -> Pld:
    """The Gaussian mechanism with a random distance by which one user moves the query.

    sigma: standard deviation of the noise, > 0. sensitivities: the l2 distances, each >= 0, not all
    0. weights: the probability of each distance, >= 0, with sum 1. The choice stays secret.
    Source: Choquette-Choo, Ganesh, Steinke, Thakurta 2024, Section 3.

    >>> from exactdp.accounting import pld
    >>> loss = pld.gaussian_mixture(sigma=2, sensitivities=[0, 1], weights=["0.7", "0.3"])
    >>> print(format(loss.composed(10).epsilon("1e-6"), "4"))
    [2.803, 2.804]
    """
    noise = moderate("sigma", sigma)
    shifts = [non_negative("sensitivities", s) / noise for s in sensitivities]
    shares = [non_negative("weights", w) for w in weights]
    if len(shares) != len(shifts) or sum(shares) != 1:
        raise InvalidParameter("weights", list(weights), "one for each sensitivity, with sum 1")
    if not any(shift * share for shift, share in zip(shifts, shares, strict=True)):
        raise InvalidParameter("sensitivities", list(sensitivities), "not all 0")
    step = Step(*mixture(list(zip(shifts, shares, strict=True))))
    source = "Choquette-Choo, Ganesh, Steinke, Thakurta 2024, Section 3"
    return Pld(((step, 1),), ADD_REMOVE, source)


def discrete_gaussian(*, sigma2: Real, sensitivity: int = 1) -> Pld:
    """One integer query with discrete Gaussian noise.

    sigma2: parameter of the noise, P(z) proportional to exp(-z^2/(2 sigma2)), > 0.
    sensitivity: distance by which one user moves the query, an integer >= 1.
    Source: Canonne, Kamath, Steinke 2020, Theorem 7.

    >>> from exactdp.accounting import pld
    >>> print(format(pld.discrete_gaussian(sigma2=100).composed(4).delta("0.35"), "6"))
    [0.00383457, 0.00383458]
    """
    from exactdp.accounting.pld.losses.integers import DiscreteGaussian

    law = DiscreteGaussian(moderate("sigma2", sigma2), _whole_shift(sensitivity))
    return _alike(law, "Canonne, Kamath, Steinke 2020, Theorem 7")


def discrete_laplace(*, epsilon: Real, sensitivity: int = 1) -> Pld:
    """One integer query with discrete Laplace (geometric) noise.

    epsilon: the noise is P(z) proportional to exp(-epsilon |z|/sensitivity), > 0.
    sensitivity: distance by which one user moves the query, an integer >= 1.
    Source: Ghosh, Roughgarden, Sundararajan 2012.
    """
    from exactdp.accounting.pld.losses.integers import DiscreteLaplace

    shift = _whole_shift(sensitivity)
    law = DiscreteLaplace(moderate("epsilon", epsilon) / shift, shift)
    return _alike(law, "Ghosh, Roughgarden, Sundararajan 2012, Definition 2.4")


def laplace(*, scale: Real, sensitivity: Real = 1) -> Pld:
    """One real query with continuous Laplace noise.

    scale: the noise has a density proportional to exp(-|z|/scale); > 0, in the units of the query.
    sensitivity: distance by which one user moves the query, > 0.
    Source: Balle, Barthe, Gaboardi 2018, Theorem 3.

    >>> from exactdp.accounting import pld
    >>> print(format(pld.laplace(scale=10).composed(20).epsilon("1e-6"), "4"))
    [1.773, 1.774]
    """
    from exactdp.accounting.pld.losses.laplace import Laplace

    mu = moderate("sensitivity", sensitivity) / moderate("scale", scale)
    return _alike(Laplace(mu), "Balle, Barthe, Gaboardi 2018, Theorem 3")


def randomized_response(*, epsilon: Real, neighbours: str = ADD_REMOVE) -> Pld:
    """Binary randomised response, the (epsilon, 0)-DP mechanism that leaks most.

    epsilon: > 0. neighbours: as in :func:`approximate`.

    >>> from exactdp.accounting import pld
    >>> print(format(pld.randomized_response(epsilon="0.1").composed(100).delta(4), "5"))
    [3.4223e-5, 3.4224e-5]
    """
    return approximate(epsilon=moderate("epsilon", epsilon), delta=0, neighbours=neighbours)


def approximate(*, epsilon: Real, delta: Real, neighbours: str = ADD_REMOVE) -> Pld:
    """Any (epsilon, delta)-DP mechanism, bounded by the worst one.

    epsilon: >= 0. delta: >= 0 and < 1. neighbours: the relation of the guarantee,
    or ADD_REMOVE, REPLACE_ONE or REPLACE_SPECIAL.
    Source: Kairouz, Oh, Viswanath 2015, Theorem 3.3 (its dominating mechanism).
    """
    from exactdp.accounting.pld.losses.finite import Response

    failure = non_negative("delta", delta)
    if failure >= 1:
        raise InvalidParameter("delta", delta, ">= 0 and < 1")
    law = Response(non_negative("epsilon", epsilon) and moderate("epsilon", epsilon), failure)
    source = "Kairouz, Oh, Viswanath 2015, Theorem 3.3"
    return Pld(((Step.alike(law), 1),), known(neighbours), source)


def laws(p: Law[Any], q: Law[Any], *, neighbours: str) -> Pld:
    """A mechanism with exact output laws on a pair of neighbours that dominates all other pairs.

    p: the law with the user. q: the law without the user. Neither has residual mass. neighbours:
    the relation, in words. Where no side has a name (REPLACE_ONE, or two values of one user) each
    mechanism of a composition may have the two laws in its own order: the upper end of an answer
    is then the worst of all orders, and may not be attained.

    >>> from fractions import Fraction
    >>> from exactdp.accounting import pld
    >>> from exactdp.law import Law
    >>> honest, other = Law({0: Fraction(3, 4), 1: Fraction(1, 4)}), Law.uniform([0, 1])
    >>> print(format(pld.laws(honest, other, neighbours=pld.ADD_REMOVE).composed(10).delta(1), "6"))
    [0.410675, 0.410676]
    """
    from exactdp.accounting.pld.losses.finite import FiniteLaws

    for name, law in (("p", p), ("q", q)):
        if law.residual:
            raise InvalidParameter(f"{name}.residual", law.residual, "0")
    pair = FiniteLaws(p, q)
    step = Step.alike(pair) if pair.is_alike() else Step(pair, pair.turned())
    return Pld(((step, 1),), neighbours, "the two laws")


def together(*mechanisms: Pld) -> Pld:
    """One mechanism that runs all of these on the same data and can be sampled as a whole.

    mechanisms: Gaussian, before any sampling, for the same neighbours; later queries may depend on
    earlier answers. A single mechanism of any kind is returned as it is.
    ``together(a, b).sampled(q)`` runs both on one sample; ``a.sampled(q).then(b.sampled(q))`` draws
    a sample for each. The distances mu = sensitivity/sigma of Gaussian mechanisms add in squares.
    Returns the loss of one mechanism. Raises InvalidParameter for other mechanisms.
    Source: Dong, Roth, Su 2022, Corollary 3.3; exactdp statement explain certified-pld, section 4.

    >>> from exactdp.accounting import pld
    >>> noise = pld.gaussian(sigma=1)
    >>> print(format(pld.together(noise, noise).sampled("0.1").delta(1), "4"))
    [0.003663, 0.003664]
    """
    if not mechanisms or not all(isinstance(loss, Pld) for loss in mechanisms):
        kinds = ", ".join(type(loss).__name__ for loss in mechanisms) or "none"
        raise InvalidParameter("mechanisms", Described(kinds), "losses, each an argument")
    first, *others = mechanisms
    composed = first
    for other in others:
        composed = composed.then(other)
    if composed.count == 1:
        return composed
    least = most = Fraction(0)
    for step, times in composed.steps:
        law = step.removed
        if law.distance is None or not law.one_step:
            raise InvalidParameter("mechanisms", Described(type(law).__name__), _OTHERS)
        # an irrational distance has one step above and a real one below
        pairs = step.real[0] if step.real else (step,)
        if len(pairs) != 1 or not pairs[0].removed.distance:
            selection = Described("a selection, of which Gaussian noise is only a bound")
            raise InvalidParameter("mechanisms", selection, _OTHERS)
        most += times * law.distance**2
        least += times * pairs[0].removed.distance ** 2
    return Pld(((between(least, most), 1),), composed.neighbours, composed.source)


def _alike(law: LossLaw, source: str) -> Pld:
    """A mechanism with the same law of the loss in both orders."""
    return Pld(((Step.alike(law), 1),), ADD_REMOVE, source)


def moderate(name: str, value: Real) -> Fraction:
    """A number > 0 in the range where floats can guess."""
    number = positive(name, value)
    if not 1 <= number * _EXTREME <= _EXTREME**2:
        raise InvalidParameter(name, value, "> 0, between 1e-100 and 1e100")
    return number


def _whole_shift(sensitivity: Real) -> int:
    """The sensitivity of an integer query."""
    shift = integer("sensitivity", sensitivity, least=1)
    if shift > _MOST_SHIFTS:
        raise InvalidParameter("sensitivity", sensitivity, "an integer >= 1 and <= 1e5")
    return shift


def between(least: Fraction, most: Fraction | None = None) -> Step:
    """Gaussian noise for a distance whose square has these bounds (one, if it is known exactly).

    The smaller distance belongs to a user who moves the queries by less than the sensitivity.
    """
    low, high = root(least)[0], root(least if most is None else most)[1]
    above, below = (Step.alike(Gaussian(mu)) for mu in (high, low))
    return above if low == high else Step(above.removed, above.added, ((below,),), attained=False)


def root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals around the square root, relatively 2^-512 apart; both are the root if rational.

    sqrt(n/d) = sqrt(n d)/d with n d >= 1, so a unit of 2^-512/d is at most 2^-512 of the root.
    """
    scaled = square.numerator * square.denominator << 2 * _BITS
    root, unit = isqrt(scaled), Fraction(1, square.denominator << _BITS)
    return root * unit, (root + (root * root != scaled)) * unit
