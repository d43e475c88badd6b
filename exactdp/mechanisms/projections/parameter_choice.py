"""Parameters for what a user has: an error to keep, a memory to fill, a private sparsity."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.mechanisms.projections.combined import ThresholdALP
from exactdp.mechanisms.projections.exact_epsilon import largest_ratio
from exactdp.mechanisms.projections.unary_projection import UnaryProjection
from exactdp.parameters import Real, integer, positive
from exactdp.samplers import Source, TwoSidedGeometric
from exactdp.samplers.source import require_secure

_ALPHAS = ("3", "5", "8", "12", "20")
_ROWS = (3, 4, 6, 8, 12, 16, 24, 32, 64)
_SHARES = ("1/4", "1/3", "1/2")

#: NonzeroEntries of 0 for each of which one is stored by chance every second time.
_STORED = 1000


def threshold_alp_for(
    *, d: int, k: int, u: Real, epsilon: Real, error: Real, delta: Real = 0
) -> ThresholdALP:
    """The smallest of some sketches whose mean error is certainly at most `error`.

    d, k, u, delta: see ThresholdALP. epsilon: > 0, in all. error: > 0, for the |error| of a value
    in the middle of the sketch with as many collisions as there can be, and of a stored value.
    Tried are alpha from 3 to 20, 3 to 64 rows per entry, and 1/4 to 1/2 of epsilon for what is
    stored; the threshold of the pure variant lets about k/2 entries of 0 be stored (500 at most).
    Raises InvalidParameter where none is good enough.
    """
    total, wanted = positive("epsilon", epsilon), positive("error", error)
    entries, best = integer("k", k, least=1), None
    often = refine(lambda: ball(Fraction(integer("d", d, least=1), min(entries, _STORED))).log())
    for alpha, rows, share in product(_ALPHAS, _ROWS, _SHARES):
        part = Fraction(share)
        made = ThresholdALP(
            d=d,
            k=entries,
            s=rows * entries,
            u=u,
            epsilon1=part * total,
            epsilon2=(1 - part) * total,
            delta=delta,
            alpha=alpha,
            t=None if delta else max(often.upper, Fraction(1)) / (part * total),
        )
        bits = made.sketch.layout.size
        if best is not None and bits >= best[0]:
            continue
        if _stored_error(made) <= wanted and _sketch_error(made.sketch) <= wanted:
            best = bits, made
    if best is None:
        raise InvalidParameter("error", error, f"larger, for epsilon = {epsilon}")
    return best[1]


def _stored_error(made: ThresholdALP) -> Fraction:
    """At most the mean |error| of a stored value: 2 q/(1 - q^2) steps, and one for rounding."""
    q, grid = 1 / (1 + made.stored.noise.rise), made.stored.grid
    return (2 * q / (1 - q * q) + 1) * grid


def _sketch_error(sketch: UnaryProjection) -> Fraction:
    try:
        return sketch.error(sketch.beta / 2).mean_absolute().upper
    except InvalidParameter:  # so many collisions that wrong bits are as likely as right ones
        return Fraction(10**400)


def within_bits(of: type[Any], bits: int, **given: Any) -> Any:
    """A projection of a class whose array has at most so many bits: as many rows as they hold.

    of: ALP, SignedALP, HistogramALP, LogALP. given: all its parameters but s.
    Raises InvalidParameter for other names, and where 2 k + 1 rows do not fit.
    """
    names = [field.name for field in fields(of) if field.name != "s"]
    for name in given:
        if name not in names:
            raise InvalidParameter("parameter", name, f"one of {', '.join(names)}")
    room, entries = integer("bits", bits, least=1), integer("k", given.get("k", 0), least=1)
    levels = of(s=2 * entries + 1, **given).levels
    if room < (2 * entries + 1) * levels:
        allowed = f">= {(2 * entries + 1) * levels}, for {levels} levels of more than 2 k rows"
        raise InvalidParameter("bits", bits, allowed)
    return of(s=room // levels, **given)


@dataclass(frozen=True)
class PrivateSparsity:
    """k: the non-zero entries or more, but with probability missed. guarantee: what it costs."""

    k: int
    missed: Enclosure
    guarantee: Guarantee


def private_sparsity(k: int, *, d: int, epsilon: Real, source: Source) -> PrivateSparsity:
    """A noisy bound on the number of non-zero entries of a histogram, too small rarely.

    k: the true number, >= 0, which a neighbour changes by 1 at most (of real vectors it may change
    all of them: then it must be public). d: possible entries. The noisy number is raised so far
    that it is below k with probability at most 1/d. Source: ALP, Section 10, Variants.
    """
    require_secure(source)
    true, size = integer("k", k, least=0), integer("d", d, least=2)
    loss = positive("epsilon", epsilon)
    ratio = largest_ratio(loss)
    if ratio <= 1:
        raise InvalidParameter("epsilon", epsilon, "large enough for noise of a ratio above 1")

    def raised() -> Any:
        return ball(size).log() / ball(ratio).log()

    up = ceil(refine(raised).upper)
    missed = refine(lambda: (-ball(ratio).log() * (up + 1)).exp() / (1 + 1 / ball(ratio)))
    noisy = true + TwoSidedGeometric(q=1 / ratio).sample(source) + up
    promise = Guarantee(
        loss,
        Enclosure.exact(0),
        "histograms that differ by 1 in one entry",
        "ALP Section 10, with discrete noise",
        ratio,
    )
    return PrivateSparsity(min(max(noisy, 1), size), missed, promise)
