"""Coefficients of equally many bits as one string of bytes."""

from __future__ import annotations

from collections.abc import Sequence

from exactdp.errors import Described, InvalidParameter


def byte_count(count: int, bits: int) -> int:
    """The length of that many joined elements."""
    return (count * bits + 7) // 8


def joined(elements: Sequence[int], bits: int) -> bytes:
    """Concatenate elements of `bits` bits each, lowest bits first; eight fill whole bytes."""
    eights = (elements[i : i + 8] for i in range(0, len(elements), 8))
    packed = (sum(x << j * bits for j, x in enumerate(eight)) for eight in eights)
    return b"".join(x.to_bytes(bits, "little") for x in packed)[: byte_count(len(elements), bits)]


def split(data: bytes | memoryview, count: int, bits: int) -> tuple[int, ...]:
    """The elements that :func:`joined` concatenated."""
    mask, elements = (1 << bits) - 1, list[int]()
    for start in range(0, len(data), bits):
        packed = int.from_bytes(data[start : start + bits], "little")
        for _ in range(min(8, count - len(elements))):
            elements.append(packed & mask)
            packed >>= bits
        if packed:
            raise InvalidParameter(
                "data", Described("non-zero bits"), "zeros after the last coefficient"
            )
    return tuple(elements)
