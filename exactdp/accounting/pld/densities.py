"""The privacy loss between two densities that the user gives as functions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from flint import arb, arb_series

from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.losses.output_law import OutputLaw
from exactdp.accounting.pld.losses.outputs import Densities, Function, blocks, series
from exactdp.balls import ball, precision
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, rational

#: The integrals are compared with 1 up to 2^-_BITS.
_BITS = 128

_TRUSTED = (
    "two densities of the user; checked: their integrals from -{reach} to {reach} lie between "
    "1 - 2^-128 and 1 + 2^-128; on trust: that their integrals are 1, that the functions enclose "
    "them, and that no pair of neighbours leaks more"
)


def from_density(
    p: Function | Sequence[Function],
    q: Function | Sequence[Function],
    *,
    neighbours: str,
    breaks: Sequence[Real] = (),
) -> Pld:
    """One real output, with a density on each of two neighbours that dominate all other pairs.

    p, q: the density with the user and without, as functions of an ``arb_series`` of python-flint.
    Its first coefficient is a ball, and the value's coefficients enclose those of the density's
    power series about every point of the ball; flint's own arithmetic and functions do so.
    breaks: places between which the densities are analytic, rising; then p and q are lists with
    one more function. A density may be 0 on a piece. neighbours: the relation, as for :func:`laws`.
    Checked: both integrals, over outputs so far from 0 that 2^-128 is missing to 1. Nobody can
    check what is farther out: the source of the loss says what is on trust. The loss need not rise
    with the output. Of neighbours without a named side only single runs are answered.
    Raises InvalidParameter.
    Source: the module :mod:`exactdp.accounting.pld.losses.outputs`.

    >>> from exactdp.accounting import pld
    >>> def logistic(x):
    ...     return 1 / ((x / 2).exp() + (-x / 2).exp()) ** 2
    >>> noise = pld.from_density(lambda x: logistic(x - 1), logistic, neighbours=pld.ADD_REMOVE)
    >>> print(format(noise.delta("0.5"), "6"))
    [0.0774046, 0.0774047]
    """
    places = tuple(rational("breaks", x) for x in breaks)
    if any(a >= b for a, b in pairwise(places)):
        raise InvalidParameter("breaks", list(breaks), "rising numbers")
    sides = [_pieces(name, f, len(places) + 1) for name, f in (("p", p), ("q", q))]
    pair = Densities(tuple(zip(*sides, strict=True)), places)
    _compare(pair)
    known, _ = blocks(pair, _BITS)
    reach = float((known[-1].centre + known[-1].radius).mid())
    step = Step(OutputLaw(pair), OutputLaw(pair, turned=True))
    source = _TRUSTED.format(reach=f"{reach:.3g}")
    return Pld(((step, 1),), neighbours, source)


def _pieces(name: str, functions: Function | Sequence[Function], count: int) -> list[Function]:
    listed = [functions] if callable(functions) else list(functions)
    if len(listed) != count or not all(map(callable, listed)):
        what = Described(f"{len(listed)} functions" if all(map(callable, listed)) else "others")
        raise InvalidParameter(name, what, f"{count} functions, one more than breaks")
    return listed


def _compare(pair: Densities) -> None:
    """Refuse functions whose values at a ball, in it, and as power series contradict each other."""
    edges = [None, *pair.breaks, None]
    for pieces, (low, high) in zip(pair.pieces, pairwise(edges), strict=True):
        start = low if low is not None else (high - 1 if high is not None else Fraction(-1))
        end = high if high is not None else start + 2
        with precision(_BITS):
            whole = ball(start).union(ball(end))
            points = [ball(start + (end - start) * Fraction(i, 8)) for i in range(9)]
            for name, function in zip("pq", pieces, strict=True):
                values = [_value(name, function, x) for x in [whole, *points]]
                first = series(name, function, arb_series([points[4], 1])).coeffs()
                values_there = [values[5], arb(first[0]) if first else arb(0)]
                if not all(
                    a.overlaps(b) for a, b in [(values[0], x) for x in values[1:]] + [values_there]
                ):
                    what = Described(f"one whose values near {float(start):.6g} contradict")
                    raise InvalidParameter(name, what, "an enclosure of one density")
                if any(x < 0 for x in values[1:]):
                    what = Described(f"negative near {float(start):.6g}")
                    raise InvalidParameter(name, what, "a density >= 0")


def _value(name: str, function: Function, x: arb) -> arb:
    value = series(name, function, arb_series([x])).coeffs()
    return arb(value[0]) if value else arb(0)
