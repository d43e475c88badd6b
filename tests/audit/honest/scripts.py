"""Mechanisms as scripts and applications write them: state, caches, logging, loops."""

import functools
import itertools
import logging
import time
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

from tests.audit.honest.case import Probabilities, add, mapped, product, truthful

LN3 = "1.0987"
THREE_QUARTERS = truthful(Fraction(3, 4), 2)
log = logging.getLogger(__name__)


# A data class that is called.
@dataclass(frozen=True)
class Respond:
    kept: int
    of: int

    def __call__(self, bit: int, rng: Any) -> int:
        return bit if rng.randrange(self.of) < self.kept else 1 - bit


add(
    "data class",
    name="frozen data class that is called",
    honest=Respond(3, 4),
    bugged=Respond(7, 8),
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)


# A generator function yields the noisy values.
def released(counts: list[int], rng: Any) -> Iterator[int]:
    for count in counts:
        yield count + rng.choice((-1, 0, 0, 1))


def released_until_zero(counts: list[int], rng: Any) -> Iterator[int]:
    for count in itertools.takewhile(bool, counts):  # stops at the first empty count
        yield count + rng.choice((-1, 0, 0, 1))


def _released(counts: list[int]) -> Probabilities:
    noise = {-1: Fraction(1, 4), 0: Fraction(1, 2), 1: Fraction(1, 4)}
    return product(*({c + z: p for z, p in noise.items()} for c in counts))


add(
    "generator function",
    honest=lambda counts, rng: list(released(counts, rng)),
    bugged=lambda counts, rng: list(released_until_zero(counts, rng)),
    name="values that are yielded",
    left=[2, 0],
    right=[2, 1],
    law=_released,
    epsilon="0.6932",  # a little above ln 2
    delta="1/4",
)


