"""The questions of a plan, as a TOML file states them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import integer

_FIELDS = {"name", "by", "k", "keys", "sums"}


@dataclass(frozen=True)
class Query:
    """Numbers of users per key, and sums.

    name: of the result, a word of letters, digits and underscores. by: columns of the key. k:
    largest number of keys per user, >= 1. keys: a public list of keys (tuples for several columns),
    or None if keys are unknown. sums: column -> limit of |value| of a user for a key.
    """

    name: str
    by: tuple[str, ...]
    k: int
    keys: tuple[Any, ...] | None = None
    sums: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InvalidParameter("name", self.name, "letters, digits and underscores")
        columns = (*self.by, *self.sums)
        if not self.by or len(set(columns)) < len(columns):
            raise InvalidParameter(f"by of {self.name}", list(columns), "different columns")
        for column in columns:
            if not column or not column.isprintable() or set(column) & set("\"'`\\"):
                raise InvalidParameter("by", column, "column names without quotes")

    @property
    def most(self) -> int:
        """The number of counts that one user changes."""
        return self.k if self.keys is None else min(self.k, len(self.keys))

    @property
    def parts(self) -> int:
        """The number of counts and sums for each key."""
        return 1 + len(self.sums)

    @property
    def moved(self) -> int:
        """The number of counts and sums that one user changes, each by at most its limit."""
        return self.most * self.parts


def read_queries(text: str) -> tuple[str, tuple[Query, ...]]:
    """The column of users, and the queries, from the text of a TOML file.

    The file has `user = "column"` and, for each query, a table [[query]] with name, by (a column or
    a list), k, and optionally keys (a list) and sums (column = limit). Raises InvalidParameter.

    >>> read_queries('user = "uid"\\n[[query]]\\nname = "visits"\\nby = "url"\\nk = 10')
    ('uid', (Query(name='visits', by=('url',), k=10, keys=None, sums={}),))
    """
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter("queries", Described(str(error)), "TOML text") from None
    user, tables = fields.get("user"), fields.get("query")
    if (
        set(fields) != {"user", "query"}
        or not isinstance(user, str)
        or not isinstance(tables, list)
    ):
        field_names = Described(", ".join(fields) or "nothing")
        raise InvalidParameter("queries", field_names, 'user = "column", and tables [[query]]')
    queries = tuple(_query(table) for table in tables)
    if len({query.name for query in queries}) < len(queries):
        raise InvalidParameter("name", [query.name for query in queries], "different names")
    return user, queries


def _query(table: Any) -> Query:
    if not isinstance(table, dict) or not {"name", "by", "k"} <= set(table) <= _FIELDS:
        field_names = Described(", ".join(table) if isinstance(table, dict) else "no table")
        raise InvalidParameter("query", field_names, "name, by, k, and optionally keys and sums")
    by = table["by"]
    columns = tuple(by) if isinstance(by, list) else (by,)
    keys = table.get("keys")
    if keys is not None:
        keys = tuple(_key(key, len(columns)) for key in keys) if isinstance(keys, list) else ()
        if not keys or len(set(keys)) < len(keys):
            raise InvalidParameter("keys", Described(str(len(keys))), "a list of different keys")
    sums = table.get("sums", {})
    if not isinstance(sums, dict) or not all(isinstance(c, str) for c in (*columns, table["name"])):
        raise InvalidParameter("query", Described("other types"), "texts, and sums as a table")
    limits = {name: integer(f"limit of {name}", limit, least=1) for name, limit in sums.items()}
    return Query(table["name"], columns, integer("k", table["k"], least=1), keys, limits)


def _key(key: Any, width: int) -> Any:
    parts = tuple(key) if isinstance(key, list) else (key,)
    if len(parts) != width or not all(type(part) in (str, int) for part in parts):
        raise InvalidParameter("keys", key, f"texts or integers, {width} to a key")
    return parts if width > 1 else parts[0]
