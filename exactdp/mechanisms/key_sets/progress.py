"""What is known after a round of noisy weights, and the law of the noise that leads there."""

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

#: Noise of more than this number of sigma has a probability below 2^-28.
_REACH = 6

_MOST_OUTCOMES = 200_000


@dataclass(frozen=True, eq=False)
class Progress:
    """released: of every key. noisy: weight of every key. weighed: whether the pair had a weight
    in the round before that steers the next. sigma: of the noise, in units of the weights."""

    released: NDArray[np.bool_]
    noisy: Integers
    weighed: NDArray[np.bool_]
    sigma: int

    @classmethod
    def start(cls, pairs: int, keys: int) -> Progress:
        """Before the first round."""
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
    """A round before its noise. limit: of released weights. seen: keys with weight, in ascending
    order. weights: of these keys. steering: pairs whose noisy weight the next round reads."""

    before: Progress
    limit: int
    sigma: int
    seen: Integers
    weights: Integers
    steering: Integers

    def after(self, noise: Sequence[int]) -> Progress:
        """What is known with this noise on the weights of the seen keys."""
        found, old = self.weights + np.array(noise, np.int64), self.before
        now = Progress.start(len(old.weighed), len(old.noisy))
        now.released[:] = old.released
        now.released[self.seen] |= found > self.limit
        if not len(self.steering):
            return now
        now.noisy[:] = old.noisy
        now.noisy[self.seen] = found
        now.weighed[self.steering] = True
        return Progress(now.released, now.noisy, now.weighed, self.sigma)


def noise_law(noise: DiscreteGaussian, gaps: Sequence[int], every: bool) -> Law[tuple[int, ...]]:
    """The law of independent noise for each gap.

    every: lists all likely values; else the least value above the gap stands for those above it,
    and the gap for the others. Raises InvalidParameter for more than 200 000 outcomes.
    """
    reach = _REACH * (isqrt(int(noise.sigma2)) + 1)
    options = 2 * reach + 1 if every else 2
    if prod([options] * len(gaps)) > _MOST_OUTCOMES:
        found = Described(f"{options} likely values of noise for each of {len(gaps)} keys")
        raise InvalidParameter("sets", found, "fewer keys, or a coarser grid")
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
