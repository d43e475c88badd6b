"""Large values stored with noise, small values in a sketch: two mechanisms on one vector.

The noisy values of a threshold mechanism are stored; an entry that is not stored is estimated from
a sketch, in which larger values are clipped. Any sketch will do: ALP gives Algorithms 7 and 8,
LogALP Section 6.1, HistogramALP Corollary 7.4 and MaxProjection Corollary 8.3.

Source: Aumüller, Lebeda and Pagh (ALP).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen
from exactdp.law import Law
from exactdp.mechanism import Mechanism
from exactdp.mechanisms.projections.alp import ALP
from exactdp.mechanisms.projections.combined_sketch import CombinedSketch
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.maximum_error import Sides, maximum_error
from exactdp.mechanisms.projections.noisy_rows import MaxProjection, without_collisions
from exactdp.mechanisms.projections.thresholds import (
    ApproximateThreshold,
    LargeValues,
    Stored,
    Threshold,
)
from exactdp.mechanisms.projections.unary_projection import UnaryProjection
from exactdp.mechanisms.projections.universal_hashing import HashFunctions
from exactdp.parameters import Real, delta_target, integer, non_negative, positive
from exactdp.samplers import Source
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector

_ALPHAS = ("3", "5", "8", "12", "20")
_ROWS = (3, 4, 6, 8, 12, 16, 24, 32, 64)
_SHARES = ("1/4", "1/3", "1/2")

#: The thresholds tried for delta = 0 store min(k, _STORED)/2 zero entries on average.
_STORED = 1000


@frozen(kw_only=True)
class Combined(Mechanism[Vector]):
    """Noisy values above a threshold are stored; a sketch estimates the values below it.

    large: Threshold (pure DP) or ApproximateThreshold. small: ALP, SignedALP, LogALP, HistogramALP,
    TotalALP or MaxProjection, with the same d, k and values. Their epsilons add up. The sketch
    treats larger values as its largest, which should be the threshold: :meth:`of` sees to that.
    Raises InvalidParameter.
    Source: ALP, Algorithms 7 and 8, Theorems 5.10 and 5.11, Sections 6.1, 7, 8 and 10.

    >>> from exactdp.mechanisms import Combined, LogALP
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = Combined.of(LogALP, d=2**64, k=10, largest=10**6, epsilon=3, rows=20)
    >>> sketch = mechanism.project({5: 1000, 6: 2}, SystemSource())
    >>> 900 < sketch[5] < 1100, sketch.guarantee.epsilon
    (True, Fraction(3, 1))
    """

    large: Threshold | ApproximateThreshold
    small: UnaryProjection | MaxProjection

    def __post_init__(self) -> None:
        for name in ("d", "k", "values"):
            value, same = getattr(self.small, name), getattr(self.large, name)
            if value != same:
                raise InvalidParameter(f"small.{name}", value, f"{same}, as in large.{name}")

    @classmethod
    def of(
        cls,
        sketch: Any = ALP,
        *,
        d: int,
        k: int,
        largest: Real,
        epsilon: Real,
        delta: Real = 0,
        share: Real = "1/3",
        t: Real | None = None,
        grid: Real = "1/64",
        **parameters: Any,
    ) -> Combined:
        """A threshold mechanism and a sketch of the given class, for epsilon in total.

        sketch: ALP, SignedALP, LogALP, HistogramALP, TotalALP or MaxProjection. share: > 0 and < 1,
        of epsilon for the stored values. delta: 0 to store values by Threshold, > 0 by
        ApproximateThreshold. t: the threshold for delta = 0, by default 2 ln(d)/epsilon_1. A
        smaller t makes the sketch smaller but stores more zero entries (large.expected_empty).
        parameters: the sketch's own, such as rows. Raises InvalidParameter.
        """
        total, part = positive("epsilon", epsilon), delta_target("share", share)
        both: dict[str, Any] = {"d": d, "k": k}
        stored = {**both, "largest": largest, "epsilon": part * total, "grid": grid}
        stored["values"] = sketch.values
        large: Threshold | ApproximateThreshold
        if non_negative("delta", delta):
            if t is not None:
                raise InvalidParameter("t", t, "left out: the threshold follows from delta")
            large = ApproximateThreshold(**stored, delta=delta)
        else:
            large = Threshold.of(**stored) if t is None else Threshold(**stored, t=t)
        if sketch is MaxProjection:
            parameters = {"grid": grid, **parameters}
        return cls(
            large=large,
            small=sketch.of(
                **both, largest=large.threshold, epsilon=(1 - part) * total, **parameters
            ),
        )

    @classmethod
    def for_target(
        cls, *, error: Real, d: int, k: int, largest: Real, epsilon: Real, delta: Real = 0
    ) -> Combined:
        """The smallest of the tried mechanisms with ALP whose mean |error| is at most `error`.

        error: > 0, a certified bound of the mean |error| of a stored value, and of a value in the
        middle of the sketch with the largest possible number of collisions. Tried are alpha from 3
        to 20, 3 to 64 rows per entry, and 1/4 to 1/2 of epsilon for the stored values. For delta =
        0, the threshold stores about k/2 zero entries (at most 500). Other parameters: as for
        :meth:`of`. Raises InvalidParameter if no tried mechanism meets the error.
        """
        total, wanted = positive("epsilon", epsilon), positive("error", error)
        entries, best = integer("k", k, least=1), None
        few = Fraction(integer("d", d, least=1), min(entries, _STORED))
        often = max(refine(lambda: ball(few).log()).upper, Fraction(1))
        for alpha, rows, share in product(_ALPHAS, _ROWS, _SHARES):
            candidate = cls.of(
                d=d,
                k=entries,
                largest=largest,
                epsilon=total,
                delta=delta,
                share=share,
                t=None if delta else often / (Fraction(share) * total),
                rows=rows,
                alpha=alpha,
            )
            small: Any = candidate.small
            if best is not None and small.layout.size >= best[0]:
                continue
            if candidate._stored_error <= wanted and _middle_error(small) <= wanted:
                best = small.layout.size, candidate
        if best is None:
            raise InvalidParameter("error", error, f"larger, for epsilon = {epsilon}")
        return best[1]

    @property
    def _stored_error(self) -> Fraction:
        """Upper bound of the mean |error| of a stored value.

        2 q/(1 - q^2) steps for noise of ratio q, and one step for rounding.
        """
        q = 1 / (1 + self.large.noise.rise)
        return (2 * q / (1 - q * q) + 1) * self.large.step

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of both together, by sequential composition (ALP, Lemma 2.3)."""
        return self.large.guarantee + self.small.guarantee

    def project(self, vector: Vector, source: Source) -> CombinedSketch:
        """Publish a vector. Parameters: as for ALP's project. Raises InvalidParameter."""
        require_secure(source)
        entries = self.large.checked(vector)
        small = self.small.publish(entries.at_most(self.small.largest), source)
        return CombinedSketch(LargeValues(self.large, self.large._draw(entries, source)), small)

    release = project

    def law(self, vector: Vector, hashes: HashFunctions) -> Law[tuple[Stored, tuple[int, ...]]]:
        """The exact law of stored values and sketch, by enumeration, for small instances."""
        small = self.large.checked(vector).at_most(self.small.largest)
        values = [Fraction(int(v), small.denominator) for v in small.numerators]
        inside = dict(zip(small.ids.tolist(), values, strict=True))
        return self.large.law(vector).product(self.small.law(inside, hashes))

    def error(self, value: Real, **parameters: Any) -> ErrorLaw:
        """The exact law of estimate - value.

        value: negative for signed mechanisms only. parameters: those of the sketch's error(), such
        as collision. Raises InvalidParameter, Undecided.
        """
        return self.large._either_sign(value, partial(self._error, **parameters))

    def maximum_error(self, values: Sequence[Real]) -> Fraction:
        """An upper bound of the expected maximum error over all d entries of a vector.

        values: the non-zero entries, at most k of them. Raises InvalidParameter, also for a sketch
        whose error law leaves out collisions, and Undecided.
        """
        return maximum_error(self._sides, values, k=self.large.k, d=self.large.d, independent=False)

    def _sides(self, value: Fraction) -> Sides:
        """The laws with the largest errors above, and below, of one value."""
        if not isinstance(self.small, UnaryProjection):
            raise without_collisions(self.small)
        above, below = self.small.collisions
        return self.error(value, collision=above), self.error(value, collision=below)

    def _error(self, point: Fraction, **parameters: Any) -> ErrorLaw:
        """The law for a value >= 0."""
        noisy, limit = self.large._noisy(point), float(self.large.threshold)
        stored = (np.abs(noisy.errors) > limit * (1 - 2.0**-41)) & (noisy.weights > 0)
        small = self.small.error(min(point, self.small.largest), **parameters)
        unstored = noisy.probability(lambda v: np.abs(v) <= limit * (1 - 2.0**-41))
        size, missing = float(point), float(min(point, self.small.largest) - point)
        chance = float((unstored.lower + unstored.upper) / 2)
        wide = float(unstored.width) / max(chance, 1e-300)
        return replace(
            noisy,
            errors=np.concatenate([noisy.errors[stored] - size, small.errors + missing]),
            weights=np.concatenate([noisy.weights[stored], small.weights * chance]),
            slack=noisy.slack + small.slack + wide,
            left=noisy.left + small.left,
            span=2 * float(self.large.largest) if stored.any() else small.span + missing,
        )

    def variance(self, value: Real) -> Enclosure:
        """The variance of the estimate of a value. Raises InvalidParameter, Undecided."""
        return self.error(value).variance()


def _middle_error(small: UnaryProjection) -> Fraction:
    """Upper bound of the mean |error| of a value in the middle of the sketch."""
    try:
        return small.error(small.largest / 2).mean_absolute().upper
    except InvalidParameter:  # too many collisions: a wrong bit is as likely as a right bit
        return Fraction(10**400)
