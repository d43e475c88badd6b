"""Elements of a universe, as the user writes them: numbers, or texts of a limited length."""

from __future__ import annotations

from exactdp.errors import InvalidParameter
from exactdp.parameters import integer

#: Longest texts, in bytes: the largest universe has 256^(_LONGEST + 1) elements.
_LONGEST = 4096


def length_of(text: str, most: int = _LONGEST) -> int:
    """The largest length of an element's text, in bytes; raises InvalidParameter."""
    longest = integer("text", text, least=0)
    if longest > most:
        raise InvalidParameter("text", text, f"<= {most}")
    return longest


def element(text: str, longest: int | None) -> int:
    """The number of an element given as text."""
    from exactdp.mechanisms import encode_bytes

    if longest is None:
        return integer("element", text, least=0)
    return encode_bytes(text.encode("utf-8", "surrogateescape"), longest)


def text_of(element: int, longest: int | None) -> str:
    """The text of an element: its number, or the text that the number encodes."""
    from exactdp.mechanisms import decode_bytes

    if longest is None:
        return str(element)
    try:
        return decode_bytes(element).decode()
    except (InvalidParameter, UnicodeDecodeError):
        return f"0x{element:x}"
