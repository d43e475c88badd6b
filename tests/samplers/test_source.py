from __future__ import annotations

import copy
import os
import random
import sys
import threading
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.errors import NotReproducible, RandomnessError, TooManyBranches
from exactdp.law import Law
from exactdp.mechanisms import GSHM
from exactdp.samplers import (
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    RecordingSource,
    ReplaySource,
    SeededSource,
    Source,
    SystemSource,
    UniformInteger,
    exact_law,
)
from exactdp.samplers.block_sampler import BlockSampler
from exactdp.samplers.source import Words, WordSource, fit_for_release, require_secure
from tests.samplers.bitwise import bitwise_law
from tests.samplers.tiny import gaussian_blocks


def test_seeded_vectors_are_stable() -> None:
    """Made with hashlib alone: SHAKE-128 of domain, seed and block number (see the docstring)."""
    assert SeededSource(0).take(8).hex() == "44b6a410a80ff640"
    assert SeededSource(b"abc").take(8).hex() == "848ed2d49d84271e"
    assert SeededSource(1).bits(32) == 3707995574
    import hashlib

    long = 10**5000
    key = b"exactdp seeded source, version 1\x00" + b"1" + b"0" * 5000 + b"\x00" + bytes(8)
    assert SeededSource(long).take(16) == hashlib.shake_128(key).digest(16)
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


@pytest.mark.parametrize("bits", [1, 3, 8, 12, 16, 17, 24, 31, 33, 40, 47, 48, 56, 63, 64])
def test_words_have_their_width_and_are_uniform(bits: int) -> None:
    """Each bit within 6 standard deviations: alpha < 1e-6."""
    words = SeededSource(bits).words(2000, bits)
    assert words.dtype.itemsize * 8 >= bits
    assert int(words.max()) < 1 << bits
    for place in range(bits):
        ones = sum(int(word) >> place & 1 for word in words)
        assert abs(ones - 1000) < 6 * 500**0.5


class Claims(SeededSource):
    """Calls itself secure, which only `fit_for_release` may do."""

    secure = True


class Poses(SeededSource):
    """Passes for a SystemSource by a false `__class__`."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return SystemSource


@pytest.mark.parametrize(
    "source",
    [SeededSource(1), RecordingSource(SystemSource()), Claims(1), Poses(1), None, SystemSource],
)
def test_only_the_operating_system_is_fit_for_a_release(source: object) -> None:
    require_secure(SystemSource())
    with pytest.raises(InvalidParameter, match="source must be a SystemSource"):
        require_secure(source)  # type: ignore[arg-type]


def test_a_class_may_be_vouched_for_but_not_its_subclasses() -> None:
    @fit_for_release
    class Hardware(SeededSource):
        pass

    class Softer(Hardware):
        pass

    require_secure(Hardware(1))
    with pytest.raises(InvalidParameter, match="source"):
        require_secure(Softer(1))


def test_only_the_source_itself_reads_the_operating_system() -> None:
    with pytest.raises(TypeError):
        SystemSource(random.Random(0).randbytes)  # type: ignore[call-arg]

    class Fake(SystemSource):
        def _fetch(self, count: int) -> bytes:
            return random.Random(0).randbytes(count)

    mechanism = GSHM.for_target(k=1, epsilon=1, delta="0.01")
    with pytest.raises(InvalidParameter, match="source"):
        mechanism.release({"a": 5}, Fake())


READS = [
    lambda s: s.bits(1),
    lambda s: s.word(),
    lambda s: s.words(10**6, 16),
    lambda s: DiscreteGaussian(sigma2=1).sample(s),
]


@pytest.mark.parametrize("read", READS)
def test_reads_that_come_short_fail_or_repeat_themselves_raise(
    read: Callable[[Source], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    urandom = os.urandom

    def fail(n: int) -> bytes:
        raise OSError("no entropy")

    for broken, message in (
        (lambda n: urandom(n - 1), "asked for"),
        (fail, "no entropy"),
        (bytes, "repeat earlier bytes"),
        (lambda n: urandom(16) * (n // 16), "repeat earlier bytes"),
    ):
        monkeypatch.setattr(os, "urandom", broken)
        with pytest.raises(RandomnessError, match=message):
            read(SystemSource())


class Constant(Source):
    """A broken generator: all its bits are equal."""

    def __init__(self, bit: int) -> None:
        self._bit = bit

    def bits(self, k: int) -> int:
        return ((1 << k) - 1) * self._bit

    def words(self, n: int, bits: int) -> Words:
        return np.full(n, self.bits(bits), np.uint64)


class ConstantWords(WordSource, Constant):
    pass


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", [ConstantWords, Constant])
@pytest.mark.parametrize("bit", [1, 0])
def test_constant_sources_end_every_loop(kind: type[Constant], bit: int) -> None:
    """An error where the bits settle nothing; a draw where they do."""
    source = kind(bit)
    loops: list[Callable[[], object]] = [
        lambda: DiscreteGaussian(sigma2=4).sample(source),
        lambda: DiscreteGaussian(sigma2=4).sample_many(2, source),
        lambda: DiscreteGaussian(sigma2=10**10).sample(source),
        lambda: DiscreteLaplace(scale=3).sample(source),
        lambda: source.inverse_cdf(DiscreteLaplace(scale=3)._cdf),
    ]
    for loop in loops:
        with pytest.raises(RandomnessError, match="not random"):
            loop()
    if bit:
        for loop in (
            lambda: source.below(3),
            lambda: UniformInteger(0, 2).sample_many(3, source),
            lambda: Geometric(p="1/3").sample(source),
        ):
            with pytest.raises(RandomnessError, match="not random"):
                loop()


def test_a_stream_that_stays_on_a_step_ends_with_an_error() -> None:
    class Third(Constant):
        """0.010101... = 1/3 in binary."""

        def bits(self, k: int) -> int:
            value = 0
            for _ in range(k):
                value, self._bit = value << 1 | self._bit, 1 - self._bit
            return value

    for loop in (
        lambda s: s.bernoulli("1/3"),
        lambda s: Geometric(p="1/3").sample(s),
        lambda s: s.inverse_cdf(Geometric(p="1/3")._cdf),
    ):
        with pytest.raises(RandomnessError, match="not random"):
            loop(Third(0))


def test_rejection_by_blocks_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block sampler that accepts nothing: its loops are the last ones that could be endless."""
    blocks = gaussian_blocks(Fraction(3), 1, (2, 1, 4), 0)
    monkeypatch.setattr(BlockSampler, "propose", lambda *_: None)
    monkeypatch.setattr(BlockSampler, "propose_many", lambda *_: np.zeros(1, np.intp))
    for draw in (blocks.sample, lambda source: blocks.fill(np.zeros(1, np.int64), source)):
        with pytest.raises(RandomnessError, match="not random"):
            draw(SeededSource(1))


