"""Two densities of one real output, known by functions of balls and of power series.

On a block of outputs both densities and the loss ln p/q are Taylor polynomials about its centre.
The remainder after N terms is at most coefficient N of the power series about the whole block,
times the radius to the power N. Blocks are halved until remainders are small; blocks with hardly
any mass need none. In a part of a block the masses are differences of antiderivatives, and the loss
is in the ball of its polynomial.

Outputs beyond the blocks have the mass that is missing to 1: upper bounds take it as infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias

from flint import arb, arb_poly, arb_series, ctx

from exactdp.balls import ball, precision
from exactdp.errors import Described, InvalidParameter, Undecided

#: A density, of a ball (then it encloses its values there) or of a power series.
Function: TypeAlias = Callable[[Any], Any]

#: Terms of a power series, and bits for each of more terms.
_TERMS, _BITS_PER_TERM = 32, 4

#: Binary digits of a block beyond those of the mass that may be cut off.
_SPARE = 16

#: Most blocks. Where outputs reach 2^_DOUBLINGS times as far, the missing mass must have halved.
_MOST_BLOCKS, _DOUBLINGS = 1 << 15, 8

#: The remainder of a loss is at most 2^-_LOSS_BITS; that of a density at most this part of it.
_LOSS_BITS, _LEAST_ACCURACY = 40, arb(2) ** -40


@dataclass(frozen=True)
class Densities:
    """Both densities on pieces of the line.

    pieces: for each, p and q. breaks: the places between the pieces, rising.
    """

    pieces: tuple[tuple[Function, Function], ...]
    breaks: tuple[Fraction, ...]

    def sampled(self, rate: Fraction) -> Densities:
        """(1 - rate) q + rate p in place of p."""
        return Densities(tuple((Mixture(p, q, rate), q) for p, q in self.pieces), self.breaks)


@dataclass(frozen=True)
class Mixture:
    """The density of a user's data on a Poisson sample."""

    p: Function
    q: Function
    rate: Fraction

    def __call__(self, x: Any) -> Any:
        return (1 - ball(self.rate)) * self.q(x) + ball(self.rate) * self.p(x)


@dataclass(frozen=True)
class Block:
    """Outputs about a centre: the antiderivatives of p and q, and ln p/q where both are > 0.

    slack: bounds of the remainders of p, of q and of the loss.
    """

    centre: arb
    radius: arb
    p: arb_poly
    q: arb_poly
    loss: arb_poly | None
    slack: tuple[arb, arb, arb]

    def masses(self, low: arb, high: arb) -> tuple[arb, arb]:
        """The masses between two places, counted from the centre."""
        spread = (high - low) * arb(0, 1)
        p = self.p(high) - self.p(low) + spread * self.slack[0]
        q = self.q(high) - self.q(low) + spread * self.slack[1]
        return p.max(arb(0)), q.max(arb(0))

    def turned(self) -> Block:
        """p and q in the other order."""
        loss = None if self.loss is None else -self.loss
        slack = self.slack[1], self.slack[0], self.slack[2]
        return replace(self, p=self.q, q=self.p, loss=loss, slack=slack)

    def most(self, low: arb, high: arb, x: arb) -> arb:
        """An upper bound of the integral of |p - x q| between two places."""
        here = (self.p.derivative() - x * self.q.derivative())(low.union(high))
        return (high - low) * (abs(here).upper() + self.slack[0] + x * self.slack[1])

    def losses(self, low: arb, high: arb) -> arb:
        """A ball around the losses between two places."""
        if self.loss is None:
            return arb("nan")
        return self.loss(low.union(high)) + arb(0, 1) * self.slack[2]