# A closure that counts its calls.
def counting(flip: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
    calls = 0

    def respond(bit: int, rng: Any) -> int:
        nonlocal calls
        calls += 1
        return flip(bit, rng)

    return respond


def every_tenth_true(flip: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
    calls = 0

    def respond(bit: int, rng: Any) -> int:
        nonlocal calls
        calls += 1
        return bit if calls % 10 == 1 else flip(bit, rng)

    return respond


add(
    "closure with a counter",
    name="closure that counts its calls",
    honest=counting(Respond(3, 4)),
    bugged=every_tenth_true(Respond(3, 4)),
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)


# An object that counts its calls and keeps a log with times.
class Server:
    def __init__(self) -> None:
        self.calls = 0
        self.times: deque[float] = deque(maxlen=100)

    def answer(self, bit: int, rng: Any) -> int:
        started = time.time()
        self.calls += 1
        reply = bit if rng.random() < 0.75 else 1 - bit
        self.times.append(time.time() - started)
        log.debug("call %d took %.6f s", self.calls, self.times[-1])
        return reply


class ServerInAHurry(Server):
    def answer(self, bit: int, rng: Any) -> int:
        reply = super().answer(bit, rng)
        return bit if self.times[-1] >= 0 and self.calls == 1 else reply


add(
    "object with counter, clock and log",
    name="server that logs its times",
    honest=Server().answer,
    bugged=ServerInAHurry().answer,
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)


# Thresholds that are computed once and cached.
@functools.cache
def table(k: int) -> tuple[int, ...]:
    return tuple(itertools.accumulate(2 ** (k - i) for i in range(k)))


def cached_rank(value: int, rng: Any) -> int:
    steps = table(3)  # weights 8, 4, 2
    return (value + bisect_right(steps, rng.randrange(steps[-1]))) % 3


@functools.cache
def cached_answer(value: int, rng: Any) -> int:  # the answer is cached, not the table
    return value


def _rank(value: int) -> Probabilities:
    return {(value + i) % 3: Fraction(w, 14) for i, w in enumerate((8, 4, 2))}


add(
    "functools.lru_cache",
    honest=cached_rank,
    bugged=cached_answer,
    left=0,
    right=1,
    law=_rank,
    epsilon="1.3863",
)


# A dictionary of the module that fills up at the first call.
_TABLES: dict[int, list[int]] = {}


def from_table(value: int, rng: Any) -> int:
    if 4 not in _TABLES:
        _TABLES[4] = [0, 0, 0, 1]
    return value ^ _TABLES[4][rng.randrange(4)]


_SEEN: dict[int, int] = {}


def first_answers(value: int, rng: Any) -> int:  # the first answer of a value is its truth
    if value not in _SEEN:
        _SEEN[value] = value
        return value
    return value ^ _TABLES.get(4, [0, 0, 0, 1])[rng.randrange(4)]


add(
    "cache of the module",
    honest=from_table,
    bugged=first_answers,
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)


# A method that tries again.
class Dice:
    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def below(self, n: int) -> int:
        while True:
            x = self.rng.getrandbits(3)
            if x < n:
                return x

    def respond(self, value: int) -> int:
        x = self.below(6)
        return value if x < 4 else (value + x - 3) % 3


class DiceTiredOfZero(Dice):
    def respond(self, value: int) -> int:
        x = self.below(6 if value else 4)
        return value if x < 4 else (value + x - 3) % 3


add(
    "retry loop in a method",
    name="rejection in a method",
    honest=lambda value, rng: Dice(rng).respond(value),
    bugged=lambda value, rng: DiceTiredOfZero(rng).respond(value),
    left=0,
    right=1,
    law=truthful(Fraction(2, 3), 3),
    epsilon="1.3863",
    delta="1e-12",  # the loop that rejects has no last round
)


# Noise is drawn when the object is made.
class Histogram:
    def __init__(self, counts: list[int], rng: Any) -> None:
        self._noisy = [count + rng.randint(-1, 1) for count in counts]

    def top(self) -> int:
        return max(range(len(self._noisy)), key=self._noisy.__getitem__)

    def __getitem__(self, i: int) -> int:
        return self._noisy[i]


class HistogramOfFew(Histogram):
    def __init__(self, counts: list[int], rng: Any) -> None:
        super().__init__(counts, rng)
        self._noisy = [n if c else 0 for n, c in zip(self._noisy, counts, strict=True)]


def _ask(histogram: Histogram) -> tuple[int, int, int]:
    return histogram[1], histogram[1], histogram.top()


def _histogram(counts: list[int]) -> Probabilities:
    laws = [{c + z: Fraction(1, 3) for z in (-1, 0, 1)} for c in counts]
    return mapped(product(*laws), lambda n: (n[1], n[1], 0 if n[0] >= n[1] else 1))


add(
    "noise in the constructor",
    name="histogram that is noised when made",
    honest=lambda counts, rng: _ask(Histogram(counts, rng)),
    bugged=lambda counts, rng: _ask(HistogramOfFew(counts, rng)),
    left=[1, 0],
    right=[1, 1],
    law=_histogram,
    epsilon="0",
    delta="1/3",
)


# Sampling first, then a response by each sampled user.
def sampled_sum(rows: list[int], rng: Any) -> int:
    total = 0
    for row in rows:
        if rng.random() < 0.5:
            total += row if rng.random() < 0.75 else 1 - row
    return total


def sampled_sum_of_ones(rows: list[int], rng: Any) -> int:
    return sum(1 for row in rows if row and rng.random() < 0.5)


def _sampled(rows: list[int]) -> Probabilities:
    half, eighth = Fraction(1, 2), Fraction(1, 8)
    laws = [{0: half + (1 if row else 3) * eighth, 1: (3 if row else 1) * eighth} for row in rows]
    return mapped(product(*laws), sum)


add(
    "plain script",
    honest=sampled_sum,
    bugged=sampled_sum_of_ones,
    left=[0, 1],
    right=[1, 1],
    law=_sampled,
    epsilon=LN3,
)


# Reports in random order.
def shuffled(bits: list[int], rng: Any) -> list[int]:
    replies = [bit if rng.random() < 0.75 else 1 - bit for bit in bits]
    rng.shuffle(replies)
    return replies


def shuffled_before(bits: list[int], rng: Any) -> list[int]:
    order = list(bits)
    rng.shuffle(order)
    return order


def _shuffled(bits: list[int]) -> Probabilities:
    masses: Probabilities = {}
    replies = product(*(THREE_QUARTERS(bit) for bit in bits))
    for values, p in replies.items():
        orders = list(itertools.permutations(values))
        for order in orders:
            masses[order] = masses.get(order, Fraction(0)) + p / len(orders)
    return masses


add(
    "plain script",
    name="shuffled responses",
    honest=shuffled,
    bugged=shuffled_before,
    left=[0, 1, 0],
    right=[1, 1, 0],
    law=_shuffled,
    epsilon=LN3,
)


# Weighted choices of the standard library.
def by_weights(value: int, rng: Any) -> int:
    return rng.choices((value, (value + 1) % 3, (value + 2) % 3), weights=(4, 1, 1))[0]


def by_cumulative_weights(value: int, rng: Any) -> int:
    return rng.choices((value, (value + 1) % 3, (value + 2) % 3), cum_weights=(4, 4, 5))[0]


add(
    "random.choices",
    honest=by_weights,
    bugged=by_cumulative_weights,
    left=0,
    right=1,
    law=truthful(Fraction(2, 3), 3),
    epsilon="1.3863",
)


# Above threshold with bounded noise, written as a loop over queries.
WEIGHTS = (1, 2, 4, 2, 1)


class AboveThreshold:
    def __init__(self, threshold: int, rng: Any) -> None:
        self.rng = rng
        self.threshold = threshold + self._noise()

    def _noise(self) -> int:
        return self.rng.choices(range(-2, 3), weights=WEIGHTS)[0]

    def first(self, queries: list[int]) -> int | None:
        for i, query in enumerate(queries):
            if query + self._noise() >= self.threshold:
                return i
        return None


class AboveThresholdWithoutNoise(AboveThreshold):
    def first(self, queries: list[int]) -> int | None:
        return next((i for i, query in enumerate(queries) if query >= self.threshold), None)


def _above(queries: list[int]) -> Probabilities:
    noise = {z: Fraction(w, 10) for z, w in zip(range(-2, 3), WEIGHTS, strict=True)}
    masses: Probabilities = {}
    for z, p in noise.items():
        rest = p
        for i, query in enumerate(queries):
            above = sum((q for y, q in noise.items() if query + y >= 2 + z), Fraction(0))
            masses[i] = masses.get(i, Fraction(0)) + rest * above
            rest *= 1 - above
        masses[None] = masses.get(None, Fraction(0)) + rest
    return masses


add(
    "interactive class",
    name="above threshold",
    honest=lambda queries, rng: AboveThreshold(2, rng).first(queries),
    bugged=lambda queries, rng: AboveThresholdWithoutNoise(2, rng).first(queries),
    left=[0, 1],
    right=[1, 0],
    law=_above,
    epsilon="1.9",
)


# A budget that is spent, with a context manager and an error.
class Spent(Exception):
    pass


@dataclass
class Accountant:
    left: Fraction = Fraction(1)
    entries: list[str] = field(default_factory=list)

    @contextmanager
    def spending(self, amount: Fraction, name: str) -> Iterator[None]:
        if amount > self.left:
            raise Spent(name)
        yield
        self.left -= amount
        self.entries.append(f"{name}: {amount}")


def within_budget(bit: int, rng: Any) -> int:
    accountant = Accountant()
    with accountant.spending(Fraction(1, 2), "first"):
        reply = bit if rng.random() < 0.75 else 1 - bit
    try:
        with accountant.spending(Fraction(3, 4), "second"):
            reply += 2 * bit
    except Spent:
        log.info("only the first answer")
    return reply


def beyond_budget(bit: int, rng: Any) -> int:
    accountant = Accountant()
    replies = 0
    for name in ("first", "second"):
        with accountant.spending(Fraction(1, 2), name):
            replies = 2 * replies + (bit if rng.random() < 0.75 else 1 - bit)
    return replies


add(
    "context manager with a budget",
    honest=within_budget,
    bugged=beyond_budget,
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)


# Enumerations and match.
class Vote(Enum):
    YES = "yes"
    NO = "no"
    NONE = "none"


def vote(true: Vote, rng: Any) -> Vote:
    match rng.randrange(5):
        case 0 | 1 | 2:
            return true
        case draw:
            others = [each for each in Vote if each is not true]
            return others[draw - 3]


def vote_or_none(true: Vote, rng: Any) -> Vote:
    match rng.randrange(5):
        case 0 | 1 | 2:
            return true
        case _:
            return Vote.NONE


add(
    "enumeration and match",
    name="vote",
    honest=lambda true, rng: vote(true, rng).value,
    bugged=lambda true, rng: vote_or_none(true, rng).value,
    left=Vote.YES,
    right=Vote.NO,
    law=lambda true: {v.value: Fraction(3 if v is true else 1, 5) for v in Vote},
    epsilon=LN3,
)


# Discrete Laplace noise by coin flips: the number of heads in a row, with a sign.
class DiscreteLaplace:
    """P(z) = 2^-|z| / 3; a negative zero is drawn again."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def geometric(self) -> int:
        heads = 0
        while self.rng.getrandbits(1):
            heads += 1
        return heads

    def sample(self) -> int:
        while True:
            negative, size = self.rng.getrandbits(1), self.geometric()
            if not (negative and size == 0):
                return -size if negative else size


class DiscreteLaplaceTwoZeros(DiscreteLaplace):
    def sample(self) -> int:  # zero is drawn twice as often
        size = self.geometric()
        return -size if self.rng.getrandbits(1) else size


def _laplace(count: int) -> Probabilities:
    return {count + z: Fraction(1, 3 * 2 ** abs(z)) for z in range(-60, 61)}


add(
    "rejection loop in a class",
    name="discrete Laplace by coin flips",
    honest=lambda count, rng: count + DiscreteLaplace(rng).sample(),
    bugged=lambda count, rng: count + DiscreteLaplaceTwoZeros(rng).sample(),
    left=3,
    right=4,
    law=_laplace,
    epsilon="0.6932",
    delta="1e-12",
)


# The most common answer after noise, ties broken at random.
def favourite(rows: list[str], rng: Any) -> str:
    counts = Counter(dict.fromkeys("ab", 0))
    counts.update(rows)
    noisy = {name: count + rng.randint(0, 2) for name, count in counts.items()}
    best = max(noisy.values())
    return rng.choice([name for name, count in noisy.items() if count == best])


def favourite_first(rows: list[str], rng: Any) -> str:
    counts = Counter(rows)  # names nobody gave are left out
    noisy = {name: count + rng.randint(0, 2) for name, count in sorted(counts.items())}
    return max(noisy, key=noisy.__getitem__)


def _favourite(rows: list[str]) -> Probabilities:
    chances = {"a": Fraction(0), "b": Fraction(0)}
    for i, j in itertools.product(range(3), repeat=2):
        a, b = rows.count("a") + i, rows.count("b") + j
        chances["a"] += Fraction(1, 9) * (Fraction(1, 2) if a == b else a > b)
        chances["b"] += Fraction(1, 9) * (Fraction(1, 2) if a == b else b > a)
    return chances


add(
    "collections.Counter",
    name="noisy favourite",
    honest=favourite,
    bugged=favourite_first,
    left=["a"],
    right=["a", "b"],
    law=_favourite,
    epsilon="1.2993",  # a little above ln(11/3)
)


# A decorator validates, a partial configures.
def validated(function: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(function)
    def checked(bit: int, rng: Any, **options: Any) -> int:
        if bit not in (0, 1):
            raise ValueError(bit)
        return function(bit, rng, **options)

    return checked


@validated
def configured(bit: int, rng: Any, *, threshold: float = 0.5) -> int:
    return bit if rng.random() < threshold else 1 - bit


add(
    "decorator and partial",
    name="validated and configured",
    honest=functools.partial(configured, threshold=0.75),
    bugged=functools.partial(configured, threshold=0.875),
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)
