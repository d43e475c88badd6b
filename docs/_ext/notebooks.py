"""A notebook beside every tutorial, made at every build, and a link to it below the title."""

from __future__ import annotations

import json
from pathlib import Path

from sphinx.application import Sphinx

from tools.notebooks import notebook


def _link(app: Sphinx, docname: str, source: list[str]) -> None:
    folder, _, name = docname.rpartition("/")
    if folder != "tutorials" or name == "index":
        return
    page = Path(app.srcdir, f"{docname}.md")
    text = json.dumps(notebook(page), indent=1, ensure_ascii=False)
    page.with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")
    title, _, rest = source[0].partition("\n")
    source[0] = f"{title}\n\n{{download}}`This page as a notebook <{name}.ipynb>`\n{rest}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _link)
    return {"parallel_read_safe": True}
