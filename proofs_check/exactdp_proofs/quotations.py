"""Hold every quotation of the ledger against the papers' text.

`python -m exactdp_proofs.quotations DIRECTORY`, where DIRECTORY holds BV.txt, CSH.txt and so
on (the papers are not part of this project), names each quotation that is not there word by word,
or not at its line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from exactdp_proofs.registry import ledger
from exactdp_proofs.statements import Part, Printed


def lines_of(said: Printed, text: str) -> list[int]:
    """The lines at which the quoted words begin; white space counts as one blank.

    >>> lines_of(Printed("b c ... e", "Section 1", 1), "a\\nb  c d\\ne")
    [2]
    """
    parts = (r"\s+".join(map(re.escape, part.split())) for part in said.words.split(" ... "))
    pattern = r".{0,2000}?".join(parts)
    return [
        text.count("\n", 0, match.start()) + 1 for match in re.finditer(pattern, text, re.DOTALL)
    ]


def unfounded(parts: Sequence[Part], texts: Path) -> Iterator[str]:
    """One line of text for each quotation that is not in the paper, or elsewhere in it."""
    for part in parts:
        assert part.printed is not None
        lines = lines_of(part.printed, (texts / f"{part.paper}.txt").read_text(encoding="utf-8"))
        if part.printed.line not in lines:
            yield f"{part.id}: line {part.printed.line} given, found at {lines or 'no line'}"


def _main(texts: Path) -> int:
    parts = [part for part in ledger() if part.printed]
    problems = list(unfounded(parts, texts))
    print("\n".join([*problems, f"{len(parts) - len(problems)} of {len(parts)} quotations stand"]))
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m exactdp_proofs.quotations DIRECTORY")
    sys.exit(_main(Path(sys.argv[1])))
