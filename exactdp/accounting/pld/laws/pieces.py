"""A density of losses between two outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb

from exactdp.accounting.pld.grid.cells import Density
from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.laws.density import log_of
from exactdp.balls import ball

#: Cells of a sketch of a density.
_CELLS = 256

#: Their ends, as parts of the range: ever closer to its ends, where a density may be steep.
_SHARES = sorted(
    {Fraction(i, _CELLS) for i in range(_CELLS + 1)}
    | {Fraction(1, _CELLS << k) for k in range(60)}
    | {1 - Fraction(1, _CELLS << k) for k in range(60)}
)


@dataclass(frozen=True)
class Piece:
    """A density of the losses between two outcomes."""

    density: Density
    start: Outcome
    end: Outcome

    def above(self, loss: arb) -> tuple[arb, arb]:
        """The masses of the losses of the piece above a loss."""
        low = self.density.below(loss.max(self.start.loss).min(self.end.loss))
        high = self.density.below(self.end.loss)
        return high[0] - low[0], high[1] - low[1]

    def moment(self, power: arb) -> arb:
        """The integral of e^(power loss)."""

        def integrand(x: acb, _: bool) -> acb:
            found: acb = self.density.density(x) * (power * x).exp()
            return found

        return acb.integral(integrand, self.start.loss, self.end.loss).real

    def sketch(self) -> Iterator[tuple[float, float]]:
        """About the losses, each with the logarithm of its mass."""
        reach = self.end.loss - self.start.loss
        places = [self.start.loss + reach * ball(share) for share in _SHARES]
        beyond = [self.density.below(place)[0] for place in places]
        for (low, high), (one, two) in zip(pairwise(places), pairwise(beyond), strict=True):
            if two - one > 0:
                yield float((low + high).mid()) / 2, log_of(two - one)
