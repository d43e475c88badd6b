"""Ways to bound delta of a histogram with continuous noise sigma and a threshold tau."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.calculator import Evaluated
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.search import Family, certified_maximum
from exactdp.balls import CAP_BITS, FLOOR_BITS, Ends, ball


@dataclass(frozen=True)
class Point:
    """Parameters of a histogram with noise and a threshold, as exact numbers.

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

    evaluate: a ball around delta at the working precision; decreases with tau.
    noise_only: the limit of delta for tau to infinity; decreases with sigma.
    threshold_only: a lower bound on delta that depends on the ratio tau/sigma alone.
    tight: the value is the mechanism's exact delta, not only an upper bound.
    quick: a cheaper lower bound on evaluate, mostly equal to evaluate and monotone in the same
    parameters. Searches are guided by quick, and refute with it. None: evaluate is cheap enough.
    near: functions that take a point and a target and return a lower bound on evaluate, from the
    cheapest to the surest. Where the bound does not exceed the target, it is about equal to
    evaluate near the point; it decreases with tau. Empty: quick serves.
    until: a lower and an upper bound on delta, which may be far apart once delta is known to exceed
    the target. None: the ends of evaluate.
    """

    name: str
    source: str
    neighbours: str
    tight: bool
    evaluate: Callable[[Point], arb]
    noise_only: Callable[[int, arb, arb], arb]
    threshold_only: Callable[[int, arb], arb]
    quick: Callable[[Point], arb] | None = None
    near: Sequence[Callable[[Point, arb], Callable[[Point], arb]]] = ()
    until: Callable[[Point, arb], Ends] | None = None
    relative_width: Fraction = Fraction(1, 10**12)
    cap_bits: int = CAP_BITS

    def glance(self, point: Point) -> arb:
        """The quick lower bound."""
        return self.evaluate(point) if self.quick is None else self.quick(point)

    def at(self, point: Point) -> Evaluated:
        """The mechanism at a point, by this analysis."""
        return Evaluated(
            epsilon=point.epsilon,
            neighbours=self.neighbours,
            source=self.source,
            tight=self.tight,
            evaluate=lambda: self.evaluate(point),
            relative_width=self.relative_width,
            cap_bits=self.cap_bits,
        )

    def compare(self, point: Point, target: Fraction) -> Check:
        """The verdict of `at(point).check(target)`, sooner; its enclosure may be wider."""
        until = self.until
        if until is None:
            return self.at(point).check(target)
        return decide(
            lambda: until(point, ball(target)), target, tight=self.tight, cap_bits=self.cap_bits
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
