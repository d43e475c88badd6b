"""Random allocation: the user takes part in one of t steps, chosen uniformly and kept secret.

Let A be the law of a step with the user, and B the law without. The pair is P, the mean of the t
products with A in one place and B in all others, against Q, the product of t laws B. It dominates
adaptive steps, too: if (A, B) dominates every step, each step is a randomised image of (A, B)
(Blackwell), and the images of the t places, one after the other, are the mechanism.

Let R be the ratio dA/dB under B, and S the mean of t independent copies of R. Both curves are
expectations of convex functions of S: D(P, Q)(x) = E (S - x)+ + P(S infinite), and
D(Q, P)(x) = E (1 - x S)+. If E f(R) <= E f(U) for every convex f, then sums of independent copies
keep this order. So R is moved to a lattice of ratios (`grid.lattice`), where laws of sums are
convolutions.

Masses are rounded down (`grid.ratio_sums`). Below, less mass is a lower curve; sums beyond the
lattices are left out. Above, let U be the sum before any mass is left out: E (U - x)+ is at most
its part over the kept mass plus the mean of U over the mass left out, and that mean is
1 - P(S infinite) less the mean over the kept mass. E (1 - x U)+ is at most its part over the kept
mass plus the mass left out. So the bound above counts the mass that P lacks to 1 (in the other
order, the mass that Q lacks) as an infinite loss. All sums beyond a lattice form one cell with a
known mass, mean, least and largest sum; in the other order they move down to the last node.
Source: Chua et al. 2024 (arXiv 2412.16802) and Feldman, Shenfeld 2025 (arXiv 2502.08202) for the
pair; the bounds are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.pld.grid.lattice import Grid, RatioLattice, quarters
from exactdp.accounting.pld.grid.measure import Bounds, on_nodes
from exactdp.accounting.pld.grid.moved import merged, shared
from exactdp.accounting.pld.grid.ratio_sums import Sums, levels
from exactdp.accounting.pld.losses.base import Ends, LossLaw, Step
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter

_BITS = 192

#: In the order without the user first, ratios beyond a mass of 2^-this move down to it above, and
#: are left out below: their losses are the smallest.
_FAR_BITS = 32

#: Number of nodes of a sketch; tails of sums are followed to a mass of 2^-bits.
_SKETCHED, _SKETCHED_BITS = 500, 128

Floats = NDArray[np.float64]


def allocated(step: Step, steps: int) -> Step:
    """An epoch with this number of steps (>= 2); the user takes part in one of them."""
    removed, added = (
        Allocated(step.removed, step.added, steps, removed) for removed in (True, False)
    )
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
    has_slow_tails = True

    def __post_init__(self) -> None:
        self.own.cells(RatioLattice(Fraction(1), 1.0, inverse=False), 1, Fraction(0))  # or raises

    @property
    def own(self) -> LossLaw:
        """The law of one step, in the order of this law."""
        return self.base if self.removed else self.reverse

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        # Moving R to nodes r apart adds at most r^2/6 to its variance above and takes r^2/3 below
        # where its law is smooth, so the two variances of S are r^2/(2 t) apart. With this r that
        # is step^2/5, about as much as the grid of losses adds.
        unit = quarters(float(step) * math.sqrt(self.steps) * 0.65)
        lattice = RatioLattice(unit, float(step) / 2, inverse=not self.removed)
        low, high = _sums(self, lattice, tail_bits)
        grid = Grid(Fraction(0), step)
        with precision(_BITS):
            below = merged(grid, [cell for sums in low for cell in sums.cells(grid)])
            least = self.base.mass_at_infinity() if self.removed else low[0].at_zero
            cells = [
                cell for sums in high for cell in (*sums.cells(grid), *sums.cells_beyond(grid))
            ]
            missing = 1 - sum((cell.p for cell in cells), arb(0))
            above = shared(grid, cells)
            return (
                on_nodes(grid, {i: p for i, (p, _) in below.items()}, least.lower(), up=False),
                on_nodes(grid, {i: p for i, (p, _) in above.items()}, missing.upper(), up=True),
            )

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        for ratio, mass in zip(*_sketched(self.base, self.steps, bits), strict=True):
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

    def is_flat(self) -> bool:
        return self.base.is_flat() and not self.base.mass_at_infinity() > 0

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


@lru_cache(maxsize=2)
def _sums(law: Allocated, lattice: RatioLattice, tail_bits: int) -> tuple[list[Sums], list[Sums]]:
    """The law of S on lattices, below and above. lattice: of R."""
    with precision(_BITS):
        far = tail_bits if law.removed else min(tail_bits, _FAR_BITS)
        cells = list(law.own.cells(lattice, far, Fraction(0)))
        low, high = (levels(lattice, cells, law.steps, tail_bits, up=up) for up in (False, True))
    return low, high


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
