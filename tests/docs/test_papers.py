"""The page of the papers' items names what exists, and leaves no numbered item out."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter

import pytest

from exactdp.proofs_check.registry import ledger
from tests.docs.commands import refusal
from tests.docs.test_numbers import ROOT

PAGE = (ROOT / "docs" / "reference" / "papers.md").read_text(encoding="utf-8")
SECTIONS = {part[: part.index(":")]: part for part in PAGE.split("\n## ")[1:]}
ROWS = [tuple(line[2:-2].split(" | ")) for line in PAGE.splitlines() if re.match(r"\| [A-Z]", line)]
IDS = {part.id for part in ledger()} | {re.sub(r"-[a-z].*", "", part.id) for part in ledger()}

#: The last number of each kind.
LAST = {
    "BV": {"Algorithm": 9, "Figure": 2},
    "CSH": {"Algorithm": 4, "Figure": 3, "Table": 1},
    "ALP": {"Algorithm": 11, "Figure": 5, "Table": 2},
    "CP": {"Algorithm": 1, "Figure": 3, "Table": 1},
    "SVA": {"Algorithm": 1, "Figure": 3, "Table": 6},
}


def exists(name: str) -> bool:
    """Whether a dotted name below exactdp, or a module of the experiments, is there."""
    if name.startswith("experiments."):
        return find_spec(name) is not None
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["exactdp", *parts[:i]]))
        except ModuleNotFoundError:
            continue
        try:
            return bool(attrgetter(".".join(parts[i:]))(found)) if parts[i:] else True
        except AttributeError:
            return False
    return False


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_an_item_names_exists(row: tuple[str, ...]) -> None:
    item, here, state = row
    assert re.match(r"works|partly: |no: ", state), item
    for name in re.findall(r"`([^`]+)`", here + state):
        assert refusal(name) == "" if name.startswith("exactdp ") else exists(name), name
    for entry in re.findall(r"ledger: (\S+)", here):
        assert entry in IDS, entry


@pytest.mark.parametrize("paper", LAST)
def test_no_numbered_item_is_missing(paper: str) -> None:
    roman = dict(zip(["I", "II", "III", "IV", "V", "VI"], range(1, 7), strict=True))
    firsts = [line.split(" | ")[0] for line in SECTIONS[paper].splitlines() if line[:2] == "| "]
    for kind, last in LAST[paper].items():
        found = set()
        for cell in firsts:
            for listed in re.findall(rf"{kind}s? ((?:(?:\d+|[IV]+)(?:, | and )?)+)", cell):
                numbers = re.findall(r"\d+|[IV]+", listed)
                found |= {roman.get(n) or int(n) for n in numbers}
        assert found == set(range(1, last + 1)), kind


def test_a_name_that_is_missing_is_found() -> None:
    assert exists("local.SparseVectorMean")
    assert not exists("local.SparseVectorMedian")
    assert not exists("experiments.unknown")
