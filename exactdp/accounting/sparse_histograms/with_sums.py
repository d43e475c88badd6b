"""What sparse histograms that also release sums of values have in common.

The noise of counters and sums is rho-zCDP together (zero-concentrated differential privacy), turned
into delta by the optimal conversion. A counter that is not released hides its sums, so the exact
threshold part of the counters alone is added.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Calculator, Known, calibrated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.sparse_histograms.least_threshold import likely_threshold, sigmas_by_zcdp
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.parameters import Real, delta_target, non_negative, positive

ANALYSIS = "zcdp"


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

    def likely_sigmas(self, target: Fraction) -> list[Fraction]:
        """Short decimals sigma, of which a calibration takes the best."""
        return sigmas_by_zcdp(self.weight, epsilon=self.epsilon, target=target)

    def noise(self) -> Enclosure:
        """The delta of the noise."""
        return zcdp.delta(rho=self.weight / self.sigma**2, epsilon=self.epsilon)

    def delta(self) -> Enclosure:
        """The delta of the noise plus that of the threshold."""
        return self._delta

    @cached_property
    def _delta(self) -> Enclosure:
        noise, shows = self.noise(), self.shows()
        return Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1)

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
                cls.analyses[0],
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
