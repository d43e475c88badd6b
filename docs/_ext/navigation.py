"""The tree of pages beside every page, from the pages' titles alone.

Sphinx copies the contents of all pages, with every name of the API, for the tree of each page.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def _ancestors(env: BuildEnvironment, page: str) -> set[str]:
    """The page, the pages above it, and the first page."""
    above = {below: name for name, listed in env.toctree_includes.items() for below in listed}
    pages = {page}
    while (page := above.get(page, "")) and page not in pages:
        pages.add(page)
    return pages


def _tree(app: Sphinx, names: list[str], page: str, current: set[str], level: int = 1) -> str:
    """The named pages and those below them, as a list in HTML."""
    items = []
    for name in names:
        address = app.builder.get_relative_uri(page, name) if name != page else "#"
        kind = f"toctree-l{level}" + " current" * (name in current)
        title = escape(app.env.titles[name].astext(), quote=False)
        below = _tree(app, app.env.toctree_includes.get(name, []), page, current, level + 1)
        link = f'<a class="reference internal" href="{address}">{title}</a>'
        items.append(f'<li class="{kind}">{link}{below}</li>')
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _replace(
    app: Sphinx, page: str, _: str, context: dict[str, Any], __: nodes.document | None
) -> None:
    first = app.env.toctree_includes.get(app.config.root_doc, [])
    current = _ancestors(app.env, page)
    context["toctree"] = lambda **_: _tree(app, first, page, current)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", _replace, priority=400)  # before the theme asks for the tree
    return {"parallel_read_safe": True}
