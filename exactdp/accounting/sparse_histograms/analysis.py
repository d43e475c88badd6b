"""Ways to bound delta of a histogram with continuous noise sigma and a threshold tau."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.calculator import Compared, Evaluated
from exactdp.accounting.certify.search import Family, certified_maximum
from exactdp.balls import CAP_BITS, FLOOR_BITS, Ends, ball


@dataclass(frozen=True)
class Point:
    """Parameters of a histogram with noise and a threshold, as exact numbers.

    k, as in the papers, bounds the counters of one user (GSHM) or of the whole histogram (CSH).

    threshold_sigma is the noise against which the threshold is measured. In a mechanism it equals
    sigma. A bound for all sigma between a and b uses b as sigma and a as threshold_sigma.
    """

    k: int
    sigma: Fraction
    tau: Fraction
    epsilon: Fraction
    threshold_sigma: Fraction

    @classmethod
    def of(cls, k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> Point:
        """A mechanism's parameters, validated already."""
        return cls(k, sigma, tau, epsilon, sigma)


class Analysis(ABC):
    """One way to bound delta, published or our own.

    tight: the value is the mechanism's exact delta, not only an upper bound.
    larger_part: delta is mostly the larger of noise_only and threshold_only, and never less.
    searched: the worst neighbours are searched for; `near` guesses them.
    relative_width, cap_bits: of the enclosure of delta, and the most precision it is worth.
    """

    name: str
    source: str
    tight = False
    larger_part = False
    searched = False
    relative_width = Fraction(1, 10**12)
    cap_bits = CAP_BITS

    @abstractmethod
    def neighbours(self, k: int) -> str:
        """The text that states the neighbours."""

    @abstractmethod
    def evaluate(self, point: Point) -> arb | Ends:
        """A ball or ends around delta at the working precision; decreases with tau."""

    @abstractmethod
    def noise_only(self, k: int, sigma: arb, epsilon: arb) -> arb:
        """The limit of delta for tau to infinity; decreases with sigma."""

    @abstractmethod
    def threshold_only(self, k: int, ratio: arb) -> arb:
        """A lower bound on delta that depends on the ratio tau/sigma alone."""

    def against(self, point: Point, target: arb) -> arb | Ends:
        """Two ends around delta, which may be far apart once they decide the target."""
        return self.evaluate(point)

    def about(self, point: Point) -> arb:
        """An estimate of :meth:`least`, without proof."""
        return self.least(point)

    def near(self, point: Point) -> Callable[[Point], arb]:
        """The delta of the neighbours that seem the worst at a point, for all points.

        An estimate without proof, which decreases with tau; of use if `searched` is true.
        """
        return self.least

    def least(self, point: Point) -> arb:
        """A lower bound on delta, mostly equal to it."""
        if not self.larger_part:
            return Ends.of(self.evaluate(point)).lower
        noise = self.noise_only(point.k, ball(point.sigma), ball(point.epsilon))
        return noise.max(self.threshold_only(point.k, ball(point.tau / point.threshold_sigma)))

    def at(self, point: Point) -> AtPoint:
        """The mechanism at a point; its checks may use `against`."""
        return (Searched if self.searched else AtPoint)(self, point)


class Analysed(Evaluated):
    """A histogram whose delta an analysis bounds."""

    @property
    @abstractmethod
    def by(self) -> Analysis:
        """The analysis."""

    @property
    @abstractmethod
    def point(self) -> Point:
        """The parameters."""

    @property
    def neighbours(self) -> str:
        """Those of the analysis."""
        return self.by.neighbours(self.point.k)

    @property
    def source(self) -> str:
        """The source of the analysis."""
        return self.by.source

    @property
    def tight(self) -> bool:
        """Whether the analysis is exact."""
        return self.by.tight

    @property
    def relative_width(self) -> Fraction:
        """The relative width of the enclosure of delta."""
        return self.by.relative_width

    @property
    def cap_bits(self) -> int:
        """The largest working precision, in bits."""
        return self.by.cap_bits

    def evaluate(self) -> arb | Ends:
        """A ball or ends around delta."""
        return self.by.evaluate(self.point)


class AtPoint(Analysed):
    """A mechanism at a point of a calibration."""

    def __init__(self, by: Analysis, point: Point) -> None:
        self.epsilon, self._by, self._point = point.epsilon, by, point

    @property
    def by(self) -> Analysis:
        """The analysis."""
        return self._by

    @property
    def point(self) -> Point:
        """The parameters."""
        return self._point


class Searched(AtPoint, Compared):
    """The same, where an analysis decides a target more quickly than it finds delta."""

    def against(self, target: Fraction) -> arb | Ends:
        """Ends around delta that decide the target."""
        return self.by.against(self.point, ball(target))


def largest(families: Sequence[Family], *others: arb) -> arb:
    """A ball around the maximum of all terms, to about a third of the working precision's bits."""
    tolerance = arb(2) ** -(ctx.prec // 3)
    result = certified_maximum(families, tolerance, arb(2) ** -FLOOR_BITS).value
    for other in others:
        result = result.max(other)
    return result


def setting(point: Point) -> tuple[arb, arb, arb]:
    """Balls (epsilon, 1/sigma^2, tau/threshold_sigma)."""
    ratio = ball(point.tau / point.threshold_sigma)
    return ball(point.epsilon), ball(1 / point.sigma**2), ratio
