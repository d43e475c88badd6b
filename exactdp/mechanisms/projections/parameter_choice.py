"""Parameters from a user's requirements: an error bound, a memory limit, a private sparsity."""

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

#: The thresholds tried for delta = 0 store min(k, _STORED)/2 zero entries on average.
_STORED = 1000


def threshold_alp_for(
    *, d: int, k: int, u: Real, epsilon: Real, error: Real, delta: Real = 0
) -> ThresholdALP:
    """The smallest of the tried ThresholdALP mechanisms whose mean |error| is at most `error`.

    d, k, u, delta: as for ThresholdALP. epsilon: total privacy loss, > 0. error: > 0, a certified
    bound of the mean |error| of a stored value, and of a value in the middle of the sketch with the
    largest possible number of collisions. Tried are alpha from 3 to 20, 3 to 64 rows per entry, and
    1/4 to 1/2 of epsilon for the stored values. For delta = 0, the threshold stores about k/2 zero
    entries (at most 500). Raises InvalidParameter if no tried mechanism meets the error.
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
    """Upper bound of the mean |error| of a stored value.

    2 q/(1 - q^2) steps for noise of ratio q, and one step for rounding.
    """
    q, grid = 1 / (1 + made.stored.noise.rise), made.stored.grid
    return (2 * q / (1 - q * q) + 1) * grid


def _sketch_error(sketch: UnaryProjection) -> Fraction:
    try:
        return sketch.error(sketch.beta / 2).mean_absolute().upper
    except InvalidParameter:  # too many collisions: a wrong bit is as likely as a right bit
        return Fraction(10**400)


def within_bits(of: type[Any], bits: int, **given: Any) -> Any:
    """The mechanism with the largest number of rows whose array has at most this many bits.

    of: a class: ALP, SignedALP, HistogramALP or LogALP. bits: size of the array, in bits. given:
    all parameters of the class except s. Raises InvalidParameter, also if 2 k + 1 rows do not fit.
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
    """k: noisy upper bound of the number of non-zero entries. missed: the probability that k is
    too small. guarantee: of releasing k."""

    k: int
    missed: Enclosure
    guarantee: Guarantee


def private_sparsity(k: int, *, d: int, epsilon: Real, source: Source) -> PrivateSparsity:
    """A private upper bound on the number of non-zero entries of a histogram.

    k: the true number, >= 0. Neighbouring histograms change k by at most 1; neighbouring real
    vectors can change k by more, so their sparsity must be public. d: number of possible entries;
    the bound is too small with probability at most 1/d. epsilon: > 0. source: randomness fit for a
    release. Raises InvalidParameter. Source: ALP, Section 10, Variants.
    """
    require_secure(source)
    true, size = integer("k", k, least=0), integer("d", d, least=2)
    loss = positive("epsilon", epsilon)
    ratio = largest_ratio(loss)
    if ratio <= 1:
        raise InvalidParameter("epsilon", epsilon, "large enough for noise with a ratio above 1")

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
