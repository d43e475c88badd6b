"""Sums and means on the command line: COLUMN:LOW..HIGH[/STEP]:OF[:missing=VALUE], with commas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

if TYPE_CHECKING:
    from exactdp.frames.values import Mean, Sum, Value

_Kind = TypeVar("_Kind", bound="Value")

_FORM = re.compile(
    r"(?P<column>.+):(?P<low>[^:/]+)\.\.(?P<high>[^:/]+?)(/(?P<step>[^:]+))?"
    r":(?P<of>rows(?==)|users|sums)(=(?P<most>[^:]+))?(:missing=(?P<missing>[^:]+))?"
)

_ALLOWED = (
    "COLUMN:LOW..HIGH:rows=M (over rows, at most M of a user for a key), COLUMN:LOW..HIGH:users "
    "(over users' means) or COLUMN:LOW..HIGH:sums (over users' sums), with commas"
)


def sums_in(text: str | None) -> dict[str, Sum]:
    """The sums that --sums asks for; raises InvalidParameter."""
    from exactdp.frames import Sum

    return _read("sums", text or "", Sum)


def means_in(text: str | None) -> dict[str, Mean]:
    """The means that --means asks for; raises InvalidParameter."""
    from exactdp.frames import Mean

    return _read("means", text or "", Mean)


def _read(option: str, text: str, kind: type[_Kind]) -> dict[str, _Kind]:
    values: dict[str, _Kind] = {}
    for part in text.split(",") if text else ():
        form = _FORM.fullmatch(part)
        if form is None or form["column"] in values:
            raise InvalidParameter(option, text, _ALLOWED)
        options: dict[str, Any] = {
            name: form[name] for name in ("step", "of", "missing", "most") if form[name]
        }
        values[form["column"]] = kind(form["low"], form["high"], **options)
    return values


def errors_of(values: Mapping[str, Value], errors: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """The errors of released sums and means by noise, for the report."""
    facts = {}
    for name, value in values.items():
        bounds = sorted({_text(error) for error in errors.get(name, ())}, key=float)
        if bounds:
            ends = bounds[0] if len(bounds) == 1 else f"{bounds[0]} to {bounds[-1]}, by key"
            facts[f"noise of one {type(value).__name__.lower()} of {name} (95 %)"] = f"<= {ends}"
    return facts


def _text(error: float) -> str:
    return Enclosure.exact(Fraction(error)).decimal_upper(4)
