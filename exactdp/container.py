"""Checked binary files: a damaged or foreign file is refused with InvalidParameter.

A file consists of a magic number, the lengths of header and payload, the header, the payload, and
the SHA-256 of all preceding bytes. The header is a flat JSON object in canonical form, with the
kind of the file, its version, and exactly the fields of that kind. The lengths are compared with
the length of the data first, so a file with wrong lengths is refused before it costs memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from exactdp.errors import Described, InvalidParameter

#: Types of header fields. Large integers and rationals are stored as text.
Scalar: TypeAlias = str | int | None

_MAGIC = b"EXACTDP\x01"
_LENGTHS = (4, 8)
_START = len(_MAGIC) + sum(_LENGTHS)
_CHECKSUM = hashlib.sha256().digest_size
_LARGEST_HEADER = 1 << 16


@dataclass(frozen=True)
class Kind:
    """One kind of file: its name, its version, and the names of its header's fields.

    >>> kind = Kind("coins", 1, ("count",))
    >>> data = kind.pack({"count": 3}, b"101")
    >>> header, payload = kind.unpack(data)
    >>> header["count"], bytes(payload)
    (3, b'101')
    """

    name: str
    version: int
    fields: tuple[str, ...]

    def pack(self, header: Mapping[str, Scalar], payload: bytes) -> bytes:
        """The bytes of a file. header: a value for every field, at most 64 KiB as JSON.

        Raises InvalidParameter.
        """
        _require_fields(header, self.fields, f"a header of kind {self.name!r}")
        text = _text({"kind": self.name, "version": self.version, **header})
        if len(text) > _LARGEST_HEADER:
            raise InvalidParameter(
                "header", Described(f"{len(text)} bytes"), f"<= {_LARGEST_HEADER} bytes"
            )
        lengths = zip((len(text), len(payload)), _LENGTHS, strict=True)
        data = _MAGIC + b"".join(n.to_bytes(size, "little") for n, size in lengths) + text + payload
        return data + hashlib.sha256(data).digest()

    def unpack(self, data: bytes) -> tuple[dict[str, Scalar], memoryview]:
        """The header's fields and the payload; raises InvalidParameter unless pack wrote data."""
        header, payload = _opened(data)
        if header["kind"] != self.name:
            raise InvalidParameter(
                "data", Described(f"a file of kind {header['kind']!r}"), repr(self.name)
            )
        if header["version"] != self.version:
            raise InvalidParameter("version", header["version"], str(self.version))
        fields = {name: x for name, x in header.items() if name not in ("kind", "version")}
        _require_fields(fields, self.fields, f"a header of kind {self.name!r}")
        return fields, payload


def kind_of(data: bytes) -> str:
    """The kind of a file, after its checksum and its header are verified.

    >>> kind_of(Kind("coins", 1, ()).pack({}, b""))
    'coins'
    """
    return str(_opened(data)[0]["kind"])


def _opened(data: Any) -> tuple[dict[str, Any], memoryview]:
    """The whole header and the payload of a file of any kind."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidParameter("data", Described(f"a {type(data).__name__}"), "the bytes of a file")
    view = memoryview(data).cast("B")
    if bytes(view[: len(_MAGIC)]) != _MAGIC or len(view) < _START + _CHECKSUM:
        raise InvalidParameter("data", bytes(view[:16]), "the bytes of a file of exactdp")
    middle = len(_MAGIC) + _LENGTHS[0]
    header_size = int.from_bytes(view[len(_MAGIC) : middle], "little")
    payload_size = int.from_bytes(view[middle:_START], "little")
    end = _START + header_size + payload_size
    if header_size > _LARGEST_HEADER or end + _CHECKSUM != len(view):
        raise InvalidParameter(
            "data", Described(f"{len(view)} bytes"), "as long as the file states"
        )
    if hashlib.sha256(view[:end]).digest() != bytes(view[end:]):
        raise InvalidParameter("data", Described("a wrong checksum"), "an undamaged file")
    payload = view[_START + header_size : end].toreadonly()
    return _header(bytes(view[_START : _START + header_size])), payload


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
        # the canonical text only: no repeated keys, no NaN
        regular = isinstance(header, dict) and _text(header) == text
    except (ValueError, RecursionError):
        regular = False
    if not regular or not {"kind", "version"} <= header.keys():
        raise InvalidParameter("data", Described("a damaged header"), "an undamaged file")
    return dict(header)


def _text(header: Mapping[str, Any]) -> bytes:
    for name, value in header.items():
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise InvalidParameter(name, value, "a text, an integer or None in a header")
    try:
        return json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    except ValueError:
        raise InvalidParameter(
            "header", Described("a very long integer"), "short, or given as text"
        ) from None


def _require_fields(header: Mapping[str, Any], fields: tuple[str, ...], what: str) -> None:
    if header.keys() != set(fields):
        wrong = sorted(header.keys() ^ set(fields))
        raise InvalidParameter("header", Described(f"a header that differs in {wrong}"), what)
