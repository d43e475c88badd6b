"""Batches and executors: nothing is lost, and nothing is counted twice."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.audit import CopiedRandomness, Event, audit, replay, watch
from exactdp.audit.outputs.batch import as_outputs
from exactdp.audit.outputs.counting import FeaturesOf, OneByOne, Tally, batches, in_parallel
from tests.audit import mechanisms

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

EVENTS = [Event(("number", 0), "at least", 1), Event(("number", 0), "equals", 0)]


def test_tallies_add_up() -> None:
    total = Tally.counted("left", 3, 10) + Tally.counted("right", 1, 5)
    assert total == Tally(3, 10, 1, 5, mixed=2)
    assert (total.of("left"), total.of("right")) == ((3, 10), (1, 5))
    assert total.favouring("right") == (1, 5, 3, 10)


def test_batches_take_sides_in_turn() -> None:
    plan = list(batches({"left": 25, "right": 7}, 10))
    assert plan == [("left", 10), ("right", 7), ("left", 10), ("left", 5)]


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


@pytest.mark.few(1)
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
        with pytest.raises(CopiedRandomness, match="same outputs for two calls"):
            audit(generator, 0, 1, events=EVENTS, samples=60_000, executor=pool)


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
        violating = audit(mechanisms.fresh_wrong, 0, 1, samples=200_000, executor=executor)
        assert violating.violation


def test_one_by_one_calls_once_for_every_output() -> None:
    assert OneByOne(lambda data, n: [data] * n)(3, 5).items == [3] * 5


@pytest.mark.slow
def test_features_are_audited_in_place_of_the_outputs() -> None:
    run, opened = mechanisms.sealed, mechanisms.opened
    with pytest.raises(InvalidParameter, match="features="):
        audit(run, 0, 1, samples=5000)
    report = audit(run, 0, 1, samples=5000, features=opened)
    assert report.violation
    assert "'value'" in str(report.event)
    assert replay(report, run, 0, 1, samples=5000, features=opened).violation
    assert [*watch(run, 0, 1, samples=9000, features=opened)][-1].violation
    rows = FeaturesOf.applied(lambda data, n: np.zeros((n, 2)), len)(0, 3)
    assert as_outputs(rows).items == [2, 2, 2]
    with pytest.raises(InvalidParameter, match="features"):
        audit(run, 0, 1, features=3)  # type: ignore[arg-type]
