"""CSH, Lemma 4.1: the preprocessing of the top-k mechanism gives sparse monotonic histograms."""

from __future__ import annotations

from collections.abc import Iterator

from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh._top_k import Histogram, neighbours, rank, reduced
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_SIZES = ((2, 1, 4), (3, 1, 3), (3, 2, 3), (4, 2, 2), (5, 3, 1))  # (d, k, largest count)


def _cases() -> Iterator[tuple[int, Histogram, Histogram]]:
    for d, k, top in _SIZES:
        for more, less in neighbours(d, top):
            yield k, more, less


def _changes(k: int, more: Histogram, less: Histogram, after: int = 1) -> set[int]:
    pair = zip(reduced(more, k, after), reduced(less, k, after), strict=True)
    return {x - y for x, y in pair}


def _monotone(after: int) -> str:
    count = 0
    for k, more, less in _cases():
        count += 1
        change = _changes(k, more, less, after)
        allowed = change <= {0, 1} or change <= {0, -1}
        require(allowed, f"k={k}, {more} and {less}: changes {change}")
        for h in (more, less):
            left = sum(x > 0 for x in reduced(h, k, after))
            require(left <= k, f"k={k}, {h}: {left} non-zero counters left")
    return f"all {count} neighbouring pairs for (d, k, largest count) in {_SIZES}"


def _first_case(sign: int) -> str:
    """Same (k+1)-th count: H~(X') - H~(X) = H(X') - H(X) is sign * {0, 1} above it."""
    count = 0
    for k, more, less in _cases():
        if rank(more, k + 1) != rank(less, k + 1):
            continue
        for u, c in enumerate(less):
            if c > rank(less, k + 1):
                count += 1
                gap = reduced(less, k)[u] - reduced(more, k)[u]
                case = f"k={k}, H(X)={more}, H(X')={less}, u={u}: difference {gap}"
                require(gap == less[u] - more[u], f"{case}, before the reduction another")
                require(gap in (0, sign), case)
    return f"{count} counters, same sizes"


def _cases_of_proof(one_way: bool) -> str:
    """The (k+1)-th count rises by 0 or 1; then counters only rise, or only fall."""
    count = 0
    for k, more, less in _cases():
        step = rank(more, k + 1) - rank(less, k + 1)
        require(step in (0, 1), f"{more}, {less}: the (k+1)-th count rises by {step}")
        change = _changes(k, more, less)
        allowed = {0, 1} if step == 0 or one_way else {0, -1}
        require(change <= allowed, f"k={k}, {more}, {less}: step {step}, changes {change}")
        count += 1
    return f"{count} pairs"


CLAIMS = (
    CSH.verified(
        "Lemma 4.1",
        "H~ of Algorithm 3 has at most k non-zero counters, and one user more or less "
        "changes them by 0 or 1, all in one direction.",
        "enumeration",
        **varied(_monotone, 1, 2, "also when the (k+2)-th largest is subtracted"),
    ),
    CSH.verified(
        "Lemma 4.1, proof, two cases",
        "With one user more the (k+1)-th largest count rises by 0 or 1. If it stays, "
        "counters of H~ rise by 0 or 1; if it rises, they fall by 0 or 1.",
        "enumeration",
        **varied(_cases_of_proof, False, True, "they rise in both cases"),
    ),
    Refuted(
        paper="CSH",
        item="Lemma 4.1, proof, display of the first case",
        printed=Printed(
            r"\tilde{H}(\mathbf{X}^{\prime})_{u}-\tilde{H}(\mathbf{X})_{u}="
            r"H(\mathbf{X}^{% \prime})_{u}-"
            r"H(\mathbf{X})^{(k+1)}-H(\mathbf{X})_{u}+H(\mathbf{X}^{\prime})^{(% k+1)}\in\{0,1\}",
            "Section 4, Lemma 4.1, proof, first case",
            298,
        ),
        statement="Where X has one user more and the (k+1)-th count stays, "
        "H~(X')_u - H~(X)_u is 0 or 1 for u in U.",
        severity="cosmetic",
        method="enumeration",
        check=lambda: _first_case(1),
        example="""
>>> def reduced(h, k): return [max(0, c - sorted(h, reverse=True)[k]) for c in h]
>>> with_user, without = [3, 1], [2, 1]      # X adds a user to X'; k = 1, H^(2) = 1 in both
>>> reduced(without, 1)[0] - reduced(with_user, 1)[0]
-1
""",
        extraction="no: the primes stand in all three renderings of the formula; its two sides are "
        "exchanged, as the conclusion H~(X) - H~(X') in {0,1}^d shows",
        corrected=CSH.verified(
            "Lemma 4.1, proof, display of the first case, corrected",
            "There H~(X)_u - H~(X')_u = H(X)_u - H(X')_u is 0 or 1.",
            "enumeration",
            **varied(_first_case, -1, 1, "with X and X' exchanged"),
        ),
    ),
)
