"""The mechanism of CP in exact numbers: channels, estimates, isometries, and instances of them.

A matrix A in {-1, +1}^(m x k) is a tuple of k columns of m signs: column x is the set C_x. The
factor e stands for e^epsilon and is rational, so that every probability is a Fraction. Vectors with
a factor 1/sqrt(m) in the paper are kept multiplied by sqrt(m).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise, product
from math import comb, factorial

from flint import arb

from exactdp.balls import ball
from exactdp.law import Law
from exactdp_proofs.rationals import Fraction

Vector = tuple[Fraction, ...]
Columns = tuple[tuple[int, ...], ...]

#: Values of e^epsilon with 0 < epsilon < 1, up to 0.99326.
HIGH_PRIVACY = tuple(Fraction(*pair) for pair in ((101, 100), (3, 2), (2, 1), (5, 2), (27, 10)))

#: Values of e^epsilon with epsilon >= 1.
MEDIUM_PRIVACY = tuple(Fraction(x) for x in ("2.72", "4", "10", "64"))

ALL_PRIVACY = HIGH_PRIVACY + MEDIUM_PRIVACY

#: Just above tanh(1/2), the value of (e^epsilon - 1)/(e^epsilon + 1) at epsilon = 1.
TANH_HALF = Fraction(46212, 100_000)

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


def first(n: int, m: int) -> tuple[int, ...]:
    """The column of the set of the first n of m outcomes."""
    return (1,) * n + (-1,) * (m - n)


def channel(columns: Columns, e: Fraction) -> list[Law[int]]:
    """The law of the report for each value x, equation (2)."""
    bases = [plus(c) * e + len(c) - plus(c) for c in columns]
    return [
        Law({y: (e if sign == 1 else 1) / base for y, sign in enumerate(column)})
        for column, base in zip(columns, bases, strict=True)
    ]


def privacy_factor(laws: Sequence[Law[int]]) -> Fraction:
    """The largest ratio Q(y|x)/Q(y|x'): e^epsilon of the tightest guarantee."""
    return max(p[y] / q[y] for p, q in product(laws, laws) for y in p)


def output(columns: Columns, e: Fraction, p: Sequence[Fraction]) -> Vector:
    """q: the law of a report of a user drawn from p, from the channel itself."""
    laws = channel(columns, e)
    return tuple(dot(p, (law[y] for law in laws)) for y in range(len(columns[0])))


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


def minus(a: Iterable[Fraction | int], b: Iterable[Fraction | int]) -> Vector:
    """The difference of two vectors."""
    return tuple(Fraction(x) - y for x, y in zip(a, b, strict=True))


def scaled(a: Iterable[Fraction | int], b: Iterable[Fraction | int]) -> Vector:
    """The products of entries: a vector times a diagonal matrix."""
    return tuple(Fraction(x) * y for x, y in zip(a, b, strict=True))


def square(v: Sequence[Fraction | int]) -> Fraction:
    """The squared Euclidean norm."""
    return dot(v, v)


def image(columns: Columns, x: Sequence[Fraction]) -> Vector:
    """A x."""
    return tuple(dot(row, x) for row in zip(*columns, strict=True))


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
    for tally in counts(n, len(q)):
        weight, left = Fraction(1), n
        for count, chance in zip(tally, q, strict=True):
            weight *= comb(left, count) * chance**count
            left -= count
        yield weight, tuple(Fraction(count, n) for count in tally)


def hadamard(m: int) -> Columns:
    """The columns of Sylvester's Hadamard matrix, m a power of 2."""
    return tuple(tuple(1 - 2 * ((x & y).bit_count() % 2) for y in range(m)) for x in range(m))


def hadamard_response(k: int) -> Columns:
    """The sets of Hadamard response: k columns after the first, of the smallest order above k."""
    return hadamard(1 << k.bit_length())[1 : k + 1]


def gram(columns: Columns) -> tuple[Vector, ...]:
    """B^T B for B = A/sqrt(m)."""
    return tuple(tuple(dot(a, b) / len(a) for b in columns) for a in columns)


def isometric(
    products: Sequence[Sequence[Fraction]], order: int, low: Fraction, high: Fraction
) -> bool:
    """Whether low |x|^2 <= |Bx|^2 <= high |x|^2 for every order-sparse x, from B^T B."""
    return all(
        _positive_semidefinite(
            [[sign * (products[i][j] - (shift if i == j else 0)) for j in chosen] for i in chosen]
        )
        for chosen in combinations(range(len(products)), min(order, len(products)))
        for sign, shift in ((1, low), (-1, high))
    )


def _positive_semidefinite(rows: list[list[Fraction]]) -> bool:
    """Symmetric elimination: a pivot < 0, or a pivot 0 in a row that is not 0, gives False."""
    while rows:
        (pivot, *rest), *others = rows
        if pivot < 0 or (pivot == 0 and any(rest)):
            return False
        rows = [
            [x - row[0] / pivot * y if pivot else x for x, y in zip(row[1:], rest, strict=True)]
            for row in others
        ]
    return True


def distributions(k: int) -> list[Vector]:
    """Uniform, sparse and skewed ones, each of length k."""
    skewed = [Fraction(1, 3**j) for j in range(k)]
    ramp = [Fraction(j) for j in range(k)]
    plain = ([Fraction(1)] * k, [Fraction(0)] * (k - 1) + [Fraction(1)], skewed, ramp)
    return [tuple(x / sum(v) for x in v) for v in plain]


def instances(factors: Iterable[Fraction]) -> Iterator[tuple[Columns, Fraction, Vector]]:
    """Matrix, e^epsilon and distribution."""
    for columns, e in product(MIXED, factors):
        for p in distributions(len(columns)):
            yield columns, e, p


def deviation(columns: Columns) -> Fraction:
    """The least beta with every n_x within (1 +- beta) m/2."""
    return max(abs(Fraction(2 * plus(c), len(c)) - 1) for c in columns)


def artanh_quotient(x: arb) -> arb:
    """artanh(x)/x on balls within [0, 0.51]: forty terms of the series, and the rest as a ball."""
    terms = sum((x ** (2 * j) / (2 * j + 1) for j in range(40)), arb(0))
    most = ball(Fraction(51, 100)) ** 80 / (81 * (1 - ball(Fraction(51, 100)) ** 2))
    return terms + arb(0, 1) * most


def x_coth(x: arb) -> arb:
    """x cosh(x)/sinh(x) on balls within [0, 1], through the series of sinh(x)/x."""
    terms = sum((x ** (2 * j) / factorial(2 * j + 1) for j in range(15)), arb(0))
    return x.cosh() / (terms + arb(0, 1) * ball(Fraction(2, factorial(31))))
