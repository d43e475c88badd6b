"""Release which keys occur in a frame, without counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.frames.candidates import selection_for
from exactdp.frames.counting import totals
from exactdp.frames.engines import same_kind
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.pairs import WEIGHTS_CHECKED, all_pairs
from exactdp.frames.payment import Payment
from exactdp.frames.published import Published
from exactdp.frames.question import Question, read_question
from exactdp.frames.releasing import checked_bounds
from exactdp.mechanisms import PartitionSelection
from exactdp.mechanisms.key_sets import KeyRounds
from exactdp.parameters import Real, integer
from exactdp.samplers import Source, SystemSource
from exactdp.samplers.source import require_secure


@dataclass(frozen=True)
class KeysRelease(Published):
    """A release of keys without counts."""

    mechanism: PartitionSelection | KeyRounds


def keys(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    k: int,
    epsilon: Real,
    delta: Real,
    mechanism: str = "auto",
    times: int = 1,
    budget: pld.Budget | None = None,
    note: str = "",
    passes: int = 1,
    source: Source | None = None,
) -> KeysRelease:
    """Publish which keys occur, with (epsilon, delta)-DP, and no counts.

    frame, user, by, times, budget, note, source: as for :func:`release`. epsilon: > 0. delta: > 0
    and < 1. k: >= 1, largest number of keys per user (in each round), chosen at random.
    mechanism: "geometric" releases each key with the largest probability that its number of users
    allows; best for k = 1 and 2. "weighted" gives each of a user's d keys the weight 1/sqrt d.
    "sips" (three rounds) and "mad2r" (two adaptive rounds) give weight that frequent keys do not
    need to others; they release most where users have many keys. "auto" takes "geometric" or
    "weighted", whichever needs fewer users per key if all users have k keys.
    passes: number of times the rows are read. All mechanisms but "geometric" hold all pairs of user
    and key in memory.
    Raises InvalidParameter, Undecided, Exhausted, and EngineError as :func:`release` does.
    Source: Desfontaines, Voss, Gipson, Mandayam 2020 (arXiv 2006.03684); exactdp statement explain
    key-sets.

    >>> import polars as pl
    >>> from exactdp import frames
    >>> words = pl.DataFrame({"uid": range(900), "word": ["the", "of", "and"] * 300})
    >>> out = frames.keys(words, user="uid", by="word", k=1, epsilon=1, delta="1e-6")
    >>> out.frame["word"].to_list()
    ['and', 'of', 'the']
    >>> print(out.choice)
    geometric: 14 users of a key with probability 1/2; weighted would have 22 (57 % more)
    """
    used = SystemSource() if source is None else source
    require_secure(used)
    selection, choice = selection_for(mechanism, k=k, epsilon=epsilon, delta=delta, times=times)
    question = read_question(frame, user=user, by=by, passes=passes)
    label = note or f"keys of {user} by {', '.join(question.by)}"
    pay = Payment(budget, label, times, selection)
    with pay.settled():
        released_keys, guarantee = _select(question, selection, k, used, pay)
        types = [kind.released for kind in question.key_types]
        table = same_kind(frame, list(question.by), types, question.columns_of(released_keys))
    return KeysRelease(table, guarantee, selection, checked_bounds(selection, (), k), choice)


def _select(
    question: Question,
    selection: PartitionSelection | KeyRounds,
    k: int,
    source: Source,
    pay: Payment,
) -> tuple[Sequence[Any], Guarantee]:
    """The released keys in order, and their guarantee, which is paid before noise is drawn."""
    keyed = KeyedHash.draw(source)
    if isinstance(selection, PartitionSelection):
        exact = totals(question, integer("k", k, least=1), keyed)
        guarantee = replace(selection.guarantee, checked=exact.checked)
        pay(guarantee)
        return selection.draw(exact.counts, source), guarantee
    pairs, key_of = all_pairs(question, keyed)
    guarantee = replace(selection.guarantee, checked=WEIGHTS_CHECKED)
    pay(guarantee)
    numbers = selection.select(pairs, len(key_of), source)
    return sorted(key_of[i] for i in numbers.tolist()), guarantee
