"""Reading a frame of any kind: the columns that are asked for, checked, rows with gaps left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.parameters import integer

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["KEY", "USER", "is_sql", "limits", "narwhals", "rows", "value_name"]

#: Names inside; the caller's columns may have any.
USER, KEY = "_user", "_key"


def narwhals() -> Any:
    """The narwhals module, which is loaded only here."""
    try:
        import narwhals as module
    except ImportError:
        raise ExactDPError("frames need narwhals: pip install 'exactdp[frames]'") from None
    return module


def rows(frame: Any, *, user: str, by: str, sums: Sequence[str] = ()) -> nw.LazyFrame[Any]:
    """The user, the key and the values of every row that has a user and a key.

    Users and keys are integers or text (categories are text); values are integers, missing ones 0.
    """
    if user == by:
        raise InvalidParameter("by", by, f"another column than the user's, {user}")
    nw_ = narwhals()
    try:
        seen = nw_.from_native(frame)
    except TypeError:
        allowed = "a frame of pandas, polars, pyarrow, DuckDB, Dask or PySpark"
        raise InvalidParameter("frame", type(frame).__name__, allowed) from None
    schema, kind = seen.collect_schema(), seen.implementation
    pandas = bool(kind.is_pandas_like() or kind.is_dask())

    def whole(name: str) -> Any:
        return nw_.col(name) if pandas else nw_.col(name).cast(nw_.Int64)

    chosen = [
        (
            whole(name) if _is_whole(schema, parameter, name) else nw_.col(name).cast(nw_.String)
        ).alias(inner)
        for parameter, name, inner in (("user", user, USER), ("by", by, KEY))
    ]
    for i, name in enumerate(sums):
        if name not in schema or not schema[name].is_signed_integer():
            what = f"{name} of type {schema[name]}" if name in schema else name
            raise InvalidParameter("sums", what, "a column of signed integers (whole units)")
        chosen.append(whole(name).fill_null(0).alias(value_name(i)))
    kept = seen.select(*chosen)
    if pandas:
        kept = nw_.from_native(_plain_integers(kept))
    else:
        kept = kept.filter(~nw_.col(USER).is_null(), ~nw_.col(KEY).is_null())
    # pandas, pyarrow and eager polars become lazy views of themselves: one kind from here on
    made: nw.LazyFrame[Any] = kept.lazy() if isinstance(kept, nw_.DataFrame) else kept
    return made


def _plain_integers(frame: Any) -> Any:
    """The rows without gaps, in the one integer type of pandas that has all operations."""
    native = frame.to_native()
    whole = [name for name, dtype in frame.collect_schema().items() if dtype.is_integer()]
    types = dict.fromkeys(whole, "int64")

    def without_gaps(part: Any) -> Any:
        return part.dropna(subset=[USER, KEY]).astype(types)

    if frame.implementation.is_dask():
        return native.map_partitions(without_gaps, meta=native._meta.astype(types))
    return without_gaps(native)


def value_name(i: int) -> str:
    """The inner name of the i-th column of values."""
    return f"_value_{i}"


def limits(sums: Mapping[str, int] | None) -> dict[str, int]:
    """The limits of the columns of sums, as integers >= 1."""
    found = {}
    for name, limit in (sums or {}).items():
        if integer(f"sums[{name!r}]", limit, least=1) > 2**31:
            raise InvalidParameter(f"sums[{name!r}]", limit, "<= 2^31")
        found[name] = int(limit)
    return found


def is_sql(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the engine numbers rows within groups by itself, in order."""
    kind = frame.implementation
    return bool(kind.is_duckdb() or kind.is_spark_like() or kind.is_polars())


def _is_whole(schema: Mapping[str, Any], parameter: str, name: str) -> bool:
    """Whether a column holds integers; if not, it must hold text."""
    nw_ = narwhals()
    if name not in schema:
        raise InvalidParameter(parameter, name, f"a column: one of {', '.join(schema)}")
    kind = schema[name]
    wide = kind in (nw_.UInt64, nw_.UInt128, nw_.Int128)
    if wide and parameter == "user":
        return False  # as text: some do not fit a signed word
    if kind.is_integer() and not wide:
        return True
    if kind in (nw_.Categorical, nw_.String) or isinstance(kind, nw_.Enum):
        return False
    allowed = "a column of integers or of text"
    raise InvalidParameter(parameter, f"{name} of type {kind}", allowed)
