"""The texts of exactdp.accounting.pld.correlated and participation: matrix mechanisms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product

from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, mutant

_Matrix = Sequence[Sequence[int]]

#: Five times vectors of length 1: |D|^2 is convex in each vector, so largest at such vectors.
_VECTORS = ((5, 0), (-5, 0), (3, 4), (-4, 3))


def _moves(columns: _Matrix, steps: Sequence[int]) -> Iterator[Fraction]:
    """|D|^2 for every choice of the user's vectors. The first vector is fixed: a rotation of all
    vectors leaves |D| as it is.
    """
    for rest in product(_VECTORS, repeat=len(steps) - 1):
        vectors = list(zip(steps, (_VECTORS[0], *rest), strict=True))
        square = sum(
            sum(columns[i][row] * u[axis] for i, u in vectors) ** 2
            for row in range(len(columns))
            for axis in (0, 1)
        )
        yield Fraction(square, 25)


def _choices(n: int, most: int, apart: int) -> Iterator[tuple[int, ...]]:
    """The sets of at most `most` steps, any two of them at least `apart` apart."""
    for count in range(1, most + 1):
        for steps in combinations(range(n), count):
            if all(b - a >= apart for a, b in pairwise(steps)):
                yield steps


def _toeplitz(coefficients: Sequence[int]) -> _Matrix:
    """The columns of the matrix."""
    n = len(coefficients)
    return [[coefficients[row - i] if row >= i else 0 for row in range(n)] for i in range(n)]


_OTHERS = "the mutant allows other strategies"


@PLD.holds("Matrix mechanisms", "falling Toeplitz strategies", elsewhere=_OTHERS)
@mutant("for all coefficients >= 0", falling=False)
def falling(falling: bool = True) -> None:
    """For c_0 >= c_1 >= ... >= 0 no user in at most k steps, b or more apart, with vectors of norm
    at most 1, moves the answers further than equal vectors in the steps 0, b, 2 b, ...
    """
    for c in product((2, 1, 0), repeat=4):
        if c[0] and (not falling or sorted(c, reverse=True) == list(c)):
            columns = _toeplitz(c)
            for most, apart in product((2, 3), (1, 2)):
                first = tuple(range(0, 4, apart))[:most]
                worst = next(_moves(columns, first))
                for steps in _choices(4, most, apart):
                    distance = max(_moves(columns, steps))
                    at_most(distance, worst, c=c, steps=steps, apart=apart)


#: Columns of lower triangular matrices of two bands, with signs; the mutant adds a third band.
_BANDS = (((3, 1), (-1, 2), (2, -2), (1,)), ((1, 2), (2, 1), (-3, 1), (2,)), ((1, -1), (1, 1)) * 2)


@PLD.holds("Matrix mechanisms", "bands", elsewhere=_OTHERS)
@mutant("if there are b + 1 bands", more=1)
def bands(more: int = 0) -> None:
    """With at most b bands, of any signs, the largest |D|^2 is the largest sum of |c_i|^2 over at
    most k steps i, b or more apart.
    """
    for band in _BANDS:
        columns = []
        for i, column in enumerate(band):
            below = [*column, *([1] * more)]
            columns.append(([0] * i + below + [0] * 4)[:4])
        for most, apart in product((1, 2, 3), (2, 3)):
            norms = [sum(x * x for x in column) for column in columns]
            choices = list(_choices(4, most, apart))
            known = max(sum(norms[i] for i in steps) for steps in choices)
            distance = max(max(_moves(columns, steps)) for steps in choices)
            equal(distance, known, columns=columns, most=most, apart=apart)


@PLD.holds("Matrix mechanisms", "one participation")
@mutant("of a row", rows=True)
def one_participation(rows: bool = False) -> None:
    """With one participation the largest |D| is the largest norm of a column, for any strategy."""
    for entries in product((-2, 1), repeat=6):
        columns = [[*entries[:3]], [0, *entries[3:5]], [0, 0, entries[5]]]
        known = zip(*columns, strict=True) if rows else columns
        norm = max(sum(x * x for x in one) for one in known)
        equal(max(max(_moves(columns, [i])) for i in range(3)), norm, columns=columns)


@PLD.holds("Matrix mechanisms", "twice as many bands", elsewhere=_OTHERS)
@mutant("if there are 2 b + 1 bands", more=1)
def twice_as_many_bands(more: int = 0) -> None:
    """With at most 2 b bands, of any signs, the largest |D|^2 is the largest sum of |c_i|^2 over at
    most k steps i, b or more apart, plus 2 |<c_i, c_j>| over neighbours i, j among them.
    """
    for band in ((3, 1), (1, -2), (-2, 3)):
        below = [*band, *([2] * more)]
        columns = [([0] * i + below + [0] * 5)[:5] for i in range(5)]
        for most in (2, 3, 4):
            known = max(_chain(columns, steps) for steps in _choices(5, most, 1))
            distance = max(max(_moves(columns, steps)) for steps in _choices(5, most, 1))
            equal(distance, known, columns=columns, most=most)


def _chain(columns: _Matrix, steps: Sequence[int]) -> int:
    norms = sum(x * x for i in steps for x in columns[i])
    products = (
        sum(x * y for x, y in zip(columns[i], columns[j], strict=True)) for i, j in pairwise(steps)
    )
    return norms + 2 * sum(map(abs, products))


@PLD.holds("Matrix mechanisms", "blocks of cyclic samples")
@mutant("with one band more", more=1)
def blocks(more: int = 0) -> None:
    """With at most b bands every answer depends on at most one of the steps r, r + b, r + 2 b, ...
    of a user of part r, so the rows of these steps are disjoint blocks.
    """
    for n, b in product(range(1, 9), range(1, 5)):
        for part, row in product(range(b), range(n)):
            here = [j for j in range(part, n, b) if j <= row < j + b + more]
            at_most(len(here), 1, n=n, b=b, part=part, row=row)


@PLD.holds("Matrix mechanisms", "the part that loses most")
@mutant("the last part", reverse=True)
def largest_part(reverse: bool = False) -> None:
    """Of a Toeplitz strategy of b bands, part 0 has at least as many columns as every other part,
    and the l-th largest norm of part 0 is at least the l-th largest of the other.
    """
    for n, c in product(range(1, 9), product((-2, 0, 1), repeat=3)):
        norms = [sum(x * x for x in c[: n - j]) for j in range(n)]
        parts = [sorted(norms[part::3], reverse=True) for part in range(3)]
        first, *others = parts[::-1] if reverse else parts
        for other in others:
            at_most(len(other), len(first), n=n, c=c)
            for mine, less in zip(first, other, strict=False):
                at_most(less, mine, n=n, c=c)
