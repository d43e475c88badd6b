"""SVA, Section IV-A: which rows of Table II are private whatever the hash functions are."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import prod

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.sva._model import bins, distance, hashes, noisy
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["ASSUMPTION"]


#: Inputs and b; the first are L = 2k = 14 apart with b = 1, so in the row L >= cube root of k.
_INPUTS: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((1,) * 7, (-1,) * 7, 1),
    ((0,) * 5, (1,) * 5, 1),
    ((1, 0, -1), (0, 1, -1), 1),
    ((1, 1, 0, 0), (0, -1, 1, 0), 2),
    ((1, 0, 0), (0, 1, 0), 3),
)


#: e^(-epsilon/Delta) of the noise on the bins, so that epsilon is Delta ln 2.
_RATIO = Fraction(1, 2)


@cache
def _bin_loss(x: int, y: int) -> Fraction:
    """The largest ratio of the laws of one noisy bin around x and around y."""
    return Fraction(max_loss(noisy(x, _RATIO, 8), noisy(y, _RATIO, 8)))


def _losses(eta: Fraction | None) -> Iterator[tuple[str, int, int, Fraction]]:
    """For every fixed h and s: the case, b, L, and e^loss of the noisy bins."""
    for first, second, b in _INPUTS:
        v, w = (tuple(Fraction(x) for x in vector) for vector in (first, second))
        for f in hashes(len(v), b):
            both = zip(bins(v, f, b, eta), bins(w, f, b, eta), strict=True)
            worst = prod((_bin_loss(int(x), int(y)) for x, y in both), start=Fraction(1))
            yield f"{first} and {second}, (h, s)={f}", b, int(distance(v, w)), worst


def _third_row() -> str:
    """Whatever h and s are, the loss is at most epsilon at Delta = 3 sqrt(b L log(2b/delta)).

    delta = 1/2; with L > Delta in the first pair of inputs.
    """
    with precision(80):
        for case, b, length, worst in _losses(None):
            noise = 3 * (b * length * ball(4 * b).log()).sqrt()
            loss = ball(worst).log() / ball(2).log()
            shown = f"{case}: loss {loss.str(4)} epsilon/Delta, Delta = {noise.str(4)}"
            require(bool(loss <= noise), shown)
    return "every h and s for five pairs of inputs"


def _other_rows(hundredths: int) -> str:
    """The same at Delta = L, and at Delta = 2 eta after clipping; hundredths of these."""
    tried = 0
    for eta in (1, 2, 5):
        for case, b, _, worst in _losses(Fraction(eta)):
            if b == 1:
                require(worst <= _RATIO ** (-2 * eta), f"{case}: e^loss {worst}, eta = {eta}")
                tried += 1
    for case, _, length, worst in _losses(None):
        shown = f"{case}: e^loss {worst} at Delta = {hundredths} % of L = {length}"
        require(worst**100 <= _RATIO ** (-length * hundredths), shown)
        tried += 1
    return f"{tried} laws: every h and s for five pairs of inputs"


ASSUMPTION = Refuted(
    paper="SVA",
    item="Section IV-A, privacy without the computational assumption",
    statement="That h and s are pseudorandom is needed only for measure concentration, not for "
    "privacy (said after Theorem 12 of all settings).",
    note="false for the row L >= cube root of k of Table II: its Delta = 3 sqrt(b L log(2b/delta)) "
    "< L rests on Lemma 14, a concentration over the random h and s. Section I says the same of "
    "Theorems 1 and 2, where it is true",
    severity="unsafe",
    printed=Printed(
        r"As mentioned earlier, the computational assumption here is not needed for the "
        r"privacy but only for measure concentration.",
        "Section IV-A, after Theorem 12",
        280,
    ),
    method="enumeration",
    check=_third_row,
    example="""
>>> from math import log, sqrt
>>> k, epsilon, delta = 1000, 1, 1e-5
>>> L, b = 2 * k, 1                             # the best number of bins is at most 1 at L = 2k
>>> Delta = 3 * sqrt(b * L * log(2 * b / delta))
>>> round(Delta, 1)
468.7
>>> # if s(l) = +1 for all l: a thousand entries from -1 to 1 move the bin by 2000
>>> round(L * epsilon / Delta, 1)               # privacy loss at the largest ratio
4.3
""",
    extraction="no: the sentence is complete, and Section I has it too",
    corrected=SVA.verified(
        "Section IV-A, privacy without the computational assumption, corrected",
        "It is true where Delta = L, and for the clipped row, Delta = 2 eta (Theorems 1 "
        "and 2): for every fixed h and s the loss is at most epsilon.",
        "enumeration",
        **varied(_other_rows, 100, 99, "Delta = 0.99 L is enough"),
    ),
)
