"""The mechanism with the least certified error, chosen before any row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter, Undecided


@dataclass(frozen=True)
class Option:
    """A mechanism that answers a question. error: certified, in the unit of the choice."""

    name: str
    mechanism: Any
    error: Fraction


@dataclass(frozen=True)
class Choice:
    """Why a mechanism was chosen. unit: of the errors. options: with the least error first.

    refused: name -> why a mechanism cannot keep the target.
    """

    unit: str
    options: tuple[Option, ...]
    refused: Mapping[str, str]

    def __str__(self) -> str:
        first, *others = self.options
        text = f"{first.name}: {_text(first.error)} {self.unit}"
        if others:
            more = 100 * (others[0].error / first.error - 1) if first.error else 0
            text += (
                f"; {others[0].name} would have {_text(others[0].error)} ({float(more):.0f} % more)"
            )
        return text


def rank(
    unit: str, makers: Mapping[str, Callable[[], Any]], error: Callable[[Any], Fraction | int]
) -> Choice:
    """The options by error, the least first; options of equal error in the order of `makers`.

    makers: name -> a function that makes the mechanism for the target, from public parameters
    alone. Raises the error of the first maker if every maker raises one.
    """
    options, refused, first = [], {}, None
    for name, make in makers.items():
        try:
            mechanism = make()
            options.append(Option(name, mechanism, Fraction(error(mechanism))))
        except (InvalidParameter, Undecided) as fault:
            refused[name], first = str(fault), first or fault
    if first is not None and not options:
        raise first
    return Choice(unit, tuple(sorted(options, key=lambda each: each.error)), refused)


def _text(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"{float(number):.6g}"
