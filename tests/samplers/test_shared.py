"""Draws in bulk that two threads share: each part once, of its own bits, and with the same law."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
import pytest

from exactdp.balls import precision
from exactdp.samplers import (
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    RecordingSource,
    SeededSource,
    Source,
    SystemSource,
    UniformInteger,
    two_threads,
)
from exactdp.samplers.integer_law import IntegerLaw, slices
from exactdp.samplers.rejection import RandomnessError
from exactdp.samplers.two_threads import by_two
from tests.samplers.test_bulk import ALPHA, chi_square

PARTS = [slice(i, i + 1) for i in range(40)]


def both_at_work() -> Callable[[], None]:
    """Called by the first job of each thread: none goes on before both are there."""
    met, seen = threading.Barrier(2, timeout=20), set[int]()

    def meet() -> None:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            met.wait()

    return meet


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has."""
    monkeypatch.setattr(two_threads, "_cores", lambda: 2)


def test_two_threads_do_every_job_once() -> None:
    meet, here, there = both_at_work(), list[int](), list[int]()

    def job(done: list[int]) -> Callable[[int], None]:
        def do(i: int) -> None:
            meet()
            done.append(i)

        return do

    by_two(range(1000), job(here), job(there))
    assert here
    assert there
    assert sorted(here + there) == list(range(1000))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("fails_here", [True, False])
def test_what_goes_wrong_in_either_thread_ends_both(
    kind: type[BaseException], fails_here: bool
) -> None:
    meet, done = both_at_work(), list[int]()

    def fail(_: int) -> None:
        meet()
        raise kind("broken")

    def wait(i: int) -> None:
        meet()
        time.sleep(0.05)  # by then the other has failed
        done.append(i)

    before = threading.active_count()
    with pytest.raises(kind, match="broken"):
        by_two(range(1000), *((fail, wait) if fails_here else (wait, fail)))
    assert len(done) <= 1  # the one that it was at
    assert threading.active_count() == before


def test_bits_are_read_once_and_counted() -> None:
    """Pools, words and large reads, with both threads at work, and after that in this one."""
    source, meet, makers = SystemSource(), both_at_work(), set[int]()

    def work(_: slice, own: Source) -> list[int]:
        meet()
        makers.add(threading.get_ident())
        return [own.bits(64), own.digits(64), *own.words(20, 64).tolist(), *large(own)]

    def large(own: Source) -> list[int]:
        return [int(word) for word in own.words(3000, 64)[::100]]

    found = [word for made in source.shared(work, PARTS) for word in made]
    found += work(slice(0, 1), source)
    assert len(makers) == 2
    assert len(set(found)) == len(found) == 41 * 52
    assert source.bits_used == 41 * 64 * 3022


def test_draws_count_the_bits_that_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactdp.samplers.integer_law._AT_ONCE", 1 << 12)
    read, urandom = list[int](), os.urandom

    def counted(size: int) -> bytes:
        read.append(size)
        return urandom(size)

    monkeypatch.setattr(os, "urandom", counted)
    source = SystemSource()
    DiscreteGaussian(sigma2=10**20).sample_many(100_000, source)
    left = 2 << 16  # what the pools of two threads may hold
    assert 40 * 100_000 <= source.bits_used <= 8 * sum(read) <= source.bits_used + 8 * left


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_amid_a_call_fails_and_one_after_it_reads_anew() -> None:
    """In the child the second thread is gone, and so is the part that it was at."""
    source, meet = SystemSource(), both_at_work()
    home, read, write = threading.get_ident(), *os.pipe()
    parent = os.getpid()

    def work(part: slice, own: Source) -> int:
        meet()
        if threading.get_ident() != home:
            forked.wait(20)
        elif os.getpid() == parent and not forked.is_set():
            with warnings.catch_warnings():  # that there are threads, on new Pythons
                warnings.simplefilter("ignore")
                child = os.fork()
            if child:
                children.append(child)
            forked.set()
        return own.bits(64)

    forked, children = threading.Event(), list[int]()
    try:
        outcome = "drawn"
        try:
            drawn = source.shared(work, PARTS)
        except RandomnessError as error:
            outcome = str(error)
    finally:
        if os.getpid() != parent:
            os.write(write, f"{outcome}; {source.bits(64)}".encode())
            os._exit(0)
    os.close(write)
    os.waitpid(children[0], 0)
    told = os.read(read, 4096).decode()
    os.close(read)
    assert outcome == "drawn"
    assert told.startswith("a fork during a bulk draw lost the second thread; ")
    assert int(told.split("; ")[1]) not in {*drawn, source.bits(64)}


