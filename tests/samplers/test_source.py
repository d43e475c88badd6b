from __future__ import annotations

import copy
import os
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.law import Law
from exactdp.samplers import (
    RecordingSource,
    ReplaySource,
    SeededSource,
    Source,
    SystemSource,
    exact_law,
)
from exactdp.samplers.enumeration import NotReproducible, TooManyBranches
from exactdp.samplers.source import BLOCK, RandomnessError
from tests.samplers.bitwise import bitwise_law


def test_seeded_vectors_are_stable() -> None:
    """Made with hashlib alone: SHAKE-128 of domain, seed and block number (see the docstring)."""
    assert SeededSource(0).take(8).hex() == "44b6a410a80ff640"
    assert SeededSource(b"abc").take(8).hex() == "848ed2d49d84271e"
    assert SeededSource(1).bits(32) == 3707995574
    import hashlib

    key = b"exactdp seeded source, version 1\x007\x00"
    blocks = [hashlib.shake_128(key + i.to_bytes(8, "little")).digest(1 << 14) for i in range(3)]
    assert SeededSource(7).take(40000) == b"".join(blocks)[:40000]


def test_bits_come_in_a_fixed_order() -> None:
    source, again = SeededSource(5), SeededSource(5)
    parts = [source.bits(k) for k in (1, 7, 3, 0, 13, 64, 2)]
    value, shift = 0, 0
    for k, part in zip((1, 7, 3, 0, 13, 64, 2), parts, strict=True):
        value |= part << shift
        shift += k
    assert value == int.from_bytes(again.take((shift + 7) // 8), "little") % (1 << shift)
    assert source.bits_used == shift


@pytest.mark.parametrize("bits", [1, 3, 8, 12, 16, 31, 48, 64])
def test_words_have_their_width_and_are_uniform(bits: int) -> None:
    words = SeededSource(1).words(4096, bits)
    assert words.dtype.itemsize * 8 >= bits
    assert int(words.max()) < 1 << bits
    ones = sum(int(word).bit_count() for word in words)
    assert abs(ones / (4096 * bits) - 0.5) < 0.02


def test_words_refuse_other_widths() -> None:
    for bits in (0, 65, -1):
        with pytest.raises(InvalidParameter, match="bits must be between 1 and 64"):
            SeededSource(1).words(1, bits)


def test_only_the_operating_system_is_fit_for_a_release() -> None:
    assert SystemSource.secure
    assert not SeededSource(1).secure
    assert not RecordingSource(SystemSource()).secure


def test_short_and_failed_reads_raise() -> None:
    with pytest.raises(RandomnessError, match="asked for"):
        SystemSource(read=lambda n: os.urandom(n - 1)).bits(1)

    def fail(n: int) -> bytes:
        raise OSError("no entropy")

    for action in (lambda s: s.bits(1), lambda s: s.words(10**6, 16)):
        with pytest.raises(RandomnessError, match="no entropy"):
            action(SystemSource(read=fail))


def test_large_requests_go_past_the_pool() -> None:
    asked: list[int] = []

    def read(n: int) -> bytes:
        asked.append(n)
        return os.urandom(n)

    source = SystemSource(read)
    assert len(source.take(3 * BLOCK)) == 3 * BLOCK
    source.bits(5)
    source.bits(5)
    assert asked == [3 * BLOCK, BLOCK]


def test_copies_do_not_repeat_bits() -> None:
    source = SystemSource()
    source.bits(8)
    make, arguments = source.__reduce__()  # what a copy to another process goes through
    for other in (copy.copy(source), copy.deepcopy(source), make(*arguments)):
        assert other.bits(128) != source.bits(128)


def test_threads_do_not_repeat_bits() -> None:
    source, seen = SystemSource(), []

    def work() -> None:
        seen.extend(source.bits(128) for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 3000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_do_not_repeat_bits() -> None:
    source = SystemSource()
    source.bits(3)  # the pool is filled before the fork
    readers = []
    for _ in range(3):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.write(write, source.bits(256).to_bytes(32, "little"))
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        readers.append(os.read(read, 32))
        os.close(read)
    readers.append(source.bits(256).to_bytes(32, "little"))
    assert len(set(readers)) == 4


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 12, 100])
def test_below_is_exactly_uniform_by_single_bits(n: int) -> None:
    law = bitwise_law(lambda source: source.below(n), Fraction(1, 2**12))
    for value in range(n):
        assert law[value] <= Fraction(1, n) <= law[value] + law.residual
    if n & (n - 1) == 0:
        assert law.residual == 0


@pytest.mark.parametrize("p", ["0", "1", "1/2", "1/3", "5/7", "0.999"])
def test_bernoulli_by_single_bits(p: str) -> None:
    law = bitwise_law(lambda source: source.bernoulli(p), Fraction(1, 2**64))
    assert law[True] <= Fraction(p) <= law[True] + law.residual
    assert exact_law(lambda source: source.bernoulli(p))[True] == Fraction(p)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
def test_index_by_single_bits(weights: list[int]) -> None:
    law = bitwise_law(lambda source: source.index(weights), Fraction(1, 2**10))
    exact = exact_law(lambda source: source.index(weights))
    for i, weight in enumerate(weights):
        assert exact[i] == Fraction(weight, sum(weights))
        assert law[i] <= exact[i] <= law[i] + law.residual


def test_expected_bits_stay_near_the_entropy() -> None:
    for weights in ([1, 1], [1, 2, 3, 4], [1] * 100, [1, 10**6], [3**i for i in range(40)]):
        total = sum(weights)
        entropy = -sum(w / total * np.log2(w / total) for w in weights)
        source = SeededSource(3)
        for _ in range(2000):
            source.index(weights)
        assert source.bits_used / 2000 <= entropy + 3


def test_bad_arguments() -> None:
    source = SeededSource(1)
    for call in (
        lambda: source.below(0),
        lambda: source.bits(-1),
        lambda: source.bernoulli("1.5"),
        lambda: source.index([]),
        lambda: source.index([0, 0]),
        lambda: source.index([1, -1]),
        lambda: SeededSource(-1),
        lambda: SeededSource("x"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidParameter):
            call()


def test_records_replay() -> None:
    def program(source: Source) -> tuple[object, ...]:
        return source.below(10), source.bernoulli("1/3"), tuple(source.words(3, 16)), source.bits(7)

    recording = RecordingSource(SystemSource())
    first = program(recording)
    assert program(ReplaySource(recording.record)) == first
    assert recording.bits_used >= 59
    replay = ReplaySource(recording.record)
    with pytest.raises(InvalidParameter, match="record"):
        replay.bits(60)


def test_exact_law_of_small_programs() -> None:
    def two_dice(source: Source) -> int:
        return source.below(6) + source.below(6) + 2

    law = exact_law(two_dice)
    assert law[7] == Fraction(1, 6)
    assert law.residual == 0

    def late(source: Source) -> str:
        return "a" if source.bernoulli("1/3") else ("b" if source.below(4) else "c")

    assert exact_law(late) == Law({"a": Fraction(1, 3), "b": Fraction(1, 2), "c": Fraction(1, 6)})


def test_residual_mass_of_endless_loops() -> None:
    def trials(source: Source) -> int:
        count = 0
        while not source.bernoulli("1/4"):
            count += 1
        return count

    law = exact_law(trials, residual="1e-6")
    assert 0 < law.residual <= Fraction(1, 10**6)
    assert law[3] == Fraction(27, 256)
    with pytest.raises(TooManyBranches, match="branches followed"):
        exact_law(trials, residual=0, max_runs=50)


def test_wide_choices_and_other_randomness_are_refused() -> None:
    with pytest.raises(TooManyBranches, match="exact weights"):
        exact_law(lambda source: source.below(2**64))
    with pytest.raises(TooManyBranches):
        exact_law(lambda source: source.bits(4096))
    state = iter(range(2, 1000))
    with pytest.raises(NotReproducible):
        exact_law(lambda source: (source.below(2), source.below(next(state))))
