"""How results look: a title over a table of names and values, for terminals and notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from html import escape

from exactdp.errors import one_line
from exactdp.parameters import short_text

#: Of a longer sequence, a summary says how many values it has.
_MOST_VALUES = 4


class Displayed(ABC):
    """A result that ``print`` and a notebook show as a table."""

    @abstractmethod
    def _title(self) -> str:
        """A few words over the table."""

    @abstractmethod
    def _rows(self) -> Mapping[str, object]:
        """The names and the values of the table."""

    def __str__(self) -> str:
        return facts(self._title(), self._rows())

    def _repr_html_(self) -> str:
        return html(self._title(), self._rows())


class Printed:
    """A result that a notebook shows as ``print`` does."""

    def _repr_html_(self) -> str:
        # notebooks would break lines within words, and some set this text in letters of any width
        style = "white-space:pre-wrap;word-break:normal;font-family:monospace"
        return f'<pre style="{style}">{escape(str(self))}</pre>'


def facts(title: str, rows: Mapping[str, object]) -> str:
    """A title, and a line for every name and value.

    >>> print(facts("noise", {"sigma": 2, "epsilon": "0.5"}))
    noise
    sigma    2
    epsilon  0.5
    """
    width = max(map(len, rows), default=0)
    lines = [f"{name:{width}}  {value}".rstrip() for name, value in rows.items()]
    return "\n".join([title, *lines])


def html(title: str, rows: Mapping[str, object]) -> str:
    """The same as HTML."""
    left = 'style="text-align:left"'
    lines = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<p><strong>{escape(title)}</strong></p><table>{lines}</table>"


def summary(value: object) -> str:
    """An object in a few words: its class and its fields, numbers with few digits.

    >>> from exactdp.accounting.pld.losses.normal import Gaussian
    >>> summary(Gaussian(Fraction(1, 2)))
    'Gaussian(mu=0.5)'
    """
    if isinstance(value, Fraction):
        return short_text(value)
    if is_dataclass(value):
        parts = (f"{f.name}={summary(getattr(value, f.name))}" for f in fields(value) if f.repr)
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple | list):
        if len(value) > _MOST_VALUES:
            return f"{len(value)} values"
        return f"({', '.join(map(summary, value))})"
    return one_line(value)
