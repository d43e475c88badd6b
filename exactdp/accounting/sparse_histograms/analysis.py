"""What every (sigma, tau) mechanism offers: certified delta, a check of a claim, a guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.search import Family, certified_maximum
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import CAP_BITS, FLOOR_BITS, Ends, ball, refine
from exactdp.enclosure import Enclosure


@dataclass(frozen=True)
class Point:
    """Parameters of a thresholded histogram, exactly.

    threshold_sigma is the noise the threshold is measured against. It equals sigma in every real
    mechanism; a bound valid for all sigma in an interval takes the two from its two ends.
    """

    k: int
    sigma: Fraction
    tau: Fraction
    epsilon: Fraction
    threshold_sigma: Fraction

    @classmethod
    def of(cls, k: int, sigma: Fraction, tau: Fraction, epsilon: Fraction) -> Point:
        return cls(k, sigma, tau, epsilon, sigma)


@dataclass(frozen=True)
class Analysis:
    """One published or own way to bound delta.

    evaluate: a ball around delta at the working precision; falls with tau.
    noise_only: its limit for tau to infinity; falls with sigma.
    threshold_only: the part that the ratio tau/sigma alone decides; a lower bound on delta.
    tight: the value is the mechanism's exact delta, not only an upper bound.
    quick: a cheaper lower bound on evaluate, mostly equal to it, monotone in the same way; steers
    searches and refutes. None: evaluate itself.
    near: from a point and a target, a lower bound on evaluate that is about equal to it there (if
    it does not exceed the target) and falls with tau; from the cheapest to the surest. Empty: quick
    is that already.
    until: ends around delta, far apart as soon as delta is seen to exceed a target. None: those of
    evaluate.
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

    def delta(self, point: Point) -> Enclosure:
        """delta in an enclosure of the relative width that the analysis reaches."""
        return refine(
            lambda: self.evaluate(point),
            relative_width=self.relative_width,
            cap_bits=self.cap_bits,
        ).clamped(0, 1)

    def check(self, point: Point, target: Fraction) -> Check:
        """Compare delta with a target, at whatever precision that takes."""
        return decide(
            lambda: self.evaluate(point), target, tight=self.tight, cap_bits=self.cap_bits
        )

    def compare(self, point: Point, target: Fraction) -> Check:
        """The same verdict, sooner: where it is refuted, the enclosure may be wide."""
        until = self.until
        if until is None:
            return self.check(point, target)
        return decide(
            lambda: until(point, ball(target)), target, tight=self.tight, cap_bits=self.cap_bits
        )

    def guarantee(self, point: Point) -> Guarantee:
        """The promise a release with these parameters makes."""
        return Guarantee(point.epsilon, self.delta(point), self.neighbours, self.source)


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
