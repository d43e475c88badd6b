"""Laws of reports in the local model, in balls: e^epsilon here is the real number, not a rational.

A mechanism is given as in the conformance vectors: budget is its epsilon; report is text. Random
sampling plus fake data (RS+FD; Arcolezi et al. 2021) answers truly for one attribute of a user,
chosen at random, with the budget ln(attributes (e^budget - 1) + 1), and makes up the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod

from flint import arb

from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, choice, integer, non_negative, positive, rational

#: Largest numbers of values and of reports that are all listed to compute delta.
_VALUES, _REPORTS = 8, 1 << 12

#: Report -> probability, or a number proportional to it.
Reports = dict[str, arb]


def _bits(k: int) -> Iterator[str]:
    return ("".join(bits) for bits in product("01", repeat=k))


def _randomized_response(e: arb, k: int, size: int, value: int) -> Reports:
    return {str(y): e if y == value else arb(1) for y in range(k)}


def _subset(e: arb, k: int, size: int, value: int) -> Reports:
    chosen = combinations(range(k), size)
    return {" ".join(map(str, c)): e if value in c else arb(1) for c in chosen}


def _hadamard(e: arb, k: int, size: int, value: int) -> Reports:
    even = [(y & value + 1).bit_count() % 2 == 0 for y in range(1 << k.bit_length())]
    return {str(y): e if one else arb(1) for y, one in enumerate(even)}


def _unary(e: arb, k: int, size: int, value: int) -> Reports:
    """The value's own bit is a fair coin; another is 1 with probability 1/(e + 1)."""
    zeros = {y: y.count("0") - (y[value : value + 1] == "0") for y in _bits(k)}
    return {y: e**count for y, count in zeros.items()}


#: name -> numbers proportional to the probabilities, from e^epsilon, k, size and the value
_WEIGHTS: dict[str, Callable[[arb, int, int, int], Reports]] = {
    "randomized_response": _randomized_response,
    "subset": _subset,
    "hadamard": _hadamard,
    "unary": _unary,
}
#: name -> the mechanism that reports the attribute that is answered truly
_FAKE = {
    "fake_values": "randomized_response",
    "fake_zero_bits": "unary",
    "fake_random_bits": "unary",
}
_NAMES = (*_WEIGHTS, "rappor", *_FAKE)


@dataclass(frozen=True)
class _LocalResponses:
    """One mechanism. budget: its epsilon; None for rappor, which is given by f."""

    name: str
    k: int
    attributes: int
    budget: Fraction | None
    f: Fraction
    size: int

    @classmethod
    def of(
        cls,
        mechanism: str,
        k: Real,
        attributes: Real | None,
        budget: Real | None,
        f: Real | None,
        size: Real | None,
    ) -> _LocalResponses:
        name = choice("mechanism", mechanism, _NAMES)
        values = integer("k", k, least=2)
        many = integer("attributes", attributes or "", least=1) if name in _FAKE else 1
        each = values if name == "fake_values" else 1 << min(values, 64)
        if many > 12 or (each**many > _REPORTS if name in _FAKE else values > _VALUES):
            allowed = f"at most {_VALUES} values, and {_REPORTS} reports"
            raise InvalidParameter("k, attributes", (k, many), allowed)
        epsilon = None if name == "rappor" else positive("budget", budget or "")
        share, chosen = rational("f", f or 1), integer("size", size or 1, least=1)
        if not 0 < share <= 1 or chosen >= values:
            raise InvalidParameter("f, size", (f, size), "0 < f <= 1 and size < k")
        return cls(name, values, many, epsilon, share, chosen)

    def value(self, text: Real) -> tuple[int, ...]:
        """A value: one number for every attribute, with spaces between."""
        values = tuple(integer("value", part, least=0) for part in str(text).split())
        if len(values) != self.attributes or max(values) >= self.k:
            allowed = f"{self.attributes} numbers below {self.k}"
            raise InvalidParameter("value", text, allowed)
        return values

    def factor(self) -> arb:
        """e^budget of the attribute that is answered truly."""
        return self.attributes * ball(self.budget or Fraction(0)).expm1() + 1

    def kept(self, epsilon: Fraction) -> bool:
        """Whether delta is 0 at this epsilon for certain."""
        if self.budget is None or self.attributes == 1:
            return self.budget is not None and epsilon >= self.budget

        def rest() -> arb:  # never 1 for several attributes, by Lindemann and Weierstrass
            return self.factor() / ball(epsilon).exp()

        return refine(rest, accept=lambda ratio: ratio.lower > 1 or ratio.upper < 1).upper < 1

    def law(self, value: tuple[int, ...]) -> Reports:
        """The probability of every report."""
        if self.name not in _FAKE:
            return self._one(self.name, value[0])
        kind = _FAKE[self.name]
        true = [self._one(kind, own) for own in value]
        if self.name == "fake_zero_bits":
            fake = self._one(kind, self.k)  # no bit is the value's own
        else:
            every = [self._one(kind, own) for own in range(self.k)]
            fake = {y: sum((law[y] for law in every), arb(0)) / self.k for y in every[0]}
        reports = {}
        for parts in product(fake, repeat=self.attributes):
            made_up = prod((fake[y] for y in parts), start=arb(1))
            ratios = (law[y] / fake[y] for law, y in zip(true, parts, strict=True))
            reports[" ".join(parts)] = made_up * sum(ratios, arb(0)) / self.attributes
        return reports

    def _one(self, name: str, value: int) -> Reports:
        """The reports of one attribute."""
        if name == "rappor":
            flip = ball(self.f / 2)
            own = "0" * value + "1" + "0" * (self.k - value - 1)
            wrong = {y: sum(a != b for a, b in zip(y, own, strict=True)) for y in _bits(self.k)}
            return {y: flip**n * (1 - flip) ** (self.k - n) for y, n in wrong.items()}
        weights = _WEIGHTS[name](self.factor(), self.k, self.size, value)
        total = sum(weights.values(), arb(0))
        return {y: weight / total for y, weight in weights.items()}


def pmf(
    *, mechanism: str, k: Real, value: Real, report: str, attributes: Real | None = None,
    budget: Real | None = None, f: Real | None = None, size: Real | None = None,
) -> Enclosure:  # fmt: skip
    """P(report | value)."""
    responses = _LocalResponses.of(mechanism, k, attributes, budget, f, size)
    chosen = responses.value(value)
    if str(report) not in responses.law(chosen):
        raise InvalidParameter("report", report, "a report of this mechanism")
    return refine(lambda: responses.law(chosen)[str(report)]).clamped(0, 1)


def delta(
    *, mechanism: str, k: Real, epsilon: Real, attributes: Real | None = None,
    budget: Real | None = None, f: Real | None = None, size: Real | None = None,
) -> Enclosure:  # fmt: skip
    """The least delta at epsilon, over all pairs of values.

    All values are alike, and so are all attributes: it is enough to look at one pair of values for
    each number of attributes that differ.
    """
    responses = _LocalResponses.of(mechanism, k, attributes, budget, f, size)
    level = non_negative("epsilon", epsilon)
    if responses.kept(level):
        return Enclosure.exact(0)

    def worst() -> arb:
        factor, largest, one = ball(level).exp(), arb(0), responses.law((0,) * responses.attributes)
        for differ in range(1, responses.attributes + 1):
            other = responses.law((1,) * differ + (0,) * (responses.attributes - differ))
            for a, b in ((one, other), (other, one)):
                gaps = ((a[y] - factor * b[y]).max(arb(0)) for y in a)
                largest = largest.max(sum(gaps, arb(0)))
        return largest

    return refine(worst).clamped(0, 1)
