"""CP, Lemma 1.2: the recovery guarantee, cited from a source whose RIP has squared norms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._model import dot, isometric
from exactdp.proofs_check.entries import CP, elsewhere, varied

__all__ = ["CLAIMS"]

Matrix = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

#: A rational number a little below sqrt(2) - 1.
_BELOW_ROOT_TWO_LESS_ONE = Fraction(414, 1000)

_HALVES = tuple(Fraction(j, 2) for j in range(-2, 3))
_TWENTIETHS = tuple(Fraction(j, 20) for j in range(10, 30))
_LARGEST = tuple(Fraction(h, 100) for h in (100, 125, 150, 190, 199, 201, 210, 300))


def _matrices() -> Iterator[Matrix]:
    """2 x 3 matrices: a grid of multiples of 1/2, and a family with null vectors (h, 1, 1)."""
    zero = Fraction(0)
    for a, b, h in product(_TWENTIETHS, _TWENTIETHS, _LARGEST):
        yield (-2 * a / h, a, a), (zero, b, -b)
    for a, c, d, f, g in product(_HALVES, repeat=5):
        if a < 0:
            yield (a, c, f), (zero, d, g)


def _null_vector(b: Matrix) -> tuple[Fraction, Fraction, Fraction]:
    (a, c, f), (z, d, g) = b
    return c * g - f * d, f * z - a * g, a * d - c * z


def _products(b: Matrix) -> tuple[tuple[Fraction, ...], ...]:
    columns = list(zip(*b, strict=True))
    return tuple(tuple(dot(x, y) for y in columns) for x in columns)


def _minimisation(delta: Fraction) -> str:
    """Under (2, delta)-RIP as in Definition 1, the least l1 norm finds every 1-sparse vector.

    With a null space spanned by h, another vector has a smaller norm exactly when the largest
    |h_i| exceeds the sum of the others.
    """
    low, high = (1 - delta) ** 2, (1 + delta) ** 2
    kept = 0
    for b in _matrices():
        products = _products(b)
        if not all(low <= products[i][i] <= high for i in range(3)):
            continue
        if not isometric(products, 2, low, high):
            continue
        kept += 1
        h = sorted(map(abs, _null_vector(b)))
        shown = [[str(x) for x in row] for row in b]
        require(h[2] <= h[0] + h[1], f"B = {shown}, null vector {[str(x) for x in h]}")
    require(kept > 0, "no matrix has the property")
    return f"all {kept} matrices with the property, of a grid and a family"


def _conversion(threshold: str) -> str:
    """The largest delta of Definition 1 whose squared bounds are, up to scale, 1 -+ 1/sqrt(2).

    (1+delta)^2/(1-delta)^2 = (1+d)/(1-d) has the solution d = 2 delta/(1+delta^2).
    """
    import sympy

    delta = sympy.sympify(threshold)
    x = sympy.symbols("x", positive=True)
    ratio = ((1 + x) / (1 - x)) ** 2
    d = 2 * x / (1 + x**2)
    require(sympy.simplify((1 + d) / (1 - d) - ratio) == 0, "the ratios differ")
    gap = sympy.radsimp(sympy.simplify(d.subs(x, delta) - 1 / sympy.sqrt(2)))
    require(gap == 0, f"delta = {delta} means {sympy.radsimp(d.subs(x, delta))} when squared")
    return f"{threshold} in Definition 1 is 1/sqrt(2) for squared norms, after rescaling B"


CLAIMS = (
    CP.not_checkable(
        "Lemma 1.2",
        "For (2s, 1/sqrt(2))-RIP matrices B some polynomial-time algorithm recovers x "
        "from y = Bx + e within (C/sqrt(s))|x - [x]_s|_1 + D|e|_2, for constants C and D.",
        "the existence of an algorithm with unstated constants, cited. Whether "
        "the cited theorem gives it is the next entry",
    ),
    CP.verified(
        "Lemma 1.2, by the cited theorem",
        "The cited theorem (least l1 norm) is about squared norms; in terms of Definition 1 its "
        "condition is delta < sqrt(2) - 1 for order 2s, B rescaled. On instances it then finds "
        "every 1-sparse vector.",
        "enumeration",
        **elsewhere(
            "with a larger delta more matrices have the property",
            varied(
                _minimisation, _BELOW_ROOT_TWO_LESS_ONE, Fraction(43, 100), "delta = 0.43 suffices"
            ),
        ),
        note="With unsquared norms and delta just below 1/sqrt(2), B = ((-2/3, 1, 1), (0, 1, -1)) "
        "has the property, and (0, -1, -1) has the image of (3, 0, 0) and a smaller l1 norm. Lemma"
        " 1.2 itself names no algorithm and is not refuted by this.",
        ours=True,
    ),
    CP.proved(
        "Lemma 1.2, constant in terms of Definition 1",
        "delta = sqrt(2) - 1 for unsquared norms is the constant 1/sqrt(2) for squared "
        "norms, once B is scaled so that the squared bounds are symmetric about 1.",
        "symbolic",
        **varied(_conversion, "sqrt(2) - 1", "1/sqrt(2)", "delta = 1/sqrt(2) is that constant"),
        ours=True,
    ),
)
