"""Reports with discrete Gaussian noise: (epsilon, delta)-private, clamped far from the values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from math import isqrt

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, frozen, number
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers
from exactdp.local.report_formats import Report
from exactdp.local.sparse.baseline import Baseline
from exactdp.parameters import Real, delta_target
from exactdp.samplers import DiscreteGaussian, Source, exact_law
from exactdp.vector import Vector


@frozen
class GaussianNoise(Baseline):
    """The base of the mechanisms with discrete Gaussian noise. delta: > 0 and < 1."""

    delta: Number = number(delta_target, default=Fraction(1, 10**5))

    @property
    @abstractmethod
    def sigma2(self) -> Fraction:
        """The parameter of the noise, in squared steps of the grid."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one report; times n it is that of n independent reports of one user."""
        return replace(super().guarantee, delta=Enclosure.exact(self.delta), e_epsilon=None)

    def law(self, value: Vector, residual: Real = Fraction(1, 1 << 64)) -> Law[Report]:
        """The law of a report by enumeration, for few items and little noise.

        residual: probability that the enumeration may leave out.
        """
        return exact_law(lambda source: self.draw(value, source), residual=residual)

    @property
    def _reach(self) -> int:
        """10 standard deviations: P(noise beyond) is about exp(-10^2/2) = 2^-72, below 2^-64."""
        return 10 * (isqrt(int(self.sigma2)) + 1)

    def _draw_noise(self, n: int, source: Source) -> Integers:
        return np.array(DiscreteGaussian(sigma2=self.sigma2).sample_each(n, source), np.int64)
