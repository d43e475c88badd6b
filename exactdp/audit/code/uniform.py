"""What is known so far about a uniform integer: an arithmetic progression it lies on."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from exactdp.audit.code.runs import Run
from exactdp.audit.code.where import at
from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration import MAX_WIDTH

__all__ = ["NotEnumerable", "Uniform"]


class NotEnumerable(ExactDPError, TypeError):
    """Foreign code used its randomness in a way of which no exact law can be had."""


class Uniform:
    """start + step*j for a uniform j in [low, high): what is known so far of one in [0, width).

    number: its place among those of the run.
    """

    __slots__ = ("high", "low", "number", "source", "start", "step", "width")

    def __init__(self, source: Run, size: int) -> None:
        self.source, self.width, self.number = source, size, source.uniforms
        self.start, self.step, self.low, self.high = 0, 1, 0, size
        source.uniforms += 1

    @property
    def known(self) -> tuple[int, ...]:
        """Equal for numbers of runs alike of which as much is known."""
        return self.number, self.start, self.step, self.low, self.high

    @property
    def size(self) -> int:
        return self.high - self.low

    def value(self, j: int) -> int:
        return self.start + self.step * j

    def split(self, cuts: list[int]) -> int:
        """Branch over the pieces between ascending cuts; the number of the piece followed."""
        ends = [self.low, *cuts, self.high]
        sizes = [b - a for a, b in pairwise(ends)]
        if self.size in sizes:
            return sizes.index(self.size)
        chosen = self._branch(sizes)
        self.low, self.high = ends[chosen], ends[chosen + 1]
        return chosen

    def reveal(self) -> None:
        """Branch over all values that are left."""
        size = self.size
        if size > 1:
            self.low += self._branch([1] * size)
            self.high = self.low + 1

    def residue(self, modulus: int) -> int:
        """Branch over the values modulo an integer >= 1."""
        period = modulus // math.gcd(modulus, self.step)
        whole, rest = divmod(self.size, period)
        if min(period, self.size) > MAX_WIDTH:
            reason = f"% {modulus} {at()} has more than {MAX_WIDTH} outcomes; draw by randrange"
            self.source.stop(NotEnumerable(reason))
        sizes = [whole + (i < rest) for i in range(min(period, self.size))]
        chosen = self._branch(sizes)
        self.start = self.value(self.low + chosen)
        self.step, self.low, self.high = self.step * period, 0, sizes[chosen]
        return self.start % modulus

    def _branch(self, sizes: list[int]) -> int:
        self.source.narrowed.append(self)
        return self.source.branch(len(sizes), lambda: [Fraction(size, self.size) for size in sizes])
