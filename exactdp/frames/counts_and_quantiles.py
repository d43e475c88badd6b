"""Counts with quantiles for their keys, under one target.

A user takes part in the choices of at most k keys, of which each has losses of the same bounded
range. The counts and all choices compose; the choices may depend on the counts, as their keys do.
Each is dominated by a pair of finite laws (exactdp.accounting.pld.dominating), so that a privacy
statement can name both, and anybody can check the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld import Pld
from exactdp.accounting.pld.dominating import dominated, dominated_choice, last_epsilon
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.frames.candidates import Target
from exactdp.frames.quantiles import Quantile
from exactdp.mechanisms import GSHM, GridQuantile
from exactdp.mechanisms.known_keys import ListedCounts
from exactdp.parameters import Real, decimal_text, delta_target, positive, rational

#: Points of the finite law that dominates the counts.
_POINTS = 40

#: The part of delta that the sum of finite laws may take, so that coarser checks succeed, too.
_ROOM = Fraction(49, 50)

#: How narrow an enclosure of delta is.
_ROUGHLY = {"relative_width": Fraction(1, 20)}

#: Part of what is left of epsilon by addition: the largest losses then add up to less than epsilon.
_SAFE = Fraction(9, 10)

#: Steps of the search for the range of losses, which is then within 1 % of the largest.
_STEPS = 7


@dataclass(frozen=True)
class CountsAndQuantiles:
    """A mechanism for counts, and the choices of quantiles for its keys.

    counts: the mechanism for counts. columns: released column -> what chooses its points, all of
    one epsilon. epsilon, delta: the target, which both keep together. Raises InvalidParameter.
    """

    counts: Any
    columns: Mapping[str, GridQuantile]
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _require_counts(self.counts)
        if len({each.epsilon for each in self.columns.values()}) != 1:
            raise InvalidParameter("columns", list(self.columns), "choices of one epsilon")

    @classmethod
    def for_target(
        cls,
        counts: Any,
        quantiles: Mapping[str, Quantile],
        *,
        epsilon: Real,
        delta: Real,
    ) -> CountsAndQuantiles:
        """The choices with about the largest range of losses that the target leaves to them.

        counts: GSHM, with or without sums, or a mechanism for known keys; keeps a part of the
        target. Raises InvalidParameter, Undecided.
        """
        loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
        _require_counts(counts)
        if counts.epsilon >= loss:
            allowed = f"above {decimal_text(counts.epsilon)}, the epsilon of the counts"
            raise InvalidParameter("epsilon", epsilon, allowed)
        number = counts.k * sum(each.choices for each in quantiles.values())
        finite = _finite(counts)
        limit = target * _ROOM

        def kept(width: Fraction) -> bool:
            try:
                delta = _together(finite, _rounded(width), number).delta(loss, **_ROUGHLY)
            except Undecided:  # no grid fits the losses: a smaller range will do
                return False
            return delta.upper <= limit

        low = high = (loss - counts.epsilon) / number * _SAFE
        if not kept(low):
            raise Undecided("the counts leave nothing to the quantiles: try a smaller share")
        while kept(high):
            low, high = high, 2 * high
        low, _ = halved(low, high, lambda width: not kept(width), times=_STEPS)
        width = _rounded(low)
        return cls(counts, _columns(quantiles, width), loss, target)

    def check(self, quantiles: Mapping[str, Quantile]) -> None:
        """Raise InvalidParameter unless the choices are those of these quantiles."""
        if _columns(quantiles, self.width) != self.columns:
            names = ", ".join(self.columns)
            allowed = f"those of the mechanism, with all their bounds: {names}"
            raise InvalidParameter("quantiles", dict(quantiles), allowed)

    @property
    def k(self) -> int:
        """The largest number of keys of one user."""
        return int(self.counts.k)

    @property
    def runs(self) -> int:
        """The largest number of choices in which one user takes part."""
        return self.k * len(self.columns)

    @property
    def width(self) -> Fraction:
        """The length of the interval of losses of each choice."""
        return next(iter(self.columns.values())).epsilon

    @property
    def described(self) -> str:
        """The choices, in a few words."""
        number, width = len(self.columns), decimal_text(self.width)
        return f"{number} choices for each key, of bounded range {width}"

    @property
    def rank_errors(self) -> dict[str, float]:
        """Column of quantiles -> a bound of the error in ranks of a released value (95 %)."""
        columns = self.columns.items()
        return {name: each.error() for name, each in columns if not each.below + each.above}

    @cached_property
    def loss(self) -> Pld:
        """The loss of finite laws that dominate the counts and the choices."""
        return _together(_finite(self.counts), self.width, self.runs)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of the counts and the quantiles together. The neighbours name the number of
        values of one user for one key that count, which the sensitivity of the choices needs."""
        promise = self.counts.guarantee
        source = (
            f"{promise.source}; {self.runs} choice{'s' * (self.runs > 1)} of bounded range "
            f"{decimal_text(self.width)} (Dong, Durfee, Rogers 2020); finite laws dominate each"
        )
        leaks = self.loss.delta(self.epsilon, **_ROUGHLY)
        most: dict[int, list[str]] = {}
        for name, each in self.columns.items():
            most.setdefault(each.most, []).append(name)
        values = ", ".join(f"{number} for {' and '.join(names)}" for number, names in most.items())
        neighbours = f"{promise.neighbours}, and at most so many values for each key: {values}"
        return Guarantee(self.epsilon, Enclosure.exact(leaks.upper), neighbours, source)


