"""CP, Section 2: the channel, known mechanisms as special cases, and the system (3) to (5)."""

from __future__ import annotations

from itertools import product

from exactdp.local import HadamardResponse, MatrixResponse, RandomizedResponse
from exactdp.local.public_matrices import GivenColumns
from exactdp_proofs.comparisons import at_most, below, equal
from exactdp_proofs.papers.cp._model import (
    ALL_PRIVACY,
    HIGH_PRIVACY,
    MIXED,
    channel,
    deviation,
    dot,
    empirical_laws,
    first,
    gram,
    hadamard,
    image,
    instances,
    measured,
    minus,
    output,
    plus,
    privacy_factor,
    scaled,
    weights,
)
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import CP, as_printed, mutant

_EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(3))


@CP.holds("Equation (2)")
@mutant("with m - n_x + 1 in the denominator", more=1)
def equation_2(more: int = 0) -> None:
    """The weights e^epsilon inside C_x and 1 outside, over n_x e^epsilon + m - n_x, are a law on
    [m]: that of a report of the mechanism as shipped, with its rational in place of e^epsilon.
    """
    sizes = tuple(first(n, 12) for n in range(1, 12))
    for columns, eps in product((*MIXED, sizes), _EPSILONS):
        shipped = MatrixResponse(GivenColumns(list(zip(*columns, strict=True))), epsilon=eps)
        e, laws = shipped.ratio, channel(columns, shipped.ratio)
        for x, column in enumerate(columns):
            base = plus(column) * e + len(column) - plus(column) + more
            stated = {y: (e if sign == 1 else 1) / base for y, sign in enumerate(column)}
            equal(laws[x], shipped.law(x), n=plus(column), e=e)
            equal(dict(shipped.law(x).items()), stated, n=plus(column), e=e)


@CP.holds("Equation (2)", "equal sizes", ours=True)
@mutant("exactly when the sizes are equal", nested=False)
def equal_sizes(nested: bool = True, loss: Fraction = Fraction(1)) -> None:
    """Two sets as they stand give epsilon-LDP exactly when they have the same size or the smaller
    lies inside the larger; else epsilon must be rescaled. (All pairs of subsets of [4].)
    """
    sets = list(product((1, -1), repeat=4))
    for pair, e in product(product(sets, repeat=2), ALL_PRIVACY[::3]):
        small, large = sorted(pair, key=plus)
        inside = all(b == 1 for a, b in zip(small, large, strict=True) if a == 1)
        stated = plus(small) == plus(large) or (nested and inside)
        laws = channel((small, large), raised(e, loss))
        equal(privacy_factor(laws) <= e, stated, sets=pair, e=e)


@CP.holds("Section 2", "randomized response")
@mutant("with C_x = {x + 1}", shift=1)
def randomized_response(shift: int = 0) -> None:
    """With C_x = {x} the mechanism is k-ary randomized response, as shipped."""
    for k, eps in product(range(2, 9), _EPSILONS):
        shipped = RandomizedResponse(k, eps)
        columns = tuple(tuple(2 * (y == (x + shift) % k) - 1 for y in range(k)) for x in range(k))
        laws = channel(columns, shipped.e_epsilon)
        equal(privacy_factor(laws), shipped.e_epsilon, k=k)
        equal(laws, [shipped.law(x) for x in range(k)], k=k, epsilon=eps)


@CP.holds("Section 2", "Hadamard response")
@mutant("over the columns from the first on", start=0)
def hadamard_response_as_shipped(start: int = 1) -> None:
    """Hadamard response as shipped, also for k that is not a power of two, is the mechanism (2)
    over the columns of a Hadamard matrix after the first; P1 holds with beta = 0.
    """
    for k, eps in product((2, 3, 4, 7, 8), (Fraction(1, 2), Fraction(1))):
        shipped = HadamardResponse(k, eps, blocks=1)
        columns = hadamard(1 << k.bit_length())[start : start + k]
        laws = channel(columns, shipped.e_epsilon)
        equal(laws, [shipped.law(x) for x in range(k)], k=k, epsilon=eps)
        equal(privacy_factor(laws), shipped.e_epsilon, k=k)
        equal(deviation(columns), 0, k=k)


@CP.holds("Section 2", "isometry of the Hadamard matrix")
@mutant("H itself is orthonormal", over=1)
def isometry_of_the_hadamard_matrix(over: int = 0) -> None:
    """H/sqrt(m) is orthonormal, so that any k of its columns are (k, 0)-RIP."""
    for m in (2, 4, 8, 16):
        products = [[v * m / (over or m) for v in row] for row in gram(hadamard(m))]
        equal(products, [[int(i == j) for j in range(m)] for i in range(m)], m=m)


