"""The files that a module's code comes from: its own, and what it imports of the same package.

A module without a package has beside it what lies in its folder. Read from the text alone, so that
the answer does not depend on what else is loaded.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

__all__ = ["files"]


def files(module: str) -> list[Path]:
    """The files in the order they are met; none for a module that comes from no file of Python."""
    own = Path(str(getattr(sys.modules.get(module), "__file__", "")))
    if own.suffix != ".py" or not own.is_file():
        return []
    depth = module.count(".") + (own.name == "__init__.py")
    root = own.parents[min(depth, len(own.parents) - 1)]
    package = module.partition(".")[0] if depth else ""
    if not package and str(root) in sysconfig.get_paths().values():
        return [own]  # a module that is installed, beside all the others
    found, known = [own], {own}
    for file in found:
        new = [one for one in dict.fromkeys(_imported(file, root, package)) if one not in known]
        known.update(new)
        found += new
    return found


def _imported(file: Path, root: Path, package: str) -> Iterator[Path]:
    try:
        text = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # it was never imported, then
        return
    for node in ast.walk(text):
        if isinstance(node, ast.Import):
            named = [(root, one.name) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else root
            start = node.module or ""
            named = [(folder, start), *((folder, f"{start}.{one.name}") for one in node.names)]
        else:
            continue
        for folder, name in named:
            parts = [part for part in name.split(".") if part]
            if folder != root or not package or parts[:1] == [package]:
                yield from _at(folder, parts)


def _at(folder: Path, parts: list[str]) -> Iterator[Path]:
    """The file of a module, and those of the packages it is in."""
    for i in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:i])
        for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if file.is_file():
                yield file
