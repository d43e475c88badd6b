"""CSH, Definition 3.1: sparse monotonic histograms, and what the text says follows."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.csh._model import binary
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Vector = tuple[int, ...]


def _neighbours(d: int, k: int, top: int) -> list[tuple[Vector, Vector]]:
    """All pairs of k-sparse histograms with counts up to top that differ by 0 or 1 one way."""
    sparse = [h for h in product(range(top + 1), repeat=d) if sum(x > 0 for x in h) <= k]
    pairs = []
    for h, up in product(sparse, binary(d)):
        other = tuple(x + u for x, u in zip(h, up, strict=True))
        if sum(x > 0 for x in other) <= k:
            pairs += [(h, other), (other, h)]
    return pairs


_SIZES = ((1, 1), (2, 1), (3, 1), (3, 2), (4, 2))  # (d, k)


def _all_changes(only_sparse: bool) -> str:
    """The differences of neighbours are all of {0,1}^d and {0,-1}^d (with at most k ones)."""
    for d, k in _SIZES:
        found = {
            tuple(x - y for x, y in zip(h, other, strict=True)) for h, other in _neighbours(d, k, 2)
        }
        stated = {u for u in binary(d) if not only_sparse or sum(u) <= k}
        stated |= {tuple(-x for x in u) for u in stated}
        lacking = sorted(stated - found)
        case = f"d={d}, k={k}: " + (f"{lacking[-1]} cannot occur" if lacking else "others occur")
        require(found == stated, case)
    return f"every pair of neighbours for (d, k) in {_SIZES}, counts up to 2"


def _supports(sign: int) -> str:
    """One support contains the other, and at most k counters differ."""
    for d, k in _SIZES:
        for h, other in _neighbours(d, k, 2):
            first = {i for i, x in enumerate(h) if x}
            second = {i for i, x in enumerate(other) if x}
            changed = sum(x != y for x, y in zip(h, other, strict=True))
            require(changed <= k, f"{h}, {other}: {changed} counters differ, k={k}")
            nested = first <= second or (sign > 0 and second <= first)
            require(nested, f"{h}, {other}: supports {first}, {second}")
    return f"every pair of neighbours for (d, k) in {_SIZES}, counts up to 2"


CLAIMS = (
    Quibble(
        paper="CSH",
        item="Definition 3.1",
        printed=Printed(
            r"Furthermore, the sensitivity space of ... \{0,1\}^{d}\cup\{0,-1\}^{d}",
            "Section 3, Definition 3.1",
            159,
        ),
        statement="A k-sparse monotonic histogram has the sensitivity space {0,1}^d joined with "
        "{0,-1}^d.",
        method="enumeration",
        check=lambda: _all_changes(False),
        example="""
>>> # d = 2, k = 1: is the change (1, 1), which is in {0,1}^2, possible between sparse histograms?
>>> def sparse(h): return sum(x > 0 for x in h) <= 1
>>> from itertools import product
>>> histograms = [h for h in product(range(4), repeat=2) if sparse(h)]
>>> [h for h in histograms if sparse((h[0] + 1, h[1] + 1))]
[]
""",
        extraction="no: formula and the sentence after it are intact; for d > k no histogram meets "
        "the definition literally, it means a subset of that space",
        corrected=CSH.verified(
            "Definition 3.1, corrected",
            "Every histogram has at most k non-zero counters, and neighbours differ by a "
            "vector in {0,1}^d or {0,-1}^d; these then have at most k non-zero entries, and "
            "all such vectors occur.",
            "enumeration",
            **varied(_all_changes, True, False, "all of {0,1}^d occurs"),
        ),
    ),
    CSH.verified(
        "Definition 3.1, consequences",
        "The supports of neighbours are nested, U in U' or U' in U, and neighbouring "
        "histograms differ in at most k counters.",
        "enumeration",
        **varied(_supports, 1, -1, "U is always contained in U'"),
    ),
)
