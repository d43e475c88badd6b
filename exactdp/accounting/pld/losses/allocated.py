"""Random allocation: the user takes part in one of t steps, chosen uniformly and kept secret.

Let A be the law of a step with the user, and B the law without. The pair is P, the mean of the t
products with A in one place and B in all others, against Q, the product of t laws B. It dominates
adaptive steps, too: if (A, B) dominates every step, each step is a randomised image of (A, B)
(Blackwell), and the images of the t places, one after the other, are the mechanism.

Let R be the ratio dA/dB under B, and S the mean of t independent copies of R. Both curves are
expectations of convex functions of S: D(P, Q)(x) = E (S - x)+ + P(S infinite), and
D(Q, P)(x) = E (1 - x S)+. If E f(R) <= E f(U) for every convex f, then sums of independent copies
keep this order. So sums of R/t may move on a lattice (`grid.ratio_sums`).

Above, let V be the sum of what became 0 as it was beyond a lattice: E (S - x)+ is at most the same
without V, plus E V, which counts as an infinite loss. E (1 - x S)+ grows without V. Masses that are
larger than the exact ones only raise both, as do masses that are too small below, where a mass of P
is rounded down and the mass of Q with it is rounded up (in the other order, the other way round).
Source: Chua et al. 2024 (arXiv 2412.16802) and Feldman, Shenfeld 2025 (arXiv 2502.08202) for the
pair; the bounds are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.accounting.pld.grid.lattice import Grid, Ratios
from exactdp.accounting.pld.grid.measure import Bounds, on_nodes
from exactdp.accounting.pld.grid.moved import Cell, merged, shared
from exactdp.accounting.pld.grid.ratio_sums import Above, Below, coarser, total
from exactdp.accounting.pld.losses.base import Ends, Listed, LossLaw, Step
from exactdp.accounting.pld.losses.little_noise import epoch, has_little_noise
from exactdp.arrays import Floats, np
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter, Undecided

_BITS = 128

#: What each sum cuts off is 2^-_SPARE_BITS of the tail that may be cut off.
_SPARE_BITS = 8

#: Largest relative error of the masses below.
_MOST_ERROR = 0.25

#: The ends of a cell that may have any ratio.
_ANYWHERE = (0, 1 << 40)

_LITTLE_NOISE = (
    "the noise is too small, or the number of steps too large, for the loss of an epoch; one step "
    "without the allocation is an upper bound, larger by at most ln(steps) for each epoch"
)

#: Number of nodes of a sketch; tails of sums are followed to a mass of 2^-bits.
_SKETCHED, _SKETCHED_BITS = 500, 128


def allocated(step: Step, steps: int) -> Step:
    """An epoch with this number of steps (>= 2); the user takes part in one of them."""
    removed, added = (
        Allocated(step.removed, step.added, steps, removed) for removed in (True, False)
    )
    if has_little_noise(step.removed):
        return epoch(step, steps)
    real = tuple((allocated(*one, steps),) for one in step.real if len(one) == 1)
    return Step(removed, added, real, step.attained)


@dataclass(frozen=True)
class Allocated(LossLaw):
    """The loss of P against Q (removed), or of Q against P; see above.

    base, reverse: the laws of log dA/dB under A, and of log dB/dA under B. steps: t >= 2.
    """

    base: LossLaw
    reverse: LossLaw
    steps: int
    removed: bool

    def __post_init__(self) -> None:
        self.base.cells(Ratios(Fraction(1), self.steps), 1, Fraction(0))  # or raises

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        grid = Grid(Fraction(0), step)
        with precision(_BITS):
            try:
                low, high = _sums(self.base, self.reverse, self.steps, step, tail_bits)
            except Undecided as error:
                raise Undecided(_LITTLE_NOISE) from error
            masses, infinite = _above(high, grid, removed=self.removed)
            below = merged(grid, _cells(low, removed=self.removed))
            zero = low.zero / (1 + 2 * arb(low.error))
            least = self.base.mass_at_infinity() if self.removed else zero
            return (
                on_nodes(grid, {i: p for i, (p, _) in below.items()}, least.lower(), up=False),
                on_nodes(grid, masses, infinite, up=True),
            )

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        try:
            ratios, masses = _sketched(self.base, self.steps, bits)
        except FloatingPointError as error:
            raise Undecided(_LITTLE_NOISE) from error
        for ratio, mass in zip(ratios, masses, strict=True):
            if ratio > 0 and mass > 0:
                loss, log_mass = math.log(ratio), math.log(mass)
                yield (loss, log_mass + loss) if self.removed else (-loss, log_mass)

    def width(self) -> float:
        return self.base.width()

    def curve(self, times: int) -> None:
        return None  # even a single epoch needs a grid

    def excess(self, epsilon: Fraction) -> arb:
        raise self._unknown("one without random allocation here")

    def log_moment(self, s: Fraction) -> arb:
        allowed = "one without random allocation, for Renyi divergences"
        raise InvalidParameter("mechanism", Described("random allocation"), allowed)

    def few_outcomes(self, most: int) -> Listed | None:
        """Only of a base that leaks nothing."""
        listed = self.base.few_outcomes(1)
        leaks = listed is None or listed.infinite > 0 or listed.outcomes[0].exact != 0
        return None if leaks else listed

    def mass_at_infinity(self) -> arb:
        return self.base.mass_at_infinity() if self.removed else arb(0)

    def ends(self) -> Ends:
        if self.removed:
            # all t ratios can be the largest at once, and S is infinite if the user's own one is
            return self.base.ends()
        # all t ratios can be the least at once, and S is 0 if all are; if some can be 0, the least
        # S > 0 has a single ratio that is not
        reverse_ends = self.reverse.ends()
        largest, mass = reverse_ends.largest, reverse_ends.mass
        if largest is not None and mass.upper:
            far = largest + refine(lambda: ball(self.steps).log())
            largest = Enclosure(far.lower if mass.lower else largest.lower, far.upper)
        return Ends(largest, Enclosure(mass.lower**self.steps, mass.upper**self.steps))


@lru_cache(maxsize=4)
def _sums(
    base: LossLaw, reverse: LossLaw, count: int, step: Fraction, tail_bits: int
) -> tuple[Below, Above]:
    """The law of S, below and above."""
    with precision(_BITS):
        most = max(loss for loss, _ in base.sketch(tail_bits)) - math.log(count)
        lattice = Ratios(coarser(step, most, count), count)
        cells = list(base.cells(lattice, tail_bits, Fraction(0)))
        low = Below.one(lattice, cells, reverse.mass_at_infinity())
        high = Above.one(lattice, shared(lattice, cells))
        tail = 2.0 ** -(tail_bits + _SPARE_BITS)
        return total(low, step, tail), total(high, step, tail)


def _cells(sums: Below, *, removed: bool) -> list[Cell]:
    """Cells of sums below, whose ratios may lie anywhere."""
    if sums.error > _MOST_ERROR:
        raise Undecided("the steps of an epoch are too many for sums of doubles")
    # (1 + error) and 1/(1 - error) are at most 1 + 2 error
    low, high = 1 / (1 + 2 * arb(sums.error)), 1 + 2 * arb(sums.error)
    p_factor, q_factor = (low, high) if removed else (high, low)
    pairs = zip(sums.p.tolist(), sums.q.tolist(), strict=True)
    cells = [(arb(p) * p_factor, arb(q) * q_factor) for p, q in pairs if p and q]
    return [Cell(*(pair if removed else pair[::-1]), *_ANYWHERE) for pair in cells]


def _above(sums: Above, grid: Grid, *, removed: bool) -> tuple[dict[int, arb], arb]:
    """Masses under the first law at the nodes of their losses, and at infinity."""
    masses = {sums.first + i: arb(mass) for i, mass in enumerate(sums.masses.tolist()) if mass}
    if removed:
        return {i: mass * grid.loss(i).exp() for i, mass in masses.items()}, sums.beyond.upper()
    return {-i: mass for i, mass in masses.items()}, arb(sums.zero)


@lru_cache(maxsize=8)
def _sketched(base: LossLaw, steps: int, bits: int) -> tuple[Floats, Floats]:
    """About the law of S under Q, on a geometric grid; only to guess where to look."""
    losses, logs = np.array(list(base.sketch(bits))).T
    with np.errstate(over="raise"):
        ratios, masses = np.exp(losses) / steps, np.exp(logs - losses)
    last = max(4 * ratios.max(), min(steps * ratios.max(), 40.0), 4.0)
    grid = np.geomspace(1e-3 / steps, last, _SKETCHED)
    nodes = np.concatenate([[0.0], grid])

    def spread(places: Floats, weights: Floats) -> Floats:
        places = np.minimum(places, nodes[-1])
        index = np.clip(np.searchsorted(nodes, places, side="right"), 1, len(nodes) - 1) - 1
        share = (places - nodes[index]) / (nodes[index + 1] - nodes[index])
        size = len(nodes)
        left = np.bincount(index, weights * (1 - share), size).astype(np.float64)
        return left + np.bincount(index + 1, weights * share, size)

    def added(one: Floats, other: Floats) -> Floats:
        return spread(np.add.outer(nodes, nodes).ravel(), np.multiply.outer(one, other).ravel())

    power, sum_masses = spread(ratios, masses / masses.sum()), None
    while steps:
        if steps & 1:
            sum_masses = power if sum_masses is None else added(sum_masses, power)
        steps >>= 1
        power = added(power, power) if steps else power
    assert sum_masses is not None
    return nodes, sum_masses
