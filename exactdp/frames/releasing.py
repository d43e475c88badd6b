"""Release a frame of rows as a frame of the same kind, with its guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import le
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.errors import Described, InvalidParameter
from exactdp.frames.assembling import (
    as_frame,
    errors_of,
    largest_counts,
    quantiles_of_keys,
    without_base,
)
from exactdp.frames.candidates import Target, mechanism_for
from exactdp.frames.cells import cells_of
from exactdp.frames.counting import totals
from exactdp.frames.counts_and_quantiles import CountsAndQuantiles, for_counts, of_counts
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.pairs import WEIGHTS_CHECKED, all_pairs
from exactdp.frames.payment import Payment
from exactdp.frames.published import FrameRelease
from exactdp.frames.quantiles import Quantile
from exactdp.frames.question import Question, read_question
from exactdp.frames.values import Mean, Sum, Total
from exactdp.mechanisms import NoisyCounts, TopK, TopKWithBase
from exactdp.mechanisms.key_sets import KeyRounds
from exactdp.mechanisms.known_keys import ListedCounts
from exactdp.mechanisms.thresholded.histogram_with_sums import WithSums
from exactdp.parameters import Real, integer
from exactdp.samplers import Source, SystemSource
from exactdp.samplers.source import require_secure


def release(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    k: int | None = None,
    epsilon: Real,
    delta: Real,
    mechanism: str = "auto",
    top: int | None = None,
    sums: Mapping[str, Sum] | None = None,
    means: Mapping[str, Mean] | None = None,
    quantiles: Mapping[str, Quantile] | None = None,
    keys: Iterable[Any] | None = None,
    selection: str | None = None,
    share: Real = "1/2",
    lower: int = 1,
    times: int = 1,
    budget: pld.Budget | None = None,
    note: str = "",
    passes: int = 1,
    source: Source | None = None,
) -> FrameRelease:
    """Publish the number of users per key, and sums of their values, with (epsilon, delta)-DP.

    frame: rows of users and keys, of pandas, polars (also lazy), pyarrow, DuckDB, Dask or PySpark.
    user: name of a column of integers or text. by: name of a column of integers, text or dates, or
    several names, whose values together are the key. Rows without a user or a key are dropped;
    several rows of a user with the same key count once.
    k (contributions): >= 1, largest number of keys per user; which of a user's keys count is chosen
    at random.
    epsilon: >= 0. delta: > 0 and < 1. All counts and sums together keep this target.
    top: number of largest counts to release. Without k, they must exceed the next largest count by
    a threshold to be released.
    sums: column of numbers -> :class:`Sum`, which says how rows, users and missing values are read.
    means: the same, with :class:`Mean`; over rows, over users' means, or over users' sums.
    quantiles: the same, with :class:`Quantile`; counts, sums and means then keep the part `share`
    of epsilon and delta, and the quantiles what is left of the target.
    keys: a public list. All of its keys are released, counts of 0 included, and no others; with
    sums, those above the threshold.
    selection: "weighted", "sips" or "mad2r" (see :func:`keys`): releases more keys than a threshold
    on counts, and then counts with the part `share` of the noise budget.
    mechanism: "auto" takes the one with the least error of one count among those that answer the
    question; `choice` says which and why. "gshm" (Gaussian sparse histogram): counts above a
    threshold. "known-keys": for `keys`; "correlated-gaussian": the same with about half the noise
    where users contribute to most of them. "top-k-with-base": for `top`, users are not bounded.
    "top-k" (correlated sparse histogram): the same, less the (top + 1)-th largest count, which is
    subtracted: of more equal counts than `top`, none is released. Both need `top` and no k.
    lower: counts below are dropped first. times: number of releases of the same kind (such as one a
    day) that keep the target together. budget: pays for the release, or with the first release of
    `times` for all of them; note: what its ledger says, the same for a series.
    passes: number of times the rows are read, >= 1; more passes need less memory.
    source: None for the operating system's randomness; sources not fit for a release are refused.

    Before noise is drawn, the assumptions of the guarantee are checked on the counted pairs of user
    and key; `guarantee.checked` lists them. The bound k causes an error in addition to the noise:
    `cut` counts the pairs that are left out.
    Returns a frame of the caller's kind with the key, "count", and the sums, sorted by key.
    Raises InvalidParameter, Undecided, Exhausted if the budget does not suffice, and EngineError if
    an engine's pairs violate the bound.

    >>> import polars as pl
    >>> from exactdp import frames
    >>> visits = pl.DataFrame({"uid": range(9000), "url": ["a", "b", "c"] * 3000})
    >>> out = frames.release(visits, user="uid", by="url", k=2, epsilon=1, delta="1e-6")
    >>> out.frame["url"].to_list()
    ['a', 'b', 'c']
    >>> print(out.choice)
    gshm: 12 users: error of one count (95 %)
    """
    used = SystemSource() if source is None else source
    require_secure(used)
    question = read_question(
        frame,
        user=user,
        by=by,
        sums=sums,
        means=means,
        quantiles=quantiles,
        keys=keys,
        passes=passes,
    )
    number = None if question.listed is None else len(question.listed)
    target = Target(epsilon, delta, k, top, times, lower, number, question.values, selection, share)
    asked = question.quantiles
    noise_mechanism, choice = mechanism_for(mechanism, for_counts(target, asked))
    if asked:
        noise_mechanism = CountsAndQuantiles.for_target(noise_mechanism, asked, **target.pair)
    label = note or f"{user} by {', '.join(question.by)}"
    pay = Payment(budget, label, times, noise_mechanism)
    with pay.settled():
        return replace(_release(question, noise_mechanism, used, pay, k, top), choice=choice)


def release_by(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    mechanism: Any,
    source: Source,
    pay: Callable[[Guarantee], None] = lambda _: None,
    k: int | None = None,
    top: int | None = None,
    sums: Mapping[str, Sum] | None = None,
    means: Mapping[str, Mean] | None = None,
    quantiles: Mapping[str, Quantile] | None = None,
    keys: Iterable[Any] | None = None,
    passes: int = 1,
) -> FrameRelease:
    """A release by a given mechanism, with randomness from any source, for simulations.

    k: keys per user that count, by default and at most those of the mechanism. pay: is called with
    the guarantee before noise is drawn. Other arguments: as of :func:`release`. Raises
    InvalidParameter where a user may change more than the mechanism's guarantee allows.
    """
    question = read_question(
        frame,
        user=user,
        by=by,
        sums=sums,
        means=means,
        quantiles=quantiles,
        keys=keys,
        passes=passes,
    )
    return _release(question, mechanism, source, pay, k, top)


def _release(
    question: Question,
    mechanism: Any,
    source: Source,
    pay: Callable[[Guarantee], None],
    k: int | None,
    top: int | None,
) -> FrameRelease:
    """The answer to a question by a mechanism. k: if it is not that of the mechanism."""
    columns, keyed = _columns(question), KeyedHash.draw(source)
    counting = of_counts(mechanism)
    _require_room(question, counting, k)
    if isinstance(mechanism, CountsAndQuantiles):
        mechanism.check(question.quantiles)
    elif question.quantiles:
        name = type(mechanism).__name__
        raise InvalidParameter("mechanism", name, "a CountsAndQuantiles, for quantiles")
    cells = {
        name: cells_of(question, name, each.reading, k or counting.k, keyed)
        for name, each in question.quantiles.items()
    }
    facts = tuple(each.reading.described(name) for name, each in question.quantiles.items())

    def promise(checked: tuple[str, ...]) -> Guarantee:
        whole: Guarantee = replace(mechanism.guarantee, checked=(*checked, *facts))
        return whole

    counters, checked = _noisy_counts(
        question, counting, keyed, source, lambda checked: pay(promise(checked)), k
    )
    base = None
    if isinstance(mechanism, TopKWithBase):
        base, counters = without_base(counters)
    counters = largest_counts(counters, top)
    chosen = quantiles_of_keys(question, mechanism, cells, counters.elements, source)
    table = as_frame(question, columns, counters, chosen)
    bounds = checked_bounds(counting, question.totals, k) + _bounds_of_values(question.quantiles)
    errors = errors_of(question.values, counting, counters)
    if isinstance(mechanism, CountsAndQuantiles):
        ranks = mechanism.rank_errors.items()
        errors |= {column: (rank,) * len(counters.elements) for column, rank in ranks}
    return FrameRelease(table, promise(checked), mechanism, bounds, None, base, errors)


def _require_room(question: Question, mechanism: Any, k: int | None) -> None:
    """Raise InvalidParameter if a user may change more than the mechanism's guarantee allows."""
    name = type(mechanism).__name__
    if isinstance(mechanism, ListedCounts) and question.listed is None:
        raise InvalidParameter("keys", None, f"a public list of keys, with {name}")
    if not _reads_all(mechanism) and k is not None:
        keys = integer("k", k, least=1)
        most = keys if question.listed is None else min(keys, len(question.listed))
        if most > mechanism.k:
            raise InvalidParameter("k", k, f"at most {mechanism.k}, the k of the mechanism")
    halves = [total.half for total in question.totals]
    largest = mechanism.largest if isinstance(mechanism, WithSums) else ()
    fits = len(halves) == len(largest) and all(map(le, halves, largest))
    if halves and not fits:
        limits = ", ".join(map(str, halves))
        allowed = f"one with `largest` at least {limits}, for these sums and means"
        raise InvalidParameter("mechanism", Described(name), allowed)


