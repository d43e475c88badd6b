"""The errors exactdp raises. All of them derive from :class:`ExactDPError`."""

from __future__ import annotations

__all__ = ["Described", "ExactDPError", "InvalidParameter", "Undecided", "shown"]


class ExactDPError(Exception):
    """Root of every error raised on purpose by this library."""

    #: The exit status of a command that ends with this error: 2 for bad input.
    exit_code = 2


class InvalidParameter(ExactDPError, ValueError):
    """A parameter is outside its domain; the message names it, its value and what is allowed."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        super().__init__(f"{name} must be {allowed}, got {shown(value)}")
        self.name = name
        self.value = value
        self.allowed = allowed


class Described(str):
    """A description of a value that is too large to show, or private.

    >>> print(InvalidParameter("items", Described("an item twice"), "distinct"))
    items must be distinct, got an item twice
    """

    __slots__ = ()


class Undecided(ExactDPError, ArithmeticError):
    """The allowed precision does not decide the question; exactdp never guesses."""

    exit_code = 3


def shown(value: object, limit: int = 60) -> str:
    """Any value as text for an error message: one line of at most `limit` characters.

    >>> shown("abc"), shown(-1)
    ("'abc'", '-1')
    """
    try:
        if isinstance(value, int) and value.bit_length() > 4 * limit:
            return f"an integer of {value.bit_length()} bits"
        if isinstance(value, Described):  # may contain a name with control characters
            text = "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in value)
        else:
            text = ascii(value) if isinstance(value, str | bytes) else str(value)
    except Exception:  # a foreign __str__ may raise anything; the message must still appear
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
