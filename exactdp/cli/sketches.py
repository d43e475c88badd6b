"""exactdp release alp and its variants: sketches of sparse vectors that answer any query.

ALP: Aumüller, Lebeda and Pagh.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from exactdp.cli import parameters as opt
from exactdp.cli.answers import Answer, answering
from exactdp.cli.elements import element, length_of, text_of
from exactdp.cli.options import options, overwrite_option
from exactdp.cli.output import new_file
from exactdp.cli.publishing import report, save, write_csv
from exactdp.cli.reading import counts_in, existing
from exactdp.cli.release import release
from exactdp.parameters import choice, decimal_text, integer

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


def _add(name: str, text: str, optional: tuple[opt.Option, ...], example: str) -> None:
    """Add a command that releases a sketch; elements are numbers below the universe, or texts."""

    @release.command(name, help=text, epilog=f"Example: exactdp release {name} X.csv {example}")
    @click.argument("values")
    @options(
        opt.K_ENTRIES,
        opt.EPSILON,
        opt.LARGEST,
        opt.OUTPUT,
        optional=(opt.UNIVERSE, opt.TEXT, *optional),
    )
    @overwrite_option
    @answering
    def command(values: str, output: str, overwrite: bool, **texts: str | None) -> Answer:
        from exactdp.samplers import SystemSource

        target = new_file("output", output, (".sketch",), overwrite=overwrite)
        vector, d, length = _vector(values, texts.pop("universe"), texts.pop("text"))
        present = {key: value for key, value in texts.items() if value is not None}
        mechanism = _make_mechanism(name, d, present)
        sketch = mechanism.project(vector, SystemSource()).of_texts(length)
        data = sketch.to_bytes()
        promise = mechanism.guarantee
        save(target, promise, mechanism, overwrite, lambda part: part.write_bytes(data))
        facts = {"output": output, **_sizes(sketch), **_accuracy(mechanism)}
        return report(name, (len(data), "bytes"), facts, promise)


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
@options(
    opt.K_ENTRIES,
    opt.EPSILON,
    opt.LARGEST,
    opt.OUTPUT,
    optional=(opt.UNIVERSE, opt.TEXT, opt.DELTA, opt.STORED_FROM, opt.GRID),
)
@overwrite_option
@answering
def threshold(values: str, output: str, overwrite: bool, **texts: str | None) -> Answer:
    """Noisy values above a threshold; pure DP, or with --delta (ALP, Algorithms 6 and 9)."""
    from exactdp.mechanisms import ApproximateThreshold, Threshold
    from exactdp.samplers import SystemSource

    target = new_file("output", output, (".csv",), overwrite=overwrite)
    vector, d, length = _vector(values, texts.pop("universe"), texts.pop("text"))
    present: dict[str, Any] = {_PARAMETERS.get(x, x): v for x, v in texts.items() if v is not None}
    if "delta" in present and "t" in present:
        raise click.UsageError("delta must be given, or else stored-from (not both)")
    mechanism: Threshold | ApproximateThreshold
    if "delta" in present:
        mechanism = ApproximateThreshold(d=d, **present)
    else:
        mechanism = (Threshold if "t" in present else Threshold.of)(d=d, **present)
    noisy_values, promise = mechanism.release(vector, SystemSource()), mechanism.guarantee
    rows = [(text_of(i, length), decimal_text(value)) for i, value in noisy_values.items()]
    header = ["element", "count"]
    save(target, promise, mechanism, overwrite, lambda part: write_csv(part, header, rows))
    facts = {"output": output, "stored from": decimal_text(mechanism.threshold)}
    if isinstance(mechanism, Threshold):
        empty = mechanism.expected_empty.float_upper()
        facts["elements of value 0 among them"] = f"{empty:.3g} in the mean"
    return report("threshold", (len(rows), "values"), facts, promise)


def _accuracy(mechanism: Any) -> dict[str, str]:
    """Bounds of the error of one query."""
    part = getattr(mechanism, "small", mechanism)
    summary = {"rows": str(part.rows)} if hasattr(part, "rows") else {"levels": str(part.levels)}
    note = " of one value"
    if part is not mechanism:
        summary["stored from"] = decimal_text(mechanism.large.threshold)
        note = " of a value in the sketch"
    if not getattr(part, "equal", True):
        middle = part.factor(part.cells.value(Fraction(part.levels, 2))).mean().float_upper()
        summary["mean factor of an error"] = f"<= {middle:.4g} in the middle of its range"
        return {**summary, "factor of an error (95 %)": f"<= {part.factor_bound('0.05'):.4g}"}
    mean = part.error(part.largest / 2).mean_absolute().float_upper()
    where = "in the middle of its range" if "levels" in summary else "without collisions"
    summary[f"mean error{note}"] = f"<= {mean:.4g} {where}"
    if "levels" in summary:
        summary[f"error{note} (95 %)"] = f"<= {part.error_bound('0.05'):.4g}"
    return summary


def _make_mechanism(name: str, d: int, values: dict[str, str]) -> Any:
    """Make the mechanism of a command, from the texts of its options."""
    from exactdp import mechanisms

    chosen: Any = {
        "alp": mechanisms.ALP,
        "signed-alp": mechanisms.SignedALP,
        "histogram-alp": mechanisms.HistogramALP,
        "log-alp": mechanisms.LogALP,
        "max-projection": mechanisms.MaxProjection,
    }
    present: dict[str, Any] = {_PARAMETERS.get(x, x): value for x, value in values.items()}
    if name == "dense-laplace":
        return mechanisms.DenseLaplace(d=d, **present)
    if name != "threshold-alp":
        return chosen[name].of(d=d, **present)
    sketch = choice("sketch", present.pop("sketch", "alp"), tuple(chosen))
    if "alpha" in present and not hasattr(chosen[sketch], "alpha"):
        raise click.UsageError(f"price must be left out for --sketch {sketch}")
    return mechanisms.Combined.of(chosen[sketch], d=d, **present)


#: Options whose names are longer than those of the parameters.
_PARAMETERS = {"price": "alpha", "stored_from": "t", "rows": "s"}

_SMALL = "--k 200 --epsilon 1 --largest 40 --text 30 --output out.sketch"
_WIDE = "--k 200 --epsilon 1 --largest 1e6 --text 30 --output out.sketch"

#: Command -> sentence, further options, example.
_SKETCHES = {
    "alp": (
        "A sketch of values up to a bound, which answers for any entry (Aumüller, Lebeda, Pagh: "
        "Algorithm 4).",
        (opt.ROWS, opt.PRICE),
        _SMALL,
    ),
    "signed-alp": (
        "A sketch of values of either sign (ALP, Section 10).",
        (opt.ROWS, opt.PRICE),
        _SMALL,
    ),
    "histogram-alp": (
        "A sketch of counts; neighbours differ by 1 in one count (ALP, Algorithm 10).",
        (opt.ROWS, opt.WIDTH),
        _SMALL,
    ),
    "log-alp": (
        "A sketch with few levels and multiplicative error (ALP, Section 6).",
        (opt.ROWS, opt.PRICE_LOG),
        _WIDE,
    ),
    "threshold-alp": (
        "Large values stored, small values in a sketch of any kind; pure DP, or with --delta (ALP, "
        "Algorithm 7).",
        (opt.SKETCH, opt.ROWS, opt.DELTA, opt.PRICE, opt.SHARE, opt.STORED_FROM),
        _WIDE,
    ),
    "max-projection": (
        "The noisy maximum of each row; one look-up per query (ALP, Algorithm 11).",
        (opt.ROWS, opt.GRID),
        "--k 200 --epsilon 1 --largest 40 --rows 5000 --text 30 --output out.sketch",
    ),
    "dense-laplace": (
        "Noise on every element of a small universe, in a file for release query (ALP, "
        "Algorithm 1).",
        (opt.GRID,),
        "--k 20 --epsilon 1 --largest 40 --universe 100 --output out.sketch",
    ),
}
for _name, _entry in _SKETCHES.items():
    _add(_name, *_entry)
