"""The first paragraph of a page is its description, for search engines and previews of links."""

from __future__ import annotations

from html import escape
from textwrap import shorten
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: Characters; shorter paragraphs are links, such as to the page as a notebook.
_LEAST = 40


def _describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    if doctree is None or 'name="description"' in context["metatags"]:
        return
    texts = (paragraph.astext() for paragraph in doctree.findall(nodes.paragraph))
    if first := next((text for text in texts if len(text) >= _LEAST), ""):
        text = escape(shorten(first, 160, placeholder=" \u2026"))
        context["metatags"] += f'<meta name="description" content="{text}">'


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", _describe)
    return {"parallel_read_safe": True}
