"""Numbers that a text states, such as "epsilon = 4" or "scale = 10"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_FACTOR = r"(?:([0-9.]+)\s*(?:\u00d7|x|\\times|\*)\s*)?"
_POWER = _FACTOR + r"10\s*(?:\^|\*\*)\s*\{?\s*[-\u2212\u2013]\s*([0-9]{1,3})\}?"

#: Symbols, in letters, in LaTeX and in Greek.
_SYMBOLS = {
    "epsilon": r"(?:\\epsilon|\\varepsilon|\bepsilon|\u03b5)",
    "delta": r"(?:\\delta|\bdelta|\u03b4)",
    "rho": r"(?:\\rho|\brho|\u03c1)",
    "sensitivity": r"\bsensitivity",
    "scale": r"\bscale",
}

#: Between a symbol and its number: "=", and the ends of formulas, as in \\(\\rho\\) = 2.
_EQUALS = r"(?:\s|\\+\)|\$)*=(?:\s|\\+\(|\$)*"


def exact(text: str) -> Fraction | None:
    """The number that a text denotes, in decimal or scientific notation; None if it denotes no
    number."""
    return Fraction(text) if re.fullmatch(_NUMBER, text) else None


def lines(text: str) -> list[str]:
    """The sentences and list items of a text."""
    return [part for part in re.split(r"\n|(?<=[.;])\s+(?=[A-Z-])", text) if part.strip()]


def stated(symbol: str, text: str) -> list[Fraction]:
    """The numbers that a text states for a symbol, in order."""
    return list(_read_numbers(symbol, text))


def _read_numbers(symbol: str, text: str) -> Iterator[Fraction]:
    pattern = f"{_SYMBOLS[symbol]}{_EQUALS}(?:{_POWER}|({_NUMBER}))"
    for match in re.finditer(pattern, text):
        factor, power, plain = match.groups()
        if plain is not None:
            yield Fraction(plain)
        elif exact(factor or "1") is not None:
            yield Fraction(factor or "1") / 10 ** int(power)
