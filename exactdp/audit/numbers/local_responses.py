"""Laws of reports in the local model, in balls: e^epsilon here is the real number, not a rational.

A mechanism is given as in the conformance vectors: budget is its epsilon; report is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any, Protocol

from flint import arb

from exactdp.audit.numbers import fake_data
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, choice, integer, non_negative, positive, rational

__all__ = ["delta", "pmf"]

_NAMES = ("randomized_response", "unary", "rappor", "subset", "hadamard")

#: Most values whose reports are listed for delta.
_LISTED = 8


def pmf(parameters: Mapping[str, Real]) -> Enclosure:
    """P(report | value)."""
    asked = _asked(parameters)
    value = asked.checked(parameters.get("value", ""))
    report = str(parameters.get("report", ""))
    if report not in set(asked.reports()):
        raise InvalidParameter("report", report, "a report of this mechanism")
    return refine(lambda: asked.chance(report, value)).clamped(0, 1)


def delta(parameters: Mapping[str, Real]) -> Enclosure:
    """The least delta at epsilon, over all pairs of values."""
    asked, epsilon = _asked(parameters), non_negative("epsilon", parameters["epsilon"])
    if asked.kept(epsilon):
        return Enclosure.exact(0)

    def worst() -> arb:
        factor, found = ball(epsilon).exp(), arb(0)
        for one, other in asked.pairs():
            gaps = (asked.chance(y, one) - factor * asked.chance(y, other) for y in asked.reports())
            found = found.max(sum((gap.max(arb(0)) for gap in gaps), arb(0)))
        return found

    return refine(worst).clamped(0, 1)


def _asked(parameters: Mapping[str, Real]) -> Asked:
    if parameters.get("mechanism") in fake_data.KINDS:
        return fake_data.FakeData.of(parameters)
    return _Response.of(parameters)


class Asked(Protocol):
    """A mechanism with reports as text."""

    def checked(self, value: Real) -> Any:
        """A value as chance and pairs have it; raises InvalidParameter."""

    def kept(self, epsilon: Fraction) -> bool:
        """Whether delta is 0 at this epsilon for certain."""

    def pairs(self) -> Iterable[tuple[Any, Any]]:
        """Pairs of values that show what any pair loses."""

    def reports(self) -> Iterator[str]:
        """Every report as text."""

    def chance(self, report: str, value: Any) -> arb:
        """P(report | value), at the working precision."""


@dataclass(frozen=True)
class _Response:
    """One mechanism. budget: its epsilon; None for rappor given by f."""

    name: str
    k: int
    budget: Fraction | None
    f: Fraction
    size: int

    @classmethod
    def of(cls, given: Mapping[str, Real]) -> _Response:
        name = choice("mechanism", str(given.get("mechanism")), (*_NAMES, *fake_data.KINDS))
        k = integer("k", given.get("k", ""), least=2)
        if k > _LISTED:
            raise InvalidParameter("k", k, f"<= {_LISTED}")
        budget = None if name == "rappor" else positive("budget", given.get("budget", ""))
        share = rational("f", given.get("f", "1"))
        size = integer("size", given.get("size", 1), least=1)
        if not 0 < share <= 1 or size >= k:
            raise InvalidParameter("f, size", (given.get("f"), size), "0 < f <= 1 and size < k")
        return cls(name, k, budget, share, size)

    def checked(self, value: Real) -> int:
        number = integer("value", value, least=0)
        if number >= self.k:
            raise InvalidParameter("value", value, f"< {self.k}")
        return number

    def kept(self, epsilon: Fraction) -> bool:
        """At its budget and beyond."""
        return self.budget is not None and epsilon >= self.budget

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Values are alike, but for their place."""
        return ((0, 1), (1, 0))

    def reports(self) -> Iterator[str]:
        """Every report as text."""
        if self.name in ("unary", "rappor"):
            return ("".join(bits) for bits in product("01", repeat=self.k))
        if self.name == "subset":
            return (" ".join(map(str, c)) for c in combinations(range(self.k), self.size))
        count = self.k if self.name == "randomized_response" else 1 << self.k.bit_length()
        return (str(y) for y in range(count))

    def chance(self, report: str, value: int) -> arb:
        """P(report | value), at the working precision."""
        if self.name == "rappor":
            flipped = ball(self.f / 2)
            wrong = sum((bit == "1") != (x == value) for x, bit in enumerate(report))
            return flipped**wrong * (1 - flipped) ** (self.k - wrong)
        e = ball(Fraction(self.budget or 0)).exp()
        if self.name == "unary":
            ones = report.count("1") - (report[value] == "1")
            return e ** (self.k - 1 - ones) / (2 * (e + 1) ** (self.k - 1))
        if self.name == "randomized_response":
            return (e if int(report) == value else arb(1)) / (e + self.k - 1)
        if self.name == "subset":
            total = comb(self.k - 1, self.size - 1) * e + comb(self.k - 1, self.size)
            return (e if str(value) in report.split() else arb(1)) / total
        half = 1 << self.k.bit_length() - 1
        inside = (int(report) & value + 1).bit_count() % 2 == 0
        return (e if inside else arb(1)) / (half * (e + 1))
