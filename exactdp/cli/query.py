"""exactdp release query: look up an element of a released histogram or sketch."""

from __future__ import annotations

from typing import Any

import click

from exactdp.cli.answers import Answer, answering
from exactdp.cli.elements import element as number_of
from exactdp.cli.reading import counts_in, existing


@click.command(epilog='Example: exactdp release query ages.edph "age 36 education 3"')
@click.argument("file")
@click.argument("element")
@answering
def query(file: str, element: str) -> Answer:
    """Look up the released value of one element.

    FILE is a release: CSV, a compact file or a sketch.

    ELEMENT is a text or a number, as in the input of the release.
    """
    value = _value(file, element)
    return Answer({"element": element, "value": value}, value)


def _value(file: str, element: str) -> str:
    from exactdp.container import kind_of
    from exactdp.mechanisms import CompactRelease, read_sketch

    path = existing(file)
    if path.suffix == ".csv":
        return dict(counts_in(path)).get(element, "0")
    data = path.read_bytes()
    compact = kind_of(data) == "compact histogram"
    sketch: Any = CompactRelease.from_bytes(data) if compact else read_sketch(data)
    value = sketch[number_of(element, sketch.text)]
    return str(value) if compact else f"{float(value):.6g}"
