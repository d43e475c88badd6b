"""Byte strings as elements of a universe of integers."""

from __future__ import annotations

from exactdp.errors import InvalidParameter


def encode_bytes(data: bytes, longest: int) -> int:
    """A byte string of at most `longest` bytes as an element of [0, 256^(longest + 1)).

    Injective: a leading byte 1 preserves zero bytes at the start. Inverse: :func:`decode_bytes`.
    Raises InvalidParameter for longer strings.
    """
    if len(data) > longest:
        raise InvalidParameter("data", f"{len(data)} bytes", f"at most longest = {longest} bytes")
    return int.from_bytes(b"\x01" + data, "big")


def decode_bytes(element: int) -> bytes:
    """The byte string of an element made by encode_bytes; raises InvalidParameter for others."""
    size = (element.bit_length() + 7) // 8
    raw = element.to_bytes(size, "big")
    if raw[:1] != b"\x01":
        raise InvalidParameter("element", element, "an element made by encode_bytes")
    return raw[1:]