WIDE = DiscreteGaussian(sigma2=10**60)  # no two draws are equal by chance

DRAWS: list[Callable[[Source], object]] = [
    lambda source: source.bits(128),
    WIDE.sample,
    lambda source: source.word(),  # type: ignore[attr-defined]
]


@pytest.mark.parametrize("draw", DRAWS)
def test_copies_do_not_repeat_bits(draw: Callable[[Source], object]) -> None:
    source = SystemSource()
    draw(source)
    make, arguments = source.__reduce__()  # what a copy to another process goes through
    for other in (copy.copy(source), copy.deepcopy(source), make(*arguments)):
        assert draw(other) != draw(source)


@pytest.mark.parametrize("draw", DRAWS)
def test_threads_do_not_repeat_bits(draw: Callable[[Source], object]) -> None:
    """Threads are switched as often as possible, and share one source through many refills."""
    source, seen = SystemSource(), []
    start, interval = threading.Barrier(6), sys.getswitchinterval()

    def work() -> None:
        start.wait()
        mine = [draw(source) for _ in range(3000)]
        seen.extend(mine)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(seen) == len(set(seen)) == 18_000


@pytest.mark.few(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("draw", DRAWS)
def test_forked_processes_do_not_repeat_bits(draw: Callable[[Source], object]) -> None:
    source = SystemSource()
    draw(source)  # the pools are filled before the fork
    texts = []
    for _ in range(3):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.write(write, " ".join(str(draw(source)) for _ in range(8)).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        texts += os.read(read, 4096).decode().split()
        os.close(read)
    texts += [str(draw(source)) for _ in range(8)]
    assert len(texts) == len(set(texts)) == 32


@pytest.mark.parametrize("draw", DRAWS)
def test_a_process_that_python_does_not_know_of_starts_afresh(
    draw: Callable[[Source], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork in C runs no hook of Python's; only the number of the process shows it."""
    source = SystemSource()
    draw(source)
    before = list(source._words), source._pool.block[source._pool.used :]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    draw(source)
    after = list(source._words), source._pool.block[source._pool.used :]
    assert not set(before[0]) & set(after[0])
    assert not before[1] or before[1][-64:] != after[1][-64:]


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


@pytest.mark.slow
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
        for _ in range(500):
            source.index(weights)
        assert source.bits_used / 500 <= entropy + 3


def test_bad_arguments() -> None:
    source = SeededSource(1)
    for call in (
        lambda: source.below(0),
        lambda: source.bits(-1),
        lambda: source.words(1, 0),
        lambda: source.words(1, 65),
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
    with pytest.raises(TooManyBranches, match="use index or inverse_cdf"):
        exact_law(lambda source: source.below(2**64))
    with pytest.raises(TooManyBranches):
        exact_law(lambda source: source.bits(4096))
    state = iter(range(2, 1000))
    with pytest.raises(NotReproducible):
        exact_law(lambda source: (source.below(2), source.below(next(state))))


def test_one_wide_choice_is_followed_to_its_end() -> None:
    """All leaves weigh the same: the mass left falls ever faster; the search must not give up."""
    assert exact_law(lambda source: source.below(1024), max_runs=1250) == Law.uniform(range(1024))


def test_whoever_interrupts_an_enumeration_is_not_told_that_it_differs() -> None:
    left = iter([False] * 5)

    def program(source: Source) -> int:
        total = 0
        for _ in range(5):
            if next(left, True):
                raise KeyboardInterrupt  # in the second run, which has choices to make
            total += source.below(2)
        return total

    with pytest.raises(KeyboardInterrupt):
        exact_law(program)
