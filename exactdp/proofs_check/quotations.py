"""Hold every quotation of the ledger against the papers' text.

`python -m exactdp.proofs_check.quotations DIRECTORY`, where DIRECTORY holds BV.txt, CSH.txt and so
on (the papers are not part of this project), names each quotation that is not there word by word,
or not at its line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from exactdp.proofs_check.claim import Fails, Printed
from exactdp.proofs_check.registry import ledger

__all__ = ["lines_of", "unfounded"]


def lines_of(said: Printed, text: str) -> list[int]:
    """The lines at which the quoted words begin; white space counts as one blank.

    >>> lines_of(Printed("b c ... e", "Section 1", 1), "a\\nb  c d\\ne")
    [2]
    """
    parts = (r"\s+".join(map(re.escape, part.split())) for part in said.words.split(" ... "))
    pattern = r".{0,2000}?".join(parts)
    return [
        text.count("\n", 0, found.start()) + 1 for found in re.finditer(pattern, text, re.DOTALL)
    ]


def unfounded(claims: Sequence[Fails], texts: Path) -> Iterator[str]:
    """One line of text for each quotation that is not in the paper, or elsewhere in it."""
    for claim in claims:
        lines = lines_of(claim.printed, (texts / f"{claim.paper}.txt").read_text(encoding="utf-8"))
        if claim.printed.line not in lines:
            yield f"{claim.id}: line {claim.printed.line} given, found at {lines or 'no line'}"


def _main(texts: Path) -> int:
    claims = [claim for claim in ledger() if isinstance(claim, Fails)]
    found = list(unfounded(claims, texts))
    print("\n".join([*found, f"{len(claims) - len(found)} of {len(claims)} quotations stand"]))
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m exactdp.proofs_check.quotations DIRECTORY")
    sys.exit(_main(Path(sys.argv[1])))
