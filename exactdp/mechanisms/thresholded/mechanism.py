"""The base of mechanisms that release noisy counters above a threshold.

Elements may come from any domain, finite or infinite: only non-zero counters get noise. The noise
is drawn exactly, and the target (epsilon, delta) is checked for the discrete noise that is drawn,
not for its continuous model. A mechanism that violates its target cannot be made.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from flint import arb

from exactdp.accounting.calculator import Calculator
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import refine
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.thresholded.release import NoisyCounts, NoisyHistogram
from exactdp.parameters import Real, decimal_text, delta_target, integer, non_negative, positive
from exactdp.samplers import Source


@frozen
class Thresholded(NoisyHistogram):
    """sigma: noise scale, > 0. tau: >= 0; noisy counters above 1 + tau are released.

    epsilon, delta: the target, >= 0, and > 0 and < 1. Raises InvalidParameter if the exact delta of
    the discrete noise at epsilon is larger, and Undecided if that cannot be decided.
    lower: counters with a true count below `lower` are dropped first; >= 1 and <= 1 + tau. One
    user can then make a counter appear with the count `lower` instead of 1, which increases delta.
    """

    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    delta: Number = number(delta_target)
    lower: int = whole(least=1, default=1)

    #: The calculator of this noise, and its name for the bound on counters.
    _calculator: ClassVar[type[Calculator]]
    _bound: ClassVar[str]

    @classmethod
    def _for_target(
        cls, counters: int, epsilon: Real, delta: Real, lower: int, *more: Any, **further: Any
    ) -> Self:
        """The mechanism with the least threshold that the calculator finds for a target.

        counters: the class's bound on counters. more: values of the fields after `lower`. further:
        parameters of the calculator.
        """
        calibration = cls._calculator.calibrate(
            **{cls._bound: counters}, epsilon=epsilon, delta=delta, **further
        )
        tau = Fraction(calibration.tau or 0) + integer("lower", lower, least=1) - 1
        make: Callable[..., Self] = cls  # each class has its own bound as the first field
        return make(counters, calibration.sigma, tau, epsilon, delta, lower, *more)

    def __post_init__(self) -> None:
        if self.lower > self._limit:
            raise InvalidParameter("lower", self.lower, f"<= 1 + tau = {self._limit}")
        kept = self._kept
        if kept.verdict == "refuted":
            allowed = f">= {kept.delta.decimal_upper(6)} with this noise and threshold"
            raise InvalidParameter("delta", decimal_text(self.delta), allowed)
        if kept.verdict == "undecided":
            raise Undecided(f"whether the exact delta is below the target: it is in {kept.delta}")

    def noisy_counts(self, counts: Mapping[Any, int], source: Source) -> NoisyCounts:
        return self._draw(checked_counts(counts), source)

    @property
    def guarantee(self) -> Guarantee:
        neighbours, source = self._promise()
        return Guarantee(self.epsilon, self._kept.delta, neighbours, source)

    def chance(self, count: int) -> Enclosure:
        """The probability that a counter with this true count >= 0 is released.

        For TopK, count is the true count minus the (top + 1)-th largest count.
        """
        value = integer("count", count, least=0)
        if value < self.lower:
            return Enclosure.exact(0)
        return refine(lambda: self._tail(self._limit - value)).clamped(0, 1)

    def accuracy(self, beta: Real, counters: int = 1) -> Accuracy:
        """Error bounds that hold with probability at least 1 - beta, 0 < beta < 1.

        counters: number of counters that the simultaneous bound covers, >= 1. A counter that is
        not released counts as 0.
        """
        chance, number = delta_target("beta", beta), integer("counters", counters, least=1)
        single, every = (
            least_error(lambda e: self._error_tail(Fraction(e)), part)
            for part in (chance, chance / number)
        )
        floor = int(self._limit)
        return Accuracy(chance, single, floor + single, floor + every)

    @cached_property
    def _kept(self) -> Check:
        """The check of the target."""
        mechanism = self._calculator(
            **{self._bound: self._counters},
            sigma=self.sigma,
            tau=self.tau - (self.lower - 1),  # from the count of a new counter to the limit
            epsilon=self.epsilon,
            **self._further,
        )
        return mechanism.check(self.delta)

    @property
    def _limit(self) -> Fraction:
        return 1 + self.tau

    @property
    def _further(self) -> dict[str, Any]:
        """Further parameters of the calculator."""
        return {}

    @property
    @abstractmethod
    def _counters(self) -> int:
        """The class's bound on counters: sparsity, top, or contributions."""

    @abstractmethod
    def _promise(self) -> tuple[str, str]:
        """The neighbouring relation of the guarantee, and its source."""

    @abstractmethod
    def _tail(self, t: Fraction) -> arb:
        """P(noise of one counter > t) for any rational t."""

    def _error_tail(self, t: Fraction) -> arb:
        """P(released - true count > t), for a counter that is released."""
        return self._tail(t)

    @abstractmethod
    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        """Noisy counters for positive counts in ascending order of elements."""


def checked_counts(counts: Mapping[Any, int]) -> dict[Any, int]:
    """The positive counts in ascending order of elements; raises InvalidParameter."""
    plain = mapping_of("counts", counts)
    if not (set(map(type, plain.values())) <= {int} and min(plain.values(), default=0) >= 0):
        plain = {x: integer(f"counts[{x!r}]", c, least=0) for x, c in plain.items()}
    if not set(map(type, plain)) <= {int, str}:
        for x in plain:
            if x is None or x != x:
                raise InvalidParameter("element", x, "a key that equals itself (not NaN)")
    return {x: plain[x] for x in in_order(plain) if plain[x]}


def in_order(elements: Iterable[Any]) -> list[Any]:
    """The elements in ascending order; raises InvalidParameter if they cannot be compared."""
    listed = list(elements)
    try:
        return sorted(listed)
    except TypeError:
        kinds = " and ".join(sorted({type(x).__name__ for x in listed}))
        raise InvalidParameter("elements", kinds, "of one type that can be sorted") from None


def above_lower(counts: dict[Any, int], lower: int) -> dict[Any, int]:
    """The counters with a true count of at least `lower`."""
    return counts if lower == 1 else {x: c for x, c in counts.items() if c >= lower}


def least_error(tail: Callable[[int], arb], beta: Fraction) -> int:
    """The least integer e with P(|noise| > e) <= beta, for symmetric noise; tail: P(noise > e)."""

    def enough(e: int) -> bool:
        chance = refine(lambda: 2 * tail(e), accept=lambda p: p.upper <= beta or p.lower > beta)
        return chance.upper <= beta

    return least(0, None, enough)
