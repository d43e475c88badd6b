"""The expected maximum error over all entries of a vector, from the laws of single errors.

With M the maximum of the |errors|, E M is the integral of P(M > t) over t >= 0. P(M > t) is at most
the sum of P(|error| > t) over all entries, and 1; for independent errors it is 1 minus the product
of the complements. Probabilities are step functions of t, so the integral is a finite sum.

Source: Aumüller, Lebeda and Pagh (ALP), Section 2 (maximum error) and Proposition 2.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.projections.error_law import ErrorLaw, Floats
from exactdp.parameters import Real, rational

#: Bound of the relative rounding error of sums, products and logarithms in doubles.
_ROUNDING = 1e-9

#: The laws with the largest errors above, and with the largest errors below, of one value.
Sides = tuple[ErrorLaw, ErrorLaw]


def maximum_error(
    sides: Callable[[Fraction], Sides],
    values: Sequence[Real],
    *,
    k: int,
    d: int,
    independent: bool,
) -> Fraction:
    """An upper bound of the expected maximum error over all d entries.

    values: the non-zero entries, at most k of them; raises InvalidParameter for more. independent:
    whether the errors of different entries are, where the bound is the expectation.
    """
    if len(values) > k:
        described = Described(f"{len(values)} values")
        raise InvalidParameter("values", described, f"at most k = {k} of them")
    numbers = Counter(rational("value", value) for value in values)
    numbers[Fraction(0)] += d - len(values)
    laws = [(sides(value), number) for value, number in numbers.items() if number]
    every = [law for pair, _ in laws for law in pair]
    ends = np.unique(np.concatenate([[0.0], *(np.append(abs(x.errors), x.span) for x in every)]))
    seen = np.zeros(len(ends))  # the sum of all tails, or minus the logarithm of P(M <= t)
    with np.errstate(divide="ignore"):
        for (above, below), number in laws:
            tail = np.minimum(
                _tail(above, above.errors, ends) + _tail(below, -below.errors, ends), 1
            )
            seen += number * (-np.log1p(-tail) if independent else tail)
    beyond = -np.expm1(-seen) if independent else np.minimum(seen, 1)
    most = float((beyond[:-1] * np.diff(ends)).sum()) * (1 + _ROUNDING)
    return Fraction(most) + Fraction(max(law.resolution for law in every))


def _tail(law: ErrorLaw, errors: Floats, ends: Floats) -> Floats:
    """An upper bound of P(error > t) for each of the ends t; no error exceeds the span."""
    order = np.argsort(errors)
    above = np.append(np.cumsum(law.weights[order][::-1])[::-1], 0.0)
    chances = above[np.searchsorted(errors[order], ends, side="right")]
    return np.where(ends < law.span, chances * (1 + law.slack) * (1 + _ROUNDING) + law.left, 0)
