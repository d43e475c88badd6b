"""Our plain docstrings as fields: parameters, returns, raises, source; short names resolve.

A docstring here says ``k: sparsity, >= 1. sigma: of the noise, > 0.`` in ordinary lines. What
names a parameter of the object becomes a field; a list needs no empty lines around it, and |x| is
an absolute value.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.typing import stringify_annotation

import exactdp
from exactdp.parameters import Real

_FIELDS = {"Returns": "returns", "Raises": "raises", "Source:": "source"}
_STARTS = re.compile(r":(param [^:]+|returns|raises|source):")
_CODE = (">>>", "...", " ")
_REAL = stringify_annotation(Real, "smart")


def as_fields(lines: list[str], names: set[str]) -> list[str]:
    """The lines of a docstring, with its parameters, returns, raises and source as fields."""
    fields: list[str] = []
    in_field = False
    for line in _split(lines, names):
        field = _field(line, names)
        if field:
            fields += [*_gap(fields, in_field), field]
        elif in_field and line.strip() and not line.startswith(_CODE):
            fields.append(f"    {line}")
            continue
        else:
            fields += [*_gap(fields, not in_field), line]
        in_field = field is not None
    return _together(fields)


def _together(lines: list[str]) -> list[str]:
    """The lines with what stands between two fields as a part of the first of them."""
    starts = [i for i, line in enumerate(lines) if _STARTS.match(line)]
    if not starts:
        return lines
    first, last = starts[0], starts[-1]
    inside = [
        line if not line or _STARTS.match(line) or line.startswith("    ") else f"    {line}"
        for line in lines[first:last]
    ]
    return lines[:first] + inside + lines[last:]


def plain(lines: list[str]) -> list[str]:
    """The lines with an empty line around every list, and with | escaped outside of code."""
    plain_lines: list[str] = []
    in_list = False
    for line in lines:
        item = line.startswith("- ")
        if (
            plain_lines
            and plain_lines[-1].strip()
            and (item != in_list)
            and not (in_list and line[:1] == " ")
        ):
            plain_lines.append("")
        in_list = item or (in_list and line[:1] == " ")
        plain_lines.append(line if line.startswith(_CODE[:2]) else line.replace("|", "\\|"))
    return plain_lines


def _gap(before: list[str], attached: bool) -> list[str]:
    return [] if attached or not before or not before[-1].strip() else [""]


def _split(lines: list[str], names: set[str]) -> list[str]:
    """A line may describe several parameters, and errors: ``k: ... sigma: ... Raises ...``."""
    words = [*(rf"{re.escape(name)}(?:, \w+)*:" for name in sorted(names)), *_FIELDS]
    start = rf"(?<=[.;)]) (?=(?:{'|'.join(words)}) )"
    return [p for x in lines for p in ([x] if x.startswith(_CODE) else re.split(start, x))]


def _field(line: str, names: set[str]) -> str | None:
    match = re.match(r"(\w+(?:, \w+)*): (.*)", line)
    if match and all(name in names for name in match[1].split(", ")):
        return f":param {match[1].replace(', ', ',')}: {match[2]}"
    word, _, rest = line.partition(" ")
    return f":{_FIELDS[word]}: {rest}" if word in _FIELDS else None


def _names(documented: Any) -> set[str]:
    try:
        names = set(inspect.signature(documented).parameters)
    except (TypeError, ValueError):
        names = set()
    return names | set(getattr(documented, "__dataclass_fields__", ()))


def _process(
    app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = plain(lines if what == "module" else as_fields(lines, _names(documented)))


def _resolve(app: Sphinx, env: Any, node: pending_xref, content: nodes.Node) -> nodes.Node | None:
    """Link a short name to the package that exports it, not to the module that defines it.

    A name that no package exports is shown without a link; a name that does not exist is an error.
    """
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    target = node["reftarget"]
    same = _documented(env).get(target.rpartition(".")[2], [])
    matches = [name for name in same if name.endswith(f".{target}")] or same
    if len(matches) == 1:
        return domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", matches[0], node, content
        )
    return content if _exists(target) else None


@cache
def _documented(env: Any) -> dict[str, list[str]]:
    """Full names by their last word; all pages are read before the first reference is resolved."""
    names: dict[str, list[str]] = {}
    for name in env.get_domain("py").objects:
        names.setdefault(name.rpartition(".")[2], []).append(name)
    return names


class _ByIndex(SphinxPostTransform):
    """Leave short names to `_resolve`, which has an index; Sphinx would search all names."""

    default_priority = 5  # before references are resolved

    def run(self, **_: Any) -> None:
        for node in self.document.findall(pending_xref):
            if node.get("refdomain") == "py" and node.hasattr("refspecific"):
                del node["refspecific"]


@cache
def _modules() -> list[ModuleType]:
    """Every module of the package, imported here, as packages import their modules lazily."""
    names = [module.name for module in walk_packages(exactdp.__path__, "exactdp.")]
    return [import_module(name) for name in names if not name.endswith("__main__")]


@cache
def _exists(target: str) -> bool:
    """Whether a name exists: a full name in its module, a short name in any module."""
    module, _, name = target.rpartition(".")
    if not module:
        return any(name in vars(each) for each in _modules())
    try:
        return module.startswith("exactdp.") and hasattr(import_module(module), name)
    except ImportError:
        return False


def _aliases(
    _: Sphinx,
    what: str,
    name: str,
    documented: Any,
    options: Any,
    signature: str | None,
    returns: Any,
) -> tuple[str | None, Any] | None:
    """A signature with the name of a union of types in place of its members."""
    return (signature.replace(_REAL, "Real"), returns) if signature else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _aliases)
    app.connect("missing-reference", _resolve)
    app.add_post_transform(_ByIndex)
    return {"parallel_read_safe": True}
