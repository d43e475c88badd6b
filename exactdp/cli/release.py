"""exactdp release: publish histograms of files of counts or rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from exactdp import __version__
from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file, print_json, print_table, written
from exactdp.cli.reading import counts_in, existing, listed
from exactdp.cli.rows import RowsFile, dialect_options, release_rows
from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text, integer, positive

__all__ = [
    "element",
    "length_of",
    "overwrite_option",
    "print_report",
    "release",
    "save",
    "text_of",
    "write_csv",
]


@click.group(no_args_is_help=True)
def release() -> None:
    """Publish a histogram with differential privacy.

    The input is a CSV file of counts (element,count), or a file of rows.

    With --user and --by, gshm and csh read rows from CSV or Parquet, one per user and key.
    --delimiter, --quote and --no-header set how CSV is read; an empty cell is a missing value. The
    guarantee is written beside the release, to OUTPUT.guarantee.json.
    """


def overwrite_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--overwrite."""
    text = "Replace the release and its guarantee if they exist."
    return click.option("--overwrite", is_flag=True, help=text)(command)


def _add(
    name: str, required: str, optional: str, text: str, make: Callable[..., Any], example: str
) -> None:
    """Add a command for a mechanism over a universe of numbers or texts, for counts of n rows."""

    @release.command(
        name, help=text, epilog=f"Example: exactdp release {name} COUNTS.csv {example}"
    )
    @click.argument("counts")
    @options(f"{required} output", f"universe text {optional}")
    @overwrite_option
    @json_option
    def command(
        counts: str, output: str, overwrite: bool, as_json: bool, **given: str | None
    ) -> None:
        universe, longest = given.pop("universe"), given.pop("text")
        public = given.pop("public", None)
        if (universe is None) == (longest is None):
            raise click.UsageError("universe must be given, or else text (not both)")
        endings = (".csv",) if name != "compact" else (".edph",)
        target = new_file("output", output, endings, overwrite=overwrite)
        size: int | str | None = universe
        length = None if longest is None else length_of(longest)
        if length is not None:
            size = 256 ** (length + 1)
        true = {
            element(x, length): integer(f"count of {x}", c, least=0)
            for x, c in counts_in(existing(counts))
        }
        if sum(true.values()) > _MOST_ROWS:
            raise InvalidParameter("the sum of counts", sum(true.values()), f"<= {_MOST_ROWS}")
        kept = None if public is None else listed(existing(public, "public"))
        present = {key: value for key, value in given.items() if value is not None}
        mechanism = make(n=sum(true.values()), universe=size, **present)
        _publish(name, mechanism, true, target, length, kept, as_json, overwrite)


def _publish(
    name: str,
    mechanism: Any,
    counts: dict[int, int],
    path: Path,
    longest: int | None,
    public: set[str] | None,
    as_json: bool,
    overwrite: bool,
) -> None:
    from exactdp.samplers import SystemSource

    made = mechanism.release(counts, SystemSource())
    promise = made.guarantee
    if name == "compact":
        made = made.of_texts(longest)
        save(path, promise, mechanism, overwrite, lambda part: part.write_bytes(made.to_bytes()))
        size = len(made.coefficients), "coefficients"
    else:
        rows = [(text_of(x, longest), str(c)) for x, c in made.items()]
        if public is not None:  # post-processing: costs no privacy
            rows = [row for row in rows if row[0] in public]
        header = ["element", "count"]
        save(path, promise, mechanism, overwrite, lambda part: write_csv(part, header, rows))
        size = len(rows), "bins"
    facts = {"output": str(path), **_accuracy(mechanism)}
    if name in ("sparse", "strict-sparse") and public is None:
        facts["note"] = "some released elements may not occur in the data; see --public"
    print_report(name, size, facts, promise, as_json)


def print_report(
    mechanism: str, released: tuple[int, str], facts: dict[str, str], promise: Any, as_json: bool
) -> None:
    """Print what was released (number and unit), the facts about it, and the guarantee."""
    number, unit = released
    if as_json:
        head = {"mechanism": mechanism, "released": number, "unit": unit}
        print_json({**head, **facts, "guarantee": promise.as_dict()})
        return
    rows = {"released": f"{number} {unit}", **facts}
    print_table(f"released by {mechanism}", [], [[k, v] for k, v in rows.items()])
    click.echo(f"guarantee: {promise}")


