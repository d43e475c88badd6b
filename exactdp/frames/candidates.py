"""Which mechanisms answer a question about counts, by public numbers alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any, ClassVar

from exactdp.accounting.sparse_histograms.bounds import refuse_k
from exactdp.errors import InvalidParameter
from exactdp.frames.least_error import Choice, rank
from exactdp.frames.values import Sum, Value
from exactdp.mechanisms import (
    GSHM,
    MAD2R,
    SIPS,
    CorrelatedGaussian,
    GSHMWithSums,
    KnownKeys,
    PartitionSelection,
    TopK,
    TopKWithBase,
    TopKWithSums,
    WeightedGaussian,
)
from exactdp.mechanisms.key_sets import KeyRounds
from exactdp.mechanisms.known_keys import ListedCounts
from exactdp.parameters import Real, choice, decimal_text, integer

#: Mechanisms that select keys in rounds, and may count the users of these keys.
ROUNDS: dict[str, type[KeyRounds]] = {
    "weighted": WeightedGaussian,
    "sips": SIPS,
    "mad2r": MAD2R,
}

#: Mechanisms that release keys alone.
SELECTIONS: dict[str, type[PartitionSelection] | type[KeyRounds]] = {
    "geometric": PartitionSelection,
    **ROUNDS,
}


@dataclass(frozen=True)
class Target:
    """k: largest number of keys per user, or None if users are not bounded. top: number of largest
    counts to release, or None for all. times: number of releases that keep the target together.
    listed: number of public keys, or None if keys are unknown. values: of sums and means.
    selection: how keys are selected before users are counted, with the part 1 - share of the noise
    budget.
    """

    epsilon: Real
    delta: Real
    k: int | None = None
    top: int | None = None
    times: int = 1
    lower: int = 1
    listed: int | None = None
    values: Mapping[str, Value] = field(default_factory=dict)
    selection: str | None = None
    share: Real = "1/2"

    @property
    def pair(self) -> dict[str, Any]:
        """epsilon and delta."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    @property
    def largest(self) -> tuple[int, ...]:
        """What one user changes each total of values by, at most."""
        totals = (total for name, value in self.values.items() for total in value.totals(name))
        return tuple(total.half for total in totals)

    @property
    def together(self) -> int:
        """The largest number of keys of one user in all releases, counted as if in one larger
        release."""
        if self.k is None:
            raise InvalidParameter("k", None, "the largest number of keys per user")
        return integer("k", self.k, least=1) * integer("times", self.times, least=1)


class Candidate(ABC):
    """A mechanism that may answer a question about counts."""

    #: Whether the mechanism also releases sums, and whether it needs a public list of keys.
    sums: ClassVar[bool] = False
    listed: ClassVar[bool] = False

    @abstractmethod
    def make(self, target: Target) -> Any:
        """The mechanism for a target; raises InvalidParameter, Undecided."""

    @abstractmethod
    def answers(self, target: Target) -> bool:
        """Whether the mechanism answers the question of a target, for the choice by errors."""


class _SparseHistogram(Candidate):
    """Counts above a threshold, and sums."""

    sums = True

    def make(self, target: Target) -> GSHM:
        parameters: dict[str, Any] = {**target.pair, "k": target.together, "lower": target.lower}
        if target.values:
            return GSHMWithSums.for_target(**parameters, largest=target.largest)
        return GSHM.for_target(**parameters)

    def answers(self, target: Target) -> bool:
        return target.k is not None and (target.listed is None or bool(target.values))


class _Known(Candidate):
    """Counts of all keys of a public list, with independent noise."""

    listed = True

    def make(self, target: Target) -> KnownKeys:
        most = min(target.together, (target.listed or 1) * target.times)
        return KnownKeys.for_target(k=most, **target.pair)

    def answers(self, target: Target) -> bool:
        return target.k is not None and target.listed is not None and not target.values


class _Correlated(Candidate):
    """Counts of all keys of a public list, with noise that they share in part."""

    listed = True

    def make(self, target: Target) -> CorrelatedGaussian:
        if target.times != 1:
            raise InvalidParameter("times", target.times, "1 for correlated noise")
        size = target.listed or 1
        return CorrelatedGaussian.for_target(keys=size, k=min(target.together, size), **target.pair)

    def answers(self, target: Target) -> bool:
        """Whether correlated noise may have a smaller variance than independent noise.

        For n keys, relative to the variance for a single key, correlated noise has
        (n + sqrt n)(1 + 1/sqrt n)/4 = (sqrt n + 1)^2/4, and independent noise has k.
        """
        if target.k is None or not target.listed or target.values or target.times != 1:
            return False
        return 4 * target.k >= (isqrt(target.listed) + 1) ** 2


