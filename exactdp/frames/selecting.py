"""Release which keys occur in a frame, without counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from exactdp.frames.columns import asked
from exactdp.frames.counting import counted
from exactdp.frames.engines import same_kind
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.releasing import Published, keys_bound
from exactdp.mechanisms import PartitionSelection
from exactdp.parameters import Real
from exactdp.samplers import Source, SystemSource
from exactdp.samplers.source import require_secure

__all__ = ["KeysRelease", "keys"]


@dataclass(frozen=True)
class KeysRelease(Published):
    """A release of keys without counts."""

    mechanism: PartitionSelection

    def __str__(self) -> str:
        half = f"keys of {self.mechanism.half} users are released with probability 1/2"
        return f"{self.frame}\n{half}\n{self.guarantee}"


def keys(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    k: int,
    epsilon: Real,
    delta: Real,
    passes: int = 1,
    source: Source | None = None,
) -> KeysRelease:
    """Publish which keys occur, with (epsilon, delta)-DP, and no counts.

    frame, user, by, passes, source: as for :func:`release`. k: >= 1, largest number of keys per
    user, chosen at random; other keys of a user do not count. epsilon: > 0. delta: > 0 and < 1.
    For k = 1 no other way of releasing a key by its number of users has a larger probability. From
    about k = 3 on `release`, which adds Gaussian noise, needs fewer users per key, and says counts.
    Raises InvalidParameter, Undecided, and EngineError as :func:`release` does.
    Source: Desfontaines, Voss, Gipson, Mandayam 2020 (arXiv 2006.03684).

    >>> import polars as pl
    >>> from exactdp import frames
    >>> words = pl.DataFrame({"uid": range(900), "word": ["the", "of", "and"] * 300})
    >>> out = frames.keys(words, user="uid", by="word", k=1, epsilon=1, delta="1e-6")
    >>> out.frame["word"].to_list()
    ['and', 'of', 'the']
    """
    used = SystemSource() if source is None else source
    require_secure(used)
    made = PartitionSelection.for_target(k=k, epsilon=epsilon, delta=delta)
    question = asked(frame, user=user, by=by, sums=None)
    keyed = KeyedHash.drawn(used)
    totals = counted(frame, user=user, by=by, k=made.k, keyed=keyed, passes=passes)
    chosen = made.draw(totals.counts, used)
    columns = [chosen] if question.single else [*map(list, zip(*chosen, strict=True))]
    types = [kind.released for kind in question.key_types]
    table = same_kind(frame, list(question.by), types, columns or [[] for _ in question.by])
    guarantee = replace(made.guarantee(), checked=totals.checked)
    return KeysRelease(table, guarantee, made, keys_bound(made.k))
