"""What one run prints where a page has ``...``, which stands for anything when the page is tested.

Below a block, ``<!--- shown: released   51 counters -->`` is a whole line: the site shows this line
in place of the block's first line with ``...`` that it fits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_BLOCK = re.compile(
    r"^(```(?:python|console)\n(?:(?!```).*\n)*```\n)((?:<!--- shown: .* -->\n)+)", re.M
)
_LINE = re.compile(r"<!--- shown: (.*) -->")


def fits(line: str, shown: str) -> bool:
    """Whether a line with ``...`` may stand for a line that is shown."""
    return (
        "..." in line
        and re.fullmatch(".*".join(map(re.escape, line.split("..."))), shown) is not None
    )


def filled(page: str) -> str:
    """The page with the lines that its comments show."""
    return _BLOCK.sub(_filled, page)


def _filled(match: re.Match[str]) -> str:
    lines = match[1].split("\n")
    for sample in _LINE.findall(match[2]):
        places = [i for i, line in enumerate(lines) if fits(line, sample)]
        if not places:
            raise ValueError(f"no line of the block above can be {sample!r}")
        lines[places[0]] = sample
    return "\n".join(lines)


def _fill(_: Sphinx, __: str, source: list[str]) -> None:
    source[0] = filled(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}
