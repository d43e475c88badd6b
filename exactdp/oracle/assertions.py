"""Assertions for tests: laws and privacy of code, and the sensitivity of what it adds noise to.

assert_law and assert_private are exact if the code under test allows it, statistical otherwise: the
code under test takes its randomness from an argument, and is run once for every sequence of random
choices. If that is impossible (for example because the code calls random.gauss, branches
without end, or has other randomness), outputs are drawn and tested at a stated alpha. The evidence
says which method was used.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit import glue
from exactdp.audit.bounds.binomial import interval
from exactdp.audit.code import NotEnumerable, foreign_law, private
from exactdp.audit.code.outcomes import hashable
from exactdp.audit.comparison import compare
from exactdp.audit.glue import Primitive
from exactdp.errors import NotReproducible, TooManyBranches
from exactdp.fields import converted, frozen, text
from exactdp.law import Law
from exactdp.oracle.recording import record
from exactdp.parameters import Real, choice, decimal_text, delta_target, integer, non_negative
from exactdp.samplers import SeededSource

#: Errors that mean that a program cannot be enumerated; others are errors of the program.
_NOT_EXACT = (NotEnumerable, TooManyBranches, NotReproducible)


class _Seeded(random.SystemRandom):
    """A seeded generator that is a SystemRandom, like the generator of an exact run."""

    def __init__(self, seed: int) -> None:
        self._inner = random.Random(seed)  # noqa: S311 (outputs of a test, repeatable)
        super().__init__()

    def random(self) -> float:
        return self._inner.random()

    def getrandbits(self, k: int) -> int:
        return self._inner.getrandbits(k)

    def randbytes(self, n: int) -> bytes:
        return self._inner.randbytes(n)


_GENERATORS: dict[str, Callable[[int], Any]] = {
    "random": _Seeded,
    "numpy": np.random.default_rng,
    "source": SeededSource,
}

_MAX_RUNS = 50_000
_RESIDUAL = Fraction(1, 2**64)

_METHODS = ("exact", "statistical", "recorded")


@frozen
class Evidence:
    """The evidence of an assertion that passed.

    method: "exact", "statistical" or "recorded". text: details. Raises InvalidParameter.
    """

    method: str = converted(lambda name, value: choice(name, value, _METHODS))
    text: str = text()

    def __str__(self) -> str:
        return f"{self.method}: {self.text}"


def assert_law(
    program: Callable[[Any], Any],
    expected: Law[Any],
    *,
    interface: str = "random",
    tolerance: Real = "1e-9",
    samples: int = 100_000,
    alpha: Real = "1e-6",
    seed: int = 0,
) -> Evidence:
    """Assert that a program's output has the expected law.

    program: called with a generator; returns hashable outputs (lists and arrays become tuples).
    interface: type of the generator: "random" (random.Random), "numpy" (numpy.random.Generator) or
    "source" (a Source of this library). tolerance: allowed total variation distance of an exact
    comparison. samples, alpha, seed: for the statistical test, if the program cannot be enumerated;
    alpha is the probability that a correct program fails.
    Returns the evidence. Raises AssertionError, which names the worst outcome.

    >>> die = Law.uniform(range(1, 7))
    >>> assert_law(lambda rng: rng.randint(1, 6), die).method  # takes seconds
    'exact'
    >>> assert_law(lambda rng: rng.getrandbits(2) // 2, Law.point(0))
    Traceback (most recent call last):
    ...
    AssertionError: differs: total variation [0.5, 0.5]; most at 0: [-0.5, -0.5]
    """
    choice("interface", interface, tuple(_GENERATORS))
    try:
        law = _law(program, interface)
    except _NOT_EXACT as reason:
        checked = _sampled_law(program, expected, interface, samples, alpha, seed)
        return _passed("statistical", f"{checked} (not exact: {reason})")
    comparison = compare(law, expected, tolerance=tolerance)
    if comparison.verdict != "agrees":
        raise AssertionError(str(comparison))
    return _passed("exact", f"{len(law)} outcomes, total variation {comparison.distance}")


def assert_private(
    mechanism: Callable[[Any, Any], Any],
    left: Any,
    right: Any,
    *,
    epsilon: Real,
    delta: Real = 0,
    interface: str = "random",
    tolerance: Real = "1e-18",
    samples: int = 200_000,
    alpha: Real = "1e-6",
    seed: int = 0,
) -> Evidence:
    """Assert that a mechanism is (epsilon, delta)-DP on two data sets, in both directions.

    mechanism: called with a data set and a generator. left, right: neighbouring data sets.
    interface: type of the generator, as for :func:`assert_law`. tolerance: probability that an
    endless loop may leave unexplored; delta is then proved up to this residual. Every certain
    violation fails, however small.
    samples, alpha, seed: for the statistical audit, if the mechanism cannot be enumerated; alpha is
    the probability that a correct mechanism fails. Passing the audit proves nothing.
    Returns the evidence. Raises AssertionError, which names the event that violates the claim.

    >>> def respond(bit, rng):
    ...     return bit if rng.randrange(4) else 1 - bit
    >>> print(assert_private(respond, 0, 1, epsilon="1.0987"))
    exact: delta is [0, 0] at epsilon = 1.0987
    """
    choice("interface", interface, tuple(_GENERATORS))
    allowed, spare = non_negative("delta", delta), non_negative("tolerance", tolerance)
    try:
        audit = private(
            mechanism,
            left,
            right,
            epsilon=epsilon,
            delta=allowed,
            interface=interface,
            residual=_RESIDUAL,
            max_runs=_MAX_RUNS,
            progress=False,
        )
    except _NOT_EXACT as reason:
        checked = _audited(mechanism, left, right, epsilon, delta, interface, samples, alpha, seed)
        return _passed("statistical", f"{checked} (not exact: {reason})")
    worst = max(audit.deltas, key=lambda each: each.upper)
    text = f"delta is {worst} at epsilon = {decimal_text(audit.epsilon)}"
    if audit.verdict == "proved":
        return _passed("exact", text)
    if audit.verdict == "undecided" and worst.upper <= allowed + spare:
        return _passed(
            "exact", f"{text}; the part above {decimal_text(allowed)} is unexplored residual"
        )
    event = ", ".join(repr(outcome) for outcome in audit.event[:5])
    raise AssertionError(f"{audit}; on the {audit.direction}, outcomes {event}")


def assert_sensitivity(
    pipeline: Callable[[Any], Any],
    pairs: Any,
    *,
    declared: Real | None = None,
    norm: str = "l1",
    epsilon: Real | None = None,
    rho: Real | None = None,
    primitives: Iterable[Primitive] = (),
    seed: int = 0,
    examples: int = 100,
) -> Evidence:
    """Assert that what enters the noise calls of a pipeline respects the declared sensitivity.

    pipeline: called with a data set; returns what is released. pairs: neighbouring data sets, as a
    Hypothesis strategy or an iterable of pairs. Other parameters: as for
    :func:`exactdp.audit.glue.search`.
    Returns the evidence: no violation on the pairs that were looked at, which proves nothing about
    others. Raises AssertionError with the smallest violating pair, the noise call with its line,
    and the exact distance; Undecided if no noise call was recorded, or not followed.

    >>> import random
    >>> def total(rows):
    ...     return random.gauss(sum(min(x, 5) for x in rows), 10)
    >>> print(assert_sensitivity(total, [([1, 2], [1, 9]), ([], [7])], declared=5))
    recorded: no violation on 2 pairs
    """
    report = glue.search(
        pipeline,
        pairs,
        declared=declared,
        norm=norm,
        epsilon=epsilon,
        rho=rho,
        primitives=primitives,
        seed=seed,
        examples=examples,
    )
    if report.violation:
        raise AssertionError(str(report))
    return _passed("recorded", str(report).partition("\n")[0])


def _law(program: Callable[[Any], Any], interface: str) -> Law[Any]:
    return foreign_law(
        program, interface=interface, residual=_RESIDUAL, max_runs=_MAX_RUNS, progress=False
    )


def _sampled_law(
    program: Callable[[Any], Any],
    expected: Law[Any],
    interface: str,
    samples: int,
    alpha: Real,
    seed: int,
) -> str:
    """Test that exact binomial intervals, jointly at level alpha, contain all probabilities."""
    count, level = integer("samples", samples, least=1), delta_target("alpha", alpha)
    generator = _GENERATORS[interface](seed)
    seen = Counter(hashable(program(generator)) for _ in range(count))
    outcomes = sorted(seen.keys() | expected.support, key=lambda x: expected[x])
    for outcome in outcomes:  # the impossible ones first
        low, high = interval(seen[outcome], count, level / len(outcomes))
        least, most = expected[outcome], expected[outcome] + expected.residual
        if most < low or least > high:
            raise AssertionError(
                f"{outcome!r} occurred {seen[outcome]} times in {count}, expected with probability "
                f"{float(least):.9g} (alpha = {decimal_text(level)})"
            )
    return f"{count} outputs, {len(outcomes)} outcomes, alpha = {decimal_text(level)}"


def _audited(
    mechanism: Callable[[Any, Any], Any],
    left: Any,
    right: Any,
    epsilon: Real,
    delta: Real,
    interface: str,
    samples: int,
    alpha: Real,
    seed: int,
) -> str:
    from exactdp.audit import audit

    generator = _GENERATORS[interface](seed)

    def run(dataset: Any, n: int) -> list[Any]:
        return [hashable(mechanism(dataset, generator)) for _ in range(n)]

    report = audit(run, left, right, epsilon=epsilon, delta=delta, samples=samples, alpha=alpha)
    if report.violation:
        raise AssertionError(report.text())
    return (
        f"no violation found in {report.samples} outputs at alpha = {decimal_text(report.alpha)}, "
        f"epsilon is at least {float(report.epsilon_lower):.3g}"
    )


def _passed(method: str, text: str) -> Evidence:
    evidence = Evidence(method, text)
    record(str(evidence))
    return evidence
