"""exactdp release and exactdp query: histograms from counts files to released files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file, print_json, print_table
from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text, integer

__all__ = ["query", "release"]


@click.group(no_args_is_help=True)
def release() -> None:
    """Publish a histogram of counts (CSV: element,count) with differential privacy."""


@click.command(epilog='Example: exactdp query ages.edph "age 36 education 3"')
@click.argument("file")
@click.argument("element")
@options("", "text")
def query(file: str, element: str, text: str | None) -> None:
    """The released count of one element, from a released CSV or compact file."""
    from exactdp.mechanisms import CompactRelease

    path = _existing(file)
    if path.suffix == ".csv":
        found = dict(_read(path))
        click.echo(found.get(element, "0"))
        return
    hist = CompactRelease.from_bytes(path.read_bytes())
    longest = _longest_of(hist.mechanism.universe) if text is None else text
    click.echo(str(hist[_element(element, None if element.isdecimal() else longest)]))


def _add(
    name: str, required: str, optional: str, text: str, make: Callable[..., Any], example: str
) -> None:
    @release.command(
        name, help=text, epilog=f"Example: exactdp release {name} COUNTS.csv {example}"
    )
    @click.argument("counts")
    @options(f"{required} output", f"universe text {optional}")
    @json_option
    def command(counts: str, output: str, as_json: bool, **given: str | None) -> None:
        universe, longest = given.pop("universe"), given.pop("text")
        if (universe is None) == (longest is None):
            raise click.UsageError("universe must be given, or else text (not both)")
        target = new_file("output", output, (".csv",) if name != "compact" else (".edph",))
        pairs = _read(_existing(counts))
        true = _counts(pairs, longest)
        size = 256 ** (integer("text", longest, least=0) + 1) if longest is not None else universe
        present = {key: value for key, value in given.items() if value is not None}
        mechanism = make(n=sum(true.values()), universe=size, **present)
        _publish(name, mechanism, true, target, longest, as_json)


def _publish(
    name: str, mechanism: Any, counts: dict[int, int], path: Path, longest: Any, as_json: bool
) -> None:
    from exactdp.samplers import SystemSource

    made = mechanism.release(counts, SystemSource())
    guarantee = made.guarantee.as_dict()
    if name == "compact":
        path.write_bytes(made.to_bytes())
        _write_guarantee(path, guarantee)
        size = f"{len(made.coefficients)} coefficients"
    else:
        _write(path, [(_shown(x, longest), str(c)) for x, c in made], guarantee)
        size = f"{len(made)} bins"
    accuracy = _accuracy(mechanism)
    report = {"mechanism": name, "released": size, "output": str(path), **accuracy}
    if as_json:
        print_json({**report, "guarantee": guarantee})
    else:
        print_table(f"released by {name}", [], [[k, str(v)] for k, v in report.items()])
        click.echo(f"guarantee: {made.guarantee}")


def _accuracy(mechanism: Any) -> dict[str, str]:
    try:
        bound = mechanism.accuracy("0.05")
    except InvalidParameter:  # the failure probability alone is above 5 %
        return {}
    above = f", for counts > {bound.per_query_above}" if bound.per_query_above >= 0 else ""
    return {
        "error of one count (95 %)": f"<= {bound.per_query}{above}",
        "error of all counts (95 %)": f"<= {bound.simultaneous}",
    }


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise InvalidParameter("file", name, "a file that exists")
    return path


def _read(path: Path) -> list[tuple[str, str]]:
    """The (element, count) rows of a CSV file, after its header."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if not rows or [cell.strip().lower() for cell in rows[0]] != ["element", "count"]:
        raise InvalidParameter("counts", path.name, "a CSV file with the header element,count")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != 2:
            raise InvalidParameter("counts", f"line {number} of {path.name}", "two cells per line")
    return [(row[0], row[1]) for row in rows[1:]]


def _counts(pairs: list[tuple[str, str]], longest: str | None) -> dict[int, int]:
    found: dict[int, int] = {}
    for element, count in pairs:
        key = _element(element, longest)
        if key in found:
            raise InvalidParameter("element", element, "listed once")
        found[key] = integer(f"count of {element}", count, least=0)
    return found


def _element(text: str, longest: str | int | None) -> int:
    from exactdp.mechanisms import encode_bytes

    if longest is None:
        return integer("element", text, least=0)
    return encode_bytes(text.encode(), integer("text", longest, least=0))


def _shown(element: int, longest: str | None) -> str:
    from exactdp.mechanisms import decode_bytes

    if longest is None:
        return str(element)
    try:
        return decode_bytes(element).decode()
    except (InvalidParameter, UnicodeDecodeError):
        return f"0x{element:x}"


def _longest_of(universe: int) -> int:
    """Bytes of the longest text, for a universe of 256^(longest + 1)."""
    return (universe - 1).bit_length() // 8 - 1


