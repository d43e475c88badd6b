"""What sparse histograms that also release sums of values have in common.

Up to a factor of e^(+-h) for every output, the discrete noise of counters and sums is Gaussian
noise with slightly smaller variances, rounded at random (exactdp statement explain exact-csh,
section 11). So delta is at most e^h times that of Gaussian noise at the distance mu, at epsilon -
2 h. With little noise another bound is smaller: all noise together is rho-zCDP (zero-concentrated
differential privacy), turned into delta by the optimal conversion. A counter that is not released
hides its sums, so the exact threshold part of the counters alone is added.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from flint import arb

from exactdp.accounting import gaussian, zcdp
from exactdp.accounting.calculator import Calculator, Known
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.grid import rounded
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.sparse_histograms.least_threshold import (
    SHARES,
    likely_threshold,
    sigmas_by_zcdp,
)
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, delta_target, non_negative, positive

ANALYSIS = "gaussian"

#: The variance of the rounding: with 3/2 it changes probabilities by a factor of 1 +- 6e-13.
ROUNDING = Fraction(3, 2)

#: Number of significant digits of a chosen sigma, and the steps of its search.
_DIGITS, _STEP = 6, Fraction(1, 10**5)


@frozen(kw_only=True)
class WithSums(Calculator, Known):
    """A base of these calculators. bound: the name of their bound on counters, k or sparsity.

    step: the step of the threshold.
    """

    columns: int = whole(least=0)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    spread: Number = number(positive, default=1)

    bound: ClassVar[str]
    step: ClassVar[Fraction]
    analyses = (ANALYSIS,)
    tight = False

    @property
    def size(self) -> int:
        """The value of the bound on counters."""
        size: int = getattr(self, self.bound)
        return size

    @property
    def weight(self) -> Fraction:
        """rho sigma^2 of the noise on counters and sums."""
        return self.counters_weight + self.size * self.columns / self.spread**2 / 2

    @property
    @abstractmethod
    def counters_weight(self) -> Fraction:
        """rho sigma^2 of the counters."""

    @abstractmethod
    def shows(self) -> Enclosure:
        """The probability that some new counter of a user is released."""

    #: The shares of a target that are tried for the noise.
    shares: ClassVar[tuple[Fraction, ...]] = SHARES

    @abstractmethod
    def square(self) -> arb:
        """mu^2."""

    @abstractmethod
    def log_factor(self) -> arb:
        """h."""

    @property
    def smaller(self) -> list[Fraction]:
        """The variances of a counter and of its sums over limits, less that of the rounding."""
        sums = [(self.spread * self.sigma) ** 2] * self.columns
        return [variance - ROUNDING for variance in (self.counter_variance, *sums)]

    @property
    @abstractmethod
    def counter_variance(self) -> Fraction:
        """The parameter of the independent noise of a counter."""

    @property
    def has_rounding(self) -> bool:
        """Whether the noise is wide enough for the bound by Gaussian noise."""
        return min(self.smaller) > ROUNDING

    def by_gaussian(self, shows: Fraction = Fraction(0)) -> Enclosure:
        """The larger one of the bound by Gaussian noise and of the threshold's delta, by e^h."""

        def bound() -> arb:
            h = self.log_factor()
            loss = ball(self.epsilon) - 2 * h
            larger = hockey_stick(loss.max(arb(0)), self.square().sqrt()).max(ball(shows))
            return h.exp() * (larger - loss.min(arb(0)).expm1())

        return refine(bound).clamped(0, 1)

    def by_zcdp(self) -> Enclosure:
        """The delta of the noise by zCDP."""
        return zcdp.delta(rho=self.weight / self.sigma**2, epsilon=self.epsilon)

    def noise(self) -> Enclosure:
        """The delta of the noise, by the better one of both bounds."""
        other = self.by_zcdp()
        return smaller_one(self.by_gaussian(), other) if self.has_rounding else other

    def delta(self) -> Enclosure:
        """The bound of noise and threshold together."""
        return self._delta

    @cached_property
    def _delta(self) -> Enclosure:
        return added(self.noise(), self.shows())

    def likely_sigmas(self, target: Fraction) -> list[Fraction]:
        """Short decimals sigma, of which a calibration takes the best."""
        others = sigmas_by_zcdp(self.weight, epsilon=self.epsilon, target=target)
        return [*(self._least_sigma(share * target) for share in self.shares), *others]

    def _least_sigma(self, target: Fraction) -> Fraction:
        """A decimal slightly above the least sigma whose noise keeps the target."""
        distance = refine(lambda: (2 * ball(self.weight)).sqrt()).upper
        near = gaussian.calibrate(
            epsilon=self.epsilon, delta=target, sensitivity=distance, resolution="1e-7"
        )
        sigma, step = rounded(Fraction(near.sigma), _DIGITS), _STEP
        while not replace(self, sigma=sigma).noise().upper < target:
            sigma, step = rounded(sigma * (1 + step), _DIGITS), 2 * step
        return sigma

    @classmethod
    def least(
        cls,
        *,
        columns: int,
        epsilon: Real,
        delta: Real,
        sigma: Real | None,
        spread: Real,
        **size: int,
    ) -> Calibration:
        """The smallest threshold on a grid; without sigma, also a sigma for it.

        size: the bound on counters, by its name.
        """
        target, loss = delta_target("delta", delta), positive("epsilon", epsilon)
        one = cls(columns=columns, sigma=1, tau=0, epsilon=loss, spread=spread, **size)
        sigmas = one.likely_sigmas(target) if sigma is None else [positive("sigma", sigma)]

        def with_noise(sigma: Fraction) -> Calibration:
            start = replace(one, sigma=sigma)
            if not start.noise().upper < target:
                raise InvalidParameter("sigma", sigma, "larger: at this one no tau is enough")
            return calibrated(
                cls.name,
                ANALYSIS,
                lambda tau: replace(start, tau=tau),
                target=target,
                name="tau",
                start=likely_threshold(sigma, one.size, target),
                step=cls.step,
                given={
                    name: Fraction(getattr(one, name)) for name in (cls.bound, "columns", "spread")
                },
                chosen={"sigma": sigma},
            )

        return min(map(with_noise, sigmas), key=lambda calibration: calibration.tau)


def rounding_factor() -> arb:
    """ln((1 + a)/(1 - a)), a = 2 (e^(-2 pi^2 v) + e^(-8 pi^2 v) + ...), for one rounded number."""
    return log_ratio(ball(ROUNDING))


def log_ratio(variance: arb) -> arb:
    """ln((1 + a)/(1 - a)) for a variance v >= 1; see `rounding_factor`."""
    a = 2 * (-2 * arb.pi() ** 2 * variance).exp() * (1 + arb(2) ** -80)
    return ((1 + a) / (1 - a)).log()


def added(noise: Enclosure, shows: Enclosure) -> Enclosure:
    """The delta of the noise plus that of the threshold."""
    return Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1)


def smaller_one(one: Enclosure, other: Enclosure) -> Enclosure:
    """The smaller one of two numbers."""
    return Enclosure(min(one.lower, other.lower), min(one.upper, other.upper))
