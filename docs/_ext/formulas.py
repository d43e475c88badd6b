"""Formulas as MathML, made when the site is built: no script, no other server, readable aloud.

LaTeX between dollars, and in sentences what is typed like e^epsilon <= 2; code is left alone.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from exactdp_proofs.formulas import pieces
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

__all__ = ["setup"]


def _visit(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _visit_block(translator: Any, node: nodes.math_block) -> None:
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


class InSentences(SphinxPostTransform):
    """Typeset formulas in sentences and tables, except on pages of text to be typed or of names."""

    default_priority = 900
    formats = ("html",)
    _CODE = (nodes.literal, nodes.FixedTextElement, nodes.raw, nodes.math, addnodes.desc_signature)
    _APART = (*_CODE, nodes.title, nodes.Invisible)

    _TYPED = ("conformance", "reference/cli", "reference/commands/", "reference/bibliography")

    def run(self, **_: Any) -> None:
        if self.env.docname.startswith(self._TYPED):
            return
        for text in list(self.document.findall(nodes.Text)):
            if self._in_sentence(text) and len(parts := list(pieces(text.astext()))) > 1:
                children = [
                    nodes.raw("", each, format="html") if formula else nodes.Text(each)
                    for formula, each in parts
                ]
                text.parent.replace(text, children)

    def _in_sentence(self, node: nodes.Node) -> bool:
        above: nodes.Node | None = node.parent
        while above is not None and not isinstance(above, self._APART):
            above = above.parent
        return above is None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (_visit, None), (_visit_block, None))
    app.add_post_transform(InSentences)
    return {"parallel_read_safe": True}
