"""Counts with correlated Gaussian noise: each has noise of its own, and all share another noise.

Nothing is left out, so the counts must be those of a public list. One user changes some of them by
one each, all in the same direction. A shift of a of n counts by one is

    D^2 = (a - a^2/(n + kappa))/sigma^2

away, where kappa = sigma^2/(variance of the shared noise): at most (n + kappa)/(4 sigma^2), where
independent noise alone has n/sigma^2. Discrete noise is drawn in steps of one half, see
:mod:`exactdp.accounting.discrete_csh`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from flint import arb, ctx

from exactdp.accounting import gaussian
from exactdp.accounting.calculator import Calculator, Evaluated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.discrete_gaussian import many
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.sparse_histograms.bounds import RefusesK, without_k
from exactdp.accounting.sparse_histograms.csh_exact import noise_distance, noise_only
from exactdp.accounting.sparse_histograms.discrete_csh_terms import noise as noise_part
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import MOST_COUNTERS, Real, choice, delta_target, non_negative, positive

NOISES = {
    "discrete": "CSH Algorithm 4; exact noise of all coordinates, which move by one",
    "continuous": "CSH Lemma 2.8, with the largest distance of integer shifts",
}
DEFAULT_NOISE = "discrete"


@without_k
def delta(
    *,
    keys: int,
    sigma: Real,
    epsilon: Real,
    noise: str = DEFAULT_NOISE,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Enclosure:
    """The delta of the counts of a public list with correlated noise, without a threshold.

    keys: number of keys of the list, >= 1. sigma: > 0. epsilon: >= 0.
    noise: "continuous": N(0, sigma^2) on each count, and one N(0, sigma^2/correlation) on all;
    delta is exact. "discrete": half of N_Z(0, 4 sigma^2) on each, and half of one
    N_Z(0, 4 sigma^2/sqrt(keys)) on all; an upper bound on delta.
    correlation: of continuous noise, > 0; None means sqrt(keys), which gives the least total noise.
    contributions: largest number of counts that one user changes, >= 1; None means keys.
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, and Undecided where
    the shared noise has too many values to visit.
    Source: Lebeda and Retschmeier (CSH), Lemma 2.8 and Algorithm 4 (Lebeda 2024).

    >>> from exactdp.accounting import correlated_gaussian
    >>> for noise in ("continuous", "discrete"):
    ...     print(correlated_gaussian.delta(keys=100, sigma=20, epsilon=1, noise=noise))
    [6.884656923e-6, 6.884656924e-6]
    [6.88460072e-6, 6.884600721e-6]
    """
    return CorrelatedGaussian(
        keys=keys,
        sigma=sigma,
        epsilon=epsilon,
        noise=noise,
        correlation=correlation,
        contributions=contributions,
    ).delta()


@without_k
def check(
    *,
    keys: int,
    sigma: Real,
    epsilon: Real,
    delta: Real,
    noise: str = DEFAULT_NOISE,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return CorrelatedGaussian(
        keys=keys,
        sigma=sigma,
        epsilon=epsilon,
        noise=noise,
        correlation=correlation,
        contributions=contributions,
    ).check(delta)


@without_k
def guarantee(
    *,
    keys: int,
    sigma: Real,
    epsilon: Real,
    noise: str = DEFAULT_NOISE,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return CorrelatedGaussian(
        keys=keys,
        sigma=sigma,
        epsilon=epsilon,
        noise=noise,
        correlation=correlation,
        contributions=contributions,
    ).guarantee()


@without_k
def calibrate(
    *,
    keys: int,
    epsilon: Real,
    delta: Real,
    noise: str = DEFAULT_NOISE,
    correlation: Real | None = None,
    contributions: int | None = None,
    resolution: Real = "1e-9",
) -> Calibration:
    """A least sigma on a decimal grid for a target.

    delta: target, > 0 and < 1. resolution: relative step between values of sigma, in [1e-15, 0.1].
    Other parameters as in :func:`delta`. The returned sigma provably satisfies the target, and the
    next smaller one provably does not (for discrete noise: the bound does not show it). Use
    exactly this value: with discrete noise, a larger sigma can need a larger delta.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import correlated_gaussian
    >>> print(correlated_gaussian.calibrate(keys=100, epsilon=1, delta="1e-6").sigma)
    22.15440456
    """
    target, step = delta_target("delta", delta), read_resolution(resolution)
    one = CorrelatedGaussian(
        keys=keys,
        sigma=1,
        epsilon=epsilon,
        noise=noise,
        correlation=correlation,
        contributions=contributions,
    )
    most = one.contributions or one.keys
    start = likely_sigma(one.keys, most, one.epsilon, target, noise, one.correlation)
    recorded = {name: getattr(one, name) for name in ("keys", "correlation", "contributions")}
    return calibrated(
        CorrelatedGaussian.name,
        noise,
        lambda sigma: replace(one, sigma=sigma),
        target=target,
        name="sigma",
        start=start,
        step=unit_of(start, step),
        lowest=1,
        given={name: Fraction(value) for name, value in recorded.items() if value is not None},
    )


def likely_sigma(
    keys: int,
    contributions: int,
    epsilon: Real,
    target: Fraction,
    noise: str = DEFAULT_NOISE,
    correlation: Fraction | None = None,
) -> Fraction:
    """An estimate of the least sigma; discrete noise is taken for continuous noise here."""

    def distance() -> arb:
        if noise == "continuous":
            return noise_distance(keys, arb(1), correlation, contributions)
        return (keys + arb(keys).sqrt()).sqrt().min(2 * arb(contributions).sqrt()) / 2

    size = refine(distance).upper
    near = gaussian.calibrate(epsilon=epsilon, delta=target, sensitivity=size, resolution="1e-9")
    return Fraction(near.sigma)


@frozen(kw_only=True)
class CorrelatedGaussian(RefusesK, Calculator, Evaluated):
    """The calculator; parameters as in :func:`delta`."""

    keys: int = whole(least=1, most=MOST_COUNTERS)
    sigma: Number = number(positive)
    epsilon: Number = number(non_negative)
    noise: str = converted(partial(choice, options=tuple(NOISES)), default=DEFAULT_NOISE)
    correlation: Any = converted(positive, default=None)
    contributions: int | None = whole(least=1, default=None)

    name = "correlated-gaussian"
    title = "counts of a public list with correlated Gaussian noise, without a threshold"
    example: ClassVar = {"keys": "10", "sigma": "10", "epsilon": "0.5"}
    falls_with: ClassVar = {"epsilon": 0}
    calibrate = staticmethod(calibrate)

    def __post_init__(self) -> None:
        if self.noise == "discrete" and self.correlation is not None:
            raise InvalidParameter("correlation", self.correlation, "left out with discrete noise")

    @property
    def _most(self) -> int:
        return min(self.contributions or self.keys, self.keys)

    @property
    def neighbours(self) -> str:
        """Users change some counts of the list, in one direction."""
        return add_remove(
            f"changing at most {self._most} of {self.keys} counts by one each"
            ", all in the same direction"
        )

    @property
    def source(self) -> str:
        """The source for this noise."""
        return NOISES[self.noise]

    @property
    def tight(self) -> bool:
        """Whether the noise is continuous."""
        return self.noise == "continuous"

    def evaluate(self) -> arb:
        """A ball around delta, or around the smaller of two upper bounds for discrete noise.

        In one of them the shared noise moves with the counts, in the other it does not.
        """
        if self.noise == "continuous":
            most = self.contributions or self.keys
            return noise_only(
                self.keys, ball(self.sigma), ball(self.epsilon), self.correlation, most
            )
        variance = 4 * self.sigma**2
        alone = many(Counter({(2, variance): self._most}), self.epsilon)
        return noise_part(self.keys, self.keys, variance, self.epsilon, ctx.prec).min(alone)


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = CorrelatedGaussian.least_epsilon


__dir__ = own_names(__name__)
