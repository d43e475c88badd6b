"""A table of all calculators and the reference of their modules, in the page that asks for them.

The page holds the line ``.. calculators``, which is replaced before it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactdp.accounting.calculator import CALCULATORS, calculator

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LINE = ".. calculators\n"
_TABLE = """\
.. list-table::
   :header-rows: 1

   * - command
     - mechanism
     - parameters
     - analyses
"""


def reference() -> str:
    """The text that replaces the line, as reStructuredText."""
    text, modules = _TABLE, dict[str, None]()
    for name, where in CALCULATORS.items():
        entry = calculator(name)
        cells = [
            f"``{name}``",
            entry.title,
            ", ".join(f"``{parameter}``" for parameter in entry.parameters()),
            ", ".join(entry.analyses),
        ]
        text += "   * - " + "\n     - ".join(cells) + "\n"
        modules[f"exactdp.accounting.{where.rpartition('.')[0]}"] = None
    return text + "".join(f"\n.. automodule:: {module}\n   :members:\n" for module in modules)


def _insert(_: Sphinx, __: str, source: list[str]) -> None:
    if _LINE in source[0]:
        source[0] = source[0].replace(_LINE, reference())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True}
