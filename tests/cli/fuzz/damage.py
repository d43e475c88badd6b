"""Ways in which a file may be damaged: its bytes, what it says, and what a checksum vouches for."""

from __future__ import annotations

import hashlib
import random
import re

__all__ = ["damaged"]

_BYTES = [
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b",", b"\n", b"\r", b"-1", b"1e400", b"9" * 5000,
]  # fmt: skip

#: What may stand in the place of a number or a text, in JSON or in a cell.
_TOKENS = [
    b"null", b"true", b"-1", b"0", b"1", b"1e400", b"1e-400", b"NaN", b"-Infinity", b"[]", b"{}",
    b"0.5", b'"1/3"', b'"nan"', b'""', b'"\\ud800"', b"9" * 30, b"9" * 5000,
    b'"%s"' % (b"9" * 5000), b"[" * 100_000, b'{"a":' * 100_000, b"4294967296", b"1000000000000",
    b'"x"', b"[1,[2]]",
]  # fmt: skip
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[-+.\w/]+')

_MAGIC, _LENGTHS, _CHECKSUM = b"EXACTDP\x01", (4, 8), 32


def damaged(rng: random.Random, content: bytes) -> bytes:
    """The content with one to three faults; a sealed file may be sealed again over them."""
    sealed = content.startswith(_MAGIC) and rng.random() < 0.6
    if sealed:
        header, payload = _opened(content)
        if rng.random() < 0.6:
            header = _faulty(rng, header, _reworded if rng.random() < 0.8 else _bitten)
        else:
            payload = _faulty(rng, payload, _bitten)
        return _sealed(header, payload)
    text = b"\0" not in content and rng.random() < 0.5
    return _faulty(rng, content, _reworded if text else _bitten)


def _faulty(rng: random.Random, content: bytes, fault: object) -> bytes:
    for _ in range(rng.randrange(1, 4)):
        content = fault(rng, content)  # type: ignore[operator]
    return content


def _reworded(rng: random.Random, content: bytes) -> bytes:
    """Another token in the place of one."""
    tokens = list(_TOKEN.finditer(content))
    if not tokens:
        return _bitten(rng, content)
    place = rng.choice(tokens)
    return content[: place.start()] + rng.choice(_TOKENS) + content[place.end() :]


def _bitten(rng: random.Random, content: bytes) -> bytes:
    """Bytes taken out, put in, or changed by a bit; or the end cut off."""
    place = rng.randrange(len(content) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return content[:place] + content[place + rng.randrange(1, 9) :]
    if kind == 1:
        return content[:place] + rng.choice(_BYTES) + content[place:]
    if kind == 2 and place < len(content):
        flipped = content[place] ^ 1 << rng.randrange(8)
        return content[:place] + bytes([flipped]) + content[place + 1 :]
    return content[:place]


def _opened(content: bytes) -> tuple[bytes, bytes]:
    """Header and payload of a sealed file."""
    start = len(_MAGIC) + sum(_LENGTHS)
    size = int.from_bytes(content[len(_MAGIC) : len(_MAGIC) + _LENGTHS[0]], "little")
    return content[start : start + size], content[start + size : -_CHECKSUM]


def _sealed(header: bytes, payload: bytes) -> bytes:
    """The same as a file whose lengths and checksum are right."""
    sizes = zip((header, payload), _LENGTHS, strict=True)
    lengths = b"".join(len(part).to_bytes(n, "little") for part, n in sizes)
    data = _MAGIC + lengths + header + payload
    return data + hashlib.sha256(data).digest()
