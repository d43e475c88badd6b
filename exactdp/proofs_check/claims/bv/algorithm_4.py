"""BV, Algorithm 4: KeepHeavy, its output size, and the universe it silently needs."""

from __future__ import annotations

from itertools import product
from math import comb

from exactdp.mechanisms import BasicHistogram, KeepHeavy
from exactdp.mechanisms.histograms.keep_heavy import heaviest
from exactdp.mechanisms.histograms.mechanism import Bins
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.bv._data_sets import data_sets
from exactdp.proofs_check.claims.bv._laws import fast, geo, keep_heavy
from exactdp.proofs_check.entries import BV, elsewhere, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]

_CASES = ((geo(1), 2), (geo(1, 2), 4), (fast(1), 3), (geo(2), 3), (fast(2, 2), 4))


def _shipped_law(shift: int) -> str:
    """KeepHeavy as shipped against noise on every bin and a sorted list."""
    for noise, universe in _CASES:
        for counts in data_sets(noise.n, universe):
            shipped = KeepHeavy(noise, universe).law(counts, residual=0)
            most = max(len(bins) for bins in shipped)
            require(most <= noise.n, f"{counts}: {most} bins released")
            by_hand = keep_heavy(noise, counts, universe, noise.n + 1 + shift)
            require(shipped == by_hand, f"{counts}, |X|={universe}: {shipped} against {by_hand}")
    return f"{len(_CASES)} cases, every data set; at most n bins released"


def _defined(surplus: int) -> str:
    """Steps 2 and 3 on what step 1 draws, for every |X| >= n + surplus: the shipped release."""
    pairs = [(n, u) for n, u in product(range(1, 6), range(2, 8)) if u >= n + surplus]
    for n, universe in pairs:
        noisy = BasicHistogram(geo(n), universe).draw({0: n}, SeededSource(universe))
        kept = _kept(list(noisy), n)
        require(kept is not None, f"n={n}, |X|={universe}: no {n + 1}-th largest count")
        shipped = KeepHeavy(geo(n), universe).draw({0: n}, SeededSource(universe))
        require(kept == shipped, f"n={n}, |X|={universe}: {kept}, shipped {shipped}")
    return f"{len(pairs)} pairs of n and |X|, down to |X| = n + 1"


def _kept(noisy: list[tuple[int, int]], n: int) -> Bins | None:
    """The bins above the (n + 1)-th largest count, if there is one."""
    try:
        return heaviest(noisy, n)
    except IndexError:
        return None


def _output_bits(less: int) -> str:
    """The number of outputs is at most (|X| (n + 1))^n: n (log2 |X| + log2(n + 1)) bits."""
    for n, universe in product(range(1, 30), (1, 2, 3, 4, 10, 40, 2**20)):
        outputs = sum(comb(universe, k) * n**k for k in range(min(n, universe) + 1))
        if universe <= 10 and (n + 1) ** universe <= 2000:
            listed = product(range(n + 1), repeat=universe)
            few = sum(sum(map(bool, h)) <= n for h in listed)
            require(few == outputs, f"n={n}, |X|={universe}: {few} of at most n bins, {outputs}")
        most = (universe * (n + 1)) ** n - less
        require(outputs <= most, f"n={n}, |X|={universe}: {outputs} outputs > {most}")
    return "n < 30, |X| up to 2^20, the small ones listed; equality for n = |X| = 1"


CLAIMS = (
    Quibble(
        paper="BV",
        item="Algorithm 4",
        printed=Printed(
            r"Let x_1, \ldots, x_{n+1} be the elements of \mathcal{X} with the largest counts",
            "Section 6.1, Algorithm 4, step 2",
            370,
        ),
        statement="KeepHeavy, which compares with the (n + 1)-th largest noisy count, is defined "
        "for every n and every universe.",
        method="enumeration",
        check=lambda: _defined(-5),
        example="""
>>> noisy = {'a': 2, 'b': 0}                    # n = 2 rows, |X| = 2
>>> sorted(noisy.values(), reverse=True)[2]     # the third largest count of two bins
Traceback (most recent call last):
IndexError: list index out of range
""",
        extraction="no: Algorithms 5, 7 and 8 carry their conditions |X| >= 2n+1 and 4n in the "
        "same place, Algorithm 4 and Theorem 6.1 none",
        corrected=BV.verified(
            "Algorithm 4, corrected",
            "It is defined for |X| >= n + 1.",
            "enumeration",
            **elsewhere("the domain is widened to |X| = n", varied(_defined, 1, 0, "for |X| >= n")),
            slack="there is an (n + 1)-th count or there is none",
        ),
    ),
    BV.verified(
        "Algorithm 4, shipped code",
        "KeepHeavy as shipped has the law of noise on every bin, of which those strictly "
        "above the (n + 1)-th largest are kept; at most n bins are released.",
        "exact law",
        **varied(_shipped_law, 0, -1, "strictly above the n-th largest"),
        ours=True,
    ),
    BV.verified(
        "Section 6.1, output length",
        "The histograms with at most n bins, counts at most n, number at most (|X| (n + 1))^n, so "
        "O(n (log|X| + log n)) bits suffice.",
        "enumeration",
        **varied(_output_bits, 0, 1, "at most one less than that"),
    ),
)
