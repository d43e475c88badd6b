"""What a mechanism promises: epsilon and delta, always with the neighbouring relation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactdp.balls import ball, precision
from exactdp.display import Printed
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, converted, frozen, number, text
from exactdp.parameters import decimal_text, integer, non_negative, probability, rational

__all__ = ["Guarantee"]

#: e^epsilon is compared with this precision.
_BITS = 128


def _delta(name: str, value: Any) -> Enclosure:
    if not isinstance(value, Enclosure):
        return Enclosure.exact(probability(name, value))
    if not 0 <= value.lower <= value.upper <= 1:
        raise InvalidParameter(name, value, "an enclosure of a number >= 0 and <= 1")
    return value


def _growth(name: str, value: Any) -> Fraction:
    # a Fraction may have any size: that of many runs is a power
    growth = value if isinstance(value, Fraction) else rational(name, value)
    if growth < 1:
        raise InvalidParameter(name, value, ">= 1")
    return growth


def _facts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, tuple | list) or not all(isinstance(fact, str) for fact in value):
        raise InvalidParameter(name, value, "a tuple of texts")
    return tuple(value)


@frozen
class Guarantee(Printed):
    """(epsilon, delta)-differential privacy for a stated neighbouring relation.

    epsilon: >= 0, exact.
    delta: enclosure of the promised delta, from 0 to 1; its upper end is safe to quote.
    neighbours: the pairs of data sets that the promise covers.
    source: the theorem or analysis that proves the promise.
    e_epsilon: where the mechanism keeps a rational number <= e^epsilon instead, this number.
    checked: assumptions about the data that were verified on the data, at run time.

    ``a + b`` is the guarantee of two mechanisms on the same data, ``a * n`` that of n independent
    runs, by basic composition (Dwork and Roth 2014, Theorem 3.16).
    Raises InvalidParameter.
    """

    epsilon: Number = number(non_negative)
    delta: Enclosure = converted(_delta)
    neighbours: str = text()
    source: str = text()
    e_epsilon: Fraction | None = converted(_growth, default=None)
    checked: tuple[str, ...] = converted(_facts, default=())

    def __post_init__(self) -> None:
        with precision(_BITS):
            if self.e_epsilon is not None and ball(self.e_epsilon).log() > ball(self.epsilon):
                raise InvalidParameter("e_epsilon", self.e_epsilon, "at most e^epsilon")

    def __add__(self, other: Guarantee) -> Guarantee:
        if self.neighbours != other.neighbours:
            allowed = f"those of the other guarantee: {self.neighbours}"
            raise InvalidParameter("neighbours", other.neighbours, allowed)
        exact = self.e_epsilon is not None and other.e_epsilon is not None
        return Guarantee(
            self.epsilon + other.epsilon,
            _at_most_one(
                self.delta.lower + other.delta.lower, self.delta.upper + other.delta.upper
            ),
            self.neighbours,
            f"{self.source}; and {other.source} (basic composition)",
            self.e_epsilon * other.e_epsilon if exact else None,  # type: ignore[operator]
            self.checked + tuple(fact for fact in other.checked if fact not in self.checked),
        )

    def __mul__(self, times: int) -> Guarantee:
        n = integer("times", times, least=1)
        kept = self.e_epsilon
        return replace(
            self,
            epsilon=self.epsilon * n,
            delta=_at_most_one(self.delta.lower * n, self.delta.upper * n),
            e_epsilon=None if kept is None else kept**n,
        )

    def __str__(self) -> str:
        verified = f"; checked on the data: {', '.join(self.checked)}" if self.checked else ""
        return (
            f"({decimal_text(self.epsilon)}, {self.delta.decimal_upper(6)})-DP "
            f"for {self.neighbours}; {self.source}{verified}"
        )

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        exact = {} if self.e_epsilon is None else {"e_epsilon": decimal_text(self.e_epsilon)}
        return {
            "epsilon": decimal_text(self.epsilon),
            **exact,
            "delta": self.delta.as_dict(),
            "neighbours": self.neighbours,
            "source": self.source,
            **({"checked_on_the_data": list(self.checked)} if self.checked else {}),
        }


def _at_most_one(lower: Fraction, upper: Fraction) -> Enclosure:
    """An enclosure of a sum of deltas; a delta above 1 says no more than 1."""
    return Enclosure(min(lower, Fraction(1)), min(upper, Fraction(1)))
