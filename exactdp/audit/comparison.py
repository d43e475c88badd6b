"""How far the law of a program is from the law it should have."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from exactdp.display import Printed
from exactdp.enclosure import Enclosure
from exactdp.law import Law
from exactdp.parameters import Real, decimal_text, non_negative


@dataclass(frozen=True)
class Comparison(Printed):
    """How far a program's law is from the one it should have.

    verdict: "agrees" when the total variation distance is at most the tolerance, "differs" when it
    is more, "undecided" when residual mass leaves it open. outcome: where the probabilities differ
    most, with difference = program's minus exact one there.
    """

    verdict: Literal["agrees", "differs", "undecided"]
    distance: Enclosure
    tolerance: Fraction
    outcome: Hashable
    difference: Enclosure

    def __str__(self) -> str:
        text = f"{self.verdict}: total variation {self.distance}"
        if self.difference.lower or self.difference.upper:
            text += f"; most at {self.outcome!r}: {self.difference}"
        return text

    def as_dict(self) -> dict[str, object]:
        """For JSON: numbers as decimal strings, rounded outward."""
        return {
            "verdict": self.verdict,
            "total_variation": self.distance.as_dict(),
            "tolerance": decimal_text(self.tolerance),
            "outcome": repr(self.outcome),
            "difference": self.difference.as_dict(),
        }


def compare(
    law: Law[Any],
    exact: Law[Any] | Callable[[Any], Enclosure],
    *,
    tolerance: Real = "1e-12",
) -> Comparison:
    """Compare the law of a program with the exact one.

    exact: a Law, or a function from an outcome to an enclosure of its probability, where those are
    not rational or outcomes have no end. tolerance: the total variation distance that is allowed.

    >>> coin = Law({0: Fraction(1, 2), 1: Fraction(1, 2)})
    >>> from exactdp.audit import foreign_law
    >>> print(compare(foreign_law(lambda rng: int(rng.random() < 0.5)), coin))
    agrees: total variation [0, 0]
    """
    allowed = non_negative("tolerance", tolerance)
    if isinstance(exact, Law):
        outcomes = law.support | exact.support
        known = {x: Enclosure.exact(exact[x]) for x in outcomes}
        missing = exact.residual
    else:
        known = {x: exact(x) for x in law.support}
        missing = Fraction(0)
    distance = _distance(law, known, missing)
    differences = {x: Enclosure(law[x] - q.upper, law[x] - q.lower) for x, q in known.items()}
    worst = max(differences, key=lambda x: _size(differences[x]), default=None)
    there = differences.get(worst, Enclosure.exact(0))
    # residual mass may belong to this outcome on either side
    there = Enclosure(there.lower - missing, there.upper + law.residual)
    verdict: Literal["agrees", "differs", "undecided"] = "undecided"
    if distance.upper <= allowed:
        verdict = "agrees"
    elif distance.lower > allowed:
        verdict = "differs"
    return Comparison(verdict, distance, allowed, worst, there)


def _size(value: Enclosure) -> tuple[Fraction, Fraction]:
    """The least and the largest absolute value of the numbers in an enclosure."""
    return max(value.lower, -value.upper, Fraction(0)), max(value.upper, -value.lower)


def _distance(law: Law[Any], known: dict[Any, Enclosure], missing: Fraction) -> Enclosure:
    """Total variation: the sum of (p - q)+, with p known up to a residual and q up to missing."""
    zero = Fraction(0)
    over = sum((max(law[x] - q.upper, zero) for x, q in known.items()), zero)
    over_most = sum((max(law[x] - q.lower, zero) for x, q in known.items()), zero)
    under = sum((max(q.lower - law[x], zero) for x, q in known.items()), zero)
    least = max(over - missing, under - law.residual, zero)
    return Enclosure(least, max(least, min(over_most + law.residual, Fraction(1))))
