"""White-box audit: is a program private on a pair of data sets, or on the worst of many pairs?

Its exact laws are compared; both answers are certain, whatever mass was left unexplored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from exactdp.accounting import divergence
from exactdp.accounting.certify.checking import Check, Verdict
from exactdp.audit.code.judge import SECONDS, Evidence, Judge, Judged
from exactdp.audit.code.outcomes import Outcome, hashable, key_of
from exactdp.audit.code.runs import NeverEnds
from exactdp.audit.examples import examples
from exactdp.audit.steps.reading import Reading
from exactdp.audit.steps.values import OutOfReach, Refused
from exactdp.balls import ball, refine
from exactdp.display import Printed
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter, NotEnumerable
from exactdp.law import Law
from exactdp.parameters import Real, decimal_text, integer, non_negative, probability
from exactdp.samplers.enumeration import MAX_RUNS

_NOT_GIVEN = Described("nothing")
#: The first search for a verdict leaves open delta divided by this.
_PART = 64
_EXAMPLES = 100  # pairs that are drawn from a strategy
_NO_DRAW = (
    "the program draws nothing and shows the same for both data sets. Noise that was drawn before "
    "is not drawn again: build the object or function that holds it inside the run (make=)"
)


@dataclass(frozen=True)
class Privacy(Printed):
    """Whether a program keeps (epsilon, delta) on a pair of data sets, and what it does spend.

    deltas: the exact delta of left against right and of right against left, at this epsilon.
    event: for a refutation, the outcomes that separate the two, heaviest excess first;
    probabilities: of that event on the left and on the right, before any residual mass.
    left, right: the data sets; pairs: the number of pairs of which they are the worst. calls: the
    number of calls in a row that the laws are of. evidence: how the two laws were found.
    """

    verdict: Verdict
    epsilon: Fraction
    delta: Fraction
    deltas: tuple[Enclosure, Enclosure]
    direction: Literal["left", "right"]
    event: tuple[Hashable, ...]
    probabilities: tuple[Fraction, Fraction]
    left: Any
    right: Any
    pairs: int
    calls: int
    evidence: tuple[Evidence, Evidence]

    def __str__(self) -> str:
        worst = self.deltas[0] if self.direction == "left" else self.deltas[1]
        where = "this pair"
        if self.pairs > 1:
            where = f"{self.left!r} and {self.right!r}, the worst of {self.pairs} pairs"
        promise = f"({decimal_text(self.epsilon)}, {decimal_text(self.delta)})-DP on {where}"
        advice = ""
        if self.verdict == "undecided" and not self.delta:
            advice = "; no law that is partly open shows delta = 0: claim a small delta"
        return f"{self.verdict}: {promise}; delta is {worst}{advice}\n{self.basis}"

    @property
    def basis(self) -> str:
        """What the verdict is about: whose law, and how it was found."""
        calls = "one call" if self.calls == 1 else f"{self.calls} calls in a row"
        left, right = map(str, self.evidence)
        evidence = left if left == right else f"left {left}; right {right}"
        return f"law of {calls} from the present state: {evidence}"

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
            "left": repr(self.left),
            "right": repr(self.right),
            "pairs": self.pairs,
            "basis": self.basis,
        }


def private(
    program: Callable[..., Any] | None = None,
    left: Any = _NOT_GIVEN,
    right: Any = _NOT_GIVEN,
    *,
    epsilon: Real,
    delta: Real = 0,
    make: Callable[[Any, Any], Any] | None = None,
    pairs: Any = None,
    calls: int = 1,
    interface: str = "random",
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    exceptions: str = "raise",
    progress: bool = True,
    seconds: Real = SECONDS,
) -> Privacy:
    """Decide (epsilon, delta)-privacy of a program on two data sets, in both directions.

    program: called with a data set and a generator.
    left, right: two neighbouring data sets.
    epsilon, delta: the promise; epsilon >= 0, delta >= 0 and <= 1.
    make: a class or function that is called with the data set and the generator inside each run, so
        that what a constructor draws is drawn; the program is then called with the object that it
        returns and the generator. Without a program, that object is the output.
    pairs: instead of left and right, a list of pairs or a hypothesis strategy for pairs, of which
        100 examples are drawn. The verdict is that of the worst pair; other pairs may be worse.
    calls: number of calls in a row on the same data set, >= 1; their outputs together are judged.
    interface, residual, max_runs, exceptions, progress, seconds: as in :func:`foreign_law`.

    proved and refuted are certain for the law of one call (or of `calls` calls) from the present
    state; undecided means that the residual mass could tip the balance (with a residual, delta = 0
    can be refuted but not proved). Raises as :func:`foreign_law` does.

    >>> def respond(bit, rng):
    ...     return bit if rng.randrange(4) else 1 - bit
    >>> private(respond, 0, 1, epsilon="1.0987").verdict  # takes seconds
    'proved'
    >>> print(private(respond, 0, 1, epsilon="1.0986"))  # doctest: +ELLIPSIS
    refuted: (1.0986, 0)-DP on this pair; delta is [9.216444453e-6, 9.216444454e-6]
    law of one call from the present state: 2 runs, all repeated; not sent: ...
    """
    loss, allowed = non_negative("epsilon", epsilon), probability("delta", delta)
    if program is None and make is None:
        raise InvalidParameter("program", _NOT_GIVEN, "given, or make=")
    number = integer("calls", calls, least=1)
    chosen = _chosen(left, right, pairs)
    known: dict[Any, Judged] = {}
    judge = Judge(interface, residual, max_runs, exceptions, progress, seconds)

    def law(data: Any, left_open: Fraction) -> Judged:
        key = _key(data), left_open
        if key not in known:
            known[key] = judge.law(_bound(program, make, data, number), left_open)
        return known[key]

    def verdict(x: Any, y: Any) -> Privacy:
        promise = Promise(loss, allowed, number, len(chosen))
        if make is None and number == 1:
            try:
                return _read(judge, program, interface == "numpy", (x, y), promise)
            except Refused as refused:
                judge.unread = f"; its text was not read instead: {refused}"
        # mass that is a small part of delta rarely matters, and takes most of the time
        least = judge.residual
        for left_open in sorted({least, max(least, allowed / _PART)}, reverse=True):
            laws = law(x, left_open), law(y, left_open)
            evidence = laws[0].evidence, laws[1].evidence
            privacy = _judged((laws[0].law, laws[1].law), evidence, (x, y), promise)
            if privacy.verdict != "undecided":
                break
        return privacy

    results = [verdict(x, y) for x, y in chosen]
    order = {"refuted": 2, "undecided": 1, "proved": 0}
    worst = max(results, key=lambda each: (order[each.verdict], max(d.lower for d in each.deltas)))
    if worst.verdict == "proved" and not any(e.draws for each in results for e in each.evidence):
        raise NotEnumerable(_NO_DRAW)
    return worst


def _key(data: Any) -> Any:
    """Equal for equal data sets; of data that cannot be compared, the identity of the object."""
    try:
        return key_of(data)
    except NotEnumerable:
        return id(data)


def _bound(
    program: Callable[..., Any] | None,
    make: Callable[[Any, Any], Any] | None,
    data: Any,
    calls: int,
) -> Callable[[Any], Any]:
    """A function of the generator alone, which calls the program on a data set."""

    def run(rng: Any) -> Any:
        subject = data if make is None else make(data, rng)
        if program is None:
            return subject
        if calls == 1:
            return program(subject, rng)
        outcomes: list[Outcome] = []
        for _ in range(calls):
            try:  # each is read at once: the next call may change an object that this one returned
                outcomes.append(Outcome.returned(program(subject, rng)))
            except NeverEnds as signal:
                signal.later = bool(outcomes)
                raise
        return Outcome.of_calls(outcomes)

    return run


def _chosen(left: Any, right: Any, pairs: Any) -> list[tuple[Any, Any]]:
    present = left is not _NOT_GIVEN, right is not _NOT_GIVEN
    if pairs is None:
        if not all(present):
            raise InvalidParameter("left, right", _NOT_GIVEN, "given both, or pairs=")
        return [(left, right)]
    if any(present):
        raise InvalidParameter("pairs", pairs, "given without left and right")
    if not isinstance(pairs, Iterable) and not hasattr(pairs, "example"):
        raise InvalidParameter("pairs", pairs, "a list of pairs or a hypothesis strategy")
    listed = list(pairs) if isinstance(pairs, Iterable) else examples(pairs, _EXAMPLES)
    if not listed or any(not isinstance(p, (tuple, list)) or len(p) != 2 for p in listed):
        raise InvalidParameter("pairs", pairs, "one or more pairs (left, right), or a strategy")
    return [(x, y) for x, y in listed]


class Promise(NamedTuple):
    """What is judged: (epsilon, delta) for a number of calls, on one of some pairs."""

    epsilon: Fraction
    delta: Fraction
    calls: int
    pairs: int


def _read(
    judge: Judge, program: Any, numpy: bool, data: tuple[Any, Any], promise: Promise
) -> Privacy:
    """The verdict on one pair from the program's text, as soon as the open probability cannot
    change it. Raises Refused where the text cannot be read."""
    if judge.interface == "source":
        raise Refused("sources are not read")
    with judge.bar("states") as bar:
        tick = int if bar is None else bar.update
        reading = Reading(program, data, numpy, judge.deadline(), tick)
        privacy, states = _decided(reading, judge.residual, data, promise)
    known: dict[Any, Evidence] = {}
    for side, subject in enumerate(data):
        bound = _bound(program, None, subject, 1)
        evidence = judge.confirm(bound, reading.runs(side), states)
        if evidence is None:
            raise Refused("a run returned something else than its text says")
        known[side] = evidence
    if not reading.is_repeated():
        raise Refused("no run that was repeated takes some of its turns")
    return replace(privacy, evidence=(known[0], known[1]))


def _decided(
    reading: Reading, residual: Fraction, data: tuple[Any, Any], promise: Promise
) -> tuple[Privacy, int]:
    """The verdict, and the number of states that were followed."""
    last = None
    nothing = Evidence(True, 0, 0, False), Evidence(True, 0, 0, False)
    try:
        for pair in reading.laws(residual):
            last = _judged(pair.laws, nothing, data, promise), pair.states
            if last[0].verdict != "undecided":
                break
    except OutOfReach:
        if last is None:
            raise
    if last is None:
        raise Refused("it has no law")
    return last


def _judged(
    laws: tuple[Law[Any], Law[Any]],
    evidence: tuple[Evidence, Evidence],
    data: tuple[Any, Any],
    promise: Promise,
) -> Privacy:
    """The verdict on one pair."""
    deltas = tuple(
        divergence.hockey_stick(p, q, epsilon=promise.epsilon) for p, q in (laws, laws[::-1])
    )
    first = (deltas[0].lower, deltas[0].upper) >= (deltas[1].lower, deltas[1].upper)
    p, q = laws if first else laws[::-1]
    event = _separating(p, q, promise.epsilon)
    worst = Enclosure(max(d.lower for d in deltas), max(d.upper for d in deltas))
    verdict = Check(worst, promise.delta, tight=True).verdict
    chosen = set(event)
    masses = [each.probability(chosen.__contains__) for each in laws]
    direction: Literal["left", "right"] = "left" if first else "right"
    outcomes = tuple(hashable(outcome.value) for outcome in event)
    return Privacy(
        verdict, promise.epsilon, promise.delta, (deltas[0], deltas[1]), direction, outcomes,
        (masses[0], masses[1]), *data, promise.pairs, promise.calls, evidence,
    )  # fmt: skip


def _separating(p: Law[Any], q: Law[Any], epsilon: Fraction) -> tuple[Any, ...]:
    """The outcomes with p(x) > e^epsilon q(x), those within 1e-30 of equality left out."""
    factor = refine(lambda: ball(epsilon).exp(), relative_width=Fraction(1, 10**30)).upper
    excess = {x: weight - factor * q[x] for x, weight in p.items()}
    return tuple(sorted((x for x, e in excess.items() if e > 0), key=lambda x: -excess[x]))
