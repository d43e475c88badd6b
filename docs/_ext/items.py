"""The page of all items of the papers, written at every build."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from tests.docs.items import items_page


def write(app: Sphinx) -> None:
    path = Path(app.srcdir) / "ledger" / "items.md"
    path.parent.mkdir(exist_ok=True)
    text = items_page()
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
