"""Every call of the page of the papers' items prints what the page says, and no item is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.docs.items import items, items_page
from tests.docs.papers import PAGE, Row, answer, names, rows

ROOT = PAGE.parents[2]
PAGE_TEXT = PAGE.read_text(encoding="utf-8")
ROWS = list(rows(PAGE_TEXT))

#: The last number of each kind.
LAST = {
    "BV": {"Algorithm": 9, "Figure": 2},
    "CSH": {"Algorithm": 4, "Figure": 3, "Table": 1},
    "ALP": {"Algorithm": 11, "Figure": 5, "Table": 2},
    "CP": {"Algorithm": 1, "Figure": 3, "Table": 1},
    "SVA": {"Algorithm": 1, "Figure": 3, "Table": 6},
}

_ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6}


#: Calls that contain these words take long.
_LONG = re.compile("exactdp figure|Compressive|compressive_|unary_sketches|Purified")


def _marked(row: Row) -> object:
    name = re.sub(r"[^\w ]", "", f"{row.paper} {row.item}", flags=re.ASCII)
    return pytest.param(row, id=name, marks=[pytest.mark.slow] * bool(_LONG.search(row.call)))


@pytest.mark.parametrize("row", [_marked(row) for row in ROWS])
def test_a_call_prints_what_the_page_says(row: Row) -> None:
    assert answer(row.call, names(PAGE_TEXT)) == row.printed


@pytest.mark.parametrize("paper", LAST)
def test_no_numbered_item_is_missing(paper: str) -> None:
    items = [row.item for row in ROWS if row.paper == paper]
    assert len(items) == len(set(items))
    for kind, last in LAST[paper].items():
        assert set(_numbers(kind, items)) == set(range(1, last + 1)), kind


def _numbers(kind: str, items: list[str]) -> Iterator[int]:
    for item in items:
        for listed in re.findall(rf"{kind}s? ((?:(?:\d+|[IV]+\b)(?: and )?)+)", item):
            for number in re.findall(r"\d+|[IV]+", listed):
                yield _ROMAN.get(number) or int(number)


def test_a_line_that_is_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="no call"):
        list(rows("## BV: a paper\n| item | call | prints |\n| Algorithm 1 | no call |\n"))


@pytest.mark.parametrize("paper", LAST)
def test_the_list_of_items_has_every_numbered_item_once(paper: str) -> None:
    inventory = ROOT / "proofs_check" / "tests" / "inventory" / f"{paper}.txt"
    listed = [item.item for item in items(paper)]
    assert len(listed) == len(set(listed))
    for name in filter(None, inventory.read_text(encoding="utf-8").split("\n")):
        entry = name if name in listed else name.partition(",")[0]
        assert any(item == entry or item.startswith(f"{entry},") for item in listed), name


def test_rows_of_the_list_have_four_cells() -> None:
    page = items_page()
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(table) > 300
    assert {len(re.split(r"(?<!\\)\|", line)) for line in table} == {6}