@lru_cache(maxsize=32)
def blocks(pair: Densities, bits: int) -> tuple[tuple[Block, ...], tuple[arb, arb]]:
    """Blocks with all outputs but for masses of 2^-bits, by rising output; and balls around these.

    The masses beyond the blocks follow from the integrals, which are taken to be 1. Raises
    InvalidParameter where they are not.
    """
    terms = max(_TERMS, bits // _BITS_PER_TERM)
    with precision(bits + 64, terms=terms + 1):
        small = arb(2) ** -bits
        reach = max([Fraction(1), *(abs(x) for x in pair.breaks)])
        edges = sorted({-reach, *pair.breaks, reach})
        listed = [x for ends in pairwise(edges) for x in _covering(pair, *ends, bits)]
        missing = [_beyond(listed, reach)]
        while not all(x < small for x in missing[-1]):
            if len(missing) > _DOUBLINGS and any(
                2 * new > old for new, old in zip(missing[-1], missing[-_DOUBLINGS], strict=True)
            ):
                _refuse(missing[-1], reach)
            left, right = (
                _covering(pair, *ends, bits) for ends in ((-2 * reach, -reach), (reach, 2 * reach))
            )
            listed, reach = [*left, *listed, *right], 2 * reach
            missing.append(_beyond(listed, reach))
        return tuple(listed), missing[-1]


def _beyond(listed: list[Block], reach: Fraction) -> tuple[arb, arb]:
    """What is missing to 1, of p and of q."""
    masses = [block.masses(-block.radius, block.radius) for block in listed]
    beyond = 1 - sum((p for p, _ in masses), arb(0)), 1 - sum((q for _, q in masses), arb(0))
    if any(x < 0 for x in beyond):
        _refuse(beyond, reach)
    return beyond


def _refuse(beyond: tuple[arb, arb], reach: Fraction) -> NoReturn:
    for name, missing in zip("pq", beyond, strict=True):
        if missing < 0 or missing > 0:
            integral = Described(f"one with integral {float((1 - missing).mid()):.10g}")
            far = f"a density with integral 1; this one was added up to {float(reach):.3g}"
            raise InvalidParameter(name, integral, far)
    raise Undecided("the integrals of the densities are not known well enough")


def _covering(pair: Densities, low: Fraction, high: Fraction, bits: int) -> list[Block]:
    """Blocks between two places, by rising output."""
    functions = pair.pieces[sum(x <= low for x in pair.breaks)]
    listed, left = [], [(low, high)]
    while left:
        low, high = left.pop()
        block = _block(functions, low, high, bits)
        if block is None:
            middle = (low + high) / 2
            left += [(middle, high), (low, middle)]
        else:
            listed.append(block)
        if len(listed) + len(left) > _MOST_BLOCKS:
            place = Described(f"one that is not enclosed near {float(low):.10g}")
            raise InvalidParameter("p or q", place, "an analytic density between the breaks")
    return listed


def _block(
    functions: tuple[Function, Function], low: Fraction, high: Fraction, bits: int
) -> Block | None:
    """The block between two places, or None where remainders are too large."""
    centre, radius = ball((low + high) / 2), ball((high - low) / 2)
    names, whole = tuple(zip("pq", functions, strict=True)), ball(low).union(ball(high))
    around = [series(name, f, arb_series([whole, 1])) for name, f in names]
    known = [coefficients(x) for x in around]
    most = [x[0].upper() for x in known]
    if all(x * 2 * radius < arb(2) ** -(bits + _SPARE) for x in most):
        nothing = arb_poly([])
        return Block(centre, radius, nothing, nothing, None, (most[0], most[1], arb(0)))
    # errors of a mass count as far as the other law has mass there
    share = (arb(2) ** -(bits + _SPARE) / (2 * radius * most[0].max(most[1]))).min(_LEAST_ACCURACY)
    slack = [_remainder(x, radius) for x in around]
    is_zero = [all(y == 0 for y in x) for x in known]
    for remainder, (first, *_), zero in zip(slack, known, is_zero, strict=True):
        if not (zero or (first > 0 and remainder <= first.lower() * share)):
            return None
    here = [series(name, f, arb_series([centre, 1])) for name, f in names]
    p, q = (arb_poly(coefficients(x)[:-1]).integral() for x in here)
    if any(is_zero):
        return Block(centre, radius, p, q, None, (slack[0], slack[1], arb(0)))
    loss, remainder = (here[0] / here[1]).log(), _remainder((around[0] / around[1]).log(), radius)
    if not remainder < arb(2) ** -_LOSS_BITS:
        return None
    polynomial = arb_poly(coefficients(loss)[:-1])
    return Block(centre, radius, p, q, polynomial, (slack[0], slack[1], remainder))


def series(name: str, function: Function, x: arb_series) -> arb_series:
    """A density's power series. Raises InvalidParameter for functions of other kinds."""
    allowed = "a function that takes balls and power series of flint, and returns such"
    try:
        value = function(x)
    except (ArithmeticError, ValueError):  # a ball around a pole, perhaps
        return arb_series([arb("nan")])
    except (AttributeError, TypeError) as error:
        raise InvalidParameter(name, Described(f"one that raises {error!r}"), allowed) from error
    if isinstance(value, int | arb):
        value = arb_series([value])
    if not isinstance(value, arb_series):
        kind = Described(f"one that returns a {type(value).__name__}")
        raise InvalidParameter(name, kind, allowed)
    return value


def coefficients(value: arb_series) -> list[arb]:
    """The coefficients up to the order of the remainder."""
    known = [arb(x) for x in value.coeffs()][: ctx.cap]
    return known + [arb(0)] * (ctx.cap - len(known))


def _remainder(around: arb_series, radius: arb) -> arb:
    last = coefficients(around)[-1] * radius ** (ctx.cap - 1)
    return abs(last).upper() if last.is_finite() else arb("inf")
