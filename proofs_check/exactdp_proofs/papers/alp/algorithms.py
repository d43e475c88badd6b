"""ALP, Algorithms 2 to 5 and Figures 1 and 2: projection and estimate, as shipped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.universal_hashing import Keys, Tables
from exactdp_proofs.comparisons import equal, every, holds
from exactdp_proofs.papers.alp._model import (
    all_hashes,
    embedding,
    estimate,
    peaks,
    projection_law,
    round_law,
    text,
)
from exactdp_proofs.papers.alp._shipped import laid_out, literal, maximizers, read_off
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, as_printed, mutant

_ONE, _TWO, _HALF = Fraction(1), Fraction(2), Fraction(1, 2)

#: alpha, k, rows, hash functions of two entries; s > 2k as the algorithm asks.
_LAYOUTS = (
    (_TWO, 2, 5, ((0, 3),)),
    (_TWO, 2, 5, ((4, 4),)),
    (_ONE, 1, 3, ((0, 2), (1, 1))),
    (_ONE, 1, 4, ((2, 0), (3, 2))),
)


@ALP.holds("Algorithm 2")
@mutant(shift=3)
def algorithm_2(shift: int = 2) -> None:
    """Scaling, random rounding, unary encoding and randomized response with probability
    1/(alpha + 2), as shipped, give the law of the exact model that this ledger uses.

    Note: s > 2k matters for accuracy only; other entries drop it.
    """
    vectors = ((Fraction(3, 2), Fraction(0)), (_TWO, _HALF))
    for (alpha, k, rows, hashes), x in product(_LAYOUTS, vectors):
        if sum(value != 0 for value in x) <= k:
            mechanism = literal(_TWO, alpha, k, rows, 2)
            shipped = mechanism.law(dict(enumerate(x)), Tables(hashes))
            model = projection_law(x, hashes, rows, alpha, 1 / (alpha + shift))
            equal(shipped, model, alpha=alpha, x=text(x), h=hashes)


@ALP.holds("Algorithm 2", "number of columns")
@mutant("one column more is needed", extra=1)
def number_of_columns(extra: int = 0) -> None:
    """m = ceil(beta/alpha) is the largest rounded value of an entry at most beta."""
    for beta, alpha in product((Fraction(n, 3) for n in range(1, 30)), (_ONE, Fraction(7, 4))):
        largest = max(y for n in range(13) for y in round_law(beta * n / 12 / alpha).support)
        equal(literal(beta, alpha).levels + extra, largest, beta=beta, alpha=alpha)


@ALP.holds("Algorithm 2", "Step (2)")
@mutant("the condition is b < y_i", least=1)
def step_2(least: int = 0) -> None:
    """Bit (a, b) is one if and only if some entry with y_i >= b is hashed to a by h_b."""
    for y in product(range(4), repeat=2):
        for hashes in product(all_hashes(2, 2), repeat=3):
            bits = laid_out(y, hashes, 2)
            equal(bits, embedding(y, hashes, 2), y=y, h=hashes)
            stated = tuple(
                int(any(b + 1 + least <= y[i] and hashes[b][i] == a for i in range(2)))
                for b, a in product(range(3), range(2))
            )
            equal(bits, stated, y=y, h=hashes)


@ALP.holds("Figure 1")
@mutant("y_i = 4", y=4)
def figure_1(y: int = 5) -> None:
    """The hash values 2, 3, 5, 3, 4, 4, 1, 2 and y_i = 5 give the printed array of 5 rows and 8
    columns, laid out as shipped.
    """
    bits = laid_out([y], [(row - 1,) for row in (2, 3, 5, 3, 4, 4, 1, 2)], 5)
    for a, row in enumerate(("00000000", "10000000", "01010000", "00001000", "00100000")):
        equal("".join(map(str, bits[a::5])), row, row=a + 1)


@ALP.holds("Algorithm 3")
@mutant("1 is subtracted once, outside the sum", inside=False)
def algorithm_3(inside: bool = True) -> None:
    """Without noise the average of the arguments that maximize the sum of (2 bit - 1) is y, for
    every y in 0..m, and the shipped estimate is y.

    Note: the text prints the sum of "2z - 1" without parentheses.
    """
    for m in range(1, 9):
        for y in range(m + 1):
            bits = [int(b < y) for b in range(m)]
            sums = [sum(2 * bit - inside for bit in bits[:n]) - (not inside) for n in range(m + 1)]
            best = [n for n, value in enumerate(sums) if value == max(sums)]
            equal(read_off(bits), y, m=m, y=y)
            equal(Fraction(sum(best), len(best)), y, m=m, y=y)


@ALP.holds("Algorithm 3", "Step (2)")
@mutant("a multiple of 4", gap=4)
def maximizers_of_the_sums(gap: int = 2) -> None:
    """The shipped walk finds all arguments that maximize the partial sums, as the model of this
    ledger does; any two of them differ by a multiple of 2.
    """
    for bits in product((0, 1), repeat=8):
        sums = [sum(2 * bit - 1 for bit in bits[:n]) for n in range(9)]
        best = [n for n in range(9) if sums[n] == max(sums)]
        equal(maximizers(bits), (sum(best), len(best)), bits=bits)
        equal(estimate(bits), Fraction(sum(best), len(best)), bits=bits)
        holds(all((n - best[0]) % gap == 0 for n in best), bits=bits)


@ALP.holds("Figure 2")
@mutant(answer=5)
def figure_2(answer: int = 4) -> None:
    """When the partial sums of 8 bits peak at 3 and 5, the shipped estimate is 4.

    Note: the plotted bits are not in the text, so every string with these peaks is checked.
    """
    strings = product((0, 1), repeat=8)
    peaked = [bits for bits in strings if peaks(bits) == [3, 5]]
    for bits in every("all strings of 8 bits with peaks at 3 and 5", peaked):
        equal(read_off(bits), answer, bits=bits)


class _Noted:
    """Hash functions that give one entry row 1, and note which of them were evaluated."""

    def __init__(self, levels: int) -> None:
        self._tables = Tables(((1,),) * levels)
        self.evaluated: list[int] = []

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        return self._tables.keys(ids)

    def rows(self, keys: Keys, level: int) -> NDArray[np.uint64]:
        self.evaluated.append(level)
        return self._tables.rows(keys, level)


@ALP.holds("Lemma 4.3")
@mutant("of m - 1 columns", fewer=1)
def lemma_4_3(fewer: int = 0) -> None:
    """The shipped estimate evaluates the hash functions of the m = ceil(beta/alpha) columns once
    each, and is decided by the one bit of each column to which they lead.

    Needs: the shipped loop over columns verified for every m, by induction on its state (Rocq).
    """
    for beta, alpha in product((_HALF, Fraction(3), Fraction(7)), (_ONE, Fraction(3, 2))):
        m = literal(beta, alpha).levels
        for bits, around in product(product((0, 1), repeat=m), (0, 1)):
            noted = _Noted(m)
            array = [x for bit in bits for x in (around, bit, around)]  # three rows
            average = Fraction(*maximizers(array, noted, rows=3))
            equal(average, estimate(bits), bits=bits, around=around)
            equal(noted.evaluated, list(range(-(-beta // alpha) - fewer)), bits=bits)


@ALP.note("Algorithm 4")
@as_printed(power=0)
@mutant("the product is beta epsilon^2", power=2)
def algorithm_4(power: int = 1) -> None:
    r"""Algorithm 2 is called with alpha, beta, epsilon and s, so with m = ceil(beta/alpha) columns.

    Printed (Section 4.3, Algorithm 4, Step (2), line 364): Let $h, \tilde{z} =
        \text{ALP1-Projection}_{\alpha, \beta, \varepsilon, s}(\hat{x}, h)$.
    Corrected: The second parameter is the product beta epsilon. Then m = ceil(beta
        epsilon/alpha), as in the line Input, is the largest rounded value of a scaled entry.
    Extraction: possible, a comma; Algorithm 2 has three parameters.
    """
    for eps, beta, alpha in product((Fraction(1, 3), Fraction(4)), (2, 5), (_ONE, Fraction(3))):
        m = literal(beta * eps**power, alpha).levels
        entries = [Fraction(beta * n, 24) for n in range(25)]
        largest = max(y for x in entries for y in round_law(x * eps / alpha).support)
        equal(m, largest, eps=eps, beta=beta, alpha=alpha)


@ALP.holds("Algorithm 5")
@mutant("divide by epsilon twice", power=2)
def algorithm_5(power: int = 1) -> None:
    """Dividing by epsilon undoes the scaling of Algorithm 4: without noise, the mean of the shipped
    estimate of an entry up to beta over the random rounding is the entry.
    """
    beta = Fraction(5)
    for eps, alpha in product((Fraction(1, 3), Fraction(4)), (_ONE, Fraction(3))):
        mechanism = literal(beta * eps, alpha)
        for x in (beta * n / 20 for n in range(21)):
            mean = Fraction(0)
            for y, weight in mechanism.cells.places(x * eps).items():
                mean += weight * read_off([int(b < y) for b in range(mechanism.levels)])
            equal(mean * alpha / eps**power, x, eps=eps, alpha=alpha, x=x)
