"""Ways to bound delta of a histogram with continuous noise sigma and a threshold tau."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.calculator import Evaluated
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


@dataclass(frozen=True)
class Analysis:
    """One way to bound delta, published or our own.

    evaluate: a ball or ends around delta at the working precision; decreases with tau.
    noise_only: the limit of delta for tau to infinity; decreases with sigma.
    threshold_only: a lower bound on delta that depends on the ratio tau/sigma alone.
    neighbours: the text that states the neighbours, from k.
    tight: the value is the mechanism's exact delta, not only an upper bound.
    larger_part: delta is mostly the larger of noise_only and threshold_only, and never less.
    about, near: estimates without proof, if larger_part is true; None: the functions above are
    quick enough. about: the larger of noise_only and threshold_only. near: guesses the worst
    neighbours at a point and returns their delta as a function of points; it decreases with tau.
    against: two ends around delta, which may be far apart once they decide the target; None:
    `evaluate` decides it.
    """

    name: str
    source: str
    neighbours: Callable[[int], str]
    tight: bool
    evaluate: Callable[[Point], arb | Ends]
    noise_only: Callable[[int, arb, arb], arb]
    threshold_only: Callable[[int, arb], arb]
    larger_part: bool = False
    about: Callable[[Point], arb] | None = None
    near: Callable[[Point], Callable[[Point], arb]] | None = None
    against: Callable[[Point, arb], Ends] | None = None
    relative_width: Fraction = Fraction(1, 10**12)
    cap_bits: int = CAP_BITS

    def least(self, point: Point) -> arb:
        """A lower bound on delta, mostly equal to it."""
        if not self.larger_part:
            return Ends.of(self.evaluate(point)).lower
        noise = self.noise_only(point.k, ball(point.sigma), ball(point.epsilon))
        return noise.max(self.threshold_only(point.k, ball(point.tau / point.threshold_sigma)))

    def at(self, point: Point, *, quick: bool = False) -> Evaluated:
        """The mechanism at a point, by this analysis. quick: its checks may use `against`."""
        against = self.against if quick else None
        return Evaluated(
            epsilon=point.epsilon,
            neighbours=self.neighbours(point.k),
            source=self.source,
            tight=self.tight,
            evaluate=lambda: self.evaluate(point),
            against=None if against is None else lambda target: against(point, ball(target)),
            relative_width=self.relative_width,
            cap_bits=self.cap_bits,
        )


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
