"""Hashes of bytes, identical on every engine: 60 bits of SHA-256 of salt and bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactdp.frames.columns import nw_

if TYPE_CHECKING:
    import narwhals as nw

#: Hexadecimal digits of the hash that are used; 60 bits fit a signed word.
_DIGITS = 15


def bytes_words(values: Iterable[bytes], salt: int) -> NDArray[np.int64]:
    """The hashes of bytes."""
    salted, sha256 = b"%d:" % salt, hashlib.sha256
    digests = b"".join([sha256(salted + value).digest() for value in values])
    numbers = np.frombuffer(digests, ">u8")[::4]
    return (numbers >> (64 - 4 * _DIGITS)).astype(np.int64)


def with_words(frame: nw.LazyFrame[Any], name: str, word: str, salt: int) -> nw.LazyFrame[Any]:
    """Add a column of integers: a column of integers unchanged, or the hashes of a column of
    bytes."""
    if frame.collect_schema()[name].is_integer():
        return frame.with_columns(nw_.col(name).alias(word))
    native, kind = frame.to_native(), frame.implementation
    if kind.is_duckdb():
        hashed = _duckdb(native, name, word, salt)
    elif kind.is_spark_like():
        hashed = _spark(native, name, word, salt)
    else:
        hashed = _polars(native, name, word, salt)
    added: nw.LazyFrame[Any] = nw_.from_native(hashed)
    return added


def _duckdb(native: Any, name: str, word: str, salt: int) -> Any:
    quoted = '"' + name.replace('"', '""') + '"'
    digest = f"substr(sha256(encode('{salt}:') || {quoted}), 1, {_DIGITS})"
    return native.project(f"*, CAST('0x' || {digest} AS BIGINT) AS {word}")


def _spark(native: Any, name: str, word: str, salt: int) -> Any:
    from pyspark.sql import functions

    salted = functions.concat(functions.lit(f"{salt}:").cast("binary"), functions.col(name))
    digest = functions.sha2(salted, 256)
    number = functions.conv(functions.substring(digest, 1, _DIGITS), 16, 10).cast("long")
    return native.withColumn(word, number)


def _polars(native: Any, name: str, word: str, salt: int) -> Any:
    import polars as pl

    def words(batch: Any) -> Any:
        values = batch.unique()  # SHA-256 in Python: once for every distinct value of the batch
        hashed = pl.Series(bytes_words(values, salt), dtype=pl.Int64)
        if values.is_empty():  # replace_strict keeps the type of the values then
            return hashed
        return batch.replace_strict(values, hashed, return_dtype=pl.Int64)

    mapped = pl.col(name).map_batches(words, return_dtype=pl.Int64, is_elementwise=True)
    return native.with_columns(mapped.alias(word))
