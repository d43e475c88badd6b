"""exactdp statement explain: print the pages that guarantees and claims cite, from the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from exactdp.cli.answers import Answer, answering
from exactdp.errors import InvalidParameter
from exactdp.parameters import choice


@click.command(epilog="Example: exactdp statement explain exact-csh | less")
@click.argument("page", required=False)
@answering
def explain(page: str | None) -> Answer:
    """Print the page with the theorem and proof that a guarantee cites.

    The page is printed as Markdown. Without PAGE, the names of all pages are listed. `exactdp
    statement show FILE` prints a statement.
    """
    folder = sorted(files("exactdp.pages").iterdir(), key=lambda file: file.name)
    pages = {f.name.removesuffix(".md"): f for f in folder if f.name.endswith(".md")}
    if page is not None:
        if page not in pages and Path(page).is_file():
            allowed = (
                f"a page: {', '.join(pages)}. To read a statement: exactdp statement show FILE"
            )
            raise InvalidParameter("page", page, allowed)
        text = pages[choice("page", page, tuple(pages))].read_text(encoding="utf-8")
        return Answer({"page": page, "markdown": text}, text)
    titles = {
        name: file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for name, file in pages.items()
    }
    width = max(map(len, titles))
    lines = [f"{name:{width}}  {title}" for name, title in titles.items()]
    return Answer([{"page": n, "title": t} for n, t in titles.items()], "\n".join(lines))
