"""Bayes-optimal estimates of a count from its noisy count, for a public prior and any loss.

Ghosh, Roughgarden and Sundararajan: for every prior and every loss that grows with the distance,
the truncated geometric mechanism followed by this map has the least expected loss of all mechanisms
that keep the same ratio for counts that differ by 1. The map is post-processing: the guarantee
stays.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 1 (after Theorem
1.2), which cites Ghosh, Roughgarden and Sundararajan, SIAM Journal on Computing 41 (2012).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, choice, non_negative
from exactdp.samplers.count_samplers import CountSampler

#: Name of a loss -> the loss of an estimate at a distance from the count.
LOSSES: dict[str, Callable[[int], int]] = {
    "absolute": abs,
    "square": lambda distance: distance**2,
    "wrong": lambda distance: int(distance != 0),
}

#: The largest n: the exact posteriors take n^2 fractions with numerators of about n digits.
_MOST = 1000


@dataclass(frozen=True)
class Remapping:
    """The estimates with the least expected loss for each noisy count.

    noise: a sampler of noisy counts in [0, n], n <= 1000, such as GeoSample. prior: a weight >= 0
    for each count 0, ..., n, not all 0; it must not depend on the data. loss: "absolute", "square"
    or "wrong" (the probability of a wrong estimate). Raises InvalidParameter.

    >>> from exactdp.mechanisms import Remapping
    >>> from exactdp.samplers import GeoSample
    >>> rare = Remapping(GeoSample(n=5, epsilon=1), prior=[32, 16, 8, 4, 2, 1])
    >>> rare.estimates
    (0, 1, 1, 1, 2, 2)
    >>> float(rare.expected_loss) < float(rare.loss_without)
    True
    """

    noise: CountSampler
    prior: Sequence[Real]
    loss: str = "absolute"

    def __post_init__(self) -> None:
        choice("loss", self.loss, tuple(LOSSES))
        n = self.noise.n
        if n > _MOST:
            raise InvalidParameter("n", n, f"<= {_MOST}: the posteriors are listed")
        if len(self.prior) != n + 1:
            weights = Described(f"{len(self.prior)} weights")
            raise InvalidParameter("prior", weights, f"n + 1 = {n + 1} weights")
        if not sum(self._weights):
            raise InvalidParameter(
                "prior", Described("only zeros"), "a positive weight for some count"
            )

    @cached_property
    def estimates(self) -> tuple[int, ...]:
        """The estimate for each noisy count 0, ..., n; of equally good ones the smallest."""
        return tuple(min(self._counts, key=lambda i: self._lost(z, i)) for z in self._counts)

    @property
    def expected_loss(self) -> Fraction:
        """The expected loss of the estimates, over prior and noise, exactly."""
        return self._mean_loss(self.estimates)

    @property
    def loss_without(self) -> Fraction:
        """The expected loss of the noisy counts themselves."""
        return self._mean_loss(self._counts)

    def __getitem__(self, noisy: int) -> int:
        """The estimate for a noisy count."""
        return self.estimates[noisy]

    @property
    def _counts(self) -> Sequence[int]:
        return range(self.noise.n + 1)

    @cached_property
    def _weights(self) -> list[Fraction]:
        return [non_negative(f"prior[{c}]", weight) for c, weight in enumerate(self.prior)]

    @cached_property
    def _joint(self) -> list[list[Fraction]]:
        """For each noisy count, the weight of each count with it: prior times probability."""
        laws = [self.noise.law(c) for c in self._counts]
        return [
            [weight * law[z] for weight, law in zip(self._weights, laws, strict=True)]
            for z in self._counts
        ]

    def _lost(self, noisy: int, estimate: int) -> Fraction:
        """The loss of an estimate, weighted with the joint weights of the noisy count."""
        loss = LOSSES[self.loss]
        row = enumerate(self._joint[noisy])
        return sum((weight * loss(estimate - c) for c, weight in row if weight), Fraction(0))

    def _mean_loss(self, estimates: Sequence[int]) -> Fraction:
        lost = sum(map(self._lost, self._counts, estimates), Fraction(0))
        return lost / sum(self._weights)
