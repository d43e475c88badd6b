"""Sums, means and quantiles on the command line: COLUMN:LOW..HIGH[/STEP]:OF[:missing=VALUE], with
commas; at the end, quantiles have [:q=Q+Q...][:interval], and means [:variance]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

if TYPE_CHECKING:
    from exactdp.frames import Quantile
    from exactdp.frames.values import Mean, Sum, Value

_Kind = TypeVar("_Kind", bound="Value")

_FORM = re.compile(
    r"(?P<column>.+):(?P<low>[^:/]+)\.\.(?P<high>[^:/]+?)(/(?P<step>[^:]+))?"
    r":(?P<of>rows(?==)|users|sums)(=(?P<most>[^:]+))?(:missing=(?P<missing>[^:]+))?"
)

#: What may follow the form of a quantile.
_QUANTILES = re.compile(r"(?P<value>.+?)(:q=(?P<q>[^:]+))?(?P<interval>:interval)?")

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
    from exactdp.frames import Mean, Variance

    means: dict[str, Mean] = {}
    for part in text.split(",") if text else ():
        plain = part.removesuffix(":variance")
        kind = Mean if plain == part else Variance
        column = _read("means", plain, kind)
        if column.keys() & means.keys():
            raise InvalidParameter("means", text, _ALLOWED)
        means |= column
    return means


def quantiles_in(text: str | None) -> dict[str, Quantile]:
    """The quantiles that --quantiles asks for; raises InvalidParameter."""
    from exactdp.frames import Quantile

    quantiles: dict[str, Quantile] = {}
    for part in text.split(",") if text else ():
        form = _QUANTILES.fullmatch(part)
        of_column = _FORM.fullmatch(form["value"]) if form else None
        if form is None or of_column is None or of_column["column"] in quantiles:
            allowed = f"{_ALLOWED}; then :q=0.25+0.5 for others than the median, and :interval"
            raise InvalidParameter("quantiles", text, allowed)
        quantiles[of_column["column"]] = Quantile(
            (form["q"] or "0.5").split("+"),
            **_arguments(of_column),
            interval=form["interval"] is not None,
        )
    return quantiles


def _read(option: str, text: str, kind: type[_Kind]) -> dict[str, _Kind]:
    values: dict[str, _Kind] = {}
    for part in text.split(",") if text else ():
        form = _FORM.fullmatch(part)
        if form is None or form["column"] in values:
            raise InvalidParameter(option, text, _ALLOWED)
        values[form["column"]] = kind(**_arguments(form))
    return values


def _arguments(form: re.Match[str]) -> dict[str, Any]:
    names = ("low", "high", "step", "of", "missing", "most")
    return {name: form[name] for name in names if form[name]}


def errors_of(values: Mapping[str, Value], errors: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """The errors of released sums and means by noise, for the report."""
    facts = {}
    for name, value in values.items():
        kind = "sum" if value.kind == "sums" else "mean"
        for column, what in ((name, kind), (f"{name}_variance", "variance")):
            bounds = sorted({_text(error) for error in errors.get(column, ())}, key=float)
            if bounds:
                ends = bounds[0] if len(bounds) == 1 else f"{bounds[0]} to {bounds[-1]}, by key"
                facts[f"noise of one {what} of {name} (95 %)"] = f"<= {ends}"
    return facts


def rank_errors_of(
    quantiles: Mapping[str, Quantile], errors: Mapping[str, Sequence[float]]
) -> dict[str, str]:
    """The errors of released quantiles in ranks, for the report."""
    columns = [column for name, each in quantiles.items() for column in each.columns(name)]
    return {
        f"error of {column} in ranks (95 %)": f"<= {_text(errors[column][0])} values"
        for column in columns
        if errors.get(column)
    }


def _text(error: float) -> str:
    return Enclosure.exact(Fraction(error)).decimal_upper(4)
