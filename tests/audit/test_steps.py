"""Programs that are read step by step: the law is that of all sequences of draws.

The expected law runs the program itself on every sequence of draws, up to a small probability.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from exactdp.accounting.divergence import hockey_stick
from exactdp.audit import private
from exactdp.audit.code import fresh
from exactdp.audit.code.outcomes import key_of
from exactdp.audit.steps.chain import Chain
from exactdp.audit.steps.reading import Reading
from exactdp.audit.steps.translation import Program
from exactdp.audit.steps.values import GENERATOR, Refused, outcome
from exactdp.errors import NotEnumerable, TooManyBranches
from tests.audit.misread_programs import MISREAD, REFUSED, REFUSED_NUMPY
from tests.audit.parts_programs import PARTS
from tests.audit.written_programs import PROGRAMS

#: Probability that the search may leave out.
OPEN = Fraction(1, 1 << 9)


class Script:
    """A generator that repeats given draws, and notes how wide the next one is."""

    def __init__(self, draws: tuple[int, ...]) -> None:
        self.draws, self.place, self.width = draws, 0, 0

    def randrange(self, n: int) -> int:
        if self.place == len(self.draws):
            self.width = n
            raise EOFError
        self.place += 1
        return self.draws[self.place - 1]

    def randint(self, low: int, high: int) -> int:
        return low + self.randrange(high - low + 1)

    def getrandbits(self, k: int) -> int:
        return self.randrange(1 << k)

    def random(self) -> float:
        return self.randrange(4) / 4  # enough for bounds that are multiples of 1/4

    def choice(self, items: Any) -> Any:
        return items[self.randrange(len(items))]


def searched(program: Callable[[Any, Any], Any], bit: int) -> dict[str, Fraction]:
    """The law of a program up to OPEN, by its outcomes' texts."""
    law: dict[str, Fraction] = {}
    todo, left = [((), Fraction(1))], Fraction(1)
    while todo and left > OPEN:
        later: list[Any] = []
        for draws, weight in todo:
            script = Script(draws)
            try:
                outcome = key_of(program(bit, script))
            except EOFError:
                later += [((*draws, i), weight / script.width) for i in range(script.width)]
            else:
                law[outcome] = law.get(outcome, Fraction(0)) + weight
                left -= weight
        todo = later
    return law


def law_of(program: Callable[[Any, Any], Any], bit: int) -> dict[str, Fraction]:
    """The law of a program, read from its text, by its outcomes' texts."""
    code = Program(False).code(program)
    others = [code.defaults[name] for name in code.parameters[2:]]
    chain = Chain(math.inf, int, set())
    law = chain.law(code, [bit, GENERATOR, *others], Fraction(1, 1 << 20))
    return {key_of(outcome(value)): p for value, p in law.weights}


