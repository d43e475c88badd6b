"""Certified statements about every non-negative value of some symbols: signs of coefficients."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import sympy

from exactdp.errors import Undecided
from exactdp_proofs.comparisons import proved

#: Values of the symbols at which a counterexample is looked for, and how many points at most.
_TRIED = tuple(sympy.Rational(x) for x in ("1", "0", "1/10", "10", "1/1000", "1000"))
_MOST_POINTS = 50_000


def never_below_zero(expression: Any) -> None:
    """Prove that a rational function is >= 0 wherever its symbols are, and it is defined.

    Neither its numerator nor its denominator has a negative coefficient. An inequality between
    quantities a <= b is put so by b = a + s with a symbol s, a share by u/(u + v). Raises
    Counterexample with a point where it is negative, and Undecided where signs do not settle it.

    >>> import sympy
    >>> s, t = sympy.symbols("s t")
    >>> never_below_zero((s + t) ** 2 - 2 * s * t)
    """
    expression = sympy.sympify(expression)
    symbols = sorted(expression.free_symbols, key=str)
    top, bottom = (
        sympy.expand(x) for x in sympy.fraction(sympy.cancel(sympy.together(expression)))
    )
    if symbols and all(_signs(x, symbols) for x in (top, bottom)):
        names = ", ".join(map(str, symbols))
        return proved(True, f"all {names} >= 0")
    if not symbols and expression >= 0:
        return proved(True, f"{expression} >= 0")
    for values in islice(product(_TRIED, repeat=len(symbols)), _MOST_POINTS):
        at = dict(zip(symbols, values, strict=True))
        if bottom.subs(at) and expression.subs(at) < 0:
            where = ", ".join(f"{name} = {value}" for name, value in at.items())
            return proved(False, f"{expression} < 0{f' at {where}' if where else ''}")
    raise Undecided(f"{expression} has terms of both signs")


def _signs(polynomial: Any, symbols: list[Any]) -> bool:
    return all(c >= 0 for c in sympy.Poly(polynomial, *symbols).coeffs())
