"""Formats of reports: a single report, the reports of many users in memory, and on the wire.

A single report is an integer or a tuple of integers. In memory, reports are an array with one row
per user. On the wire, their bits are concatenated without gaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter, one_line

#: A single report.
Report: TypeAlias = int | tuple[int, ...]
#: Reports of many users: an array whose first axis are the users.
Reports: TypeAlias = NDArray[Any]

#: Approximate number of bytes that are packed at a time.
_AT_ONCE = 1 << 21


class Form(Protocol):
    """The format of reports. bits: size of a report on the wire, in bits."""

    @property
    def bits(self) -> int: ...

    def single(self, row: NDArray[Any]) -> Report:
        """A row as a single report."""

    def rows(self, reports: Any) -> Reports:
        """Reports as checked rows; raises InvalidParameter."""

    def to_bits(self, rows: Reports) -> NDArray[np.uint8]:
        """The bits of every row: an array of 0 and 1, rows x bits."""

    def of_bits(self, bits: NDArray[np.uint8]) -> Reports:
        """The rows from the bits of to_bits; raises InvalidParameter."""


@dataclass(frozen=True)
class Numbers:
    """Reports of one or several integers, the i-th in [0, sizes[i]), with sizes <= 2^63."""

    sizes: tuple[int, ...]

    @cached_property
    def bits(self) -> int:
        """Size of a report: the sum of the bits of all its numbers."""
        return sum(self._lengths)

    def single(self, row: NDArray[Any]) -> Report:
        """An integer, or a tuple of integers if a report has several."""
        return int(row) if row.ndim == 0 else tuple(int(x) for x in row)

    def rows(self, reports: Any) -> Reports:
        """An int64 array with one number, or one row of numbers, per user."""
        rows = integers("reports", reports)
        width = len(self.sizes)
        shape = rows.shape[:1] if width == 1 else (*rows.shape[:1], width)
        if rows.shape != shape or not rows.ndim:
            raise InvalidParameter(
                "reports", Described(f"of shape {rows.shape}"), f"of shape {shape}"
            )
        wrong = (rows < 0) | (rows > self._largest)
        if wrong.any():
            user, *number = (int(i) for i in np.argwhere(wrong)[0])
            allowed = f"an integer >= 0 and < {self.sizes[sum(number)]}"
            place = "".join(f"[{i}]" for i in (user, *number))
            raise InvalidParameter(f"reports{place}", rows[user, *number], allowed)
        return rows

    def to_bits(self, rows: Reports) -> NDArray[np.uint8]:
        """The bits of every row, starting with the lowest bit of the first number."""
        columns = rows.reshape(len(rows), -1).astype("<i8")
        parts = [
            np.unpackbits(
                np.ascontiguousarray(columns[:, i : i + 1]).view(np.uint8),
                axis=1,
                count=length,
                bitorder="little",
            )
            for i, length in enumerate(self._lengths)
        ]
        return np.concatenate(parts, axis=1)

    def of_bits(self, bits: NDArray[np.uint8]) -> Reports:
        """The numbers from the bits; raises InvalidParameter if a number is out of range."""
        rows, start = np.zeros((len(bits), len(self.sizes)), np.int64), 0
        for i, length in enumerate(self._lengths):
            packed = np.packbits(bits[:, start : start + length], axis=1, bitorder="little")
            whole = np.zeros((len(bits), 8), np.uint8)
            whole[:, : packed.shape[1]] = packed
            rows[:, i] = whole.view("<i8")[:, 0]
            start += length
        return self.rows(rows[:, 0] if len(self.sizes) == 1 else rows)

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return tuple((size - 1).bit_length() for size in self.sizes)

    @cached_property
    def _largest(self) -> NDArray[np.int64]:
        largest = np.array([size - 1 for size in self.sizes], np.int64)
        return largest if len(largest) > 1 else largest.reshape(())


@dataclass(frozen=True)
class BitVector:
    """Reports of a bit vector: an integer whose bit x is entry x; in memory, packed bytes."""

    bits: int

    def single(self, row: NDArray[Any]) -> Report:
        """The integer of these bits."""
        return int.from_bytes(row.tobytes(), "little")

    def rows(self, reports: Any) -> Reports:
        """A uint8 array with one row of packed bits per user."""
        width = (self.bits + 7) // 8
        if not isinstance(reports, np.ndarray):
            reports = self._packed(reports, width)
        if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != width:
            allowed = f"rows of {width} bytes"
            raise InvalidParameter(
                "reports", Described(f"{reports.dtype} {reports.shape}"), allowed
            )
        if self.bits % 8 and (reports[:, -1] >> (self.bits % 8)).any():
            raise InvalidParameter(
                "reports", Described("non-zero padding bits"), f"{self.bits} bits and zeros"
            )
        rows: Reports = reports
        return rows

    def _packed(self, reports: Sequence[Any], width: int) -> Reports:
        for report in reports:
            if not isinstance(report, int) or not 0 <= report < 1 << self.bits:
                raise InvalidParameter("reports", report, f"integers of {self.bits} bits")
        joined = b"".join(report.to_bytes(width, "little") for report in reports)
        return np.frombuffer(joined, np.uint8).reshape(len(reports), width)

    def to_bits(self, rows: Reports) -> NDArray[np.uint8]:
        """The bits of every row, starting with entry 0."""
        return np.unpackbits(rows, axis=1, count=self.bits, bitorder="little")

    def of_bits(self, bits: NDArray[np.uint8]) -> Reports:
        """The packed rows from the bits."""
        return np.packbits(bits, axis=1, bitorder="little")


def integers(name: str, values: Any) -> NDArray[np.int64]:
    """An int64 array of integers; raises InvalidParameter."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        raise InvalidParameter(name, type(values).__name__, "an array of integers") from None
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.max() >= 2**63):
        raise InvalidParameter(name, Described(f"an array of {array.dtype}"), "integers below 2^63")
    return array.astype(np.int64, copy=False)


def pack(form: Form, rows: Reports) -> bytes:
    """The concatenated bits of all reports; the last byte is padded with zeros."""
    return b"".join(
        np.packbits(form.to_bits(rows[part]).reshape(-1), bitorder="little").tobytes()
        for part in _parts(len(rows), form.bits)
    )


def unpack(form: Form, data: bytes, n: int) -> Reports:
    """The n reports from the bytes of pack; raises InvalidParameter if they are malformed."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidParameter("data", Described(f"a {type(data).__name__}"), "bytes")
    if len(data) != (form.bits * n + 7) // 8:
        allowed = f"{one_line(n)} reports of {form.bits} bits"
        raise InvalidParameter("data", Described(f"{len(data)} bytes"), allowed)
    bits = np.frombuffer(data, np.uint8)
    if n and form.bits * n % 8 and bits[-1] >> (form.bits * n % 8):
        raise InvalidParameter("data", Described("non-zero bits"), "zeros after the last report")
    reports = []
    for part in _parts(n, form.bits) if n else [slice(0, 0)]:
        size = (part.stop - part.start) * form.bits
        start = part.start * form.bits // 8
        part_bits = bits[start : start + (size + 7) // 8]
        unpacked = np.unpackbits(part_bits, count=size, bitorder="little")
        reports.append(form.of_bits(unpacked.reshape(part.stop - part.start, form.bits)))
    return np.concatenate(reports)


def _parts(n: int, bits: int) -> Iterator[slice]:
    size = (
        max(_AT_ONCE // bits, 1) * 8
    )  # a multiple of 8 reports, so that parts end at a byte boundary
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