def save(
    path: Path,
    promise: Any,
    mechanism: Any,
    overwrite: bool,
    write: Callable[[Path], object],
    read: dict[str, object] | None = None,
) -> None:
    """Write the released file and the file of its guarantee beside it: both or none.

    The guarantee's file also records the mechanism and its parameters. read: the columns that were
    read.
    """
    told = {
        **promise.as_dict(),
        "release": {"file": path.name, **_described(mechanism), **(read or {})},
        "made_by": {"name": "exactdp", "version": __version__},
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    beside = path.with_name(path.name + ".guarantee.json")
    new_file("output", str(beside), (".json",), overwrite=overwrite)
    with written(beside, path, overwrite=overwrite) as (guarantee, part):
        guarantee.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        write(part)


def _described(mechanism: Any) -> dict[str, object]:
    """The name and the parameters of a mechanism: numbers as exact decimals, for JSON."""
    return {"mechanism": type(mechanism).__name__, "parameters": _parameters(mechanism)}


def _parameters(mechanism: Any) -> dict[str, object]:
    values = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.repr}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> object:
    if isinstance(value, bool | int):
        return value
    if is_dataclass(value):
        return {"name": type(value).__name__, **_parameters(value)}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return decimal_text(value) if isinstance(value, Fraction) else str(value)


