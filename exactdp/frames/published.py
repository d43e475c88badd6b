"""What a release from a frame gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.display import Printed
from exactdp.frames.candidates import describe
from exactdp.frames.counts_and_quantiles import CountsAndQuantiles, of_counts
from exactdp.frames.least_error import Choice
from exactdp.statement import Statement, released


@dataclass(frozen=True)
class Published(Printed):
    """What was released from a frame. frame: a row for every released key, sorted by key.
    guarantee: of the release, or of all releases of a series. mechanism: with its parameters.
    bounds: on the data of one user, checked before the noise. choice: why this mechanism, if it was
    chosen by its error."""

    frame: Any
    guarantee: Guarantee
    mechanism: Any
    bounds: tuple[dict[str, Any], ...] = ()
    choice: Choice | None = None

    @property
    def statement(self) -> Statement:
        """The privacy statement of the release, which anybody can check: see exactdp.statement."""
        return released(self.guarantee, self.mechanism, loss=self.loss, bounds=self.bounds)

    @property
    def loss(self) -> pld.Pld | None:
        """With quantiles, the loss of laws that dominate the mechanism, for its statement."""
        return self.mechanism.loss if isinstance(self.mechanism, CountsAndQuantiles) else None

    @property
    def of_counts(self) -> Any:
        """The mechanism of the counts."""
        return of_counts(self.mechanism)

    def __str__(self) -> str:
        parts = [describe(self.of_counts)]
        if isinstance(self.mechanism, CountsAndQuantiles):
            parts.append(self.mechanism.described)
        lines = (self.frame, "; ".join(parts), self.choice, self.guarantee)
        return "\n".join(str(line) for line in lines if line is not None)


@dataclass(frozen=True)
class FrameRelease(Published):
    """A release of counts. base: with "top-k-with-base", the noisy (top + 1)-th largest count.
    errors: column of sums, means or quantiles -> for each released row a bound of its error by
    noise, computed from the noisy numbers alone; of a quantile in ranks, the number of values by
    which it is off. For each key, the probability that it is released with a larger error is at
    most 5 %; keys of few users are released only where the noise is large."""

    base: Fraction | None = None
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
