"""Copied outputs never become a verdict; outputs that are merely few kinds of values do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exactdp.audit import CopiedRandomness, Event, audit, watch
from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.copies import (
    Calls,
    OneByOne,
    Seen,
    between,
    mark,
    only,
    repeats,
    together,
    windows,
)
from tests.audit import mechanisms
from tests.audit.broken.case import gaussian, laplace
from tests.audit.processes import printed

Run = Callable[[Any, int], Any]
BITS = 0.731  # how often randomised response with epsilon = 1 tells the truth


def once(draw: Callable[[np.random.Generator, Any], Any]) -> Callable[[int], Run]:
    """A mechanism that draws one output per call and returns n copies."""

    def make(seed: int) -> Run:
        rng = np.random.default_rng(seed)
        return lambda data, n: [draw(rng, data)] * n

    return make


def blocks(copies: int, tiled: bool) -> Callable[[int], Run]:
    """Honest Laplace outputs, each of them several times."""

    def make(seed: int) -> Run:
        rng = np.random.default_rng(seed)

        def run(data: int, n: int) -> Any:
            fresh = data + laplace(rng, 1, -(-n // copies))
            return (np.tile(fresh, copies) if tiled else np.repeat(fresh, copies))[:n]

        return run

    return make


def common_noise(seed: int) -> Run:
    """One draw per call, a little blurred for every output: no two of them are equal."""
    rng = np.random.default_rng(seed)
    return lambda data, n: data + laplace(rng, 1, 1) + gaussian(rng, 0.01, n)


def same_seeds(seed: int) -> Run:
    """Each data set has a generator of its own, and all start from one seed."""
    generators: dict[int, np.random.Generator] = {}

    def run(data: int, n: int) -> Any:
        rng = generators.setdefault(data, np.random.default_rng(seed))
        return data + laplace(rng, 1, n)

    return run


def same_lies(seed: int) -> Run:
    generators: dict[int, np.random.Generator] = {}

    def run(data: int, n: int) -> Any:
        lies = generators.setdefault(data, np.random.default_rng(seed)).random(n) > BITS
        return [bool(data) != bool(lie) for lie in lies]

    return run


def remembered(seed: int) -> Run:
    """A cache: what was once drawn for a data set is what it gets for ever."""
    rng, drawn = np.random.default_rng(seed), dict[int, float]()
    return lambda data, n: [drawn.setdefault(data, data + float(laplace(rng, 1, None)))] * n


def from_a_pool(size: int) -> Callable[[int], Run]:
    """Lies that are drawn once and used in turn, again and again."""

    def make(seed: int) -> Run:
        lies = np.random.default_rng(seed).random(size) > BITS
        used = [0]

        def run(data: int, n: int) -> Any:
            at = (used[0] + np.arange(n)) % size
            used[0] += n
            return lies[at] ^ bool(data)

        return run

    return make


COPIES: list[tuple[str, Callable[[int], Run]]] = [
    ("one Laplace draw per call", once(lambda rng, d: d + float(laplace(rng, 1, None)))),
    ("one bit per call", once(lambda rng, d: int((rng.random() < BITS) == bool(d)))),
    ("one likely bit per call", once(lambda rng, d: int((rng.random() < 0.99) == bool(d)))),
    ("one record per call", once(lambda rng, d: {"a": (d, int(rng.geometric(0.5)))})),
    ("pairs", blocks(2, tiled=False)),
    ("sevenfold", blocks(7, tiled=False)),
    ("the first half again", blocks(2, tiled=True)),
    ("a fifth five times", blocks(5, tiled=True)),
    ("one draw, blurred", common_noise),
    ("sides from one seed", same_seeds),
    ("lies from one seed", same_lies),
    ("remembered", remembered),
]


@pytest.mark.parametrize(("name", "make"), COPIES, ids=[name for name, _ in COPIES])
@pytest.mark.parametrize("samples", [5000, 30_000])
def test_copies_give_no_verdict(name: str, make: Callable[[int], Run], samples: int) -> None:
    """epsilon is 4.6 at most where one bit is drawn, 1 elsewhere: no audit may deny that."""
    epsilon, seeds = ("4.6", 1) if "likely" in name else ("1", 4)
    for seed in range(seeds):
        try:
            report = audit(make(seed), 0, 1, epsilon=epsilon, samples=samples)
        except CopiedRandomness as error:
            assert "not independent" in str(error)
        else:
            assert not report.violation, report.text()
            assert "once for every output" in report.warning or "likely" in name, report.text()


def test_copies_bound_nothing() -> None:
    """Where a large promise stands, copies of one draw are no lower bound on epsilon either."""
    events = [Event(("coordinate", 0), "at least", 1)]
    for seed in range(5):
        try:
            run = once(lambda rng, d: int((rng.random() < BITS) == bool(d)))(seed)
            report = audit(run, 0, 1, epsilon=20, events=events, samples=4000)
        except CopiedRandomness:
            continue
        assert report.epsilon_lower <= 1.001
    with pytest.raises(CopiedRandomness, match="one and the same output for each data set"):
        audit(remembered(1), 0, 1, epsilon=20, samples=4000)


def test_a_pool_of_draws_gives_no_verdict() -> None:
    """Every draw is used nine times: counts vary three times as much as those of fresh draws."""
    for seed in range(5):
        with pytest.raises(CopiedRandomness, match="came before"):
            audit(from_a_pool(5003)(seed), 0, 1, samples=50_000)


@pytest.mark.parametrize("rate", [0.5, 0.2, 0.02])
def test_stretches_that_come_again_are_seen_wherever_they_begin(rate: float) -> None:
    rng = np.random.default_rng(3)
    honest, pool = Seen(), rng.random(20_011) < rate
    assert not any(honest.again(windows(rng.random(8192) < rate)) for _ in range(200))
    copied = Seen()
    batches = (pool[(start + np.arange(8192)) % len(pool)] for start in range(0, 60_000, 8329))
    assert any(copied.again(windows(batch)) for batch in batches)
    assert Seen().again(windows(np.tile(pool[:1500], 8)))
    assert windows(np.zeros(5000, dtype=bool)) == windows(np.ones(5000, dtype=bool)) == []


def test_the_only_value() -> None:
    nan = float("nan")
    for alike in ([1, 1], [nan, nan], [(1, "a")] * 3, [{"a": nan}] * 2, np.ones((3, 2))):
        assert only(as_outputs(alike))
    for differing in ([1, 2], [1.0, nan], [(1, "a"), (1, "b")], np.eye(2)):
        assert not only(as_outputs(differing))
    assert only(as_outputs(["a"])) != only(as_outputs(["b"]))


def test_copies_of_given_events_give_no_verdict() -> None:
    events = [Event(("coordinate", 0), "at least", 1)]
    for name, make in COPIES[:3]:
        refused = 0
        for seed in range(10):
            try:
                epsilon = "4.6" if "likely" in name else "1"
                assert not audit(make(seed), 0, 1, epsilon=epsilon, events=events,
                                 samples=4000).violation  # fmt: skip
            except CopiedRandomness:
                refused += 1
        assert refused or "likely" in name


@pytest.mark.parametrize("levels", [1, 2, 3, 50])
@pytest.mark.parametrize("skew", [1.0, 3.0])
def test_honest_outputs_of_few_kinds_show_no_sign(levels: int, skew: float) -> None:
    """The bounds hold for any law; 100 batches of each would show a sign once in 10^12 times."""
    rng = np.random.default_rng(11)
    odds = np.arange(1, levels + 1) ** skew
    for size in (16, 300, 5000):
        for _ in range(30):
            calls = [as_outputs(rng.choice(levels, size, p=odds / odds.sum())) for _ in range(3)]
            assert between(calls) == ""
            assert repeats(calls[0]) == ""
            assert together(calls[0], calls[1]) == ""


def test_each_sign_shows_what_it_is_for() -> None:
    rng = np.random.default_rng(1)
    noise = rng.laplace(0, 1, 1000)
    bits = rng.integers(0, 2, 1000)
    assert repeats(as_outputs(noise)) == ""
    assert repeats(as_outputs(np.zeros(1000))) == ""
    for lag in (2, 3, 7, 31, 450):
        copied = np.tile(noise[:lag], -(-1000 // lag))[:1000]
        assert f"the one {lag} before" in repeats(as_outputs(copied)), lag
    for lag in (5, 31, 400):
        copied = np.tile(bits[:lag], -(-1000 // lag))[:1000]
        assert repeats(as_outputs(copied)), lag
    assert "the one 1 before" in repeats(as_outputs(np.repeat(noise[:500], 2)))
    assert between([as_outputs([1] * 100), as_outputs([1] * 100)]) == ""
    assert "100 of 100" in between([as_outputs([1] * 100), as_outputs([2] * 100)])
    assert "go with" in together(as_outputs(noise), as_outputs(noise + 1))
    assert "go with" in together(as_outputs([*map(str, bits)]), as_outputs([*map(str, 1 - bits)]))


def test_calls_that_differ_are_refused_and_calls_that_vary_are_not() -> None:
    event, calls = Event(("coordinate", 0), "at least", 1), Calls()
    for hits in (300, 310, 280, 305, 340):
        calls.add(event, "left", hits, 1000)
    with pytest.raises(CopiedRandomness, match="600 of 1000 outputs of one call"):
        calls.add(event, "left", 600, 1000)


def test_outputs_that_never_vary_give_no_verdict() -> None:
    """No noise at all, and a draw that is remembered, look the same: both are told."""
    with pytest.raises(CopiedRandomness, match="no audit is needed"):
        audit(lambda data, n: [data] * n, 0, 1, samples=20_000)
    with pytest.raises(CopiedRandomness, match="no audit is needed"):
        list(watch(lambda data, n: [data] * n, 0, 1, samples=20_000))


def test_what_is_the_same_within_a_call_is_judged_by_single_calls() -> None:
    calls: list[int] = []
    rng = np.random.default_rng(1)

    def run(data: int, n: int) -> list[int]:
        calls.append(n)
        return [int((rng.random() < 0.99) == bool(data))] * n

    report = audit(run, 0, 1, samples=20_000)
    assert report.violation
    assert report.epsilon_lower > 2
    assert "once for every output" in report.warning
    assert sum(trials for _, trials in report.counts.values()) <= calls.count(1)
    assert report.samples == sum(calls)


def test_a_side_without_noise_needs_no_single_calls() -> None:
    report = audit(mechanisms.Thresholded(1, 3), {"a": 1}, {}, delta="0.0049263", samples=10_000)
    assert report.violation
    assert report.warning == ""


def test_marks_do_not_depend_on_the_process() -> None:
    code = (
        "from exactdp.audit.outputs.copies import mark\n"
        "from exactdp.audit.outputs.batch import as_outputs\n"
        "print(mark(as_outputs([{'k': i, 'x': {'a', f'b{i}', 'c'}} for i in range(64)])))"
    )
    outputs = [{"x": {"c", f"b{i}", "a"}, "k": i} for i in range(64)]
    assert printed(code) == {f"{mark(as_outputs(outputs))}\n"}
    marks = Seen()
    assert not marks.again(mark(as_outputs(outputs)))
    assert marks.again(mark(as_outputs(outputs)))


def test_one_by_one_calls_once_for_every_output() -> None:
    assert OneByOne(lambda data, n: [data] * n)(3, 5).items == [3] * 5