def _columns(question: Question) -> dict[str, str]:
    """The columns of a release -> their types in narwhals; raises InvalidParameter."""
    columns = [
        (name, kind.released) for name, kind in zip(question.by, question.key_types, strict=True)
    ]
    columns.append(("count", "Int64"))
    columns += [part for name, v in question.values.items() for part in v.columns(name).items()]
    columns += [part for name, q in question.quantiles.items() for part in q.columns(name).items()]
    if len({name.lower() for name, _ in columns}) < len(columns):
        taken = ", ".join(name for name, _ in columns[len(question.by) :])
        allowed = f"columns whose names differ from those of the release, {taken}, in any case"
        raise InvalidParameter("by", ", ".join(question.by), f"{allowed}: rename them first")
    return dict(columns)


def checked_bounds(
    mechanism: Any, totals: Iterable[Total], k: int | None = None
) -> tuple[dict[str, Any], ...]:
    """The bounds on the data of one user that a release checks, for a privacy statement.

    k: if it is not that of the mechanism.
    """
    bounds = [] if _reads_all(mechanism) else [("keys of one user", k or mechanism.k)]
    if isinstance(mechanism, KeyRounds):
        bounds.append(("squared weights of one user in a round", 1))
    bounds += [(total.what, total.half) for total in totals]
    return tuple(_bound(*each) for each in bounds)


