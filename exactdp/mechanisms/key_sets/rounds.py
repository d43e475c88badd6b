"""Which keys occur, from users with several keys: noisy weights above a threshold, in rounds."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property, partial
from math import floor, isqrt
from typing import Any, ClassVar, Self

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, ExactDPError, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.key_sets.privacy import Noise, Round, calibrated, delta
from exactdp.mechanisms.key_sets.progress import Progress, Step, noise_law
from exactdp.mechanisms.key_sets.weights import Integers, Pairs, Rule
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.samplers import DiscreteGaussian, Source
from exactdp.samplers.source import require_secure

_NEIGHBOURS = add_remove("with any number of keys")

#: Keys keep their threshold and this number of sigma before they return weight.
_SAFE = 2

_MOST_KEYS, _GRID = 1 << 12, 1 << 16

#: Weights and limits stay below, so that their products with shares fit 64 bits.
_MOST_LIMIT = 1 << 45


@frozen
class KeyRounds(Simulated[Mapping[Any, Iterable[Any]]], ABC):
    """Release the keys whose noisy weight exceeds a threshold, in one or more rounds.

    In each round a user gives weights to at most k keys that are not released yet; the squares of
    these weights add up to at most 1. k: 1 to 4096. sigmas, thresholds: of each round.
    epsilon: > 0. delta: > 0 and < 1. Raises InvalidParameter if the rounds exceed this target.
    times: number of releases that keep the target together. count_sigma: of noise on the counts of
    released keys, each user counting for at most k of them; None for no counts.
    grid: weights are multiples of 1/grid, 2 to 65536. degree: the largest number of keys of users
    who take part in rerouting; 1 for no rerouting.
    Proofs: exactdp statement explain key-sets.
    """

    k: int = whole(least=1, most=_MOST_KEYS)
    sigmas: tuple[Fraction, ...]
    thresholds: tuple[Fraction, ...]
    epsilon: Number = number(positive)
    delta: Number = number(delta_target)
    times: int = whole(least=1, default=1)
    count_sigma: Fraction | None = None
    grid: int = whole(least=2, most=_GRID, default=_GRID)
    degree: int = whole(least=1, most=2 * _MOST_KEYS, default=1)

    #: The part of each round in the noise and in the thresholds.
    PARTS: ClassVar[tuple[Fraction, ...]]
    SOURCE: ClassVar[str]
    #: Whether noisy weights choose the weights of the next round, and keys return weight.
    ADAPTIVE: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("sigmas", "thresholds"):
            values = tuple(positive(name, value) for value in getattr(self, name))
            if len(values) != len(self.PARTS):
                raise InvalidParameter(name, values, f"one for each of {len(self.PARTS)} rounds")
            object.__setattr__(self, name, values)
        if self.count_sigma is not None:
            object.__setattr__(self, "count_sigma", positive("count_sigma", self.count_sigma))
        for name, noise, unit in self._noises():
            if not noise.sigma2 > noise.spare:
                least = Fraction(isqrt(noise.spare) + 1, unit)
                raise InvalidParameter(name, getattr(self, name), f"> {decimal_text(least)}")
        for each in self._rounds:
            if not each.unit <= each.limit < _MOST_LIMIT:
                allowed = f">= 1 and < {_MOST_LIMIT // each.unit}"
                raise InvalidParameter("thresholds", Fraction(each.limit, each.unit), allowed)
        if self._leaks.upper > self.delta:
            allowed = f">= {self._leaks.decimal_upper(6)} with these rounds"
            raise InvalidParameter("delta", decimal_text(self.delta), allowed)

    @classmethod
    def for_target(
        cls, *, k: int, epsilon: Real, delta: Real, times: int = 1, counts: Real | None = None
    ) -> Self:
        """The mechanism for a target. k: 1 to 4096. epsilon: > 0. delta: > 0 and < 1.

        times: number of releases that keep the target together, >= 1. counts: > 0 and < 1, part of
        the noise budget for the counts of released keys; None for keys alone.
        Raises InvalidParameter, Undecided.
        """
        most, runs = integer("k", k, least=1), integer("times", times, least=1)
        if most > _MOST_KEYS:
            raise InvalidParameter("k", k, f"<= {_MOST_KEYS}")
        loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
        share = None if counts is None else delta_target("counts", counts)
        rule = Rule(most, _GRID, 2 * most if cls.ADAPTIVE else 1)
        all_rounds, sigma = calibrated(
            rule.unit,
            rule.least * rule.degree,
            [part / runs for part in cls.PARTS] * runs,
            None if share is None else (most * runs, share),
            loss,
            target,
        )
        rounds = all_rounds[: len(cls.PARTS)]
        sigmas = tuple(each.sigma for each in rounds)
        thresholds = tuple(Fraction(each.limit, each.unit) for each in rounds)
        return cls(most, sigmas, thresholds, loss, target, runs, sigma, _GRID, rule.degree)

    def release(self, sets: Mapping[Any, Iterable[Any]], source: Source) -> list[Any]:
        """The released keys in ascending order.

        sets: user -> the user's keys; users and keys are each of one sortable type. source:
        randomness fit for a release, such as SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return self.draw(sets, source)

    def draw(self, sets: Mapping[Any, Iterable[Any]], source: Source) -> list[Any]:
        """As :meth:`release`, with randomness from any source, for simulations and proofs."""
        pairs, named = Pairs.of(mapping_of("sets", sets))
        if len(pairs.firsts(self.k)) < len(pairs):
            pairs = Pairs(pairs.users, pairs.keys, source.words(len(pairs), 64).astype(np.uint64))
        return [named[i] for i in self.select(pairs, len(named), source).tolist()]

    def select(self, pairs: Pairs, count: int, source: Source) -> Integers:
        """The numbers of the released keys, of `count` keys, in ascending order.

        Raises ExactDPError if weights break a bound that privacy needs.
        """
        progress = Progress.start(len(pairs), count)
        for each in self._rounds:
            step = self._step(each, progress, pairs)
            noise = DiscreteGaussian(sigma2=each.noise.sigma2).sample_each(len(step.seen), source)
            progress = step.after(noise)
        return np.flatnonzero(progress.released)

    def law(self, sets: Mapping[Any, Iterable[Any]]) -> Law[tuple[Any, ...]]:
        """The law of the released keys, by enumeration, for few keys.

        sets: users with at most k keys each. The noise of a round is enumerated where it steers the
        next round (MAD2R, for sigma times grid of at most a few hundred); elsewhere it only counts
        whether a key's noisy weight exceeds the threshold. Raises InvalidParameter.
        """
        pairs, named = Pairs.of(mapping_of("sets", sets))
        if len(pairs.firsts(self.k)) < len(pairs):
            raise InvalidParameter("sets", Described("a user with more keys"), f"<= k = {self.k}")
        law = Law.point(Progress.start(len(pairs), len(named)))
        for i, each in enumerate(self._rounds, 1):
            steers = self.ADAPTIVE and i < len(self._rounds)
            law = law.then(partial(self._law_after, each, pairs, steers))
        return law.map(lambda now: tuple(named[i] for i in np.flatnonzero(now.released)))

    def _law_after(
        self, each: Round, pairs: Pairs, steers: bool, before: Progress
    ) -> Law[Progress]:
        """The law of the state after a round. steers: whether the next round reads its weights."""
        step = self._step(each, before, pairs)
        return noise_law(
            DiscreteGaussian(sigma2=each.noise.sigma2), (each.limit - step.weights).tolist(), steers
        ).map(step.after)

    def _step(self, each: Round, before: Progress, pairs: Pairs) -> Step:
        """The weights of one round."""
        lost = before.weighed & (before.noisy[pairs.keys] + before.sigma <= each.limit)
        chosen = np.flatnonzero(~before.released[pairs.keys] & ~lost)
        chosen = chosen[pairs.only(chosen).firsts(self.k)]
        kept = pairs.only(chosen)
        likely = before.noisy[kept.keys] - before.sigma
        likely = np.where(before.weighed[chosen], likely, 0)
        sigma = floor(each.sigma * each.unit)
        enough = max((each.limit + _SAFE * sigma) // self.degree, self.grid)
        weights = self._rule.weights(kept, len(before.noisy), enough, likely, each.limit)
        seen = np.unique(kept.keys)
        steering = chosen if self.ADAPTIVE else chosen[:0]
        return Step(before, each.limit, sigma, seen, weights.keys[seen], steering)

    def count_users(self, pairs: Pairs, keys: Integers, source: Source) -> list[int]:
        """Noisy numbers of users of the released keys; each user counts for at most k of them.

        keys: as :meth:`select` returns them. Raises InvalidParameter without count_sigma.
        """
        if self.count_sigma is None:
            raise InvalidParameter("count_sigma", None, "a number, for counts")
        kept = pairs.only(np.isin(pairs.keys, keys))
        kept = kept.only(kept.firsts(self.k))
        if len(kept) and np.unique(kept.users, return_counts=True)[1].max() > self.k:
            raise ExactDPError("nothing was released: a user counts for more than k keys")
        totals = np.searchsorted(np.sort(kept.keys), [keys, keys + 1])
        noise = DiscreteGaussian(sigma2=self.count_sigma**2).sample_each(len(keys), source)
        return [n + z for n, z in zip((totals[1] - totals[0]).tolist(), noise, strict=True)]

    @property
    def half(self) -> int:
        """The least number of users of a key, if each has k keys, for a probability of 1/2."""
        return self.half_of(self.k)

    def half_of(self, keys: int) -> int:
        """As :attr:`half`, for users with this number of keys each, 1 to k.

        Only the last round counts, and the weight that other keys return does not.
        """
        own = min(integer("keys", keys, least=1), self.k)
        share = isqrt(self.grid**2 // own) * self.degree
        return -(-(self._rounds[-1].limit + 1) // share)

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of `times` releases, for any data."""
        return Guarantee(self.epsilon, self._leaks, _NEIGHBOURS, self.SOURCE)

    @property
    def _rule(self) -> Rule:
        return Rule(self.k, self.grid, self.degree)

    @cached_property
    def _rounds(self) -> tuple[Round, ...]:
        rule = self._rule
        return tuple(
            Round(sigma, floor(threshold * rule.unit), rule.unit, rule.least * rule.degree)
            for sigma, threshold in zip(self.sigmas, self.thresholds, strict=True)
        )

    @cached_property
    def _leaks(self) -> Enclosure:
        counts = [noise for name, noise, _ in self._noises() if name == "count_sigma"]
        return delta(self._rounds * self.times, counts, self.epsilon)

    def _noises(self) -> list[tuple[str, Noise, int]]:
        """For every noise parameter: its name, the noise, and the integer that stands for 1."""
        noises = [("sigmas", each.noise, each.unit) for each in self._rounds]
        if self.count_sigma is not None:
            noises.append(("count_sigma", Noise(self.count_sigma**2, self.k * self.times), 1))
        return noises


@frozen
class WeightedGaussian(KeyRounds):
    """One round: a user with d <= k keys gives each the weight 1/sqrt d.

    Source: Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin 2020 (arXiv 2002.09745), weighted
    Gaussian; the threshold is by our exact analysis.

    >>> from exactdp.mechanisms import WeightedGaussian
    >>> from exactdp.samplers import SystemSource
    >>> made = WeightedGaussian.for_target(k=10, epsilon=1, delta="1e-6")
    >>> made.release({user: ["the", "of"] for user in range(300)}, SystemSource())
    ['of', 'the']
    """

    PARTS = (Fraction(1),)
    SOURCE = "exactdp statement explain key-sets, one round"


@frozen
class SIPS(KeyRounds):
    """Three rounds: released keys leave room in their users' weights for other keys.

    Source: Swanberg, Desfontaines, Haney 2023 (arXiv 2301.01998), with our parts and analysis.
    """

    PARTS = (Fraction(1, 31), Fraction(5, 31), Fraction(25, 31))
    SOURCE = "exactdp statement explain key-sets, three rounds"


@frozen
class MAD2R(KeyRounds):
    """Two rounds: noisy weights of the first steer the second, and keys return what they spare.

    A user who gave weight to a key in the first round reads its noisy weight: they give no more to
    keys that will hardly be released, and less to keys that will have more than they need. In both
    rounds, weight beyond the threshold returns to the users, who share it among their keys.
    Source: Chen, Cohen-Addad, Epasto, Zadimoghaddam 2025 (arXiv 2502.08878), with our rule of
    rerouting, parts and analysis.
    """

    PARTS = (Fraction(1, 10), Fraction(9, 10))
    SOURCE = "exactdp statement explain key-sets, two adaptive rounds"
    ADAPTIVE = True
