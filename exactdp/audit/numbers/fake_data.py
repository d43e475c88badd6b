"""Random sampling plus fake data (RS+FD) in balls: one attribute is told, others are made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from flint import arb

from exactdp.balls import ball, refine
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, choice, integer, positive

__all__ = ["KINDS", "FakeData"]

KINDS = ("fake_values", "fake_zero_bits", "fake_random_bits")

#: Most reports that are listed.
_LISTED = 1 << 12

Values = tuple[int, ...]


@dataclass(frozen=True)
class FakeData:
    """Every attribute has values 0 to k - 1. budget: the epsilon that is stated for a user.

    Source: Arcolezi et al. 2021; its epsilon is kept between tuples that differ in one attribute.
    """

    kind: str
    k: int
    attributes: int
    budget: Fraction

    @classmethod
    def of(cls, given: Mapping[str, Real]) -> FakeData:
        """From the parameters of a vector."""
        kind = choice("mechanism", str(given.get("mechanism")), KINDS)
        k = integer("k", given.get("k", ""), least=2)
        attributes = integer("attributes", given.get("attributes", ""), least=1)
        each = k if kind == "fake_values" else 1 << min(k, 64)
        if attributes > 12 or each**attributes > _LISTED:
            raise InvalidParameter("k, attributes", (k, attributes), f"at most {_LISTED} reports")
        return cls(kind, k, attributes, positive("budget", given.get("budget", "")))

    def checked(self, value: Real) -> Values:
        """A tuple given as text: one number for every attribute, with spaces between."""
        parts = tuple(integer("value", part, least=0) for part in str(value).split())
        if len(parts) != self.attributes or max(parts) >= self.k:
            raise InvalidParameter("value", value, f"{self.attributes} numbers below {self.k}")
        return parts

    def reports(self) -> Iterator[str]:
        """Every report as text."""
        one = ["".join(bits) for bits in product("01", repeat=self.k)]
        if self.kind == "fake_values":
            one = [str(x) for x in range(self.k)]
        return (" ".join(parts) for parts in product(one, repeat=self.attributes))

    def amplified(self) -> arb:
        """e to the budget of the attribute that is told."""
        return self.attributes * ball(self.budget).expm1() + 1

    def kept(self, epsilon: Fraction) -> bool:
        """At the budget of the attribute that is told, and beyond."""
        if self.attributes == 1:
            return epsilon >= self.budget

        def rest() -> arb:  # never 1 for several attributes, by Lindemann and Weierstrass
            return self.amplified() / ball(epsilon).exp()

        return refine(rest, accept=lambda found: found.lower > 1 or found.upper < 1).upper < 1

    def pairs(self) -> Iterator[tuple[Values, Values]]:
        """Two tuples that differ in 1, 2, ... attributes; which ones is all the same."""
        for differ in range(1, self.attributes + 1):
            yield (0,) * self.attributes, (1,) * differ + (0,) * (self.attributes - differ)

    def chance(self, report: str, value: Values) -> arb:
        """P(report | value): all parts fake, times the mean over parts of true over fake."""
        parts = report.split()
        made_up = [self._fake(part) for part in parts]
        ratios = (
            self._true(part, own) / fake
            for part, own, fake in zip(parts, value, made_up, strict=True)
        )
        return prod(made_up, start=arb(1)) * sum(ratios, arb(0)) / self.attributes

    def _true(self, part: str, own: int) -> arb:
        e = self.amplified()
        if self.kind == "fake_values":
            return (e if int(part) == own else arb(1)) / (e + self.k - 1)
        ones = part.count("1") - (part[own] == "1")
        return e ** (self.k - 1 - ones) / (2 * (e + 1) ** (self.k - 1))

    def _fake(self, part: str) -> arb:
        if self.kind == "fake_values":
            return arb(1) / self.k
        if self.kind == "fake_random_bits":
            return sum((self._true(part, own) for own in range(self.k)), arb(0)) / self.k
        e = self.amplified()
        return e ** part.count("0") / (e + 1) ** self.k
