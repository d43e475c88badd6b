"""The pairs of user and key that a bound k leaves out: an error in addition to the noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.display import Printed
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.frames.bounding import BoundedPairs, Bounding
from exactdp.frames.checking import check
from exactdp.frames.columns import USER, collect, nw_
from exactdp.frames.engines import over_pairs
from exactdp.frames.question import read_question
from exactdp.parameters import Real, integer, positive, truth
from exactdp.samplers import DiscreteLaplace, Source, SystemSource
from exactdp.samplers.source import require_secure


@dataclass(frozen=True)
class Cut(Printed):
    """users: number of users with more than k keys. pairs: number of pairs of user and key.
    pairs_left_out: number of pairs beyond the first k of each user.

    The numbers are exact for public data. Otherwise they have noise, may be negative, and count at
    most `most` pairs per user. guarantee: of the noisy numbers, or None for public data.
    """

    k: int
    users: int
    pairs: int
    pairs_left_out: int
    guarantee: Guarantee | None = None

    def __str__(self) -> str:
        share = f" ({100 * self.pairs_left_out / self.pairs:.1f} %)" if self.pairs > 0 else ""
        return (
            f"k = {self.k} leaves out {self.pairs_left_out} of {self.pairs} pairs of user and key"
            f"{share}; {self.users} users have more than k keys"
        )


def cut(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    k: int,
    public: bool = False,
    epsilon: Real | None = None,
    most: int | None = None,
    source: Source | None = None,
) -> Cut:
    """Count the pairs that a release with at most k keys per user leaves out.

    frame, user, by: as for release. k: >= 1.
    public: True if the data, or a representative sample, are public; the numbers are then exact.
    epsilon, most: otherwise, epsilon > 0 and most > k. All numbers together are epsilon-DP for one
    user added or removed, by discrete Laplace noise; at most `most` pairs per user are counted.
    Add this epsilon to that of the release.
    source: None for the operating system's randomness; sources not fit for a release are refused.
    Raises InvalidParameter, EngineError.

    >>> import polars as pl
    >>> from exactdp import frames
    >>> visits = pl.DataFrame({"uid": [1, 1, 1, 2], "url": ["a", "b", "c", "a"]})
    >>> print(frames.cut(visits, user="uid", by="url", k=2, public=True))
    k = 2 leaves out 1 of 4 pairs of user and key (25.0 %); 1 users have more than k keys
    """
    bound = integer("k", k, least=1)
    if truth("public", public) == (epsilon is not None):
        raise InvalidParameter("public", public, "True, or epsilon given (one of the two)")
    if (epsilon is None) != (most is None):
        raise InvalidParameter("most", most, "given together with epsilon")
    used = SystemSource() if source is None else source
    require_secure(used)
    if epsilon is None:
        return Cut(bound, *_numbers(users_by_keys(frame, user, by), bound, None))
    loss, cap = positive("epsilon", epsilon), integer("most", most or 0, least=bound + 1)
    exact = _numbers(users_by_keys(frame, user, by), bound, cap)
    # a user changes the three numbers by at most 1, `most` and `most` - k
    noise = DiscreteLaplace(scale=(1 + cap + cap - bound) / loss)
    users, pairs, left_out = (number + noise.sample(used) for number in exact)
    neighbours = add_remove(f"at most {cap} pairs counted")
    promise = Guarantee(loss, Enclosure.exact(0), neighbours, "discrete Laplace noise")
    return Cut(bound, users, pairs, left_out, promise)


def _numbers(users_by_keys: dict[int, int], k: int, most: int | None) -> tuple[int, int, int]:
    capped = {n: n if most is None else min(n, most) for n in users_by_keys}
    return (
        sum(users for n, users in users_by_keys.items() if n > k),
        sum(users * capped[n] for n, users in users_by_keys.items()),
        sum(users * (capped[n] - k) for n, users in users_by_keys.items() if n > k),
    )


def users_by_keys(frame: Any, user: str, by: str | Sequence[str]) -> dict[int, int]:
    """Number of keys -> number of users with this number of keys, without noise."""
    question = read_question(frame, user=user, by=by)

    def per_number(pairs: BoundedPairs) -> list[tuple[int, int]]:
        check(pairs, question)
        own = pairs.every.group_by(USER).agg(nw_.len().alias("_own"))
        held = collect(own.group_by("_own").agg(nw_.len().alias("_users")))
        return list(zip(held["_own"].to_list(), held["_users"].to_list(), strict=True))

    users_per_number: dict[int, int] = {}
    for part in over_pairs(Bounding(question), per_number):
        for number, users in part:
            users_per_number[int(number)] = users_per_number.get(int(number), 0) + int(users)
    return users_per_number
