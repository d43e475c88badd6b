"""Guarantee: what a mechanism promises. A number without its neighbouring relation is a bug."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.enclosure import Enclosure
from exactdp.parameters import decimal_text

__all__ = ["Guarantee"]


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-differential privacy for a stated neighbouring relation.

    epsilon: exact. delta: enclosure of the delta that is promised (its upper end is safe to quote).
    neighbours: which pairs of data sets the promise covers. source: the statement it rests on.
    e_epsilon: where it is rational, the exact e^epsilon that is really kept, at most e^epsilon.
    checked: what the promise assumes of the data and was verified on the data, at run time.
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
        """The same for JSON."""
        exact = {} if self.e_epsilon is None else {"e_epsilon": decimal_text(self.e_epsilon)}
        return {
            "epsilon": decimal_text(self.epsilon),
            **exact,
            "delta": self.delta.as_dict(),
            "neighbours": self.neighbours,
            "source": self.source,
            **({"checked_on_the_data": list(self.checked)} if self.checked else {}),
        }
