"""Copied outputs and what one process remembers never become a violation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import numpy as np
import pytest

from exactdp.audit import CopiedRandomness, Event, audit, audit_pairs, sending, watch
from exactdp.audit.outputs import engine
from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.copies import Calls, different, fingerprint, uneven
from exactdp.audit.sending import sent
from tests.audit import copying, mechanisms
from tests.audit.copying import Run, blocks, once


def verdict(run: Run, **more: Any) -> str:
    try:
        report = audit(run, 0, 1, **{"epsilon": 1, "samples": 30_000} | more)
    except CopiedRandomness as error:
        assert "not independent" in str(error)
        return "refused"
    return "violation" if report.violation else "none"


COPIES: dict[str, Callable[[int], Run]] = {
    "one Laplace draw per call": once(copying.noisy),
    "one bit per call": once(copying.bit),
    "one likely bit per call": once(copying.likely_bit),
    "pairs": blocks(2, tiled=False),
    "sevenfold": blocks(7, tiled=False),
    "a fifth five times": blocks(5, tiled=True),
    "one draw, blurred": copying.common_noise,
    "sides from one seed": copying.same_seeds,
    "remembered": copying.remembered,
    "a pool": copying.from_a_pool(5003),
    **{f"a pattern of {n}": copying.pattern(n) for n in (2, 10, 1000)},
}
#: the others take a second or more each
_QUICK = {"one likely bit per call", "sevenfold", "a pattern of 10"}


@pytest.mark.few(1)
@pytest.mark.parametrize("seeds", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in _QUICK else pytest.mark.slow) for n in COPIES]
)
def test_copies_give_no_violation(name: str, seeds: int) -> None:
    """epsilon is 4.6 at most where one bit is drawn, 1 elsewhere: no audit may deny that."""
    epsilon = "4.6" if "likely" in name else "1"
    for seed in range(seeds):
        assert verdict(COPIES[name](seed), epsilon=epsilon) != "violation"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "run",
    [copying.shifted, pytest.param(copying.cached, marks=pytest.mark.slow), copying.Lazy()],
    ids=["base", "cache", "lazy"],
)
def test_what_a_process_remembers_gives_no_violation(run: Run) -> None:
    """The two sides lie apart by many deviations of the fresh noise, in whatever process."""
    assert verdict(run) == "refused"


@pytest.mark.slow
def test_pairs_are_counted_again_as_run_was_before_all_of_them() -> None:
    with pytest.raises(CopiedRandomness, match="not independent"):
        audit_pairs(copying.Lazy(), [(0, 1), (1, 2), (5, 6)], samples=10_000)


def test_a_watch_asks_fresh_processes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        copying, "cache", {0: 0.4, 1: -1.3}
    )  # far apart, unlike one draw in a hundred
    with pytest.raises(CopiedRandomness, match="not independent"):
        list(watch(copying.cached, 0, 1, samples=20_000))


def test_copies_bound_nothing() -> None:
    """Where a large promise stands, copies of one draw are no lower bound on epsilon either."""
    events = [Event(("number", 0), "at least", 1)]
    for seed in range(5):
        report = audit(once(copying.bit)(seed), 0, 1, epsilon=20, events=events, samples=4000)
        assert report.epsilon_lower <= 1.001
        assert "once for every output" in report.warning


def test_a_fixed_seed_gives_no_verdict() -> None:
    """Within a call the noise looks fresh; between calls it is the same."""

    def run(data: float, n: int) -> Any:
        return data + np.random.default_rng(7).laplace(0, 1, n)

    for looked in (audit, lambda *arguments, **more: list(watch(*arguments, **more))):
        with pytest.raises(CopiedRandomness, match="same outputs for two calls"):
            looked(run, 0.0, 1.0, samples=20_000)


def test_no_noise_is_a_violation_where_run_can_be_started_anew() -> None:
    """A draw that is remembered looks the same, but differs in fresh processes."""
    assert verdict(mechanisms.exact, samples=2000) == "violation"
    assert verdict(copying.remembered(1), samples=2000) == "refused"
    with pytest.raises(CopiedRandomness, match="no audit is needed"):
        audit(mechanisms.Unsendable(), 0, 1, samples=2000)


def test_what_is_the_same_within_a_call_is_judged_by_single_calls() -> None:
    report = audit(once(copying.likely_bit)(1), 0, 1, samples=8000)
    assert report.violation
    assert report.epsilon_lower > 2
    assert "once for every output" in report.warning


def test_few_single_calls_are_enough_where_each_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command is started for each call: hundreds of starts would take minutes."""
    monkeypatch.setattr(engine, "_SINGLE_SECONDS", 0.0)
    report = audit(copying.null_when_empty, 1, 0, delta="0.01")
    assert report.violation
    assert sum(trials for _, trials in report.counts.values()) <= 40
    assert "at most 40 outputs" in report.warning


