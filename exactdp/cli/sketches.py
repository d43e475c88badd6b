"""exactdp release alp and its variants: sketches of sparse vectors that answer any query.

ALP: Aumüller, Lebeda and Pagh.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from exactdp.cli.elements import element, length_of, text_of
from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file
from exactdp.cli.publishing import overwrite_option, print_report, save, write_csv
from exactdp.cli.reading import counts_in, existing
from exactdp.cli.release import release
from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text, integer, positive

#: Longest texts, in bytes: hash functions take elements of at most 4096 bits.
_LONGEST = 500


def _vector(
    values: str, universe: str | None, longest: str | None
) -> tuple[dict[int, str], int, int | None]:
    """The values of a file by element, the size of the universe, and the largest text length."""
    if (universe is None) == (longest is None):
        raise click.UsageError("universe must be given, or else text (not both)")
    length = None if longest is None else length_of(longest, most=_LONGEST)
    size = integer("universe", universe, least=1) if universe is not None else 0
    vector = {element(x, length): c for x, c in counts_in(existing(values, "values"))}
    return vector, size if length is None else 256 ** (length + 1), length


def _add(name: str, text: str, optional: str, example: str) -> None:
    """Add a command that releases a sketch; elements are numbers below the universe, or texts."""

    @release.command(name, help=text, epilog=f"Example: exactdp release {name} X.csv {example}")
    @click.argument("values")
    @options("k:entries epsilon largest output", f"universe text {optional}")
    @overwrite_option
    @json_option
    def command(
        values: str, output: str, overwrite: bool, as_json: bool, **given: str | None
    ) -> None:
        from exactdp.samplers import SystemSource

        target = new_file("output", output, (".sketch",), overwrite=overwrite)
        vector, d, length = _vector(values, given.pop("universe"), given.pop("text"))
        k = integer("k", given.pop("k") or "", least=1)
        rows = integer("rows", given.pop("rows", None) or 8 * k, least=1)
        present = {key: value for key, value in given.items() if value is not None}
        mechanism = _made(name, d, k, rows, present)
        sketch = mechanism.project(vector, SystemSource()).of_texts(length)
        data = sketch.to_bytes()
        promise = mechanism.guarantee()
        save(target, promise, mechanism, overwrite, lambda part: part.write_bytes(data))
        facts = {"output": output, **_sizes(sketch), **_accuracy(mechanism)}
        print_report(name, (len(data), "bytes"), facts, promise, as_json)


def _sizes(sketch: Any) -> dict[str, str]:
    """Sizes of the release in bits, and of the paper's formula (Lemma 4.2, constant 1)."""
    sizes = getattr(sketch, "size", {})
    names = {"formula": "paper's (s + log2 d) m"}
    return {names.get(name, name): f"{bits} bits" for name, bits in sizes.items()}


@release.command(
    epilog="Example: exactdp release threshold X.csv --k 200 --epsilon 1 --largest 1e6 --text 30 "
    "--output out.csv"
)
@click.argument("values")
@options("k:entries epsilon largest output", "universe text delta stored_from grid")
@overwrite_option
@json_option
def threshold(
    values: str, output: str, overwrite: bool, as_json: bool, **given: str | None
) -> None:
    """Noisy values above a threshold; pure DP, or with --delta (ALP, Algorithms 6 and 9)."""
    from exactdp.mechanisms import ApproximateThreshold, Threshold
    from exactdp.mechanisms.projections.thresholds import usual_threshold
    from exactdp.samplers import SystemSource

    target = new_file("output", output, (".csv",), overwrite=overwrite)
    vector, d, length = _vector(values, given.pop("universe"), given.pop("text"))
    delta, t = given.pop("delta"), given.pop("stored_from")
    if delta is not None and t is not None:
        raise click.UsageError("delta must be given, or else stored-from (not both)")
    loss = positive("epsilon", given["epsilon"] or "")
    grid = positive("grid", given["grid"] or "1/64")
    k = integer("k", given["k"] or "", least=1)
    shared: dict[str, Any] = {"d": d, "k": k, "u": given["largest"], "epsilon": loss, "grid": grid}
    mechanism: Threshold | ApproximateThreshold
    if delta is not None:
        mechanism = ApproximateThreshold(**shared, delta=delta)
    else:
        mechanism = Threshold(**shared, t=t or usual_threshold(d, loss, grid))
    found, promise = mechanism.release(vector, SystemSource()), mechanism.guarantee()
    rows = [(text_of(i, length), decimal_text(value)) for i, value in found.items()]
    header = ["element", "count"]
    save(target, promise, mechanism, overwrite, lambda part: write_csv(part, header, rows))
    facts = {"output": output, "stored from": decimal_text(mechanism.threshold)}
    if isinstance(mechanism, Threshold):
        empty = mechanism.expected_empty.float_upper()
        facts["elements of value 0 among them"] = f"{empty:.3g} in the mean"
    print_report("threshold", (len(rows), "values"), facts, promise, as_json)


