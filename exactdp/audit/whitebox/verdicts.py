"""White-box audit: the exact output law of foreign code that is handed its random generator.

The law is compared with the one it should be, or with the law on a neighbouring data set; both
answers are certified, whatever mass was left unexplored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from exactdp.accounting import divergence
from exactdp.accounting.certify.checking import Verdict
from exactdp.audit.whitebox.outcomes import Outcome
from exactdp.audit.whitebox.reach import outcome_law
from exactdp.audit.whitebox.texts import told
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, decimal_text, non_negative, rational
from exactdp.samplers.enumeration import MAX_RUNS

__all__ = ["Comparison", "Privacy", "compare", "private"]


@dataclass(frozen=True)
class Comparison:
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
    """What the size of a number is at least, and at most."""
    return max(value.lower, -value.upper, Fraction(0)), max(value.upper, -value.lower)


def _distance(law: Law[Any], known: dict[Any, Enclosure], missing: Fraction) -> Enclosure:
    """Total variation: the sum of (p - q)+, with p known up to a residual and q up to missing."""
    zero = Fraction(0)
    over = sum((max(law[x] - q.upper, zero) for x, q in known.items()), zero)
    over_most = sum((max(law[x] - q.lower, zero) for x, q in known.items()), zero)
    under = sum((max(q.lower - law[x], zero) for x, q in known.items()), zero)
    least = max(over - missing, under - law.residual, zero)
    return Enclosure(least, max(least, min(over_most + law.residual, Fraction(1))))


@dataclass(frozen=True)
class Privacy:
    """Whether a program keeps (epsilon, delta) on a pair of data sets, and what it does spend.

    deltas: the exact delta of left against right and of right against left, at this epsilon.
    event: for a refutation, the outcomes that separate the two, heaviest excess first;
    probabilities: of that event on the left and on the right, before any residual mass.
    """

    verdict: Verdict
    epsilon: Fraction
    delta: Fraction
    deltas: tuple[Enclosure, Enclosure]
    direction: Literal["left", "right"]
    event: tuple[Hashable, ...]
    probabilities: tuple[Fraction, Fraction]

    def __str__(self) -> str:
        worst = self.deltas[0] if self.direction == "left" else self.deltas[1]
        promise = f"({decimal_text(self.epsilon)}, {decimal_text(self.delta)})-DP on this pair"
        return f"{self.verdict}: {promise}; delta is {worst}"

    def as_dict(self) -> dict[str, object]:
        """For JSON: numbers as decimal strings, rounded outward."""
        return {
            "verdict": self.verdict,
            "epsilon": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
            "deltas": [each.as_dict() for each in self.deltas],
            "direction": self.direction,
            "event": [repr(outcome) for outcome in self.event],
            "probabilities": [decimal_text(p) for p in self.probabilities],
        }


def private(
    program: Callable[[Any, Any], Any],
    left: Any,
    right: Any,
    *,
    epsilon: Real,
    delta: Real = 0,
    interface: str = "random",
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    exceptions: str = "raise",
    progress: bool = True,
) -> Privacy:
    """Decide (epsilon, delta)-privacy of foreign code on two data sets, in both directions.

    program: called with a data set and a generator. epsilon: >= 0. delta: >= 0 and <= 1.
    interface, residual, max_runs, exceptions, progress: as in :func:`foreign_law`.
    proved and refuted are certain; undecided means that the residual mass could tip the balance
    (with a residual, delta = 0 can be refuted but not proved).

    >>> def respond(bit, rng):
    ...     return bit if rng.randrange(4) else 1 - bit
    >>> print(private(respond, 0, 1, epsilon="1.0987"), private(respond, 0, 1, epsilon="1.0986"))
    proved: (1.0987, 0)-DP on this pair; delta is [0, 0] refuted: (1.0986, 0)-DP on this pair; \
delta is [9.216444453e-6, 9.216444454e-6]
    """
    loss, allowed = non_negative("epsilon", epsilon), rational("delta", delta)
    if not 0 <= allowed <= 1:
        raise InvalidParameter("delta", delta, ">= 0 and <= 1")
    with told():  # once for both
        laws = [
            outcome_law(
                partial(program, data),
                interface=interface,
                residual=residual,
                max_runs=max_runs,
                exceptions=exceptions,
                progress=progress,
            )
            for data in (left, right)
        ]
    deltas = (
        divergence.hockey_stick(laws[0], laws[1], epsilon=loss),
        divergence.hockey_stick(laws[1], laws[0], epsilon=loss),
    )
    first = (deltas[0].lower, deltas[0].upper) >= (deltas[1].lower, deltas[1].upper)
    p, q = laws if first else laws[::-1]
    event = _separating(p, q, loss)
    verdict: Verdict = "undecided"
    if max(each.upper for each in deltas) <= allowed:
        verdict = "proved"
    elif max(each.lower for each in deltas) > allowed:
        verdict = "refuted"
    chosen = set(event)
    masses = [each.probability(chosen.__contains__) for each in laws]
    direction: Literal["left", "right"] = "left" if first else "right"
    shown = tuple(outcome.value for outcome in event)
    return Privacy(verdict, loss, allowed, deltas, direction, shown, (masses[0], masses[1]))


def _separating(p: Law[Outcome], q: Law[Outcome], epsilon: Fraction) -> tuple[Outcome, ...]:
    """The outcomes with p(x) > e^epsilon q(x), those within 1e-30 of equality left out."""
    factor = refine(lambda: ball(epsilon).exp(), relative_width=Fraction(1, 10**30)).upper
    excess = {x: weight - factor * q[x] for x, weight in p.items()}
    return tuple(sorted((x for x, e in excess.items() if e > 0), key=lambda x: -excess[x]))
