"""exactdp release gshm and csh: sparse histograms with a threshold (Lebeda and Retschmeier)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file
from exactdp.cli.publishing import accuracy, overwrite_option, print_report, save, write_csv
from exactdp.cli.reading import counts_in, existing, listed
from exactdp.cli.release import release
from exactdp.cli.rows import RowsFile, dialect_options, release_rows
from exactdp.parameters import decimal_text, integer


def _add(name: str, class_name: str, text: str, optional: str) -> None:
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
        more: dict[str, Any] = {}
        if user is not None and by is not None:
            file = RowsFile(path, user, by, delimiter, quote, not no_header)
            found = release_rows(file, class_name, present, sums, keys)
            header, rows, mechanism, promise, more = found
        else:
            header = ["element", "count"]
            rows, mechanism = _of_counts(path, class_name, present, keys)
            promise = mechanism.guarantee()
        save(
            target, promise, mechanism, overwrite, lambda part: write_csv(part, header, rows), more
        )
        facts = {
            "released above": decimal_text(1 + mechanism.tau),
            "sigma": f"{float(mechanism.sigma):.6g}",
            "output": output,
            **_noise(mechanism),
            **_not_noise(mechanism, rows_read=bool(more)),
        }
        print_report(name, (len(rows), "counters"), facts, promise, as_json)


def _noise(mechanism: Any) -> dict[str, str]:
    """The error of one count by noise; the number of counters is private."""
    told = accuracy(mechanism).get("error of one count (95 %)")
    return {"noise of one count (95 %)": told} if told else {}


def _not_noise(mechanism: Any, *, rows_read: bool) -> dict[str, str]:
    """The errors of counts other than noise."""
    if type(mechanism).__name__ == "TopK":
        return {"besides the noise": "the (k + 1)-th largest count is subtracted from all"}
    if not rows_read:
        return {}
    said = f"keys beyond {mechanism.k} of a user are left out: exactdp release cut"
    return {"besides the noise": said}


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


_add(
    "gshm",
    "GSHM",
    "Gaussian sparse histogram: noise on non-zero counters and a threshold (Lebeda, Retschmeier).",
    "sums",
)
_add(
    "csh",
    "TopK",
    "Correlated Gaussian sparse histogram (CSH) of the k heaviest counters (Lebeda and "
    "Retschmeier, Algorithms 2 to 4).",
    "",
)
_add("top-k", "TopK", "Another name of csh.", "")
