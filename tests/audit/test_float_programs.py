"""The laws of programs that draw doubles are those of all doubles.

The expected law takes doubles in equal steps, with ordinary numbers; crossings of logarithms are
found by mpmath.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from exactdp.audit import foreign_law, private
from exactdp.audit.code.monotone import Chain, Joint, Step, Unordered, With, changes
from exactdp.errors import NotEnumerable
from exactdp.oracle.assertions import _NOT_EXACT
from tests.audit import float_programs
from tests.audit.float_programs import PYTHON, TWO
from tests.audit.tiny_leaks import TINY

STEPS = 2_000


class Steps:
    """A generator that returns given doubles."""

    def __init__(self, *doubles: float) -> None:
        self.doubles = doubles

    def random(self, size: int | None = None) -> Any:
        return self.doubles[0] if size is None else np.array(self.doubles)


def expected(program: Callable[[Any, Any], Any], two: bool) -> dict[Any, float]:
    """The shares of outcomes over a grid of doubles."""
    side = int(math.sqrt(STEPS)) if two else STEPS
    grid = [(i + 0.5) / side for i in range(side)]
    points = [(u, v) for u in grid for v in grid] if two else [(u,) for u in grid]
    outcomes = Counter(_once(program, Steps(*point)) for point in points)
    return {outcome: count / len(points) for outcome, count in outcomes.items()}


def _once(program: Callable[[Any, Any], Any], rng: Steps) -> Any:
    float_programs.MEMO.clear()
    value = program(0, rng)
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [*PYTHON, *TWO], ids=lambda program: program.__name__)
def test_the_law_is_that_of_all_doubles(program: Callable[[Any, Any], Any]) -> None:
    two = program in TWO
    float_programs.MEMO.clear()
    try:
        law = foreign_law(
            lambda rng: program(0, rng),
            interface="numpy" if two else "random",
            residual=Fraction(1, 1 << 12),
            max_runs=2_000,
            seconds=20,
            progress=False,
        )
    except _NOT_EXACT:
        return
    shares = expected(program, two)
    tolerance = 0.05 if two else 0.01
    for outcome, p in law.items():
        assert abs(float(p) - shares.get(outcome, 0.0)) < tolerance, outcome
    assert all(share < tolerance or law[outcome] > 0 for outcome, share in shares.items())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.few(8)
@pytest.mark.parametrize(("program", "interface"), TINY)
def test_a_leak_in_few_doubles_is_not_proved_private(program: Any, interface: str) -> None:
    try:
        privacy = private(
            program, 0, 1, epsilon=0, interface=interface, exceptions="outcome", progress=False
        )
    except _NOT_EXACT:
        return
    assert privacy.verdict == "refuted"


RARE = ["logarithm_of_zero", "infinity", "overflow", "zero_is_false", "division_in_a_rare_branch"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RARE)
def test_a_rare_branch_that_leaks_is_seen(name: str) -> None:
    """Each of these shows the bit for one double, or for few."""
    privacy = private(getattr(float_programs, name), 0, 1, epsilon=5, progress=False)
    assert privacy.verdict == "refuted"


DECIDED = ["magnitude", "sum_of_alike", "difference_of_parts", "imported_logarithm", "overflow"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DECIDED)
def test_monotone_programs_are_decided(name: str) -> None:
    program = getattr(float_programs, name)
    law = foreign_law(lambda rng: program(0, rng), progress=False)
    assert sum(p for _, p in law.items()) == 1


@pytest.mark.parametrize("function", [math.log, np.log], ids=["math", "numpy"])
def test_pieces_of_a_logarithm_begin_where_they_do(function: Any) -> None:
    """The first double with floor(-ln u) <= n is the first one >= e^-(n+1), or its neighbour."""
    steps = (Step(function, True, True), Step(With(_times, -1.0), False, False))
    chain = Chain(With(_times, 2.0**-53), (*steps, Step(math.floor, True, False)))
    cuts = changes(chain, 1, 1 << 53, 100)
    assert cuts is not None
    with mpmath.workdps(40):
        crossings = sorted(mpmath.ceil(mpmath.exp(-n) * 2**53) for n in range(1, 37))
    assert len(cuts) == len(crossings)
    assert all(abs(cut - crossing) <= 1 for cut, crossing in zip(cuts, crossings, strict=True))
    for cut in cuts:
        assert chain(cut - 1) == chain(cut) + 1


def _times(value: Any, factor: float) -> Any:
    return value * factor


#: numpy's geometric(p) never ends for the last doubles: its sums stay below them.
ENDLESS = 0.852481449257876


def test_a_draw_that_never_ends_is_an_outcome() -> None:
    law = foreign_law(lambda rng: min(int(rng.geometric(ENDLESS)), 2), interface="numpy")
    endless = law["never ends"]
    assert 0 < endless < Fraction(1, 1 << 48)
    assert abs(law[1] - Fraction(ENDLESS)) < Fraction(1, 1 << 52)
    assert sum(p for _, p in law.items()) == 1


def test_a_later_call_that_never_ends_hides_no_output() -> None:
    def program(bit: int, rng: Any) -> int:
        return bit if rng.geometric(ENDLESS) > 1 else 0

    with pytest.raises(NotEnumerable, match="never ends for some draws"):
        private(program, 0, 1, epsilon=5, calls=2, interface="numpy")


def test_a_program_that_goes_on_after_an_endless_draw_is_refused() -> None:
    def program(bit: int, rng: Any) -> int:
        try:
            return min(int(rng.geometric(ENDLESS)), 2)
        except BaseException:
            return bit

    with pytest.raises(NotEnumerable, match="never ends for some draws"):
        private(program, 0, 1, epsilon=5, interface="numpy")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "options"),
    [("laplace", (1.5, 2.0)), ("gumbel", (0.5, 3.0)), ("logistic", (-1.0, 0.5))],
)
def test_numpys_floats_have_their_distribution_function(name: str, options: Any) -> None:
    cdf = {
        "laplace": lambda z: math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2,
        "gumbel": lambda z: math.exp(-math.exp(-z)),
        "logistic": lambda z: 1 / (1 + math.exp(-z)),
    }[name]
    for bound in (-2.25, 0.1, 1.5, 4.75):
        law = foreign_law(
            lambda rng, at=bound: bool(getattr(rng, name)(*options) <= at), interface="numpy"
        )
        assert abs(float(law[True]) - cdf((bound - options[0]) / options[1])) < 1e-12


def wobbling(x: float) -> float:
    """A logarithm with errors of two units in the last place."""
    return math.log(x) + 2 * math.ulp(math.log(x)) * (-1) ** (int(x * 2**53) % 2)


def test_a_function_that_wobbles_is_not_compared_with_its_own_values() -> None:
    chain = Chain(With(_times, 2.0**-53), (Step(wobbling, True, True),))
    low, high = 1 << 51, 1 << 52
    place = low + 12_345_678
    with pytest.raises(Unordered):
        chain.first_pass(lambda v: v > chain(place + 1), low, high)
    assert chain.first_pass(lambda v: v > 0, low, high) == high


def test_bounds_hold_for_all_values_beyond() -> None:
    errs = Chain(With(_times, 2.0**-53), (Step(wobbling, True, True),))
    falling = errs.then(Step(With(_times, -3.0), False, False))
    both = Chain(Joint(errs, errs.then(Step(math.exp, True, True)), _sum))
    for chain in (errs, falling, both):
        sign = 1 if chain.rising else -1
        for k in (1 << 30, 1 << 45, (1 << 53) - 600):
            beyond = [sign * chain(k + i) for i in range(300)]
            assert min(beyond) >= sign * chain.bound(k, True)
            before = [sign * chain(k - i) for i in range(300)]
            assert max(before) <= sign * chain.bound(k, False)


def _sum(one: float, other: float) -> float:
    return one + other


EXACT = ["magnitude", "sum_of_alike", "difference_of_parts", "imported_logarithm", "infinity"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*EXACT, "overflow", "zero_is_false", "quiet_not_a_number"])
def test_every_double_is_counted(name: str) -> None:
    """Between doubles in equal steps, changes of the outcome are found by bisection and by trying
    all doubles that are near; the program runs with ordinary numbers."""
    program = getattr(float_programs, name)
    try:
        law = foreign_law(lambda rng: program(0, rng), progress=False)
    except _NOT_EXACT:
        return
    width = 1 << 53
    outcomes = lru_cache(maxsize=None)(lambda k: program(0, Steps(k * 2.0**-53)))
    grid = sorted({0, 1, width - 1, *(width * i // 300 for i in range(300))})
    cuts = [0]
    for low, high in pairwise(grid):
        while outcomes(low) != outcomes(high):
            first = outcomes(low)
            cut, end = low, high  # the outcome is the first at cut, and another one at end
            while end - cut > 1:
                middle = (cut + end) // 2
                cut, end = (middle, end) if outcomes(middle) == first else (cut, middle)
            assert all(outcomes(k) == first for k in range(max(low, end - 40), end))
            assert all(outcomes(k) != first for k in range(end, min(high, end + 40)))
            cuts.append(end)
            low = end
    shares: Counter[Any] = Counter()
    for first, last in pairwise([*cuts, width]):
        shares[outcomes(first)] += last - first
    assert {outcome: Fraction(n, width) for outcome, n in shares.items()} == dict(law.items())
