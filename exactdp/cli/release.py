"""exactdp release: histograms over a universe of numbers or texts (Balcer and Vadhan)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from exactdp.cli.elements import element, length_of, text_of
from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file
from exactdp.cli.publishing import accuracy, overwrite_option, print_report, save, write_csv
from exactdp.cli.reading import counts_in, existing, listed
from exactdp.errors import InvalidParameter
from exactdp.parameters import integer, positive

#: Most rows for the mechanisms with replace-one neighbours, whose fractions grow with n.
_MOST_ROWS = 10_000_000

_LEAST_LOSS = Fraction(1, 10**9)


@click.group(no_args_is_help=True)
def release() -> None:
    """Publish counts, sums, keys or sketches, with noise.

    The input is a CSV file of counts (element,count), or a file of rows.

    With --user and --by, gshm and csh read rows from CSV or Parquet, one per user and key.
    --delimiter, --quote and --no-header set how CSV is read; an empty cell is a missing value. The
    privacy statement is written beside the release, to OUTPUT.statement.json.
    """


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
    facts = {"output": str(path), **accuracy(mechanism)}
    if name in ("sparse", "strict-sparse") and public is None:
        facts["note"] = "some released elements may not occur in the data; see --public"
    print_report(name, size, facts, promise, as_json)


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