def test_a_side_without_noise_needs_no_single_calls() -> None:
    report = audit(mechanisms.Thresholded(1, 3), {"a": 1}, {}, delta="0.0049263", samples=10_000)
    assert report.violation
    assert report.warning == ""


@pytest.mark.slow
def test_a_violation_says_what_it_rests_on() -> None:
    for run in (partial(copying.forgetful), copying.half_of(1)):
        report = audit(run, 0, 1, samples=5000)
        assert report.violation
        assert "in 8 fresh processes" in report.basis
        assert report.basis in report.text()
    report = audit(copying.from_one_seed, 0, 1, samples=5000)
    assert report.violation
    assert "in this process" in report.basis


def test_generators_are_sent_as_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other ones in every process, and the same in every audit."""
    generators = (np.random.default_rng(1), np.random.RandomState(1), Random(1))
    outputs = []
    for number in (0, 1, 0):
        monkeypatch.setattr(sending, "_number", number)
        new = ForkingPickler.loads(sent(generators))
        outputs.append([one.bytes(8) for one in new[:2]] + [new[2].randbytes(8)])
    outputs.append([one.bytes(8) for one in generators[:2]] + [generators[2].randbytes(8)])
    assert outputs[0] == outputs[2]
    assert len({text for each in outputs for text in each}) == 9


def test_functions_without_a_name_are_sent_by_their_code() -> None:
    start = [3]

    def outer(x: int, *, by: int = 2) -> int:
        return abs(x) * by + start[0] + len(Path("a").name)

    assert ForkingPickler.loads(sent(outer))(-5) == 14
    assert ForkingPickler.loads(sent(lambda x: outer(x, by=3)))(-5) == 19
    assert sent(Lock()) == sent([lambda: Lock, Lock()]) == b""


def test_a_mechanism_that_raises_or_ends_its_process_gives_no_verdict() -> None:
    for ends, error in ((False, KeyError), (True, ChildProcessError)):
        with pytest.raises(error):
            audit(copying.Elsewhere(ends), 0, 1, samples=5000)


@pytest.mark.slow
def test_a_program_is_not_run_again(tmp_path: Path) -> None:
    """Scripts without a guard are what people write; a copy of each would audit, and so on."""
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np\n"
        "from exactdp.audit import audit\n"
        "rng = np.random.default_rng()\n"
        "def noise(scale, n): return rng.laplace(0, scale, n)\n"
        "def mechanism(data, n): return data + noise(0.5, n)\n"
        "print(audit(mechanism, 0, 1, samples=5000).basis)\n",
        encoding="utf-8",
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=root,
        env={"PYTHONPATH": str(root)},
    )  # fmt: skip
    assert done.stdout.count("in 8 fresh processes") == 1
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("times", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_dependent_hits_show_and_independent_ones_do_not(times: int) -> None:
    """Ten thousand questions about independent hits would be wrong about once."""
    rng = np.random.default_rng(5)
    assert uneven([rng.random(500) < rate for rate in (0.3, 0.3, 0.45, 0.3)])
    assert uneven([np.tile([True, False, False], 200)] * 16)  # far too even
    assert different(300, 1000, 400, 1000)
    for rate in (0.001, 0.1, 0.5):
        for _ in range(times):
            groups = [rng.random(300) < rate for _ in range(8)]
            assert not uneven(groups)
            assert not different(int(groups[0].sum()), 300, int(groups[1].sum()), 300)


def test_fingerprints_need_variety() -> None:
    assert fingerprint(as_outputs([*range(300)])) != ""
    for few in ([0] * 300, [1], [0, 1] * 32):
        assert fingerprint(as_outputs(few)) == ""


def test_calls_are_compared_with_the_latest_in_constant_memory() -> None:
    calls = Calls()
    for i in range(5000):
        calls.add("")
        calls.add(str(i))
    calls.add("3")  # forgotten
    with pytest.raises(CopiedRandomness, match="same outputs for two calls"):
        calls.add("4999")
