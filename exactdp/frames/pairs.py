"""All pairs of user and key as numbers in memory, for mechanisms that read them several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactdp.extras import optional
from exactdp.frames.bounding import BoundedPairs, Bounding
from exactdp.frames.checking import check
from exactdp.frames.columns import USER
from exactdp.frames.engines import over_pairs
from exactdp.frames.keyed_hash import PRIORITY, KeyedHash
from exactdp.frames.question import Question
from exactdp.mechanisms.key_sets import Pairs

#: What :func:`all_pairs` and the weights of a round check.
WEIGHTS_CHECKED = (
    "every pair of user and key counts once",
    "in every round, every user gives weights to at most k keys, and the squares of these weights "
    "add up to at most 1",
)


def all_pairs(question: Question, keyed: KeyedHash) -> tuple[Pairs, list[Any]]:
    """The distinct pairs of user and key, and the keys behind their numbers.

    Several passes read the rows; at the end, the pairs of all users are in memory. Raises
    EngineError.
    """
    pa = optional("pyarrow")
    names = [USER, *question.keys, PRIORITY]

    def in_order(pairs: BoundedPairs) -> Any:
        check(pairs, question)
        ordered = keyed.with_priority(pairs.every, question.keys).select(*names)
        return ordered.collect("pyarrow").to_native()

    tables = over_pairs(Bounding(question), in_order)
    table = pa.concat_tables(tables, promote_options="permissive")
    users, _ = _numbered(table[USER])
    columns = [_numbered(table[name]) for name in question.keys]
    codes, first = np.zeros(len(table), np.int64), np.zeros(0, np.int64)
    for numbers, values in columns:
        both = codes * max(len(values), 1) + numbers
        _, first, codes = np.unique(both, return_index=True, return_inverse=True)
    rows = zip(*([values[i] for i in numbers[first]] for numbers, values in columns), strict=True)
    order = table[PRIORITY].to_numpy().astype(np.uint64)
    return Pairs(users, codes.astype(np.int64), order), [question.key(row) for row in rows]


def _numbered(column: Any) -> tuple[Any, list[Any]]:
    """The rank of every value among the column's distinct values, and the distinct values in
    order."""
    encoded = column.combine_chunks().dictionary_encode()
    ranks = optional("pyarrow.compute").sort_indices(encoded.dictionary).to_numpy()
    places = np.empty(len(ranks), np.int64)
    places[ranks] = np.arange(len(ranks))
    return places[encoded.indices.to_numpy()], encoded.dictionary.take(ranks).to_pylist()
