"""Hashes of text, identical on every engine: 60 bits of SHA-256 of salt and text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from exactdp.frames.columns import nw_

if TYPE_CHECKING:
    import narwhals as nw

#: Hexadecimal digits of the hash that are used; 60 bits fit a signed word.
_DIGITS = 15


def text_word(text: str, salt: int) -> int:
    """The hash of a text, which may contain any characters."""
    digest = hashlib.sha256(f"{salt}:{text}".encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:_DIGITS], 16)


def with_words(frame: nw.LazyFrame[Any], name: str, word: str, salt: int) -> nw.LazyFrame[Any]:
    """Add a column of integers: the column itself, or the hashes of its text."""
    if frame.collect_schema()[name].is_integer():
        return frame.with_columns(nw_.col(name).alias(word))
    native, kind = frame.to_native(), frame.implementation
    if kind.is_duckdb():
        made = _duckdb(native, name, word, salt)
    elif kind.is_spark_like():
        made = _spark(native, name, word, salt)
    else:
        made = _polars(native, name, word, salt)
    added: nw.LazyFrame[Any] = nw_.from_native(made)
    return added


def _duckdb(native: Any, name: str, word: str, salt: int) -> Any:
    quoted = '"' + name.replace('"', '""') + '"'
    digest = f"substr(sha256('{salt}:' || {quoted}), 1, {_DIGITS})"
    return native.project(f"*, CAST('0x' || {digest} AS BIGINT) AS {word}")


def _spark(native: Any, name: str, word: str, salt: int) -> Any:
    from pyspark.sql import functions

    digest = functions.sha2(functions.concat(functions.lit(f"{salt}:"), functions.col(name)), 256)
    number = functions.conv(functions.substring(digest, 1, _DIGITS), 16, 10).cast("long")
    return native.withColumn(word, number)


def _polars(native: Any, name: str, word: str, salt: int) -> Any:
    import polars as pl

    def words(batch: Any) -> Any:
        texts = batch.unique()  # SHA-256 in Python: once for every distinct text of the batch
        hashed = pl.Series([text_word(text, salt) for text in texts], dtype=pl.Int64)
        if texts.is_empty():  # replace_strict keeps the type of the texts then
            return hashed
        return batch.replace_strict(texts, hashed, return_dtype=pl.Int64)

    mapped = pl.col(name).map_batches(words, return_dtype=pl.Int64, is_elementwise=True)
    return native.with_columns(mapped.alias(word))
