"""The specification names a definition or a theorem for each line, or says that none exists."""

from __future__ import annotations

import re

import pytest

from tests.checker.examples import FOLDER, dpcheck

_TEXT = (FOLDER / "SPECIFICATION.md").read_text(encoding="utf-8").split("## 8. Formal meaning")[1]
_NONE = ("no theorem yet", "a promise has none", "this page has no")
_NAME = re.compile(r"`([A-Za-z_0-9]+)`")


def _tables() -> dict[str, dict[str, list[str]]]:
    """For each section the cells beside each line."""
    tables: dict[str, dict[str, list[str]]] = {}
    for block in re.findall(r"(?:^\|.*\n)+", _TEXT, re.MULTILINE):
        head, _, *rows = [
            [c.strip() for c in row.strip("|").split("|")] for row in block.split("\n")[:-1]
        ]
        tables[head[0]] = {row[0]: row[1:] for row in rows}
    return tables


def _names(cell: str) -> list[tuple[str, str]]:
    """(name, file) of a cell: each file in brackets follows its names."""
    pairs = []
    for part in re.finditer(r"([^()]*)\((\w+\.v)\)", cell):
        pairs += [(name, part[2]) for name in _NAME.findall(part[1])]
    return pairs


def _cells() -> list[str]:
    return [cell for table in _tables().values() for row in table.values() for cell in row]


@pytest.mark.parametrize("cell", _cells())
def test_each_name_exists_in_its_file(cell: str) -> None:
    names = _names(cell)
    assert names or any(words in cell for words in _NONE), "a line names nothing"
    assert len(names) == len(_NAME.findall(cell)) - cell.count("`mu`"), "a name has no file"
    for name, file in names:
        text = (FOLDER / "rocq" / file).read_text(encoding="utf-8")
        kinds = "Definition|Fixpoint|Inductive|Record|Theorem|Lemma"
        assert re.search(rf"^\s*({kinds}) {name}\b", text, re.MULTILINE), f"{name} is not in {file}"


def test_each_mechanism_measure_and_rule_has_a_line() -> None:
    for section, kind in (("3", "mechanism"), ("4", "measure"), ("5", "rule")):
        lines = _tables()[f"section {section}"]
        assert {f"`{name}`" for name in dpcheck.VARIANTS[kind]} <= lines.keys()


def test_each_theorem_of_a_rule_is_compiled() -> None:
    listed = (FOLDER / "rocq" / "_CoqProject").read_text(encoding="utf-8").split()
    assert {file for cell in _cells() for _, file in _names(cell)} <= set(listed)
