"""What one process remembers is no violation: an event is counted again before one is stated."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from exactdp.audit.outputs.dependence import apart, rhythm, uneven

from exactdp.audit import CopiedRandomness, audit, audit_pairs, watch
from exactdp.audit.outputs import fresh
from exactdp.audit.outputs.fresh import sent
from tests.audit import remembering
from tests.audit.broken.case import gaussian, laplace

Run = Callable[[Any, int], Any]


def verdict(run: Run, **more: Any) -> str:
    try:
        report = audit(run, 0, 1, **{"epsilon": 1, "samples": 30_000} | more)
    except CopiedRandomness as error:
        assert "not independent" in str(error)
        return "refused"
    return "violation" if report.violation else "none"


@pytest.mark.parametrize(
    "run",
    [
        remembering.shifted,
        pytest.param(remembering.cached, marks=pytest.mark.slow),
        remembering.Lazy(),
    ],
    ids=["base", "cache", "lazy"],
)
def test_what_a_process_remembers_gives_no_violation(run: Run) -> None:
    """The two sides lie apart by many deviations of the fresh noise, in whatever process."""
    assert verdict(run) == "refused"


def test_pairs_are_counted_again_as_run_was_before_all_of_them() -> None:
    with pytest.raises(CopiedRandomness, match="not independent"):
        audit_pairs(remembering.Lazy(), [(0, 1), (1, 2), (5, 6)], samples=10_000)


def test_a_watch_asks_fresh_processes_too() -> None:
    with pytest.raises(CopiedRandomness, match="not independent"):
        list(watch(remembering.cached, 0, 1, samples=20_000))


def test_a_violation_says_what_it_rests_on() -> None:
    report = audit(partial(remembering.forgetful), 0, 1, samples=5000)
    assert report.violation
    assert "in 16 fresh processes" in report.basis
    assert report.basis in report.text()
    for run in (lambda data, n: remembering.forgetful(data, n), remembering.from_one_seed):
        report = audit(run, 0, 1, samples=5000)
        assert report.violation
        assert "in this process" in report.basis


def test_generators_are_sent_as_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other ones in every process, and the same in every audit."""
    assert sent(lambda: 0) == b""
    made = (np.random.default_rng(1), np.random.RandomState(1), Random(1))
    drawn = []
    for number in (0, 1, 0):
        monkeypatch.setattr(fresh, "_process", number)
        new = ForkingPickler.loads(sent(made))
        drawn.append([one.bytes(8) for one in new[:2]] + [new[2].randbytes(8)])
    drawn.append([one.bytes(8) for one in made[:2]] + [made[2].randbytes(8)])
    assert drawn[0] == drawn[2]
    assert len({text for each in drawn for text in each}) == 9


def test_a_mechanism_that_raises_or_ends_its_process_gives_no_verdict() -> None:
    for ends, error in ((False, KeyError), (True, ChildProcessError)):
        with pytest.raises(error):
            audit(remembering.Elsewhere(ends), 0, 1, samples=5000)


def test_a_program_is_not_run_again(tmp_path: Path) -> None:
    """Scripts without a guard are what people write; a copy of each would audit, and so on."""
    script = tmp_path / "program.py"
    script.write_text(
        "from exactdp.audit import audit\n"
        "from tests.audit.remembering import forgetful\n"
        "print(audit(forgetful, 0, 1, samples=5000).basis)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=root,
        env={"PYTHONPATH": str(root)},
    )  # fmt: skip
    assert done.stdout.count("in 16 fresh processes") == 1
    assert done.stdout.count("\n") == 1


def autoregressive(keeps: float) -> Callable[[int], Run]:
    """Noise of deviation 2 that is mostly the noise before."""

    def make(seed: int) -> Run:
        rng, last = np.random.default_rng(seed), [0.0]

        def run(data: int, n: int) -> Any:
            noise = rng.normal(0, 2 * (1 - keeps**2) ** 0.5, n)
            for i in range(n):
                last[0] = noise[i] = keeps * last[0] + noise[i]
            return data + np.rint(noise * 1024) / 1024

        return run

    return make


def pattern(period: int) -> Callable[[int], Run]:
    """Noise that was drawn for so many outputs, blurred anew for every one."""

    def make(seed: int) -> Run:
        rng, used = np.random.default_rng(seed), [0]
        drawn = laplace(rng, 1, period)

        def run(data: int, n: int) -> Any:
            at = (used[0] + np.arange(n)) % period
            used[0] += n
            return data + drawn[at] + gaussian(rng, 0.05, n)

        return run

    return make


@pytest.mark.parametrize("period", [2, 3, 10, 100, 1000])
def test_a_pattern_that_comes_again_gives_no_violation(period: int) -> None:
    assert verdict(pattern(period)(1)) == "refused"


@pytest.mark.parametrize("keeps", [0.9, pytest.param(0.99, marks=pytest.mark.slow)])
def test_noise_that_follows_the_noise_before_gives_no_violation(keeps: float) -> None:
    """delta at epsilon 0 is 2 Phi(1/4) - 1 = 0.1974; the counts vary more than they may."""
    for seed in range(5):
        found = verdict(autoregressive(keeps)(seed), epsilon=0, delta="0.1975", samples=10_000)
        assert found != "violation"


@pytest.mark.parametrize("times", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_dependent_hits_show_and_independent_ones_do_not(times: int) -> None:
    """Ten thousand questions about independent hits would be wrong about once."""
    rng = np.random.default_rng(5)
    n = 1000
    walk = np.cumsum(rng.normal(0, 0.1, n))
    waves = np.sin(np.arange(n) / 100)
    seeds = np.tile(rng.random(130) < 0.3, 8)[:n]
    for dependent in (walk > np.median(walk), rng.normal(waves) > 0, seeds ^ (rng.random(n) < 0.2)):
        assert rhythm(dependent)
    assert uneven([rng.random(500) < rate for rate in (0.3, 0.3, 0.45, 0.3)])
    assert apart(300, 1000, 400, 1000)
    for rate in (0.001, 0.1, 0.5):
        for _ in range(times):
            units = [rng.random(300) < rate for _ in range(16)]
            assert not uneven(units)
            assert not rhythm(np.concatenate(units))
            assert not apart(int(units[0].sum()), 300, int(units[1].sum()), 300)


@pytest.mark.slow
def test_a_slow_drift_shows() -> None:
    rng, n = np.random.default_rng(5), 100_000
    assert rhythm(rng.random(n) < 0.5 + 0.03 * np.sin(np.arange(n) / 20_000))