def of_counts(mechanism: Any) -> Any:
    """The part of a mechanism that counts."""
    return mechanism.counts if isinstance(mechanism, CountsAndQuantiles) else mechanism


def for_counts(target: Target, quantiles: Mapping[str, Quantile]) -> Target:
    """The target of the counts: a part of a whole target if there are quantiles."""
    if not quantiles:
        return target
    for name in ("selection", "top"):
        if getattr(target, name) is not None:
            raise InvalidParameter(name, getattr(target, name), "left out, with quantiles")
    share = rational("share", target.share)
    if not 0 < share < 1:
        raise InvalidParameter("share", target.share, "> 0 and < 1, with quantiles")
    epsilon, delta = positive("epsilon", target.epsilon), delta_target("delta", target.delta)
    return replace(target, epsilon=epsilon * share, delta=delta * share)


def _require_counts(mechanism: Any) -> None:
    """Raise InvalidParameter unless a mechanism bounds the keys of a user, and its delta is known
    at every epsilon."""
    if not isinstance(mechanism, GSHM | ListedCounts):
        allowed = "GSHM, GSHMWithSums, KnownKeys or CorrelatedGaussian"
        raise InvalidParameter("counts", Described(type(mechanism).__name__), allowed)


def _columns(quantiles: Mapping[str, Quantile], width: Fraction) -> dict[str, GridQuantile]:
    """Released column -> what chooses its points."""
    return {
        column: mechanism
        for name, each in quantiles.items()
        for column, mechanism in each.mechanisms(name, width).items()
    }


def _together(counts: Pld, width: Fraction, number: int) -> Pld:
    choice = dominated_choice(epsilon=width, neighbours=counts.neighbours)
    return counts.then(choice.composed(number))


@lru_cache(maxsize=8)
def _finite(counts: Any) -> Pld:
    """The loss of a finite law that dominates a mechanism for counts."""

    @lru_cache(maxsize=256)
    def delta(epsilon: Fraction) -> Fraction:
        loose = replace(counts, epsilon=epsilon, delta=1 - Fraction(1, 10**12))
        leaks: Fraction = loose.guarantee.delta.upper
        return leaks

    end = last_epsilon(delta, counts.epsilon, counts.delta)
    return dominated(delta, end=end, points=_POINTS, neighbours=counts.guarantee.neighbours)


def _rounded(width: Fraction) -> Fraction:
    """The number with four digits, rounded down."""
    return Fraction(Enclosure.exact(width).decimal_lower(4))
