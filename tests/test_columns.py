"""Columns of data frames, where a mapping or a list is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import SparseVectorMean
from exactdp.mechanisms import ALP, GSHM, BasicHistogram
from exactdp.samplers import SeededSource, SystemSource

VALUES = [0, 3, 0, 7]


def columns() -> dict[str, Any]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    return {
        "pandas": pandas.Series(VALUES),
        "labels": pandas.Series([7, 3], index=[3, 1]),
        "polars": polars.Series(VALUES),
        "pyarrow": pyarrow.array(VALUES),
        "chunks": pyarrow.chunked_array([VALUES[:1], VALUES[1:]]),
    }


@pytest.mark.parametrize("kind", ["pandas", "labels", "polars", "pyarrow", "chunks"])
def test_a_column_is_a_vector(kind: str) -> None:
    column, sketch = columns()[kind], ALP.of(d=10, k=3, largest=9, epsilon=1)
    entries = sketch.checked(column)
    pairs = zip(entries.ids.tolist(), entries.numerators.tolist(), strict=True)
    assert sorted(pairs) == [(1, 3), (3, 7)]
    assert sketch.project(column, SystemSource()).guarantee == sketch.guarantee


def test_missing_values_are_refused_and_labels_must_differ() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    means = SparseVectorMean(d=9, k=2, epsilon=1, level="event")
    assert len(means.draw_many([polars.Series([0, 1]), {1: 1}], SeededSource(3))) == 2
    for frame in (pandas.DataFrame({"a": [1, 0]}), polars.DataFrame({"a": [1, 0]})):
        with pytest.raises(InvalidParameter, match="one vector per user, or Entries"):
            means.draw_many(frame, SeededSource(3))
        with pytest.raises(InvalidParameter, match="got DataFrame"):
            ALP.of(d=10, k=3, largest=9, epsilon=1).checked(frame)
    for column in (polars.Series([1, None]), pandas.Series([1, 0], index=[2, 2])):
        with pytest.raises(InvalidParameter):
            means.draw_many([column], SeededSource(3))


def test_counts_of_values_are_counts() -> None:
    pandas = pytest.importorskip("pandas")
    counts = pandas.Series(["b"] * 900 + ["a"] * 800).value_counts()
    mechanism, plain = GSHM.for_target(k=1, epsilon=1, delta="1e-6"), {"a": 800, "b": 900}
    assert mechanism.draw(counts, SeededSource(1)) == mechanism.draw(plain, SeededSource(1))
    rows = BasicHistogram.of(n=5, epsilon=1, universe=4)
    few = pandas.Series([1, 1, 2, 3, 0]).value_counts()
    mapping = {0: 1, 1: 2, 2: 1, 3: 1}
    assert rows.draw(few, SeededSource(1)) == rows.draw(mapping, SeededSource(1))
    for column in (pandas.Series([1, 2], index=["a", "a"]), pandas.Series([1.5, np.nan])):
        with pytest.raises(InvalidParameter):
            mechanism.draw(column, SeededSource(1))