@CP.refuted("Section 2", "dimension of q", severity="cosmetic")
@as_printed(most=Fraction(1))
@mutant("at most 1.9 k", most=Fraction(19, 10))
def dimension_of_q(most: Fraction = Fraction(2)) -> None:
    """The reports of Hadamard response have more than k outcomes, and at most 2k.

    Printed (Section 2, overview, line 75): To ensure it's invertibility, the dimension of q is the
        same as that of p in all previous works.
    Corrected: In earlier mechanisms it is at least that of p, and for Hadamard response, a special
        case of (2), it is larger.
    Regime: Hadamard response, every k.
    Extraction: no. That earlier mechanisms do not reduce the dimension is true.

    >>> k = 10_000                       # Hadamard response, a special case of the paper's own (2)
    >>> outcomes = 1 << k.bit_length()   # the least power of two above k
    >>> outcomes == k, outcomes
    (False, 16384)
    """
    for k in (2, 3, 4, 5, 8, 100, 128):
        outcomes = len(HadamardResponse(k, Fraction(1, 2), blocks=1).law(k - 1))
        below(k, outcomes, k=k)
        at_most(outcomes, most * k, k=k)


@CP.note("Section 2", "q as a sum over the sets")
@as_printed(in_k=True)
@mutant("the second sum is over all sets", everywhere=True)
def q_as_a_sum_over_the_sets(in_k: bool = False, everywhere: bool = False) -> None:
    r"""q[j] is the sum of e^epsilon p_i/(n_i e^epsilon + m - n_i) over the i with j in C_i and of
    p_i/(n_i e^epsilon + m - n_i) over the i with j in [m] but not in C_i.

    Printed (Section 2, display before equation (3), line 151): \sum_{i:j \in [k] \setminus C_i}
        \frac{p[i]}{n_i e^\varepsilon + m - n_i}
    Corrected: The sets lie in [m], as in (2). It matters for m > k, as in Hadamard response.
    Extraction: possible: k for m.

    >>> from fractions import Fraction
    >>> k, m, e = 1, 2, 3                          # one symbol, C_1 = {1}: n_1 = 1
    >>> p = Fraction(1, (e - 1) * 1 + m)           # of the report 2, which is not in C_1
    >>> 2 in set(range(1, k + 1)) - {1}, p         # so the sum for q[2] is empty
    (False, Fraction(1, 4))
    """
    for columns, e, p in instances(HIGH_PRIVACY):
        parts = scaled(weights(columns, e), p)
        for j, chance in enumerate(output(columns, e, p)):
            second = (everywhere or (c[j] != 1 and (j < len(p) or not in_k)) for c in columns)
            factors = [e * (c[j] == 1) + more for c, more in zip(columns, second, strict=True)]
            equal(dot(factors, parts) * 2 / (len(columns[0]) * (e + 1)), chance, j=j, e=e, p=p)


@CP.holds("Equation (3)")
@mutant("J has the coefficient 0.49 (e^epsilon + 1)", half=Fraction(49, 100))
def equation_3(half: Fraction = Fraction(1, 2)) -> None:
    """q = ((e^epsilon - 1)/2 A + (e^epsilon + 1)/2 J) D p, with D the diagonal of
    1/(n_i e^epsilon + m - n_i).
    """
    for columns, e, p in instances(ALL_PRIVACY):
        dp = [x / (plus(c) * e + len(c) - plus(c)) for x, c in zip(p, columns, strict=True)]
        stated = tuple((e - 1) / 2 * v + (e + 1) * half * sum(dp) for v in image(columns, dp))
        equal(stated, output(columns, e, p), e=e, p=p)


@CP.holds("Equation (4)")
@mutant("0.99 of the last term", share=Fraction(99, 100))
def equation_4(share: Fraction = Fraction(1)) -> None:
    """(e^epsilon + 1)/(e^epsilon - 1) (sqrt(m) q - 1/sqrt(m)) = A D'p/sqrt(m) +
    (e^epsilon + 1)/(sqrt(m) (e^epsilon - 1)) J(D' - I)p.
    """
    for columns, e, p in instances(ALL_PRIVACY):
        x = scaled(weights(columns, e), p)
        last = share * (e + 1) / (e - 1) * (sum(x) - 1)
        equal(measured(output(columns, e, p), e), tuple(v + last for v in image(columns, x)), e=e)


@CP.holds("Equation (5)")
@mutant("0.99 of it", share=Fraction(99, 100))
def equation_5(share: Fraction = Fraction(1)) -> None:
    """With the empirical law in place of q the additional term is
    e_2 = sqrt(m) (e^epsilon + 1)/(e^epsilon - 1) (q_hat - q).
    """
    for columns, e, p in instances(HIGH_PRIVACY[1:3]):
        q = output(columns, e, p)
        factor = share * len(q) * (e + 1) / (e - 1)
        for _, seen in empirical_laws(q, 2):
            second = tuple(factor * v for v in minus(seen, q))
            equal(minus(measured(seen, e), measured(q, e)), second, e=e, seen=seen)
