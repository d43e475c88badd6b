"""The calculator in the site, where it was built (make site); links: {calculator}`text`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

__all__ = ["setup"]

_ABSENT = """<!doctype html>
<html lang="en"><title>exactdp calculator</title>
<h1>The calculator is not in this build</h1>
<p>Run <code>make site</code>, which needs Node and npm.</p></html>
"""


class Link(SphinxRole):
    """A link to the calculator, from any page."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        up = "../" * self.env.docname.count("/")
        return [nodes.reference("", self.text, refuri=f"{up}calculator.html", internal=True)], []


def _placed(app: Sphinx, _: Exception | None) -> None:
    page = Path(app.outdir) / "calculator.html"
    if not page.exists():
        page.write_text(_ABSENT, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_role("calculator", Link())
    app.connect("build-finished", _placed)
    return {"parallel_read_safe": True}
