"""exactdp explain: print the pages that guarantees and claims cite, from the package."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

import click

from exactdp.parameters import choice


@click.command(epilog="Example: exactdp explain exact-csh | less")
@click.argument("page", required=False)
def explain(page: str | None) -> None:
    """Print a page that a guarantee cites.

    The page is printed as Markdown. Without PAGE, the names of all pages are listed.
    """
    found = _pages()
    if page is not None:
        click.echo(found[choice("page", page, tuple(found))].read_text(encoding="utf-8"))
        return
    width = max(map(len, found))
    for name, file in found.items():
        title = file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        click.echo(f"{name:{width}}  {title}")


def _pages() -> dict[str, Traversable]:
    there = sorted(files("exactdp.pages").iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".md"): file for file in there if file.name.endswith(".md")}
