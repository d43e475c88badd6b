"""Spelling without a dictionary, which is not installed everywhere.

A mistyped word of prose occurs once in all pages, and differs by one slip of a finger from a word
that occurs often.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from tests.docs.test_numbers import WRITTEN
from tests.docs.written import ROOT

#: Rare words that are right, and one letter away from frequent ones.
RIGHT = set((Path(__file__).parent / "words.txt").read_text(encoding="utf-8").split())
_OFTEN = 12


def words(page: Path) -> list[str]:
    """The lower-case words of a page's prose, without code, links and names."""
    text = re.sub(
        r"```.*?```|`[^`]*`|\$\$.*?\$\$", " ", page.read_text(encoding="utf-8"), flags=re.S
    )
    text = re.sub(r"\]\([^)]*\)|<[^>]*>|https?:\S+|\{[^}]*\}", " ", text)
    return re.findall(r"(?<![\w'-])[a-z]{5,}(?![\w'])", text)


def near(word: str) -> set[str]:
    """Everything that one slip of a finger makes of a word."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    slips = {a + b[1:] for a, b in cuts if b}
    slips |= {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    slips |= {a + c + b[1:] for a, b in cuts if b for c in letters}
    return slips | {a + c + b for a, b in cuts for c in letters}


def suspicious(counts: Counter[str]) -> list[str]:
    often = {word for word, n in counts.items() if n >= _OFTEN}
    return sorted(
        word
        for word, n in counts.items()
        if n == 1
        and word not in RIGHT
        and (near(word) - {word}) & often
        and not _inflected(word, often)
    )


def _inflected(word: str, often: set[str]) -> bool:
    """Whether only an ending differs from a frequent word."""
    stems = {word.removesuffix(end) for end in ("s", "d", "ed", "r", "n", "y", "ly", "es")}
    return bool(stems & often) or any(
        other.removesuffix(e) == word for other in often for e in "sdrny"
    )


def test_no_word_looks_mistyped() -> None:
    pages = [p for p in WRITTEN if p.name != "conformance.md"]
    pages += [ROOT / name for name in ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md")]
    counts = Counter(word for page in pages for word in words(page))
    assert suspicious(counts) == []


def test_a_mistyped_word_is_found() -> None:
    counts = Counter({"mechanism": 40, "mechansim": 1, "release": 30, "releases": 1, "noise": 99})
    assert suspicious(counts) == ["mechansim"]


def test_no_word_twice() -> None:
    for page in WRITTEN:
        for line in re.sub(
            r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.S
        ).splitlines():
            for a, b in pairwise(re.findall(r"[\w']+|[^\w\s]", line)):
                assert a != b or not a.isalpha() or len(a) < 3 or a == "that", (
                    f"{page.name}: {line}"
                )