def _bounds_of_values(quantiles: Mapping[str, Quantile]) -> tuple[dict[str, Any], ...]:
    """The bounds on the values of one user that quantiles need."""
    return tuple(
        _bound(f"values of {name} of one user for one key that count", each.reading.rows)
        for name, each in quantiles.items()
    )


def _bound(what: str, most: Any) -> dict[str, Any]:
    return {"what": what, "at_most": most, "checked": True}


def _noisy_counts(
    question: Question,
    mechanism: Any,
    keyed: KeyedHash,
    source: Source,
    pay: Callable[[tuple[str, ...]], None],
    k: int | None,
) -> tuple[NoisyCounts, tuple[str, ...]]:
    """The released counters, and what was checked. pay: is called with what was checked, before
    noise is drawn."""
    if isinstance(mechanism, KeyRounds):
        pairs, key_of = all_pairs(question, keyed)
        checked = (
            *WEIGHTS_CHECKED,
            f"every user counts for at most k = {mechanism.k} released keys",
        )
        pay(checked)
        numbers = mechanism.select(pairs, len(key_of), source)
        counts = mechanism.count_users(pairs, numbers, source)
        return NoisyCounts([key_of[i] for i in numbers.tolist()], counts), checked
    bound = None if _reads_all(mechanism) else k or mechanism.k
    exact = totals(question, bound, None if bound is None else keyed)
    pay(exact.checked)
    if isinstance(mechanism, WithSums):
        return mechanism.noisy_sums(exact.counts, exact.sums, source), exact.checked
    if isinstance(mechanism, ListedCounts):
        listed = dict.fromkeys(question.public_keys, 0)
        return mechanism.noisy_counts({**listed, **exact.counts}, source), exact.checked
    return mechanism.noisy_counts(exact.counts, source), exact.checked


def _reads_all(mechanism: Any) -> bool:
    """Whether the mechanism counts every key of every user."""
    return isinstance(mechanism, TopK)
