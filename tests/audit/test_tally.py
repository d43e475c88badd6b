"""Batches, executors, checkpoints: nothing lost, nothing counted twice, whatever is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit import Event, audit
from exactdp.audit.blackbox.copies import Seen
from exactdp.audit.blackbox.independence import CopiedRandomness
from exactdp.audit.blackbox.tally import Checkpoint, Done, Tally, batches, in_parallel
from tests.audit import mechanisms

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

EVENTS = [Event(("coordinate", 0), "at least", 1), Event(("coordinate", 0), "equals", 0)]


def test_tallies_add_up() -> None:
    total = Tally.counted("left", 3, 10) + Tally.counted("right", 1, 5)
    assert total == Tally(3, 10, 1, 5, mixed=2)
    assert (total.of("left"), total.of("right")) == ((3, 10), (1, 5))
    assert Tally(*total.as_list()) == total


def test_batches_are_the_same_every_time() -> None:
    plan = list(batches({"left": 25, "right": 7}, 10))
    assert plan == list(batches({"left": 25, "right": 7}, 10))
    assert [(b.side, b.size) for b in plan] == [
        ("left", 10), ("right", 7), ("left", 10), ("left", 5),
    ]  # fmt: skip
    assert [b.number for b in plan] == [0, 1, 2, 3]


def test_done_remembers_batches_in_any_order() -> None:
    done = Done()
    for number in (3, 0, 1, 5):
        done.add(number)
    assert [n for n in range(8) if n in done] == [0, 1, 3, 5]
    again = Done.from_list(json.loads(json.dumps(done.as_list())))
    assert again == done
    again.add(2)
    assert again.as_list() == [4, 5]


def test_in_parallel_keeps_a_bounded_number_under_way() -> None:
    started = []

    def tasks():  # type: ignore[no-untyped-def]
        for i in range(100):
            started.append(i)
            yield i, pow, (i, 2)

    with ThreadPoolExecutor(2) as pool:
        results = in_parallel(pool, tasks())
        next(results)
        assert len(started) <= 6
        assert dict(results).items() <= {i: i * i for i in range(100)}.items()


@pytest.mark.parametrize(
    "kind", ["none", "threads", "fork", pytest.param("spawn", marks=pytest.mark.slow)]
)
def test_executors_count_the_same_batches(kind: str) -> None:
    def run(executor: Executor | None) -> tuple[int, int]:
        seen: list[int] = []
        report = audit(
            mechanisms.fresh, 0, 1, events=EVENTS, samples=60_000, executor=executor,
            alpha="1e-9", progress=seen.append,
        )  # fmt: skip
        assert seen == sorted(seen)
        assert seen[-1] == report.samples == 60_000
        assert not report.violation
        return report.counts["left"][1], report.counts["right"][1]

    if kind == "none":
        assert run(None) == (30_000, 30_000)
    elif kind == "threads":
        with ThreadPoolExecutor(2) as pool:
            assert run(pool) == (30_000, 30_000)
    else:
        with ProcessPoolExecutor(2, mp_context=get_context(kind)) as pool:
            assert run(pool) == (30_000, 30_000)


def test_forked_workers_do_not_share_numpys_global_generator() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        report = audit(
            mechanisms.global_state, 0, 1, events=EVENTS, samples=40_000, executor=pool,
            alpha="1e-9",
        )  # fmt: skip
    assert not report.violation


def test_copied_randomness_is_refused() -> None:
    generator = mechanisms.Counter(7)  # copied into every task by pickle
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        with pytest.raises(CopiedRandomness, match="same outputs for two batches"):
            audit(generator, 0, 1, events=EVENTS, samples=60_000, executor=pool)


class Rare:
    """An output in a hundred is 1; the generator is copied into every task by pickle."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, data: int, n: int) -> Any:
        return (self.rng.random(n) < 0.01 * 2.718**-data).astype(int)


def test_copies_of_rare_outputs_are_refused() -> None:
    """Calls of which most outputs are alike are compared by where the others stand."""
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        with pytest.raises(CopiedRandomness, match="came before"):
            audit(Rare(5), 0, 1, events=EVENTS[:1], samples=200_000, executor=pool)


def test_marks_use_constant_memory() -> None:
    marks = Seen(most=10)
    assert not any(marks.again([str(i)]) for i in range(100))
    assert marks.again(["95"])
    assert not marks.again(["5"])  # forgotten
    assert marks.again(["new", "new"])


