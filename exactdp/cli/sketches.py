"""exactdp release alp and its relatives: sparse vectors as sketches that answer any query."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file
from exactdp.cli.reading import counts_in, existing
from exactdp.cli.release import element, length_of, overwrite_option, print_report, release, save
from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text, integer, positive

__all__: list[str] = []

_EXAMPLE = "--k 200 --epsilon 1 --largest 40 --text 30 --output out.sketch"


def _add(name: str, text: str, optional: str, make: Callable[..., Any], example: str) -> None:
    """A sketch of the values in a file; elements are numbers below the universe, or texts."""

    @release.command(name, help=text, epilog=f"Example: exactdp release {name} X.csv {example}")
    @click.argument("values")
    @options("k epsilon largest output", f"universe text rows {optional}")
    @overwrite_option
    @json_option
    def command(
        values: str, output: str, overwrite: bool, as_json: bool, **given: str | None
    ) -> None:
        from exactdp.samplers import SystemSource

        universe, longest = given.pop("universe"), given.pop("text")
        if (universe is None) == (longest is None):
            raise click.UsageError("universe must be given, or else text (not both)")
        target = new_file("output", output, (".sketch",), overwrite=overwrite)
        length = None if longest is None else length_of(longest, most=_LONGEST)
        size = integer("universe", universe, least=1) if universe is not None else 0
        d = size if length is None else 256 ** (length + 1)
        vector = {element(x, length): c for x, c in counts_in(existing(values, "values"))}
        k = integer("k", given.pop("k") or "", least=1)
        rows = integer("rows", given.pop("rows") or 8 * k, least=1)
        present = {key: value for key, value in given.items() if value is not None}
        mechanism = make(d, k, rows, **present)
        sketch = mechanism.project(vector, SystemSource()).of_texts(length)
        data = sketch.to_bytes()
        promise = mechanism.guarantee()
        save(target, promise, overwrite, lambda part: part.write_bytes(data))
        lines = {"mechanism": name, "released": f"{len(data)} bytes", "output": output}
        print_report({**lines, **_accuracy(mechanism)}, promise, as_json)


def _accuracy(mechanism: Any) -> dict[str, str]:
    """What is known of the error of one query."""
    part = getattr(mechanism, "sketch", mechanism)
    found = {"levels": f"{part.levels} of {part.s} bits"}
    try:
        bound = part.error_bound("0.05")
        mean = part.error(Fraction(part.beta) / 2).mean_absolute().float_upper()
    except InvalidParameter:  # levels of a logarithmic scale have no error in one unit
        return found
    note = " of a value in the sketch" if part is not mechanism else " of one value"
    if part is not mechanism:
        found["stored from"] = decimal_text(mechanism.stored.threshold)
    return {
        **found,
        f"mean error{note}": f"<= {mean:.4g} in the middle of its range",
        f"error{note} (95 %)": f"<= {bound:.4g}",
    }


#: Longest texts: hash functions take elements of 4096 bits.
_LONGEST = 500


def _alp(d: int, k: int, rows: int, epsilon: str, largest: str, price: str = "8") -> Any:
    from exactdp.mechanisms import ALP

    return ALP(d, k, rows, largest, epsilon, price)


def _signed(d: int, k: int, rows: int, epsilon: str, largest: str, price: str = "8") -> Any:
    from exactdp.mechanisms import SignedALP

    return SignedALP(d, k, rows, largest, epsilon, price)


def _histogram(d: int, k: int, rows: int, epsilon: str, largest: str, width: str = "1") -> Any:
    from exactdp.mechanisms import HistogramALP

    return HistogramALP(d, k, rows, largest, epsilon, integer("width", width, least=1))


def _log(d: int, k: int, rows: int, epsilon: str, largest: str, price: str = "20") -> Any:
    from exactdp.mechanisms import LogALP

    return LogALP.of(d=d, k=k, s=rows, beta=largest, epsilon=epsilon, alpha=price)


def _threshold(
    d: int,
    k: int,
    rows: int,
    epsilon: str,
    largest: str,
    delta: str = "0",
    price: str = "8",
    share: str = "1/3",
) -> Any:
    from exactdp.mechanisms import ThresholdALP

    total, part = positive("epsilon", epsilon), positive("share", share)
    if part >= 1:
        raise InvalidParameter("share", share, "> 0 and < 1")
    return ThresholdALP(
        d=d,
        k=k,
        s=rows,
        u=largest,
        epsilon1=part * total,
        epsilon2=(1 - part) * total,
        delta=delta,
        alpha=price,
    )


_add("alp", "Values up to a bound as noisy bits (ALP, Algorithm 4).", "price", _alp, _EXAMPLE)
_add(
    "signed-alp",
    "The same, of either sign (ALP, Section 10).",
    "price",
    _signed,
    _EXAMPLE,
)
_add(
    "histogram-alp",
    "Counts; a neighbour differs by 1 in one of them (ALP, Algorithm 10).",
    "width",
    _histogram,
    _EXAMPLE,
)
_add("log-alp", "Few levels, errors by a factor (ALP, Section 6).", "price", _log,
     "--k 200 --epsilon 1 --largest 1e6 --text 30 --output out.sketch")  # fmt: skip
_add(
    "threshold-alp",
    "Large values stored, small ones in a sketch; pure or with delta (ALP, Algorithm 7).",
    "delta price share",
    _threshold,
    "--k 200 --epsilon 1 --largest 1e6 --text 30 --output out.sketch",
)
