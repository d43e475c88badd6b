"""What a mechanism promises: epsilon and delta, always with the neighbouring relation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import decimal_text, integer

__all__ = ["Guarantee"]


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy for a stated neighbouring relation.

    epsilon: exact.
    delta: enclosure of the promised delta; its upper end is safe to quote.
    neighbours: the pairs of data sets that the promise covers.
    source: the theorem or analysis that proves the promise.
    e_epsilon: where the mechanism keeps a rational number <= e^epsilon instead, this number.
    checked: assumptions about the data that were verified on the data, at run time.

    ``a + b`` is the guarantee of two mechanisms on the same data, ``a * n`` that of n independent
    runs, by basic composition (Dwork and Roth 2014, Theorem 3.16).
    """

    epsilon: Fraction
    delta: Enclosure
    neighbours: str
    source: str
    e_epsilon: Fraction | None = None
    checked: tuple[str, ...] = ()

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
