"""What a mechanism promises: epsilon and delta, always with the neighbouring relation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.enclosure import Enclosure
from exactdp.parameters import decimal_text

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
    """

    epsilon: Fraction
    delta: Enclosure
    neighbours: str
    source: str
    e_epsilon: Fraction | None = None
    checked: tuple[str, ...] = ()

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
