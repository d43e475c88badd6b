"""Colours of transcripts: an option and its value look alike in every command.

The lexer of shell sessions colours the whole part of 0.01 as a number, and leaves the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pygments.lexers.shell import BashSessionLexer
from pygments.token import Number, Text

if TYPE_CHECKING:
    from pygments.token import _TokenType
    from sphinx.application import Sphinx


class Transcript(BashSessionLexer):
    """Shell sessions without colours for numbers."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """The tokens of a transcript."""
        for place, kind, part in super().get_tokens_unprocessed(text):
            yield place, Text if kind in Number else kind, part


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_lexer("console", Transcript)
    return {"parallel_read_safe": True}
