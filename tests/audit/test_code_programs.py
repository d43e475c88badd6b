"""Programs as people write them: honest ones get a law, and no mistake is called private.

Every program is called with a bit and a generator. `coin` spends log 1.1 = 0.0953..., which is the
promise; a sinner breaks it by the mistake that its docstring names.
"""

from __future__ import annotations

import functools
import json
import os
import random
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from exactdp.audit import foreign_law, private
from exactdp.audit.code import NotEnumerable, fresh
from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.law import Law
from tests.audit import noisy_module

EPSILON = "0.1"


def coin(bit: int, rng: Any) -> int:
    """The bit, or with probability 10/21 the other one."""
    return bit if rng.randrange(21) < 11 else 1 - bit


def verdict(program: Callable[..., Any] | None, **options: Any) -> str:
    """The verdict at EPSILON, or "not exact" and why."""
    arguments = {"left": 0, "right": 1, "epsilon": EPSILON, "progress": False} | options
    try:
        return private(program, **arguments).verdict
    except ExactDPError as error:
        return f"not exact: {error}"


# -- honest programs (more: tests/audit/honest): proved ------------------------------------------


class Counting:
    """Counts its calls, and the calls of all of its kind."""

    total = 0

    def __init__(self) -> None:
        self.calls = 0
        self.log: list[int] = []

    def respond(self, bit, rng):
        self.calls += 1
        Counting.total += 1
        self.log.append(self.calls)
        return coin(bit, rng)


def memo_of_work(bit, rng, known={}):  # noqa: B006
    if "table" not in known:
        known["table"] = [i < 11 for i in range(21)]
    return bit if known["table"][rng.randrange(21)] else 1 - bit


def or_a_new_generator(bit, rng=None):
    rng = rng or random.Random()
    return coin(bit, rng)