def _geo(n: int, epsilon: str) -> Any:
    from exactdp.samplers import GeoSample

    return GeoSample(n=n, epsilon=epsilon)


def _basic(n: int, universe: Any, epsilon: str) -> Any:
    from exactdp.mechanisms import BasicHistogram

    return BasicHistogram(_geo(n, epsilon), universe)


def _stability(n: int, universe: Any, epsilon: str, delta: str) -> Any:
    from exactdp.mechanisms import StabilityHistogram

    return StabilityHistogram.for_target(_geo(n, epsilon), universe, delta)


def _sparse(n: int, universe: Any, epsilon: str) -> Any:
    from exactdp.mechanisms import PureSparseHistogram

    return PureSparseHistogram(_geo(n, epsilon), universe)


def _strict(n: int, universe: Any, epsilon: str) -> Any:
    from exactdp.mechanisms import StrictPureSparseHistogram

    return StrictPureSparseHistogram(_geo(n, epsilon), universe)


def _compact(n: int, universe: Any, epsilon: str, beta: str = "0.05") -> Any:
    from exactdp.mechanisms import CompactHistogram

    return CompactHistogram.of(n=n, epsilon=epsilon, universe=universe, beta=beta)


def _add_thresholded(name: str, class_name: str, text: str) -> None:
    example = "--k 10 --epsilon 0.35 --delta 1e-5 --output out.csv"

    @release.command(
        name, help=text, epilog=f"Example: exactdp release {name} COUNTS.csv {example}"
    )
    @click.argument("counts")
    @options("k epsilon delta output", "sigma tau lower")
    @json_option
    def command(counts: str, output: str, as_json: bool, **given: str | None) -> None:
        from exactdp import mechanisms
        from exactdp.samplers import SystemSource

        path = new_file("output", output, (".csv",))
        true: dict[str, int] = {}
        for element, count in _read(_existing(counts)):
            if element in true:
                raise InvalidParameter("element", element, "listed once")
            true[element] = integer(f"count of {element}", count, least=0)
        present = {key: value for key, value in given.items() if value is not None}
        kind = getattr(mechanisms, class_name)
        if ("sigma" in present) != ("tau" in present):
            raise click.UsageError("sigma and tau must be given together, or neither")
        mechanism = kind(**present) if "sigma" in present else kind.for_target(**present)
        made = mechanism.release(true, SystemSource())
        rows = [(x, decimal_text(c)) for x, c in made]
        _write(path, rows, made.guarantee.as_dict())
        report = {"mechanism": name, "released": f"{len(rows)} counters", "output": output}
        if as_json:
            print_json({**report, "guarantee": made.guarantee.as_dict()})
        else:
            print_table(f"released by {name}", [], [[k, str(v)] for k, v in report.items()])
            click.echo(f"guarantee: {made.guarantee}")


def _write(path: Path, rows: list[tuple[str, str]], guarantee: dict[str, Any]) -> None:
    """The released file, and its guarantee beside it."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["element", "count"])
        writer.writerows(rows)
    _write_guarantee(path, guarantee)


def _write_guarantee(path: Path, guarantee: dict[str, Any]) -> None:
    beside = path.with_name(path.name + ".guarantee.json")
    beside.write_text(json.dumps(guarantee, indent=2) + "\n", encoding="utf-8")


_SPARSE = "--epsilon 1 --text 30 --output out.csv"
_add(
    "basic",
    "epsilon",
    "",
    "Every element of a small universe (BV, Algorithm 3).",
    _basic,
    "--epsilon 1 --universe 100 --output out.csv",
)
_add(
    "stability",
    "epsilon delta",
    "",
    "Non-empty bins above a threshold; (epsilon, delta)-DP (BV, Theorem 1.3).",
    _stability,
    "--epsilon 1 --delta 1e-6 --text 30 --output out.csv",
)
_add("sparse", "epsilon", "", "The heaviest bins; pure DP (BV, Theorem 6.6).", _sparse, _SPARSE)
_add(
    "strict-sparse",
    "epsilon",
    "",
    "The same from a fixed number of random bits (BV, Algorithm 8).",
    _strict,
    _SPARSE,
)
_add(
    "compact",
    "epsilon",
    "beta",
    "A hash that answers every query; pure DP (BV, Algorithm 9).",
    _compact,
    "--epsilon 1 --text 30 --output out.edph",
)
_add_thresholded("gshm", "GSHM", "Discrete Gaussian noise and a threshold (CSH, Algorithm 1).")
_add_thresholded("csh", "CSH", "The same with correlated noise (CSH, Algorithms 2 and 4).")
_add_thresholded("top-k", "TopK", "The k heaviest counters of any histogram (CSH, Algorithm 3).")
