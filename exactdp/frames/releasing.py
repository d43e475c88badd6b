"""Release a frame of rows as a frame of the same kind, with its guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Required, TypedDict, Unpack

from exactdp.accounting.guarantee import Guarantee
from exactdp.errors import InvalidParameter
from exactdp.frames.columns import Question, asked
from exactdp.frames.counting import counted
from exactdp.frames.engines import same_kind
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.mechanisms import GSHM, GSHMWithSums, NoisyCounts, TopK
from exactdp.mechanisms.thresholded.mechanism import Thresholded
from exactdp.parameters import Real, choice, decimal_text
from exactdp.samplers import Source, SystemSource
from exactdp.samplers.source import require_secure
from exactdp.statement import Statement, released

__all__ = [
    "MECHANISMS",
    "FrameRelease",
    "checked_bounds",
    "draw",
    "drawn",
    "mechanism_for",
    "release",
]

MECHANISMS = ("gshm", "csh")


@dataclass(frozen=True)
class Published:
    """What was released from a frame. frame: a row for every released key, sorted by key.
    guarantee: of the release. mechanism: with its parameters. bounds: on the data of one user,
    checked before the noise."""

    frame: Any
    guarantee: Guarantee
    mechanism: Any
    bounds: tuple[dict[str, Any], ...] = ()

    @property
    def statement(self) -> Statement:
        """The privacy statement of the release, which anybody can check: see exactdp.statement."""
        return released(self.guarantee, self.mechanism, bounds=self.bounds)


@dataclass(frozen=True)
class FrameRelease(Published):
    """A release of counts."""

    mechanism: Thresholded

    def __str__(self) -> str:
        made = self.mechanism
        above, sigma = decimal_text(1 + Fraction(made.tau)), float(made.sigma)
        name = f"{type(made).__name__}, k = {made.k}, sigma = {sigma:.6g}, counts above {above}"
        return f"{self.frame}\n{name}\n{self.guarantee}"


def release(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    k: int,
    epsilon: Real,
    delta: Real,
    mechanism: str = "gshm",
    sums: Mapping[str, int] | None = None,
    keys: Sequence[Any] | None = None,
    lower: int = 1,
    passes: int = 1,
    source: Source | None = None,
) -> FrameRelease:
    """Publish the number of users per key, and sums of their values, with (epsilon, delta)-DP.

    frame: rows of users and keys, of pandas, polars (also lazy), pyarrow, DuckDB, Dask or PySpark.
    user: name of a column of integers or text. by: name of a column of integers, text or dates, or
    several names, whose values together are the key. Rows without a user or a key are dropped;
    several rows of a user with the same key count once.
    k: >= 1, largest number of keys per user ("gshm"), or number of keys to release ("csh").
    epsilon: >= 0. delta: > 0 and < 1. All counts and sums together keep this target.
    mechanism: "gshm" (Gaussian sparse histogram) counts every user for at most k of their keys,
    chosen at random; there may be any number of keys. "csh" (correlated Gaussian sparse histogram)
    releases the k heaviest keys with less noise and does not bound users; if there are more than k
    keys, the (k + 1)-th largest count is subtracted from all counts (Lebeda and Retschmeier,
    Algorithm 3).
    sums: column of integers -> limit >= 1; a user's value for a key is clipped to +-limit. "gshm"
    only. keys: a public list; no other keys are released. lower: counts below are dropped first.
    passes: number of times the rows are read, >= 1; more passes need less memory.
    source: None for the operating system's randomness; sources not fit for a release are refused.

    Before noise is drawn, the assumptions of the guarantee are checked on the counted pairs of user
    and key; `guarantee.checked` lists them. The bound k causes an error in addition to the noise:
    `cut` counts the pairs that are left out.
    Returns a frame of the caller's kind with the key, "count", and the sums, sorted by key.
    Raises InvalidParameter, Undecided, and EngineError if an engine's pairs violate the bound.

    >>> import polars as pl
    >>> from exactdp import frames
    >>> visits = pl.DataFrame({"uid": range(9000), "url": ["a", "b", "c"] * 3000})
    >>> out = frames.release(visits, user="uid", by="url", k=2, epsilon=1, delta="1e-6")
    >>> out.frame["url"].to_list()
    ['a', 'b', 'c']
    """
    used = SystemSource() if source is None else source
    require_secure(used)
    limits = asked(frame, user=user, by=by, sums=sums).limits
    made = mechanism_for(mechanism, k, epsilon, delta, lower, limits)
    return draw(
        frame, user=user, by=by, made=made, source=used, sums=sums, keys=keys, passes=passes
    )


class Rows(TypedDict, total=False):
    """The arguments of release that select what is read from the rows."""

    user: Required[str]
    by: Required[str | Sequence[str]]
    sums: Mapping[str, int] | None
    keys: Sequence[Any] | None
    passes: int


def draw(frame: Any, *, made: Thresholded, source: Source, **rows: Unpack[Rows]) -> FrameRelease:
    """A release by a given mechanism, with randomness from any source, for simulations."""
    question = asked(frame, user=rows["user"], by=rows["by"], sums=rows.get("sums"))
    names = [*question.by, "count", *question.limits]
    if len(set(names)) < len(names):
        raise InvalidParameter("by", rows["by"], "columns not named 'count' or as the sums")
    found, guarantee = drawn(frame, made=made, source=source, **rows)
    bounds = checked_bounds(made, question.limits)
    return FrameRelease(_as_frame(frame, question, names, found), guarantee, made, bounds)


def checked_bounds(made: Thresholded, limits: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
    """The bounds on the data of one user that :func:`drawn` checks, for a privacy statement.

    limits: column of sums -> limit of a user's value.
    """
    sums = [
        {"what": f"absolute sum of {name} of one user for one key", "at_most": n, "checked": True}
        for name, n in limits.items()
    ]
    return (*(keys_bound(made.k) if isinstance(made, GSHM) else ()), *sums)


def keys_bound(k: int) -> tuple[dict[str, Any], ...]:
    """The checked bound on the number of keys of one user."""
    return ({"what": "keys of one user", "at_most": k, "checked": True},)


def drawn(
    frame: Any, *, made: Thresholded, source: Source, **rows: Unpack[Rows]
) -> tuple[NoisyCounts, Guarantee]:
    """The released counters alone, and their guarantee."""
    bound = isinstance(made, GSHM)
    keyed = KeyedHash.drawn(source) if bound else None
    totals = counted(frame, k=made.k if bound else None, keyed=keyed, **rows)
    guarantee = replace(made.guarantee(), checked=totals.checked)
    if isinstance(made, GSHMWithSums):
        return made.drawn_sums(totals.counts, totals.sums, source), guarantee
    return made.drawn(totals.counts, source), guarantee


def mechanism_for(
    name: str, k: int, epsilon: Real, delta: Real, lower: int, caps: Mapping[str, int]
) -> Thresholded:
    """The mechanism for a target. caps: column -> limit, for sums."""
    choice("mechanism", name, MECHANISMS)
    if name == "csh":
        if caps:
            raise InvalidParameter("mechanism", name, "'gshm' for sums")
        return TopK.for_target(k=k, epsilon=epsilon, delta=delta, lower=lower)
    if not caps:
        return GSHM.for_target(k=k, epsilon=epsilon, delta=delta, lower=lower)
    return GSHMWithSums.for_target(
        k=k, epsilon=epsilon, delta=delta, lower=lower, largest=tuple(caps.values())
    )


def _as_frame(frame: Any, question: Question, names: list[str], found: NoisyCounts) -> Any:
    """The released counters as a frame of the same kind as `frame`."""
    parts = [found.elements] if question.single else [*zip(*found.elements, strict=True)]
    # multiples of 1/2 below 2^52 are exact in floats, larger numbers are rounded
    halves = found.denominator == 2
    counts = [n / 2 for n in found.numerators] if halves else found.numerators
    columns = [*(parts or [()] * len(question.by)), counts, *found.sums]
    types = [kind.released for kind in question.key_types]
    types += ["Float64" if halves else "Int64", *["Int64"] * len(found.sums)]
    return same_kind(frame, names, types, [list(column) for column in columns])
