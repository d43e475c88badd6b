"""exactdp query: one element of a released histogram."""

from __future__ import annotations

import click

from exactdp.cli.reading import counts_in, existing
from exactdp.parameters import integer

__all__ = ["query"]


@click.command(epilog='Example: exactdp query ages.edph "age 36 education 3"')
@click.argument("file")
@click.argument("element")
def query(file: str, element: str) -> None:
    """The released count of one element, from a released CSV or compact file.

    Elements are read as they were when the file was released: as texts, or as numbers.
    """
    from exactdp.mechanisms import CompactRelease, encode_bytes

    path = existing(file)
    if path.suffix == ".csv":
        click.echo(dict(counts_in(path)).get(element, "0"))
        return
    hist = CompactRelease.from_bytes(path.read_bytes())
    if hist.text is None:
        click.echo(str(hist[integer("element", element, least=0)]))
        return
    encoded = element.encode("utf-8", "surrogateescape")
    click.echo(str(hist[encode_bytes(encoded, hist.text)]))
