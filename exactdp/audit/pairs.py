"""The worst of many pairs: outputs go to the pair that looks worst, and certify it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from exactdp.audit.bounds.evidence import Lines, evidence, weakened
from exactdp.audit.outputs.audits import chosen_promise
from exactdp.audit.outputs.candidates import Aim
from exactdp.audit.outputs.counting import FeaturesOf, Run
from exactdp.audit.outputs.drawing import Draws
from exactdp.audit.outputs.engine import Audit
from exactdp.audit.outputs.looks import looks, outputs_in_all
from exactdp.audit.outputs.report import AuditReport
from exactdp.audit.outputs.search import search
from exactdp.audit.promises import Promise
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, false_alarm

_SCREENING = Fraction(1, 2)  # share of the outputs that find the pairs that look worst
_FINALISTS = 2  # pairs that are audited with the remaining outputs
_LEAST = 100  # outputs of a pair in every round of screening
_CONVINCING = 4.0  # nats: what chance finds in a few hundred events stays below
_ALPHA = Fraction(1, 100)  # at which screening chooses events
_WEAKER = 0.5  # factor of epsilon and delta in a weaker promise, which ranks the other pairs


@dataclass(frozen=True)
class WorstPair:
    """The pair on which an audit went worst.

    left, right: the two data sets. report: of its audit; what it states holds, with its alpha,
    over the whole search. pairs: how many there were. samples: outputs drawn in all.
    """

    left: Any
    right: Any
    report: AuditReport
    pairs: int
    samples: int

    @property
    def violation(self) -> bool:
        """Whether the promise is broken on this pair, with confidence 1 - alpha."""
        return self.report.violation

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON types; the data sets are shown as text."""
        return {
            "left": repr(self.left),
            "right": repr(self.right),
            "pairs": self.pairs,
            "drawn": self.samples,
            **self.report.as_dict(),
        }

    def text(self) -> str:
        """The result for people."""
        lines = [self.report.text(), f"worst of {self.pairs} pairs, {self.samples} outputs in all:"]
        return "\n".join([*lines, f"  left   {self.left!r}", f"  right  {self.right!r}"])


def audit_pairs(
    run: Run,
    pairs: Iterable[tuple[Any, Any]],
    *,
    epsilon: Real | None = None,
    delta: Real | None = None,
    promise: Promise | None = None,
    samples: Real = 1_000_000,
    alpha: Real = "0.01",
    features: Callable[[Any], Any] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> WorstPair:
    """Look for a pair of neighbouring data sets on which run breaks its promise.

    pairs: finitely many pairs (left, right); :func:`exactdp.oracle.strategies.draw_values` draws
        them from a hypothesis strategy.
    samples: largest number of outputs in all, at least 400 for each pair; the outputs that count a
        violation again are not included.

    Other arguments, and errors, as for :func:`exactdp.audit.audit`.

    Half of the outputs screen the pairs: in each round the half that looks better is dropped
    (successive halving; Karnin, Koren, Somekh, ICML 2013), and nothing is concluded. The last two
    are audited on fresh outputs, each at alpha/2, so a false alarm has probability at most alpha
    however many pairs there are.
    """
    tested = chosen_promise(promise, epsilon, delta)
    chosen = [_checked(pair) for pair in pairs]
    if not chosen:
        raise InvalidParameter("pairs", Described("none"), "at least one pair of data sets")
    total = outputs_in_all(samples, 4 * _LEAST * len(chosen))
    level = false_alarm("alpha", alpha)
    draws = Draws(FeaturesOf.applied(run, features), {}, executor, progress)
    budget = int(total * _SCREENING) if len(chosen) > _FINALISTS else 0
    last = _screened(draws, chosen, tested, budget)
    size = (total - draws.total) // len(last)
    results = []
    for pair in last:
        before, share = draws.total, level / len(last)
        *_, report = Audit(draws.on(*pair), tested, share).reports(looks(size, share, search=True))
        # the alpha of all finalists together
        results.append((pair, replace(report, alpha=level, samples=draws.total - before)))
        if report.violation:
            break

    def badness(one: tuple[Any, AuditReport]) -> tuple[bool, Fraction, Fraction]:
        bounds = one[1].bounds
        return one[1].violation, bounds[tested.limit[0]], bounds["epsilon"]

    (left, right), report = max(results, key=badness)
    return WorstPair(left, right, report, len(chosen), draws.total)


def _screened(
    draws: Draws, pairs: list[tuple[Any, Any]], promise: Promise, budget: int
) -> list[tuple[Any, Any]]:
    """The pairs that look worst: each round drops half of them; the rounds share the budget."""
    rounds = 0
    while _FINALISTS << rounds < len(pairs):
        rounds += 1
    for left_over in range(rounds, 0, -1):
        size = (budget - draws.total) // (left_over * len(pairs))
        scores = [_looks_bad(draws, pair, promise, size) for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda i: scores[i], reverse=True)
        pairs = [pairs[i] for i in order[: max(_FINALISTS, (len(pairs) + 1) // 2)]]
    return pairs


def _looks_bad(
    draws: Draws, pair: tuple[Any, Any], promise: Promise, size: int
) -> tuple[float, float]:
    """Evidence against the promise where it is convincing, and against a weaker promise."""
    outputs = draws.on(*pair).training(size)
    n = len(outputs["left"])
    aim = Aim(promise.lines(), n, _ALPHA)
    candidates = search(outputs["left"], outputs["right"], pair, aim, promise.divisor)

    def most(lines: Lines) -> float:
        nats = [float(evidence(one.p * n, n, one.q * n, n, lines)) for one in candidates]
        return max(nats, default=0.0)

    against = most(promise.lines())
    return against if against >= _CONVINCING else 0.0, most(weakened(promise.lines(), _WEAKER))


def _checked(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidParameter("pairs", pair, "made of pairs (left, right)")
    return pair[0], pair[1]