HONEST = [
    *(Counting().respond, memo_of_work, or_a_new_generator, noisy_module.honest),
    *(noisy_module.votes, noisy_module.reports, noisy_module.names_many_things),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("program", HONEST, ids=lambda program: program.__name__)
def test_honest_programs_are_proved(program: Callable[..., Any]) -> None:
    assert verdict(program) == "proved"


# -- mistakes: never proved ----------------------------------------------------------------------


class FirstAnswer:
    """The mistake: the first answer is remembered, and given to everybody."""

    def __init__(self) -> None:
        self.answers: dict[int, int] = {}

    def respond(self, bit, rng):
        return self.answers.setdefault(0, coin(bit, rng))


class Lazily:
    """The mistake: noise is drawn in the first call and used in all later ones."""

    noise = None

    def respond(self, bit, rng):
        if self.noise is None:
            self.noise = rng.randrange(21)
        return bit if self.noise < 11 else 1 - bit


def growing(bit, rng, seen=[]):  # noqa: B006
    """The mistake: a default that grows, and tells from the second call on."""
    seen.append(bit)
    return coin(bit, rng) if len(seen) < 2 else bit


def own_random(bit, rng):
    """The mistake: draws from the module random, not from the generator."""
    return bit if random.random() < 11 / 21 else 1 - bit


def own_numpy(bit, rng):
    """The mistake: draws from numpy's global generator."""
    return bit + np.random.laplace()


def system(bit, rng):
    """The mistake: the system's randomness."""
    return bit ^ (os.urandom(1)[0] & 1)


def by_secrets(bit, rng):
    """The mistake: the module secrets."""
    return bit ^ secrets.randbelow(2)


def seeded(bit, rng):
    """The mistake: a generator with a fixed seed."""
    return bit ^ random.Random(5).randrange(2)


def seeded_numpy(bit, rng):
    """The mistake: numpy's generator with a fixed seed."""
    return bit ^ int(np.random.default_rng(5).integers(2))


_EARLY = np.random.default_rng


def early_name(bit, rng):
    """The mistake: a new generator, under a name that was imported before."""
    return bit ^ int(_EARLY().integers(2))


_OWN = random.Random(3)
_OWN_NUMPY = np.random.default_rng(3)


def global_generator(bit, rng):
    """The mistake: a generator of the module."""
    return bit ^ _OWN.randrange(2)


def global_numpy_generator(bit, rng):
    """The mistake: a numpy generator of the module."""
    return bit ^ int(_OWN_NUMPY.integers(2))


def table_of_noise(bit, rng):
    """The mistake: defaultdict calls random.random where nobody sees it."""
    noise = defaultdict(random.random)
    return bit if noise[0] < 11 / 21 else 1 - bit


def clock_as_noise(bit, rng):
    """The mistake: the clock in place of a generator."""
    return bit ^ (time.perf_counter_ns() // 100 % 2)


def in_a_thread(bit, rng):
    """The mistake: noise from a thread, which draws when it is its turn."""
    answers: list[int] = []
    worker = threading.Thread(target=lambda: answers.append(coin(bit, rng)))
    worker.start()
    worker.join()
    return answers[0]


def from_a_file(bit, rng):
    """The mistake: bytes of a device."""
    with open("/dev/urandom", "rb") as device:
        return bit ^ (device.read(1)[0] & 1)


def address(bit, rng):
    """The mistake: the text of an object without one."""
    return f"{object()} {coin(bit, rng)}"


def swallowing(bit, rng):
    """The mistake: a refusal that is caught and hidden."""
    try:
        return rng.gauss(bit, 1)
    except Exception:
        return 0


def copied(bit, rng):
    """The mistake: a copy of the generator repeats its noise."""
    import copy

    twin = copy.deepcopy(rng)
    return bit + rng.randrange(10) - twin.randrange(10)


class NoisyHistogram:
    """The mistake, unless it is built inside the run: noise is drawn in the constructor."""

    def __init__(self, bit, rng) -> None:
        self.noisy = bit + rng.randrange(-1, 2)

    def release(self, rng):
        return self.noisy


def built_before() -> Callable[..., Any]:
    histogram = NoisyHistogram(0, random.Random(1))
    return lambda bit, rng: histogram.release(rng)


def threshold_before() -> Callable[..., Any]:
    class Above:
        """The mistake: the noise of the threshold is drawn once and for all."""

        def __init__(self, generator) -> None:
            self.bar = 5 + generator.randrange(3)

        def above(self, value, rng):
            return value * 7 + rng.randrange(2) > self.bar

    mechanism = Above(random.Random(1))
    return lambda bit, rng: mechanism.above(bit, rng)


def asked_before() -> Callable[..., Any]:
    """The mistake: noise that was drawn for somebody else before."""
    memory = Lazily()
    memory.noise = 5 + 0 * memory.respond(0, random.SystemRandom())
    return lambda bit, rng: memory.respond(0, rng)


SINS = [
    *(own_random, own_numpy, system, by_secrets, seeded, seeded_numpy, early_name),
    *(global_generator, global_numpy_generator, table_of_noise, clock_as_noise, in_a_thread),
    *(from_a_file, address, swallowing, copied, built_before(), threshold_before()),
    *(asked_before(), noisy_module.above(random.SystemRandom()), noisy_module.seeded_source),
    functools.partial(noisy_module.shifted_by, random.SystemRandom().randrange(-9, 9)),
]
AT_IMPORT = [
    *(noisy_module.shifted, noisy_module.by_set_order, noisy_module.asked_before),
    *(noisy_module.by_default, noisy_module.by_class, noisy_module.by_method),
    *(noisy_module.by_partial, noisy_module.by_proxy, noisy_module.by_iterator),
    *(noisy_module.by_deque, noisy_module.by_array, noisy_module.by_numbers),
    *(noisy_module.by_ordered, noisy_module.by_cache, noisy_module.by_another_module),
    *(noisy_module.by_slot, noisy_module.by_order),
    *(noisy_module.by_late_import, noisy_module.by_relative_import),
    noisy_module.Inheriting().answer,
]


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "program", [*SINS, *(pytest.param(each, marks=pytest.mark.fresh) for each in AT_IMPORT)]
)
def test_hidden_randomness_is_not_exact(program: Callable[..., Any]) -> None:
    assert verdict(program).startswith("not exact")


@pytest.mark.few(1)
@pytest.mark.parametrize("program", [own_random, seeded, global_generator, system, by_secrets])
def test_the_line_and_the_change_that_helps_are_named(program: Callable[..., Any]) -> None:
    line = program.__code__.co_firstlineno + 2
    reason = verdict(program)
    assert f"test_code_programs.py, line {line}" in reason
    assert "draw from the generator that is handed over" in reason


# -- what is kept between calls: the law is that of the next calls from here ----------------------


@pytest.mark.slow
@pytest.mark.parametrize("make", [FirstAnswer, pytest.param(Lazily, marks=pytest.mark.slow)])
def test_a_memo_has_the_law_of_one_call_and_of_two(make: Callable[[], Any]) -> None:
    """By hand: all answers are the first one, so two calls show no more than one."""
    one = private(make().respond, 0, 1, epsilon=EPSILON)
    assert one.verdict == "proved"
    assert "each in a fork of its own" in one.basis
    two = private(make().respond, 0, 1, epsilon=EPSILON, calls=2)
    assert two.verdict == "proved"
    assert "law of 2 calls in a row" in two.basis


class KeepsTheFirst:
    """The mistake: noise is drawn in every call, and that of the first one is used."""

    noise = None

    def above(self, bit, rng):
        noise = rng.randrange(2)
        if self.noise is None:
            self.noise = noise
        return 5 if self.noise else bit


def raising_by_the_first(rng, seen=[]):  # noqa: B006
    seen.append(rng.randrange(2))
    if seen[0]:
        raise KeyError
    return seen[0]


@pytest.mark.slow
def test_the_first_draw_that_is_kept_is_not_that_of_another_run() -> None:
    report = private(KeepsTheFirst().above, 0, 1, epsilon=1)
    assert report.verdict == "refuted"
    assert report.deltas[0].lower == report.deltas[0].upper == Fraction(1, 2)
    law = foreign_law(raising_by_the_first, exceptions="outcome")
    assert law == Law.uniform([0, ("raised", "KeyError")])


@pytest.mark.slow
def test_a_program_that_draws_nothing_is_refuted_or_not_exact() -> None:
    assert verdict(lambda bit, rng: bit) == "refuted"
    assert "draws nothing" in verdict(lambda bit, rng: 5)
    sometimes = private(
        lambda bit, rng: coin(bit, rng) if bit < 2 else 5, pairs=[(2, 3), (0, 1)], epsilon=EPSILON
    )
    assert sometimes.verdict == "proved"


@pytest.mark.slow
def test_a_default_that_grows_is_seen_in_the_second_call() -> None:
    growing.__defaults__[0].clear()
    here = functools.partial(growing)  # cannot be sent, where the default is another one
    assert verdict(here) == "proved"
    assert verdict(here, calls=2) == "refuted"
    assert growing.__defaults__[0] == []  # nothing of this happened here


@dataclass
class Report:
    """Of its attributes, copies hold the first alone."""

    value: int
    raw = 0

    def __getstate__(self) -> dict[str, int]:
        return {"value": self.value}


def with_raw_data(bit, rng):
    report = Report(coin(bit, rng))
    report.raw = bit
    return report


def test_what_copies_leave_out_is_seen() -> None:
    assert verdict(with_raw_data).startswith("not exact: outcomes of type tests.")
    left, right = with_raw_data(0, random), with_raw_data(1, random)
    left.value = right.value = 0
    assert verdict(lambda data, rng: data.raw, left=left, right=right) == "refuted"


# -- objects that are built inside the run, pairs, platforms --------------------------------------


@pytest.mark.slow
def test_noise_of_a_constructor_is_drawn_inside_the_run() -> None:
    """Uniform noise on -1, 0, 1: mass 1/3 on either side cannot be had from the other."""
    report = private(
        lambda histogram, rng: histogram.release(rng),
        0,
        1,
        make=NoisyHistogram,
        epsilon=1,
        delta="0.3333",
    )
    assert report.verdict == "refuted"
    assert report.probabilities in {(0, 1 / 3), (1 / 3, 0)} or max(report.probabilities) * 3 == 1
    assert verdict(
        lambda histogram, rng: histogram.release(rng), make=NoisyHistogram, delta="0.3334"
    ) == ("proved")
    assert private(make=lambda bit, rng: coin(bit, rng), left=0, right=1, epsilon=1).verdict


def k_ary(value, rng):
    """The mistake: the largest of four values never lies."""
    return value if value == 3 or rng.randrange(4) else (value + rng.randrange(1, 4)) % 4


PAIRS = [(x, y) for x in range(4) for y in range(4) if x != y]


@pytest.mark.slow
def test_the_worst_pair_is_looked_for() -> None:
    assert private(k_ary, 0, 1, epsilon="2.2").verdict == "proved"
    report = private(k_ary, pairs=PAIRS, epsilon="2.2")
    assert report.verdict == "refuted"
    assert 3 in (report.left, report.right)
    assert "the worst of 12 pairs" in str(report)
    values = st.integers(0, 3)
    assert private(k_ary, pairs=st.tuples(values, values), epsilon="2.2").verdict == "refuted"


def test_pairs_and_left_are_two_ways_to_say_it() -> None:
    for options in (
        {"pairs": PAIRS, "left": 0},
        {"left": 0},
        {"pairs": [(1, 2, 3)]},
        {"pairs": []},
    ):
        with pytest.raises(InvalidParameter):
            private(coin, epsilon=1, **options)
    with pytest.raises(InvalidParameter, match="program"):
        private(left=0, right=1, epsilon=1)


def test_without_fork_nothing_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(NotEnumerable, match="Windows"):
        foreign_law(lambda rng: 0)


@pytest.mark.slow
@pytest.mark.fresh
def test_what_is_sent_and_what_is_not() -> None:
    assert "4 fresh interpreters agree" in private(noisy_module.honest, 0, 1, epsilon=1).basis
    once = private(noisy_module.first_answer, 0, 1, epsilon=EPSILON)
    assert once.verdict == "proved"
    assert "each in a fork of its own, all repeated; 4 fresh interpreters agree" in once.basis
    lock = threading.Lock()

    def locked(bit, rng):
        with lock:
            return coin(bit, rng)

    assert "not sent: " in private(locked, 0, 1, epsilon=1).basis
    closure = private(lambda bit, rng: coin(bit, rng), 0, 1, epsilon=1)
    assert "4 fresh interpreters agree" in closure.basis


def _in_fresh_interpreters() -> str:
    return private(noisy_module.honest, 0, 1, epsilon=1).basis


@pytest.mark.slow
def test_fresh_interpreters_that_somebody_ended_are_started_again() -> None:
    assert "4 fresh interpreters agree" in _in_fresh_interpreters()
    process, _ = fresh._started[2]
    process.kill()
    process.wait()
    assert "4 fresh interpreters agree" in _in_fresh_interpreters()


@pytest.mark.slow
@pytest.mark.fresh
@pytest.mark.parametrize(
    ("program", "said"),
    [
        (noisy_module.exits, "ended its process"),
        pytest.param(noisy_module.sleeps, "ten times as long", marks=pytest.mark.slow),
    ],
)
def test_programs_that_do_not_answer_in_fresh_interpreters_are_refused(
    program: Callable[[Any, Any], Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "4 fresh interpreters agree" in _in_fresh_interpreters()
    with monkeypatch.context() as patch:
        patch.setattr(fresh, "_PATIENCE", 1.0)
        with pytest.raises(NotEnumerable, match=said):
            private(program, 0, 1, epsilon=1)
    # the answer that came too late is not read as the answer to the next question
    assert "4 fresh interpreters agree" in _in_fresh_interpreters()


@pytest.mark.few(1)
@pytest.mark.parametrize(("n", "p"), [(5, 0.3), (12, 0.5), (7, 0.8), (3, 0.0), (0, 0.4)])
def test_binomial_is_the_inversion_of_numpy(n: int, p: float) -> None:
    """numpy's own answers, at the doubles that it consumed."""
    law = foreign_law(lambda rng: int(rng.binomial(n, p)), interface="numpy")
    assert isinstance(law, Law)
    doubles, numbers = np.random.default_rng(7), np.random.default_rng(7)
    cuts = np.cumsum([float(law[x]) for x in range(n + 1)])
    if p > 0.5:  # numpy mirrors
        cuts = np.cumsum([float(law[n - x]) for x in range(n + 1)])
    for _ in range(300):
        x = int(np.searchsorted(cuts, doubles.random(), side="left")) if n and p else 0
        assert numbers.binomial(n, p) == (n - x if p > 0.5 else x)


def test_what_a_lazy_number_cannot_do_is_no_outcome_of_the_program() -> None:
    def program(rng: random.Random) -> str:
        number = rng.randrange(-20, 20)
        try:
            return json.dumps([number ^ 1, number and 1])
        except TypeError:
            return "not serializable"

    law = foreign_law(program, interface="random")
    assert dict(law.items()) == {
        json.dumps([number ^ 1, number and 1]): Fraction(1, 40) for number in range(-20, 20)
    }


def test_lazy_numbers_serve_programs_whose_calls_depend_on_each_other() -> None:
    calls: list[int] = []

    def program(rng: random.Random) -> tuple[bool, int]:
        calls.append(1)
        return rng.random() < 0.25, len(calls)

    law = foreign_law(program, interface="random")
    assert dict(law.items()) == {(True, 1): Fraction(1, 4), (False, 1): Fraction(3, 4)}
