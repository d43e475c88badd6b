"""Quoted LaTeX for a page: MathML, and no network."""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert


def quotation(words: str) -> str:
    """Quoted LaTeX as HTML with MathML, or an empty text where there is none to convert."""
    pieces = re.split(r"\$([^$]+)\$", words) if "$" in words else ["", words]
    if "\\" not in words:
        return ""
    try:
        converted = [convert(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces)]
    except Exception:  # the text of a paper may be damaged: its words stand beside this
        return ""
    return re.sub(r' xmlns="[^"]*"', "", "".join(converted))
