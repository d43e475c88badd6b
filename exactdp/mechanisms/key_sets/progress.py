"""The state after a round of noisy weights, and the law of the noise of a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.law import Law
from exactdp.mechanisms.key_sets.weights import Integers
from exactdp.samplers import DiscreteGaussian

#: Noise exceeds this number of sigmas with probability below 2^-28.
_REACH = 6

_MOST_OUTCOMES = 200_000


@dataclass(frozen=True, eq=False)
class Progress:
    """The state after a round.

    released: for every key, whether it is released. noisy: for every key, its noisy weight.
    weighed: for every pair of user and key, whether it had a weight in the last round, and that
    round steers the next. sigma: of the noise, in units of the weights.
    """

    released: NDArray[np.bool_]
    noisy: Integers
    weighed: NDArray[np.bool_]
    sigma: int

    @classmethod
    def start(cls, pairs: int, keys: int) -> Progress:
        """The state before the first round."""
        return cls(np.zeros(keys, bool), np.zeros(keys, np.int64), np.zeros(pairs, bool), 0)

    def _content(self) -> tuple[object, ...]:
        arrays = (self.released, self.noisy, self.weighed)
        return (*(array.tobytes() for array in arrays), self.sigma)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Progress) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())


@dataclass(frozen=True, eq=False)
class Step:
    """A round before noise is added.

    before: the state before the round. limit: keys with a noisy weight above this are released.
    sigma: as for Progress. seen: keys with a weight, in ascending order. weights: of these keys.
    steering: pairs for which the next round reads the noisy weight of the key.
    """

    before: Progress
    limit: int
    sigma: int
    seen: Integers
    weights: Integers
    steering: Integers

    def after(self, noise: Sequence[int]) -> Progress:
        """The state after the round, with this noise on the weights of the seen keys."""
        noisy_weights, old = self.weights + np.array(noise, np.int64), self.before
        now = Progress.start(len(old.weighed), len(old.noisy))
        now.released[:] = old.released
        now.released[self.seen] |= noisy_weights > self.limit
        if not len(self.steering):
            return now
        now.noisy[:] = old.noisy
        now.noisy[self.seen] = noisy_weights
        now.weighed[self.steering] = True
        return Progress(now.released, now.noisy, now.weighed, self.sigma)


def noise_law(noise: DiscreteGaussian, gaps: Sequence[int], every: bool) -> Law[tuple[int, ...]]:
    """The law of independent noise on several keys.

    gaps: for each key, the limit minus its weight. every: True to list all likely values of the
    noise. False to list two values only: gap + 1 for all noise above the gap, and the gap for all
    other noise. Raises InvalidParameter for more than 200 000 outcomes.
    """
    reach = _REACH * (isqrt(int(noise.sigma2)) + 1)
    options = 2 * reach + 1 if every else 2
    if prod([options] * len(gaps)) > _MOST_OUTCOMES:
        outcomes = Described(f"{options} likely values of noise for each of {len(gaps)} keys")
        raise InvalidParameter("sets", outcomes, "fewer keys, or a coarser grid")
    law: Law[tuple[int, ...]] = Law.point(())
    for gap in gaps:
        if every:
            likely = {z: noise.pmf(z).lower for z in range(-reach, reach + 1)}
        else:
            below = noise.cdf(gap)
            likely = {gap: below.lower, gap + 1: 1 - below.upper}
        one = Law(likely, 1 - sum(likely.values(), Fraction(0)))
        law = law.product(one).map(lambda pair: (*pair[0], pair[1]))
    return law