def alone(source: Source) -> bool:
    """Whether this thread makes all parts, in their order."""
    home, order = threading.get_ident(), list[tuple[int, int]]()

    def work(part: slice, _: Source) -> None:
        order.append((part.start, threading.get_ident()))

    source.shared(work, PARTS)
    return order == [(part.start, home) for part in PARTS]


def test_sources_with_an_order_are_read_by_one_thread() -> None:
    class Ordered(SystemSource):
        pass

    assert alone(Ordered())
    assert alone(SeededSource(1))
    assert alone(RecordingSource(SystemSource()))


def test_without_a_second_thread_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with precision(64):  # which a second thread might wait for, and this one for that
        assert alone(SystemSource())

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        assert alone(SystemSource())
    with monkeypatch.context() as patch:
        patch.setattr("sys.is_finalizing", lambda: True)
        assert alone(SystemSource())
    with monkeypatch.context() as patch:
        patch.setattr(two_threads, "_cores", lambda: 1)
        assert alone(SystemSource())


def test_few_draws_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: threading.Thread) -> None:
        raise AssertionError("started")

    monkeypatch.setattr(threading.Thread, "start", fail)
    source = SystemSource()
    for n in (0, 1, 7 << 16):
        assert len(DiscreteGaussian(sigma2=10**20).sample_many(n, source)) == n
    with pytest.raises(AssertionError, match="started"):
        DiscreteGaussian(sigma2=10**20).sample_many((7 << 16) + 1, source)


LAWS: list[IntegerLaw] = [
    DiscreteGaussian(sigma2=100),
    DiscreteGaussian(sigma2=10**20),
    DiscreteLaplace(scale=10**10),
    DiscreteLaplace(scale="1e6"),
]


@pytest.mark.parametrize("noise", LAWS, ids=str)
def test_shared_draws_have_the_law(noise: IntegerLaw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sources in turn, as threads might take the parts, of one fixed stream of bytes."""
    turns = list[str]()

    def in_turn(
        jobs: Iterable[int], here: Callable[[int], object], there: Callable[[int], object]
    ) -> None:
        for i in jobs:
            turns.append("here" if i % 3 else "there")
            (here if i % 3 else there)(i)

    monkeypatch.setattr("exactdp.samplers.integer_law._AT_ONCE", 500)
    monkeypatch.setattr("exactdp.samplers.system.by_two", in_turn)
    monkeypatch.setattr(os, "urandom", SeededSource(11).take)
    draws = noise.sample_chunks(200_000, SystemSource())
    assert chi_square(noise, 200_000, draws) > ALPHA
    assert turns.count("here") > turns.count("there") > 100


def test_each_part_lands_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """With both threads: nothing is left out (draws of 2^48 apart are all different)."""
    monkeypatch.setattr("exactdp.samplers.integer_law._AT_ONCE", 100)
    marked = np.iinfo(np.int64).max
    values = np.full(20_050, marked)
    noise = DiscreteGaussian(sigma2=2**108)
    noise._sampler.fill(values, SystemSource())
    assert marked not in values
    assert len(set(values.tolist())) == len(values)
    assert [b.start - a.stop for a, b in pairwise(slices(20_050))] == [0] * 200


#: What one loop over all parts drew before they were shared: a hash of the draws, and the bits.
SEEDED: dict[IntegerLaw, tuple[str, int]] = {
    DiscreteGaussian(sigma2=100): ("1e385a4f4b4362bc3a6e56fbb20fd34c", 2403136),
    DiscreteGaussian(sigma2=10**10): ("8992e7021c084c400ae724a66bed9b94", 3728392),
    DiscreteGaussian(sigma2=10**20): ("f7f8ea480c9a8fce2f95dfba34d25adf", 6159848),
    DiscreteGaussian(sigma2=10**30): ("b7a98d67c30beaf16653cf634adb60b6", 8620632),
    DiscreteLaplace(scale=10**10): ("1f865d68852c38ad26164add05122e5c", 6244936),
    Geometric(p="1/1000"): ("c96b1dd69473def2228fd8fb7368b9ec", 3752984),
    UniformInteger(-5, 10**6): ("2db53cda4f7838956dc7b2a312433add", 3772632),
}


@pytest.mark.parametrize("noise", SEEDED, ids=str)
def test_seeded_draws_stay_as_they_were(noise: IntegerLaw) -> None:
    source = SeededSource(7)
    drawn = noise.sample_many(150_000, source).tobytes() + noise.sample_many(5, source).tobytes()
    assert (hashlib.sha256(drawn).hexdigest()[:32], source.bits_used) == SEEDED[noise]