class _Largest(Candidate):
    """The largest counts, of users who are not bounded; and the next largest count, with noise."""

    kind: ClassVar[type[TopK]] = TopKWithBase

    def make(self, target: Target) -> TopK:
        if target.times != 1:
            raise InvalidParameter("times", target.times, "1 for the largest counts")
        if target.top is None:
            refuse_k({} if target.k is None else {"k": target.k}, "top")
            raise InvalidParameter("top", None, "the number of largest counts to release")
        parameters: dict[str, Any] = {**target.pair, "top": target.top, "lower": target.lower}
        if not target.values:
            return self.kind.for_target(**parameters)
        for name, value in target.values.items():
            if not isinstance(value, Sum) or any(each.middle for each in value.totals(name)):
                # the counts, of which the next count is subtracted, are not those of all users
                raise InvalidParameter(name, value, "a Sum from -n to n, with top-k")
        return TopKWithSums.for_target(**parameters, largest=target.largest)

    def answers(self, target: Target) -> bool:
        return target.top is not None and target.listed is None and not target.values


class _LargestLessNext(_Largest):
    """The largest counts, less the next largest count; and sums. Another question: never chosen."""

    kind = TopK
    sums = True

    def answers(self, target: Target) -> bool:
        return False


def _rounds(target: Target) -> KeyRounds:
    kind = ROUNDS[choice("selection", target.selection or "", tuple(ROUNDS))]
    parameters = {**target.pair, "times": target.times, "counts": target.share}
    return kind.for_target(k=target.k, **parameters)  # type: ignore[arg-type]


_TABLE: Mapping[str, Candidate] = {
    "gshm": _SparseHistogram(),
    "known-keys": _Known(),
    "correlated-gaussian": _Correlated(),
    "top-k-with-base": _Largest(),
    "top-k": _LargestLessNext(),
}
MECHANISMS = (*_TABLE, "auto")

#: Names until version 0.3 -> names.
_FORMERLY = {"known": "known-keys", "correlated": "correlated-gaussian", "csh": "top-k"}


def mechanism_for(name: str, target: Target) -> tuple[Any, Choice | None]:
    """The mechanism of this name; for "auto" the mechanism with the least error of one count, and
    why."""
    name = choice("mechanism", _FORMERLY.get(name, name), MECHANISMS)
    if target.selection is not None:
        if name != "auto" or target.listed is not None or target.values or target.top is not None:
            allowed = "left out with a mechanism, keys, sums or top"
            raise InvalidParameter("selection", target.selection, allowed)
        return _rounds(target), None
    if name != "auto":
        candidate = _TABLE[name]
        if target.values and not candidate.sums:
            raise InvalidParameter("mechanism", name, "'gshm' or 'top-k' for sums")
        if candidate.listed and target.listed is None:
            raise InvalidParameter("mechanism", name, "given with keys")
        return candidate.make(target), None
    makers = {name: partial(c.make, target) for name, c in _TABLE.items() if c.answers(target)}
    if not makers:
        raise InvalidParameter("k", target.k, "the largest number of keys per user, or top given")
    unit = "users: error of one count (95 %)"
    ranking = rank(unit, makers, lambda mechanism: mechanism.accuracy("0.05").per_query)
    return ranking.options[0].mechanism, ranking


def selection_for(
    name: str, *, k: int, epsilon: Real, delta: Real, times: int = 1
) -> tuple[PartitionSelection | KeyRounds, Choice | None]:
    """The selection of this name for a target; for "auto" the selection that needs the fewest
    users.

    "auto" chooses among selections whose number of users does not depend on the users' other keys.
    """
    choice("mechanism", name, (*SELECTIONS, "auto"))

    def make(kind: str) -> PartitionSelection | KeyRounds:
        if kind == "geometric":
            runs = integer("k", k, least=1) * integer("times", times, least=1)
            return PartitionSelection.for_target(k=runs, epsilon=epsilon, delta=delta)
        return ROUNDS[kind].for_target(k=k, epsilon=epsilon, delta=delta, times=times)

    if name != "auto":
        return make(name), None
    makers = {each: partial(make, each) for each in ("geometric", "weighted")}
    ranking = rank("users of a key with probability 1/2", makers, lambda each: each.half)
    return ranking.options[0].mechanism, ranking


def describe(mechanism: Any) -> str:
    """A mechanism, and the public facts about its noise, in one line."""
    name = type(mechanism).__name__
    k = f"top = {mechanism.top}" if isinstance(mechanism, TopK) else f"k = {mechanism.k}"
    if isinstance(mechanism, ListedCounts):
        return f"{name}, {k}, noise of {mechanism.scale:.6g}, all listed keys"
    if hasattr(mechanism, "tau"):
        above = decimal_text(1 + Fraction(mechanism.tau))
        return f"{name}, {k}, sigma = {float(mechanism.sigma):.6g}, counts above {above}"
    half = f"keys of {mechanism.half} users are released with probability 1/2"
    noise = getattr(mechanism, "count_sigma", None)
    return f"{name}, {k}, {half}" + (f", sigma = {float(noise):.6g}" if noise else "")
