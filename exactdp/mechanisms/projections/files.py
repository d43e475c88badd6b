"""Files of releases: parameters, the text length of their entries, and what was released."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

from exactdp.container import Kind
from exactdp.parameters import decimal_text, integer

_VERSION = 2


def packed(mechanism: Any, payload: bytes, text: int | None = None) -> bytes:
    """A checked file. mechanism: of the release. text: of_texts of the release."""
    parameters = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    exact = {
        name: value if isinstance(value, str) else decimal_text(Fraction(value))
        for name, value in parameters.items()
    }
    return kind(type(mechanism)).pack({**exact, "text": text}, payload)


def unpacked(data: bytes, of: Any) -> tuple[Any, memoryview, int | None]:
    """Mechanism, payload and text length of a file. of: the mechanism's class.

    Raises InvalidParameter.
    """
    header, payload = kind(of).unpack(data)
    longest = header.pop("text")
    return of(**header), payload, None if longest is None else integer("text", longest, least=0)


def kind(of: Any) -> Kind:
    """The kind of file of a mechanism's class."""
    return Kind(f"{of.__name__} release", _VERSION, (*(f.name for f in fields(of)), "text"))
