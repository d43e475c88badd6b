"""exactdp release keys: which keys occur in a file of rows, without counts."""

from __future__ import annotations

import click

from exactdp.cli.options import json_option, options
from exactdp.cli.output import new_file
from exactdp.cli.publishing import overwrite_option, print_report, save, write_csv
from exactdp.cli.reading import existing
from exactdp.cli.release import release
from exactdp.cli.rows import RowsFile, dialect_options
from exactdp.parameters import integer

__all__ = ["keys"]


@release.command(
    epilog="Example: exactdp release keys posts.csv --user uid --by word --k 1 --epsilon 1 "
    "--delta 1e-6 --output words.csv"
)
@click.argument("data")
@options("user by k epsilon delta output")
@dialect_options
@overwrite_option
@json_option
def keys(
    data: str,
    user: str,
    by: str,
    k: str,
    epsilon: str,
    delta: str,
    output: str,
    overwrite: bool,
    as_json: bool,
    no_header: bool,
    delimiter: str,
    quote: str,
) -> None:
    """Which keys occur, without counts (Desfontaines and others).

    For k = 1 no release of keys by their numbers of users can release more keys. From about k = 3
    on, gshm needs fewer users per key, and releases counts as well.
    """
    from exactdp.frames import keys as release_keys

    target = new_file("output", output, (".csv",), overwrite=overwrite)
    file = RowsFile(existing(data, "data"), user, by, delimiter, quote, not no_header)
    with file.relation([]) as rows:
        names = file.keys(rows.columns)
        found = release_keys(
            rows,
            user=user,
            by=names,
            k=integer("k", k, least=1),
            epsilon=epsilon,
            delta=delta,
            passes=file.passes,
        )
        cells = [tuple(map(str, row)) for row in found.frame.fetchall()]
    more = {"bounds": found.bounds, "about": {"user": user, "by": ", ".join(names)}}
    made, promise = found.mechanism, found.guarantee
    save(target, promise, made, overwrite, lambda part: write_csv(part, names, cells), more)
    facts = {
        "released with probability 1/2": f"keys of {made.half} users",
        "released for certain": f"keys of {made.certain} users",
        "output": output,
    }
    print_report("keys", (len(cells), "keys"), facts, promise, as_json)