def _accuracy(mechanism: Any) -> dict[str, str]:
    """Bounds of the error of one query."""
    part = getattr(mechanism, "sketch", mechanism)
    if not hasattr(part, "levels"):
        return {"rows": str(part.rows)}
    found = {"levels": str(part.levels)}
    if not part.equal:
        middle = part.factor(part.cells.value(Fraction(part.levels, 2))).mean().float_upper()
        return {
            **found,
            "mean factor of an error": f"<= {middle:.4g} in the middle of its range",
            "factor of an error (95 %)": f"<= {part.factor_bound('0.05'):.4g}",
        }
    bound = part.error_bound("0.05")
    mean = part.error(part.beta / 2).mean_absolute().float_upper()
    note = " of a value in the sketch" if part is not mechanism else " of one value"
    if part is not mechanism:
        found["stored from"] = decimal_text(mechanism.stored.threshold)
    return {
        **found,
        f"mean error{note}": f"<= {mean:.4g} in the middle of its range",
        f"error{note} (95 %)": f"<= {bound:.4g}",
    }


def _made(name: str, d: int, k: int, rows: int, given: dict[str, str]) -> Any:
    """The mechanism of a command, from the options that it was given."""
    from exactdp import mechanisms

    epsilon, largest = given.pop("epsilon"), given.pop("largest")
    renamed: dict[str, Any] = {_PARAMETERS.get(name, name): x for name, x in given.items()}
    match name:
        case "alp":
            return mechanisms.ALP(d, k, rows, largest, epsilon, **renamed)
        case "signed-alp":
            return mechanisms.SignedALP(d, k, rows, largest, epsilon, **renamed)
        case "histogram-alp":
            usual = min(max(round(3 / positive("epsilon", epsilon)), 1), 1000)
            counts = integer("width", given.get("width", usual), least=1)
            return mechanisms.HistogramALP(d, k, rows, largest, epsilon, counts)
        case "log-alp":
            return mechanisms.LogALP.of(d=d, k=k, s=rows, beta=largest, epsilon=epsilon, **renamed)
        case "max-projection":
            return mechanisms.MaxProjection(d=d, k=k, u=largest, epsilon=epsilon, s=rows, **renamed)
        case "dense-laplace":
            return mechanisms.DenseLaplace(d=d, k=k, u=largest, epsilon=epsilon, **renamed)
    total, part = positive("epsilon", epsilon), positive("share", renamed.pop("share", "1/3"))
    if part >= 1:
        raise InvalidParameter("share", given["share"], "> 0 and < 1")
    renamed |= {"epsilon1": part * total, "epsilon2": (1 - part) * total}
    return mechanisms.ThresholdALP(d=d, k=k, s=rows, u=largest, **renamed)


#: Options whose names are longer than those of the parameters.
_PARAMETERS = {"price": "alpha", "stored_from": "t"}

_SMALL = "--k 200 --epsilon 1 --largest 40 --text 30 --output out.sketch"
_WIDE = "--k 200 --epsilon 1 --largest 1e6 --text 30 --output out.sketch"

#: Command -> sentence, further options, example.
_SKETCHES = {
    "alp": (
        "A sketch of values up to a bound, which answers for any entry (Aumüller, Lebeda, Pagh: "
        "Algorithm 4).",
        "rows price",
        _SMALL,
    ),
    "signed-alp": ("A sketch of values of either sign (ALP, Section 10).", "rows price", _SMALL),
    "histogram-alp": (
        "A sketch of counts; neighbours differ by 1 in one count (ALP, Algorithm 10).",
        "rows width",
        _SMALL,
    ),
    "log-alp": (
        "A sketch with few levels and multiplicative error (ALP, Section 6).",
        "rows price:log",
        _WIDE,
    ),
    "threshold-alp": (
        "Large values stored, small values in a sketch; pure DP, or with --delta (ALP, "
        "Algorithm 7).",
        "rows delta price share stored_from",
        _WIDE,
    ),
    "max-projection": (
        "The noisy maximum of each row; one look-up per query (ALP, Algorithm 11).",
        "rows grid",
        "--k 200 --epsilon 1 --largest 40 --rows 5000 --text 30 --output out.sketch",
    ),
    "dense-laplace": (
        "Noise on every element of a small universe, in a file for release query (ALP, "
        "Algorithm 1).",
        "grid",
        "--k 20 --epsilon 1 --largest 40 --universe 100 --output out.sketch",
    ),
}
for _name, _entry in _SKETCHES.items():
    _add(_name, *_entry)
