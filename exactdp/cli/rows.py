"""Rows of users and keys, in CSV or Parquet of any size, to released counters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exactdp.errors import Described, ExactDPError, InvalidParameter
from exactdp.parameters import integer

__all__ = ["release_rows"]

#: About so many bytes of a file are worked on at once.
_PART = 256 << 20
_MOST_PARTS = 256


def release_rows(
    path: Path,
    user: str,
    by: str,
    class_name: str,
    present: dict[str, str],
    sums: str | None,
    keys: set[str] | None,
) -> tuple[list[str], list[tuple[str, ...]], Any]:
    """Header and rows of the release, and the mechanism that made it."""
    try:
        import duckdb
    except ImportError:
        raise ExactDPError("rows need duckdb: pip install 'exactdp[frames]'") from None
    from exactdp import mechanisms
    from exactdp.frames import drawn
    from exactdp.samplers import SystemSource

    caps = _limits(sums)
    name = "GSHMWithSums" if caps else class_name
    more = {"largest": tuple(caps.values())} if caps else {}
    kind = getattr(mechanisms, name)
    # before the rows are read: whether the target can be kept does not depend on them
    mechanism = (
        kind(**present, **more) if "sigma" in present else kind.for_target(**present, **more)
    )
    passes = min(max(1, path.stat().st_size // _PART), _MOST_PARTS)
    with duckdb.connect() as connection:
        try:
            found = drawn(
                _relation(connection, path, list(caps)),
                user=user,
                by=by,
                made=mechanism,
                source=SystemSource(),
                sums=caps,
                keys=None if keys is None else sorted(keys),
                passes=passes,
            )
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise InvalidParameter(
                "data", Described(f"{path.name} ({reason})"), "readable rows"
            ) from None
    rows = list(zip(map(str, found.elements), *found.texts(), strict=True))
    return [by, "count", *caps], rows, mechanism


def _limits(sums: str | None) -> dict[str, int]:
    """column:limit pairs, separated by commas."""
    caps: dict[str, int] = {}
    for part in sums.split(",") if sums else ():
        column, colon, limit = part.rpartition(":")
        if not colon or column in caps:
            raise InvalidParameter("sums", sums, "column:limit, separated by commas")
        caps[column] = integer(f"limit of {column}", limit, least=1)
    return caps


def _relation(connection: Any, path: Path, values: list[str]) -> Any:
    """The rows, with the text of CSV cells as it is: 007 is not 7."""
    # one file, whatever characters its name has that elsewhere stand for several
    name = "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
    if path.suffix == ".parquet":
        return connection.read_parquet(name)
    seen = connection.read_csv(name, header=True, all_varchar=True)
    for column in values:
        if column in seen.columns:
            quoted = '"' + column.replace('"', '""') + '"'
            seen = seen.project(f"* REPLACE (CAST({quoted} AS BIGINT) AS {quoted})")
    return seen