def delta_of(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> tuple[float, float]:
    """Lower and upper ends of delta at epsilon = 1, for both orders of two laws."""
    both = [sum(max(float(a[x]) - math.e * float(b.get(x, 0)), 0) for x in a)
            for a, b in ((p, q), (q, p))]  # fmt: skip
    return max(both) - math.e * float(OPEN), max(both) + float(OPEN)


@pytest.mark.parametrize("program", [*PROGRAMS, *MISREAD], ids=lambda program: program.__name__)
def test_the_law_of_the_text_is_that_of_the_program(program: Callable[[Any, Any], Any]) -> None:
    expected = [searched(program, bit) for bit in (0, 1)]
    least, most = delta_of(*expected)
    try:
        laws = [law_of(program, bit) for bit in (0, 1)]
        reading = Reading(program, (0, 1), False, math.inf)
        *_, pair = reading.laws(Fraction(1, 1 << 20))
    except Refused:
        return
    for weights, other in zip(laws, expected, strict=True):
        assert weights.keys() >= other.keys()
        assert all(abs(p - other.get(x, Fraction(0))) <= OPEN for x, p in weights.items())
    low, high = delta_of(*({r.name: p for r, p in law.items()} for law in pair.laws))
    assert high >= least  # never below the truth
    assert low <= most


@pytest.mark.parametrize("epsilon", ["0", "0.4", "1"])
@pytest.mark.parametrize("program", PARTS, ids=operator.attrgetter("__name__"))
def test_parts_are_independent_only_where_they_are(
    program: Callable[[Any, Any], Any], epsilon: str
) -> None:
    """delta is that of all sequences of draws."""
    left, right = (searched(program, bit) for bit in (0, 1))
    ratio = math.exp(float(epsilon))
    *_, pair = Reading(program, (0, 1), False, math.inf).laws(Fraction(1, 1 << 20))
    for (p, q), laws in (((left, right), pair.laws), ((right, left), pair.laws[::-1])):
        expected = sum(max(float(p[x]) - ratio * float(q.get(x, 0)), 0) for x in p)
        delta = hockey_stick(*laws, epsilon=epsilon)
        assert float(delta.lower) - ratio * float(OPEN) <= expected + 1e-12
        assert float(delta.upper) + float(OPEN) >= expected - 1e-12
        assert float(delta.upper - delta.lower) < 0.01


def test_twenty_parts() -> None:
    """Without parts, the law of twenty counts has more than 10^9 outcomes."""
    left = {str(i): 3 + i % 4 for i in range(20)}
    for key, expected in (("2", Fraction(1, 9)), ("new", Fraction(8, 9))):
        right = {**left, key: left.get(key, 5) - 1}
        *_, pair = Reading(counts_above_four, (left, right), False, math.inf).laws(Fraction(0))
        assert hockey_stick(*pair.laws, epsilon=0).lower == expected


def counts_above_four(counts, rng):
    out = {}
    for name, n in counts.items():
        noisy = n + rng.randrange(9)
        if noisy > 4:
            out[name] = noisy
    return out


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_python_refuses_is_not_read(program: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(Refused):
        list(Reading(program, (0, 1), False, math.inf).laws(Fraction(1, 1 << 20)))


@pytest.mark.parametrize("program", REFUSED_NUMPY, ids=lambda program: program.__name__)
def test_what_numpy_refuses_is_not_read(program: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(Refused):
        list(Reading(program, (0, 1), True, math.inf).laws(Fraction(1, 1 << 20)))


@pytest.mark.few(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_verdicts_of_written_programs(program: Callable[[Any, Any], Any]) -> None:
    least, most = delta_of(*(searched(program, bit) for bit in (0, 1)))
    for claim in (least - 0.02, most + 0.02):
        if not 0 <= claim <= 1:
            continue
        privacy = private(program, 0, 1, epsilon=1, delta=Fraction(claim), residual=OPEN / 16)
        assert privacy.verdict == ("refuted" if claim < least else "proved")


NAME = operator.attrgetter("__name__")
READ = {"two_passes_over_a_list", "sparse_vector", "report_noisy_max", "three_of_a_set"}


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.__name__ in READ], ids=NAME)
def test_what_is_read_is_not_run_branch_by_branch(program: Callable[[Any, Any], Any]) -> None:
    assert "states of the program's text" in private(program, 0, 1, epsilon=9, residual=OPEN).basis


def once_in_a_million(bit: int, rng: Any) -> int:
    first = rng.randrange(1000)
    second = rng.randrange(1000)
    if first + second * 1000 == 271_828:
        return bit
    return 2


@pytest.mark.slow
def test_a_turn_that_no_repeated_run_takes_ends_the_reading() -> None:
    """The program may do there something else than its text was taken to say."""
    reading = Reading(once_in_a_million, (0, 1), False, math.inf)
    *_, pair = reading.laws(Fraction(1, 1 << 20))
    assert pair.laws[0].items()
    for side in (0, 1):
        reading.runs(side)
    assert not reading.is_repeated()
    with pytest.raises(TooManyBranches, match="takes some of its turns"):
        private(once_in_a_million, 0, 1, epsilon=0, max_runs=1000)


def endless(bit: int, rng: Any) -> int:
    rng.randrange(2)
    while True:
        pass


def test_a_run_without_an_end_meets_a_limit() -> None:
    with pytest.raises(NotEnumerable, match="has not ended"):
        private(lambda bit, rng: endless(bit, rng), 0, 1, epsilon=1, seconds="0.1")


def leaves(bit: int, rng: Any) -> int:
    raise SystemExit(rng.randrange(2) ^ bit)


def test_leaving_the_program_is_an_outcome() -> None:
    assert private(leaves, 0, 1, epsilon=0, exceptions="outcome").verdict == "proved"


def test_an_interpreter_that_does_not_start_is_no_fault_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh._end()
    monkeypatch.delenv(fresh._INSIDE, raising=False)
    monkeypatch.setattr(fresh.sys, "executable", "/nowhere/python")
    privacy = private(PROGRAMS[0], 0, 1, epsilon="1.2")
    assert privacy.verdict == "proved"
    assert "cannot be started" in privacy.basis


def test_a_verdict_names_why_a_program_was_not_read() -> None:
    def program(bit: int, rng: Any) -> int:
        with suppress(ValueError):
            while rng.randrange(100):
                bit += 1
        return bit

    with pytest.raises(TooManyBranches, match="the statement With"):
        private(program, 0, 1, epsilon=1, max_runs=50)
