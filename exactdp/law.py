"""Law: an exact finite probability distribution with an explicit residual mass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import isfinite
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from exactdp.display import Printed
from exactdp.errors import Described, InvalidParameter
from exactdp.foreign_numbers import foreign_number
from exactdp.parameters import decimal_text, rational

__all__ = ["Law"]

T = TypeVar("T", bound=Hashable)
S = TypeVar("S", bound=Hashable)
R = TypeVar("R", bound=Hashable)


class Law(Printed, Generic[T]):
    """Outcomes with exact positive probabilities, and a residual mass of unknown outcomes.

    weights: outcome -> probability, each >= 0 (zeros are dropped).
    residual: probability not assigned to any outcome, >= 0; weights and residual sum to 1.
    Raises InvalidParameter.

    >>> coin = Law({"heads": Fraction(1, 2), "tails": Fraction(1, 2)})
    >>> two = coin.product(coin).map(lambda pair: pair.count("heads"))
    >>> two[1]
    Fraction(1, 2)
    >>> print(two)
    Law of 3 outcomes
      0  1/4  0.25
      1  1/2  0.5
      2  1/4  0.25
    """

    __slots__ = ("_weights", "residual")

    def __init__(
        self, weights: Mapping[T, Fraction | int], residual: Fraction | int = Fraction(0)
    ) -> None:
        if not isinstance(weights, Mapping):
            raise InvalidParameter("weights", weights, "a mapping of outcomes to probabilities")
        exact = ((outcome, _fraction(weight)) for outcome, weight in weights.items())
        kept = {outcome: weight for outcome, weight in exact if weight}
        self.residual = _fraction(residual)
        for outcome, weight in kept.items():
            if weight.numerator < 0:
                raise InvalidParameter(f"weights[{outcome!r}]", weight, ">= 0")
        if self.residual < 0:
            raise InvalidParameter("residual", residual, ">= 0")
        total = _sum(kept.values()) + self.residual
        if total != 1:
            raise InvalidParameter(
                "weights", Described(f"a total of {total}"), "probabilities that sum to 1"
            )
        self._weights = kept

    @classmethod
    def point(cls, outcome: T) -> Law[T]:
        """The law that has this outcome with probability 1."""
        return cls({outcome: Fraction(1)})

    @classmethod
    def uniform(cls, outcomes: Iterable[T]) -> Law[T]:
        """The uniform law on a list; an outcome that is listed twice is twice as likely."""
        listed = list(outcomes)
        if not listed:
            raise InvalidParameter("outcomes", Described("none"), "at least one outcome")
        return cls(_collect((outcome, Fraction(1, len(listed))) for outcome in listed))

    @classmethod
    def mixture(cls, parts: Iterable[tuple[Fraction | int, Law[T]]]) -> Law[T]:
        """The mixture of pairs (weight, law); the weights sum to 1."""
        listed = [(_fraction(weight), law) for weight, law in parts]
        weights = _collect((x, w * p) for w, law in listed for x, p in law.items())
        return cls(weights, _sum(w * law.residual for w, law in listed))

    @property
    def weights(self) -> Mapping[T, Fraction]:
        """The probabilities, read-only."""
        return MappingProxyType(self._weights)

    @property
    def support(self) -> set[T]:
        """The outcomes with positive probability."""
        return set(self._weights)

    def items(self) -> Iterable[tuple[T, Fraction]]:
        """Pairs of outcome and probability."""
        return self._weights.items()

    def __getitem__(self, outcome: T) -> Fraction:
        """The probability assigned to an outcome; 0 outside the support."""
        return self._weights.get(outcome, Fraction(0))

    def __contains__(self, outcome: object) -> bool:
        return outcome in self._weights

    def __iter__(self) -> Iterator[T]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def probability(self, event: Callable[[T], bool]) -> Fraction:
        """The probability of an event without the residual mass, which may add to it."""
        return _sum(weight for outcome, weight in self.items() if event(outcome))

    def map(self, function: Callable[[T], S]) -> Law[S]:
        """The law of function(outcome)."""
        return Law(_collect((function(x), p) for x, p in self.items()), self.residual)

    def then(self, step: Callable[[T], Law[S]]) -> Law[S]:
        """Draw x, then draw from step(x)."""
        return Law.mixture([(p, step(x)) for x, p in self.items()] + self._rest())

    def product(self, other: Law[S]) -> Law[tuple[T, S]]:
        """The law of a pair of independent draws."""
        weights = {(x, y): p * q for x, p in self.items() for y, q in other.items()}
        return Law(weights, 1 - (1 - self.residual) * (1 - other.residual))

    def condition_on(self, event: Callable[[T], bool]) -> Law[T]:
        """The law conditioned on an event; raises InvalidParameter if there is residual mass."""
        if self.residual:
            raise InvalidParameter("residual", self.residual, "0 for conditioning")
        kept = {x: p for x, p in self.items() if event(x)}
        total = _sum(kept.values())
        if not total:
            raise InvalidParameter(
                "event", Described("an event of probability 0"), "an event of positive probability"
            )
        return Law({x: p / total for x, p in kept.items()})

    def expectation(self, function: Callable[[T], Fraction | int] | None = None) -> Fraction:
        """The mean of function(outcome), by default of the outcome itself.

        Raises InvalidParameter if there is residual mass.
        """
        if self.residual:
            raise InvalidParameter("residual", self.residual, "0 for an expectation")
        value: Callable[[Any], Any] = function or _fraction
        return _sum(value(x) * p for x, p in self.items())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Law):
            return NotImplemented
        return self._weights == other._weights and self.residual == other.residual

    def __hash__(self) -> int:
        return hash((frozenset(self._weights.items()), self.residual))

    def __repr__(self) -> str:
        rest = f", residual={float(self.residual):.3g}" if self.residual else ""
        heaviest = sorted(self.items(), key=lambda item: -item[1])[:4]
        pairs = ", ".join(f"{x!r}: {p}" for x, p in heaviest)
        more = ", ..." if len(self) > len(heaviest) else ""
        return f"Law({{{pairs}{more}}}{rest})"

    def __str__(self) -> str:
        plural = "" if len(self) == 1 else "s"
        lines = [f"Law of {len(self)} outcome{plural}"]
        for x, p in list(self._ordered())[:20]:
            lines.append(f"  {x!r}  {_short(p)}  {float(p):.6g}")
        if len(self) > 20:
            lines.append(f"  ... and {len(self) - 20} more")
        if self.residual:
            lines.append(f"  residual {float(self.residual):.3g}")
        return "\n".join(lines)

    def _ordered(self) -> Iterable[tuple[T, Fraction]]:
        try:
            return sorted(self.items())
        except TypeError:  # outcomes without an order: heaviest first
            return sorted(self.items(), key=lambda item: -item[1])

    def _rest(self) -> list[tuple[Fraction, Law[Any]]]:
        return [(self.residual, Law({}, 1))] if self.residual else []


def _fraction(weight: Fraction | int) -> Fraction:
    if type(weight) is Fraction:
        return weight
    if isinstance(weight, int | Fraction):
        return Fraction(weight)
    if isinstance(number := foreign_number(weight), Fraction):  # gmpy2 has integers of its own
        return number
    if isinstance(weight, float) and isfinite(weight):  # p and 1 - p sum to 1 only as they are
        return Fraction(weight)
    return rational("weight", weight)


def _collect(pairs: Iterable[tuple[R, Fraction]]) -> dict[R, Fraction]:
    grouped: dict[R, list[Fraction]] = {}
    for outcome, weight in pairs:
        grouped.setdefault(outcome, []).append(weight)
    return {outcome: _sum(weights) for outcome, weights in grouped.items()}


def _sum(values: Iterable[Fraction]) -> Fraction:
    """The exact sum: equal denominators first, then in pairs, which keeps denominators short."""
    over: dict[int, int] = {}
    for value in values:
        over[value.denominator] = over.get(value.denominator, 0) + value.numerator
    listed = [Fraction(int(above), int(below)) for below, above in over.items()]
    while len(listed) > 1:
        odd = listed[-1:] if len(listed) % 2 else []
        listed = [a + b for a, b in zip(listed[::2], listed[1::2], strict=False)] + odd
    return listed[0] if listed else Fraction(0)


def _short(value: Fraction) -> str:
    text = decimal_text(value) if value.denominator == 1 else str(value)
    return text if len(text) <= 24 else f"about {float(value):.12g}"
