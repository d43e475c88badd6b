"""exactdp query: look up an element of a released histogram or sketch."""

from __future__ import annotations

from typing import Any

import click

from exactdp.cli.reading import counts_in, existing
from exactdp.parameters import integer


@click.command(epilog='Example: exactdp query ages.edph "age 36 education 3"')
@click.argument("file")
@click.argument("element")
def query(file: str, element: str) -> None:
    """Look up one element in a release.

    The release is a CSV, a compact file or a sketch.

    ELEMENT is a text or a number, as in the input of the release.
    """
    from exactdp.container import kind_of
    from exactdp.mechanisms import CompactRelease, encode_bytes, read_sketch

    path = existing(file)
    if path.suffix == ".csv":
        click.echo(dict(counts_in(path)).get(element, "0"))
        return
    data = path.read_bytes()
    compact = kind_of(data) == "compact histogram"
    found: Any = CompactRelease.from_bytes(data) if compact else read_sketch(data)
    if found.text is None:
        place = integer("element", element, least=0)
    else:
        place = encode_bytes(element.encode("utf-8", "surrogateescape"), found.text)
    value = found[place]
    click.echo(str(value) if compact else f"{float(value):.6g}")