def test_a_checkpoint_of_another_audit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    report = audit(mechanisms.fresh, 0, 1, events=EVENTS, samples=1000, checkpoint=path)
    again = audit(mechanisms.fresh, 0, 1, events=EVENTS, samples=1000, checkpoint=path)
    assert again.counts == report.counts  # nothing was drawn again
    for other in (
        partial(audit, mechanisms.fresh, 0, 1, events=EVENTS, samples=1001),
        partial(audit, mechanisms.fresh, 0, 1, events=EVENTS, samples=1000, epsilon="1.1"),
        partial(audit, mechanisms.fresh, 0, 1, events=EVENTS, samples=1000, delta="0.1"),
        partial(audit, mechanisms.fresh, 0, 1, events=EVENTS, samples=1000, alpha="0.02"),
        partial(audit, mechanisms.fresh, 0, 2, events=EVENTS, samples=1000),
        partial(audit, mechanisms.fresh_wrong, 0, 1, events=EVENTS, samples=1000),
        partial(audit, mechanisms.fresh, 0, 1, events=EVENTS[:1], samples=1000),
        partial(audit, mechanisms.fresh, 0, 1, samples=1000),
    ):
        with pytest.raises(InvalidParameter, match="another audit"):
            other(checkpoint=path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="an audit's checkpoint"):
        audit(mechanisms.fresh, 0, 1, events=EVENTS, samples=1000, checkpoint=path)


@pytest.mark.parametrize("place", [".", "nowhere/state.json"])
def test_a_checkpoint_needs_a_folder(tmp_path: Path, place: str) -> None:
    with pytest.raises(InvalidParameter, match="checkpoint must be a file in a folder that exists"):
        audit(mechanisms.fresh, 0, 1, samples=500, checkpoint=tmp_path / place)


def test_checkpoints_are_replaced_whole(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.json", "mine")
    assert checkpoint.load() is None
    for i in range(3):
        checkpoint.save({"i": i})
    state = checkpoint.load()
    assert state is not None
    assert state["i"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


KILLED = """
import sys, time
from exactdp.audit import audit
from exactdp.audit import Event
from tests.audit import mechanisms
log, state, samples, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
slow = lambda drawn: time.sleep(pause)
events = [Event(("coordinate", 0), "at least", 1), Event(("coordinate", 0), "equals", 0)]
r = audit(mechanisms.logged, (0, log), (1, log), events=events, samples=samples, checkpoint=state,
          progress=slow)
print(r.samples, *r.counts["left"], *r.counts["right"])
"""


@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_killed_audit_resumes_without_losing_or_double_counting_a_batch(
    tmp_path: Path, times: int
) -> None:
    log, state, samples = tmp_path / "log", tmp_path / "state.json", 100_000 * times
    command = [sys.executable, "-c", KILLED, str(log), str(state), str(samples)]
    kills = 0
    for _ in range(times):
        process = subprocess.Popen([*command, "0.1"], stdout=subprocess.PIPE, cwd=ROOT)
        before = log.stat().st_size if log.exists() else 0
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and log.stat().st_size > before + 120:
                break
            time.sleep(0.005)
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        saved = json.loads(state.read_text(encoding="utf-8"))
        trials = [sum(tally[1::2]) for _, tally in saved["tallies"]]
        assert set(trials) <= {saved["drawn"]}  # every batch counted is counted once
    assert kills >= max(1, times - 1)
    finished = subprocess.run(
        [*command, "0"], capture_output=True, text=True, check=True, timeout=120, cwd=ROOT
    )
    drawn, left, left_trials, right, right_trials = map(int, finished.stdout.split())
    assert drawn == left_trials + right_trials == samples
    assert 0 < left < left_trials
    assert 0 < right < right_trials


class Remembering(Executor):
    """Answers equal tasks with the result it has, as Dask may."""

    def __init__(self) -> None:
        self.known: dict[str, Future[object]] = {}

    def submit(self, function, /, *arguments):  # type: ignore[no-untyped-def, override]
        key = repr((function, arguments))
        if key not in self.known:
            self.known[key] = Future()
            self.known[key].set_result(function(*arguments))
        return self.known[key]


def test_a_scheduler_that_remembers_results_counts_none_twice() -> None:
    pool = Remembering()
    for _ in range(2):
        report = audit(
            mechanisms.fresh, 0, 1, events=EVENTS, samples=20_000, executor=pool
        )  # fmt: skip
        assert not report.violation
    assert len(pool.known) >= 16


@pytest.mark.slow
def test_dask() -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        report = audit(mechanisms.fresh, 0, 1, events=EVENTS, samples=60_000, executor=executor)
        assert not report.violation
        assert report.counts["left"][1] + report.counts["right"][1] == 60_000
        found = audit(mechanisms.fresh_wrong, 0, 1, samples=200_000, executor=executor)
        assert found.violation


def test_a_search_resumes_with_the_events_it_had_chosen(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def interrupt(limit: int, drawn: int) -> None:
        if drawn > limit:
            raise Stop

    path, total = tmp_path / "state.json", 90_000
    for limit in (1500, 9000, 30_000, 70_000):
        with pytest.raises(Stop):
            audit(
                mechanisms.fresh, 0, 1, samples=total, checkpoint=path,
                progress=partial(interrupt, limit),
            )  # fmt: skip
    chosen = json.loads(path.read_text(encoding="utf-8"))["chosen"]
    report = audit(mechanisms.fresh, 0, 1, samples=total, checkpoint=path)
    assert not report.violation
    assert report.samples <= total
    assert json.loads(path.read_text(encoding="utf-8"))["look"] == 2
    assert chosen
