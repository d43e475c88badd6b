"""The set of keys of a frame, on every engine."""

from __future__ import annotations

import polars as pl
import pytest

from exactdp import InvalidParameter, frames
from exactdp.samplers import SeededSource
from tests.frames.reference import few, frame_of, listed, some_rows


@pytest.mark.parametrize("engine", few("polars"))
def test_every_engine_releases_keys_of_its_own_kind(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exactdp.frames.selecting.SystemSource", lambda: SeededSource(5))
    monkeypatch.setattr("exactdp.frames.selecting.require_secure", lambda source: None)
    rows = some_rows(5, "text")
    results = []
    for kind in ("polars", engine):
        frame = frame_of(kind, rows, "text")
        out = frames.keys(frame, user="uid", by="url", k=2, epsilon=3, delta="0.2")
        assert type(out.frame) is type(frame)
        assert len(out.guarantee.checked) == 2
        results.append(listed(out.frame))
    assert results[0] == results[1]
    assert len(results[0]) >= 3
    assert results[0] == sorted(results[0])


def test_keys_of_two_columns_and_their_statement() -> None:
    frame = pl.DataFrame({"uid": range(900), "a": ["x", "y", "z"] * 300, "b": [1, 2, 3] * 300})
    out = frames.keys(frame, user="uid", by=["a", "b"], k=1, epsilon=1, delta="1e-6")
    assert out.frame.rows() == [("x", 1), ("y", 2), ("z", 3)]
    assert out.statement.check().verdict == "valid"
    assert out.statement.fields["unit"]["bounds"][0]["checked"]
    empty = frames.keys(frame.head(2), user="uid", by=["a", "b"], k=1, epsilon=1, delta="1e-9")
    assert empty.frame.rows() == []
    with pytest.raises(InvalidParameter, match="source"):
        frames.keys(frame, user="uid", by="a", k=1, epsilon=1, delta="1e-6", source=SeededSource(1))
