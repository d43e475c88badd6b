"""Files: read as written, or refused with one error before anything of their size is made."""

from __future__ import annotations

import hashlib
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.container import Kind, Scalar, kind_of

KIND = Kind("noise", 7, ("a", "b"))
HEADER: dict[str, Scalar] = {"a": "7/20", "b": None}
DATA = KIND.pack(HEADER, b"payload")

texts = st.text(st.characters(codec="utf-8"))
scalars = st.one_of(texts, st.none(), st.integers(-(10**30), 10**30))


@given(scalars, scalars, st.binary())
def test_round_trip(a: Scalar, b: Scalar, payload: bytes) -> None:
    data = KIND.pack({"a": a, "b": b}, payload)
    for form in (data, bytearray(data), memoryview(data)):
        header, read = KIND.unpack(form)
        assert (header, bytes(read)) == ({"a": a, "b": b}, payload)
        assert read.readonly
    assert kind_of(data) == "noise"


@given(st.data())
def test_every_damage_is_noticed(data: st.DataObject) -> None:
    raw = bytearray(DATA)
    kind = data.draw(st.sampled_from(["cut", "flip", "more", "swap"]))
    place = data.draw(st.integers(0, len(raw) - 1))
    if kind == "cut":
        raw = raw[:place]
    elif kind == "more":
        raw += bytes(place + 1)
    elif kind == "swap":
        raw = raw[place:] + raw[:place] if place else raw[::-1]
    else:
        raw[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(InvalidParameter) as refusal:
        KIND.unpack(raw)
    assert "\n" not in str(refusal.value)


def sealed(header: bytes, payload: bytes = b"", claimed: int | None = None) -> bytes:
    """A file with any header and a right checksum."""
    size = len(payload) if claimed is None else claimed
    lengths = len(header).to_bytes(4, "little") + size.to_bytes(8, "little")
    data = b"EXACTDP\x01" + lengths + header + payload
    return data + hashlib.sha256(data).digest()


def written(**header: object) -> bytes:
    full = {"kind": "noise", "version": 7, "a": "7/20", "b": None, **header}
    return json.dumps(full, separators=(",", ":"), sort_keys=True).encode()


def test_the_sealing_of_these_tests_is_the_one_of_the_module() -> None:
    assert sealed(written(), b"payload") == DATA


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 60_000,
        b"[" * 70_000,
        b'{"a":' * 10_000,
        b"null",
        b"\xff",
        b"",
        b"1" * 5000,
        written(a=[[]]),
        written(a={"x": 1}),
        written(a=True),
        written(a=0.5),
        written(a=float("nan")),
        written(a=float("inf")),
        written(c=1),
        written(kind="other"),
        written(version=6),
        written(version="7"),
        written().replace(b'"a"', b' "a"'),
        written().replace(b'"b":null', b'"b":null,"b":null'),
        written().replace(b'"b":null', b'"b":' + b"9" * 5000),
        written().replace(b'"b":null,', b""),
        b'{"a":1,"b":2}',
    ],
)
def test_a_right_checksum_does_not_help_a_wrong_header(header: bytes) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        KIND.unpack(sealed(header, b"payload"))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("claimed", [0, 6, 8, 2**40, 2**64 - 1])
def test_a_claimed_size_is_never_allocated(claimed: int) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParameter, match="as long as"):
            KIND.unpack(sealed(written(), b"payload", claimed))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("data", [None, 5, "EXACTDP\x01", [1, 2]])
def test_what_is_no_bytes(data: object) -> None:
    with pytest.raises(InvalidParameter, match="data"):
        KIND.unpack(data)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "header",
    [
        {"a": 1},
        {"a": 1, "b": 2, "c": 3},
        {"a": 1.5, "b": 2},
        {"a": True, "b": 2},
        {"a": "x" * 70_000, "b": 2},
        {"a": 10**5000, "b": 2},
    ],
)
def test_headers_that_cannot_be_written(header: dict[str, Scalar]) -> None:
    with pytest.raises(InvalidParameter):
        KIND.pack(header, b"")