def write_csv(path: Path, header: list[str], rows: Iterable[Iterable[str]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _accuracy(mechanism: Any) -> dict[str, str]:
    try:
        bound = mechanism.accuracy("0.05")
    except InvalidParameter:  # the failure probability alone is above 5 %
        return {}
    limit, one, every = (
        decimal_text(Fraction(n))
        for n in (bound.per_query_above, bound.per_query, bound.simultaneous)
    )
    above = f", for counts > {limit}" if bound.per_query_above >= 0 else ""
    return {
        "error of one count (95 %)": f"<= {one}{above}",
        "error of all counts (95 %)": f"<= {every}",
    }


#: Most rows for the mechanisms with replace-one neighbours, whose fractions grow with n.
_MOST_ROWS = 10_000_000

_LEAST_LOSS = Fraction(1, 10**9)

#: Longest texts, in bytes: the largest universe has 256^(_LONGEST + 1) elements.
_LONGEST = 4096


def length_of(text: str, most: int = _LONGEST) -> int:
    """The largest length of an element's text, in bytes; raises InvalidParameter."""
    longest = integer("text", text, least=0)
    if longest > most:
        raise InvalidParameter("text", text, f"<= {most}")
    return longest


def element(text: str, longest: int | None) -> int:
    """The number of an element given as text."""
    from exactdp.mechanisms import encode_bytes

    if longest is None:
        return integer("element", text, least=0)
    return encode_bytes(text.encode("utf-8", "surrogateescape"), longest)


def text_of(element: int, longest: int | None) -> str:
    """The text of an element: its number, or the text that the number encodes."""
    from exactdp.mechanisms import decode_bytes

    if longest is None:
        return str(element)
    try:
        return decode_bytes(element).decode()
    except (InvalidParameter, UnicodeDecodeError):
        return f"0x{element:x}"


def _geo(n: int, epsilon: str) -> Any:
    from exactdp.samplers import GeoSample

    return GeoSample(n=n, epsilon=_loss(epsilon))


def _loss(text: str) -> Fraction:
    """An epsilon for which the mechanisms' fractions, n times as long, stay small enough."""
    loss = positive("epsilon", text)
    if not _LEAST_LOSS <= loss <= 1 / _LEAST_LOSS:
        raise InvalidParameter("epsilon", text, "between 1e-9 and 1e9")
    return loss


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

    return CompactHistogram.of(n=n, epsilon=_loss(epsilon), universe=universe, beta=beta)


def _add_thresholded(name: str, class_name: str, text: str, optional: str) -> None:
    example = "--user uid --by url --k 10 --epsilon 0.35 --delta 1e-5 --output out.csv"

    @release.command(
        name, help=text, epilog=f"Example: exactdp release {name} visits.csv {example}"
    )
    @click.argument("data")
    @options("k epsilon delta output", f"user by sigma tau lower public {optional}")
    @dialect_options
    @overwrite_option
    @json_option
    def command(
        data: str,
        output: str,
        overwrite: bool,
        as_json: bool,
        no_header: bool,
        delimiter: str,
        quote: str,
        **given: str | None,
    ) -> None:
        target = new_file("output", output, (".csv",), overwrite=overwrite)
        user, by, sums, public = (
            given.pop(name, None) for name in ("user", "by", "sums", "public")
        )
        present = {key: value for key, value in given.items() if value is not None}
        if ("sigma" in present) != ("tau" in present):
            raise click.UsageError("sigma and tau must be given together, or neither")
        if (user is None) != (by is None) or (sums and user is None):
            raise click.UsageError("user and by must be given together, and for sums")
        path = existing(data, "data")
        keys = None if public is None else listed(existing(public, "public"))
        read: dict[str, object] = {}
        if user is not None and by is not None:
            file = RowsFile(path, user, by, delimiter, quote, not no_header)
            found = release_rows(file, class_name, present, sums, keys)
            header, rows, mechanism, promise = found
            read = {"user": user, "by": header[: header.index("count")], "sums": sums or ""}
        else:
            header = ["element", "count"]
            rows, mechanism = _of_counts(path, class_name, present, keys)
            promise = mechanism.guarantee()
        save(
            target, promise, mechanism, overwrite, lambda part: write_csv(part, header, rows), read
        )
        facts = {
            "released above": decimal_text(1 + mechanism.tau),
            "sigma": f"{float(mechanism.sigma):.6g}",
            "output": output,
            **_noise(mechanism),
            **_not_noise(mechanism, rows_read=bool(read)),
        }
        print_report(name, (len(rows), "counters"), facts, promise, as_json)


def _noise(mechanism: Any) -> dict[str, str]:
    """The error of one count by noise; the number of counters is private."""
    told = _accuracy(mechanism).get("error of one count (95 %)")
    return {"noise of one count (95 %)": told} if told else {}


def _not_noise(mechanism: Any, *, rows_read: bool) -> dict[str, str]:
    """The errors of counts other than noise."""
    if type(mechanism).__name__ == "TopK":
        return {"besides the noise": "the (k + 1)-th largest count is subtracted from all"}
    if not rows_read:
        return {}
    return {"besides the noise": f"keys beyond {mechanism.k} of a user are left out: exactdp cut"}


def _of_counts(
    path: Path, class_name: str, present: dict[str, str], keys: set[str] | None
) -> tuple[list[tuple[str, ...]], Any]:
    """The released rows of a file of counts; whoever made the file must ensure the bound k."""
    from exactdp import mechanisms
    from exactdp.samplers import SystemSource

    true = {x: integer(f"count of {x}", c, least=0) for x, c in counts_in(path)}
    if not true:
        click.echo(f"exactdp: {path.name} has no counts: an empty release", err=True)
    if keys is not None:
        true = {x: c for x, c in true.items() if x in keys}
    kind = getattr(mechanisms, class_name)
    mechanism = kind(**present) if "sigma" in present else kind.for_target(**present)
    found = mechanism.release(true, SystemSource()).counters
    return list(zip(found.elements, *found.texts(), strict=True)), mechanism


_SPARSE = "--epsilon 1 --text 30 --output out.csv"
_add(
    "basic",
    "epsilon",
    "",
    "Noise on every element of a small universe (Balcer and Vadhan, Algorithm 3).",
    _basic,
    "--epsilon 1 --universe 100 --output out.csv",
)
_add(
    "stability",
    "epsilon delta",
    "",
    "Non-empty bins above a threshold; (epsilon, delta)-DP (Balcer and Vadhan, Theorem 1.3).",
    _stability,
    "--epsilon 1 --delta 1e-6 --text 30 --output out.csv",
)
_add(
    "sparse",
    "epsilon",
    "public",
    "The heaviest bins; pure DP (Balcer and Vadhan, Theorem 6.6).",
    _sparse,
    _SPARSE,
)
_add(
    "strict-sparse",
    "epsilon",
    "public",
    "The heaviest bins; pure DP, from a fixed number of random bits (Balcer and Vadhan, Algorithm "
    "8). Quadratic in n and in the length of texts, so for few rows and small universes only.",
    _strict,
    "--epsilon 1 --universe 1000 --output out.csv",
)
_add(
    "compact",
    "epsilon",
    "beta",
    "A hash function that answers every query; pure DP (Balcer and Vadhan, Algorithm 9). 10^4 rows "
    "take half a minute and 0.8 GB; 10^5 rows take more than ten times as much of both.",
    _compact,
    "--epsilon 1 --text 30 --output out.edph",
)
_add_thresholded(
    "gshm",
    "GSHM",
    "Gaussian sparse histogram: noise on non-zero counters and a threshold (Lebeda, Retschmeier).",
    "sums",
)
_add_thresholded(
    "csh",
    "TopK",
    "Correlated Gaussian sparse histogram (CSH) of the k heaviest counters (Lebeda and "
    "Retschmeier, Algorithms 2 to 4).",
    "",
)
_add_thresholded("top-k", "TopK", "Another name of csh.", "")
