"""What is known so far about a uniform integer: the arithmetic progression on which it lies."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from exactdp.audit.code.lines import at
from exactdp.audit.code.runs import Run
from exactdp.errors import NotEnumerable
from exactdp.samplers.enumeration import MAX_WIDTH


class Uniform:
    """start + step*j for a uniform j in [low, high); at first the integer itself, in [0, width)."""

    __slots__ = ("high", "low", "run", "start", "step", "width")

    def __init__(self, run: Run, width: int) -> None:
        self.run, self.width = run, width
        self.start, self.step, self.low, self.high = 0, 1, 0, width

    @property
    def size(self) -> int:
        return self.high - self.low

    def value(self, j: int) -> int:
        return self.start + self.step * j

    def split(self, cuts: list[int]) -> int:
        """Branch over the pieces between ascending cuts; returns the number of the one taken."""
        ends = [self.low, *cuts, self.high]
        sizes = [b - a for a, b in pairwise(ends)]
        if self.size in sizes:
            return sizes.index(self.size)
        chosen = self._branch(sizes)
        self.low, self.high = ends[chosen], ends[chosen + 1]
        return chosen

    def reveal(self) -> None:
        """Branch over all values that are left."""
        self.low += self._branch([1] * self.size)
        self.high = self.low + 1

    def residue(self, modulus: int) -> int:
        """Branch over the values modulo an integer >= 1."""
        period = modulus // math.gcd(modulus, self.step)
        whole, rest = divmod(self.size, period)
        if min(period, self.size) > MAX_WIDTH:
            reason = f"% {modulus} {at()} has more than {MAX_WIDTH} outcomes; draw by randrange"
            self.run.stop(NotEnumerable(reason))
        sizes = [whole + (i < rest) for i in range(min(period, self.size))]
        chosen = self._branch(sizes)
        self.start = self.value(self.low + chosen)
        self.step, self.low, self.high = self.step * period, 0, sizes[chosen]
        return self.start % modulus

    def _branch(self, sizes: list[int]) -> int:
        return self.run.branch(len(sizes), lambda: [Fraction(size, self.size) for size in sizes])
