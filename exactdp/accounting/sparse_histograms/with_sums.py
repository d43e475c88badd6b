"""What sparse histograms that also release sums of values have in common.

The noise of counters and sums is rho-zCDP together (zero-concentrated differential privacy), turned
into delta by the optimal conversion. A counter that is not released hides its sums, so the exact
threshold part of the counters alone is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Instance, Known, calibrated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.sparse_histograms.least_threshold import likely_threshold, sigmas_by_zcdp
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, counters, delta_target, integer, non_negative, positive

ANALYSIS = "zcdp"


@dataclass(frozen=True)
class WithSums:
    """A sparse histogram with sums.

    bound: the name of the bound on counters, k or sparsity. neighbours: returns the text that
    states the neighbours. step: the step of the threshold. weight: returns rho sigma^2 of the
    counters. shown: returns the probability that some new counter of a user is released. All three
    functions take the value of the bound first; `shown` takes sigma and tau, too.
    """

    name: str
    bound: str
    source: str
    neighbours: Callable[[int], str]
    step: Fraction
    weight: Callable[[int], Fraction]
    shown: Callable[[int, Fraction, Fraction], Enclosure]

    def instance(
        self, size: int, *, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real
    ) -> Instance:
        """The mechanism with its bound of delta.

        size: the value of the bound on counters. The other parameters are those of the calculators.
        """
        number, noise = counters(size, self.bound), positive("sigma", sigma)
        lost = zcdp.delta(rho=self._weight(number, columns, spread) / noise**2, epsilon=epsilon)
        shows = self.shown(number, noise, non_negative("tau", tau))
        return Known(
            epsilon=non_negative("epsilon", epsilon),
            neighbours=f"{self.neighbours(number)}, and their sums by at most their limits",
            source=self.source,
            tight=False,
            enclosure=Enclosure(lost.lower + shows.lower, lost.upper + shows.upper).clamped(0, 1),
        )

    def calibrate(
        self,
        size: int,
        *,
        columns: int,
        epsilon: Real,
        delta: Real,
        sigma: Real | None = None,
        spread: Real = 1,
    ) -> Calibration:
        """The smallest threshold on a grid; without sigma, also a sigma for it."""
        target, loss = delta_target("delta", delta), positive("epsilon", epsilon)
        number = counters(size, self.bound)
        options: dict[str, Any] = {
            "columns": integer("columns", columns, least=0),
            "spread": positive("spread", spread),
        }
        weight = self._weight(number, **options)
        if sigma is None:
            sigmas = sigmas_by_zcdp(weight, epsilon=loss, target=target)
        else:
            sigmas = [positive("sigma", sigma)]

        def least(noise: Fraction) -> Calibration:
            if not zcdp.delta(rho=weight / noise**2, epsilon=loss).upper < target:
                raise InvalidParameter("sigma", noise, "larger: at this one no tau is enough")
            return calibrated(
                self.name,
                ANALYSIS,
                lambda tau: self.instance(number, **options, sigma=noise, tau=tau, epsilon=loss),
                target=target,
                name="tau",
                start=likely_threshold(noise, number, target),
                step=self.step,
                given={self.bound: Fraction(number)}
                | {name: Fraction(value) for name, value in options.items()},
                chosen={"sigma": noise},
            )

        return min(map(least, sigmas), key=lambda calibration: calibration.tau)

    def _weight(self, number: int, columns: int, spread: Real) -> Fraction:
        """rho sigma^2 of the noise on counters and sums."""
        size = integer("columns", columns, least=0)
        return self.weight(number) + number * size / positive("spread", spread) ** 2 / 2
