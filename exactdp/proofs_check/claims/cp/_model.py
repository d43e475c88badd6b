"""The mechanism of CP as exact matrices: sets as sign columns, channels, estimates, isometries.

A matrix A in {-1, +1}^(m x k) is a tuple of k columns of m signs. The factor e stands for e^epsilon
and is rational, so that every probability is a Fraction. Vectors that carry a factor 1/sqrt(m) in
the paper are kept multiplied by sqrt(m).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

from exactdp.law import Law

__all__ = [
    "HIGH_PRIVACY",
    "MEDIUM_PRIVACY",
    "MIXED",
    "Columns",
    "Vector",
    "channel",
    "counts",
    "dot",
    "empirical_laws",
    "gram",
    "hadamard",
    "hadamard_response",
    "isometric",
    "measured",
    "output",
    "plus",
    "positive_semidefinite",
    "privacy_factor",
    "projection",
    "response",
    "square",
    "tail",
    "weights",
]

Vector = tuple[Fraction, ...]
Columns = tuple[tuple[int, ...], ...]

#: Values of e^epsilon with 0 < epsilon < 1, up to 0.99326.
HIGH_PRIVACY = tuple(Fraction(*pair) for pair in ((101, 100), (3, 2), (2, 1), (5, 2), (27, 10)))

#: Values of e^epsilon with epsilon >= 1.
MEDIUM_PRIVACY = tuple(Fraction(x) for x in ("2.72", "4", "10", "64"))

_ROWS = (
    ("+++", "-+-", "+--", "--+"),
    ("++-+", "+-++", "-+++", "++--", "-+-+", "+---"),
    ("+-+-+", "--++-", "+++--", "-+-++", "-++-+", "+--+-", "-----", "+-+++"),
)

#: Sign matrices whose columns have unequal numbers of +1.
MIXED: tuple[Columns, ...] = tuple(
    tuple(tuple(1 if row[x] == "+" else -1 for row in rows) for x in range(len(rows[0])))
    for rows in _ROWS
)


def plus(column: Sequence[int]) -> int:
    """n_x: how many entries are +1."""
    return sum(sign == 1 for sign in column)


def response(column: Sequence[int], e: Fraction) -> Law[int]:
    """The law of the report of one user, equation (2)."""
    base = plus(column) * e + len(column) - plus(column)
    return Law({y: (e if sign == 1 else 1) / base for y, sign in enumerate(column)})


def channel(columns: Columns, e: Fraction) -> list[Law[int]]:
    """One law per value x."""
    return [response(column, e) for column in columns]


def privacy_factor(laws: Sequence[Law[int]]) -> Fraction:
    """The largest ratio Q(y|x)/Q(y|x'): e^epsilon of the tightest guarantee."""
    return max(p[y] / q[y] for p, q in product(laws, laws) for y in p)


def output(columns: Columns, e: Fraction, p: Sequence[Fraction]) -> Vector:
    """q: the law of a report of a user drawn from p, from the channel itself."""
    laws = channel(columns, e)
    rows = range(len(columns[0]))
    return tuple(sum((p[x] * law[y] for x, law in enumerate(laws)), Fraction(0)) for y in rows)


def weights(columns: Columns, e: Fraction) -> Vector:
    """The diagonal of D': m(e + 1)/2 over n_x e + m - n_x."""
    m = len(columns[0])
    return tuple(m * (e + 1) / 2 / (plus(c) * e + m - plus(c)) for c in columns)


def measured(q: Sequence[Fraction], e: Fraction) -> Vector:
    """sqrt(m) y for the y of equation (4): (e + 1)/(e - 1) (m q - 1)."""
    return tuple((e + 1) / (e - 1) * (len(q) * x - 1) for x in q)


def dot(a: Iterable[Fraction | int], b: Iterable[Fraction | int]) -> Fraction:
    """The inner product."""
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def square(v: Sequence[Fraction | int]) -> Fraction:
    """The squared Euclidean norm."""
    return dot(v, v)


def tail(v: Sequence[Fraction], s: int) -> Fraction:
    """|v - [v]_s|_1, by removing the s largest absolute values."""
    return sum(sorted(map(abs, v))[: max(len(v) - s, 0)], Fraction(0))


def projection(z: Sequence[Fraction]) -> Vector:
    """The point of the probability simplex next to z: max(z - t, 0) with total 1."""
    ordered = sorted(z, reverse=True)
    running, shift = Fraction(0), Fraction(0)
    for rank, value in enumerate(ordered, start=1):
        running += value
        if value > (running - 1) / rank:
            shift = (running - 1) / rank
    return tuple(max(value - shift, Fraction(0)) for value in z)


def counts(n: int, m: int) -> Iterator[tuple[int, ...]]:
    """Every way in which n reports can fall on m outcomes."""
    for bars in combinations(range(n + m - 1), m - 1):
        edges = (-1, *bars, n + m - 1)
        yield tuple(high - low - 1 for low, high in pairwise(edges))


def empirical_laws(q: Sequence[Fraction], n: int) -> Iterator[tuple[Fraction, Vector]]:
    """Every empirical law of n reports with its exact probability under q."""
    for found in counts(n, len(q)):
        weight, left = Fraction(1), n
        for count, chance in zip(found, q, strict=True):
            weight *= comb(left, count) * chance**count
            left -= count
        yield weight, tuple(Fraction(count, n) for count in found)


def hadamard(m: int) -> Columns:
    """The columns of Sylvester's Hadamard matrix, m a power of 2."""
    return tuple(tuple(1 - 2 * ((x & y).bit_count() % 2) for y in range(m)) for x in range(m))


def hadamard_response(k: int) -> Columns:
    """The sets of Hadamard response: k columns after the first, of the smallest order above k."""
    return hadamard(1 << k.bit_length())[1 : k + 1]


def gram(columns: Columns) -> tuple[Vector, ...]:
    """B^T B for B = A/sqrt(m)."""
    m = len(columns[0])
    return tuple(tuple(dot(a, b) / m for b in columns) for a in columns)


def isometric(
    products: Sequence[Sequence[Fraction]], order: int, low: Fraction, high: Fraction
) -> bool:
    """Whether low |x|^2 <= |Bx|^2 <= high |x|^2 for every order-sparse x, from B^T B."""
    size = min(order, len(products))
    return all(
        positive_semidefinite(_shifted(products, chosen, low, 1))
        and positive_semidefinite(_shifted(products, chosen, high, -1))
        for chosen in combinations(range(len(products)), size)
    )


def _shifted(
    products: Sequence[Sequence[Fraction]], chosen: Sequence[int], shift: Fraction, sign: int
) -> list[list[Fraction]]:
    """sign (B_S^T B_S - shift I)."""
    return [[sign * (products[i][j] - (shift if i == j else 0)) for j in chosen] for i in chosen]


def positive_semidefinite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """By symmetric elimination: a pivot < 0, or = 0 in a row that is not, decides against."""
    rows = [list(row) for row in matrix]
    while rows:
        pivot = rows[0][0]
        if pivot < 0 or (pivot == 0 and any(rows[0])):
            return False
        first, rows = rows[0], rows[1:]
        if pivot:
            rows = [
                [x - row[0] / pivot * y for x, y in zip(row, first, strict=True)] for row in rows
            ]
        rows = [row[1:] for row in rows]
    return True
