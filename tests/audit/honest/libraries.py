"""Mechanisms as libraries write them: classes, makers, measurements, clients."""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from tests.audit.honest.case import Probabilities, add, mapped, product, truthful

THREE_QUARTERS = truthful(Fraction(3, 4), 2)
LN3 = "1.0987"  # a little above ln 3


# A class with checks and a method that draws, as in diffprivlib.
class Binary:
    def __init__(self, *, numerator: int, random_state: Any) -> None:
        self.numerator = self._check_numerator(numerator)
        self._rng = random_state

    @staticmethod
    def _check_numerator(value: int) -> int:
        if not isinstance(value, int) or not 2 <= value <= 4:
            raise ValueError("numerator must be 2, 3 or 4")
        return value

    def randomise(self, value: int) -> int:
        self._check_numerator(self.numerator)
        if self._rng.randrange(4) < self.numerator:
            return value
        return 1 - value


class BinaryOneSided(Binary):
    def randomise(self, value: int) -> int:  # protects one value only
        return super().randomise(value) if value == 1 else value


add(
    "class of diffprivlib",
    name="binary mechanism",
    honest=lambda bit, rng: Binary(numerator=3, random_state=rng).randomise(bit),
    bugged=lambda bit, rng: BinaryOneSided(numerator=3, random_state=rng).randomise(bit),
    left=0,
    right=1,
    law=THREE_QUARTERS,
    epsilon=LN3,
)


# A base class with the public method, subclasses with the noise.
class Mechanism:
    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def noise(self) -> int:
        raise NotImplementedError

    def randomise(self, value: int) -> int:
        return max(0, min(3, value + self.noise()))


class Triangular(Mechanism):
    def noise(self) -> int:
        return self.rng.randint(0, 2) - self.rng.randint(0, 2)


class TriangularShared(Mechanism):
    def noise(self) -> int:
        self.last = self.rng.randint(0, 2)
        return self.last - self.last


def _triangular(value: int) -> Probabilities:
    weights = {-2: 1, -1: 2, 0: 3, 1: 2, 2: 1}
    noise = {value + z: Fraction(w, 9) for z, w in weights.items()}
    return mapped(noise, lambda x: max(0, min(3, x)))


add(
    "subclass with a hook",
    name="truncated triangular noise",
    honest=lambda count, rng: Triangular(rng).randomise(count),
    bugged=lambda count, rng: TriangularShared(rng).randomise(count),
    left=1,
    right=2,
    law=_triangular,
    epsilon=LN3,
    delta="1/9",
)


# Makers that return a measurement with a privacy map, as in OpenDP.
@dataclass(frozen=True)
class Measurement:
    function: Callable[[Any], Any]
    privacy_map: Callable[[int], float]

    def __call__(self, argument: Any) -> Any:
        return self.function(argument)

    def __rshift__(self, other: "Measurement") -> "Measurement":
        return Measurement(
            lambda x: other.function(self.function(x)),
            lambda d: self.privacy_map(d) + other.privacy_map(0),
        )


def make_randomized_response(categories: tuple[int, ...], prob: tuple[int, int], rng: Any) -> Any:
    top, bottom = prob

    def function(value: int) -> int:
        others = [c for c in categories if c != value]
        return value if rng.randrange(bottom) < top else others[rng.randrange(len(others))]

    return Measurement(function, lambda d: 1.1 * d)


def make_randomized_response_keeping(
    categories: tuple[int, ...], prob: tuple[int, int], rng: Any
) -> Any:
    top, bottom = prob

    def function(value: int) -> int:  # the fallback may not return the last category
        return value if rng.randrange(bottom) < top else categories[rng.randrange(2)]

    return Measurement(function, lambda d: 1.1 * d)


add(
    "maker of OpenDP",
    name="k-ary randomised response",
    honest=lambda value, rng: make_randomized_response((0, 1, 2), (3, 5), rng)(value),
    bugged=lambda value, rng: make_randomized_response_keeping((0, 1, 2), (3, 5), rng)(value),
    left=0,
    right=2,
    law=truthful(Fraction(3, 5), 3),
    epsilon=LN3,
)


def make_post(function: Callable[[Any], Any]) -> Measurement:
    return Measurement(function, lambda d: 0.0)


add(
    "chain of OpenDP",
    name="response, then a table",
    honest=lambda value, rng: (
        make_randomized_response((0, 1, 2), (3, 5), rng) >> make_post("abc".__getitem__)
    )(value),
    bugged=lambda value, rng: (make_post(lambda v: 2 * (v == 2)) >> make_post(lambda v: "abc"[v]))(
        value
    ),
    left=1,
    right=2,
    law=lambda value: mapped(truthful(Fraction(3, 5), 3)(value), "abc".__getitem__),
    epsilon=LN3,
)


# A measurement with domains and a budget that is checked, as in Tumult Core.
class PrivacyBudgetError(Exception):
    pass


class CountMeasurement:
    def __init__(self, input_domain: range, budget: int, rng: Any) -> None:
        self._input_domain = input_domain
        self._budget = budget
        self._rng = rng

    @property
    def input_domain(self) -> range:
        return self._input_domain

    def privacy_relation(self, d_in: int, d_out: int) -> bool:
        return d_in <= d_out

    def __call__(self, rows: list[int]) -> int:
        if not all(row in self.input_domain for row in rows):
            raise ValueError("rows outside the domain")
        if not self.privacy_relation(1, self._budget):
            raise PrivacyBudgetError
        return len(rows) + self._noise()

    def _noise(self) -> int:
        sign = 1 if self._rng.getrandbits(1) else -1
        size = self._rng.choice([0, 0, 1, 2])
        return sign * size


class CountMeasurementOfFew(CountMeasurement):
    def _noise(self) -> int:
        return super()._noise() if self._budget > 1 else self._rng.choice([0, 1])


def _count(rows: list[int]) -> Probabilities:
    weights = {0: 4, 1: 1, -1: 1, 2: 1, -2: 1}
    return {len(rows) + z: Fraction(w, 8) for z, w in weights.items()}


add(
    "measurement of Tumult Core",
    name="noisy count with a domain",
    honest=lambda rows, rng: CountMeasurement(range(5), 1, rng)(rows),
    bugged=lambda rows, rng: CountMeasurementOfFew(range(5), 1, rng)(rows),
    left=[1, 2],
    right=[1, 2, 3],
    law=_count,
    epsilon="1.3863",  # a little above ln 4
    delta="1/8",
)


# Clients as in pure-ldp.
class DEClient:
    def __init__(self, d: int, rng: Any, index_mapper: Callable[[Any], int] | None = None) -> None:
        self.d = d
        self.rng = rng
        self.index_mapper = index_mapper or (lambda x: x - 1)

    def privatise(self, data: Any) -> int:
        index = self.index_mapper(data)
        # truth with probability 4/7, each other item with probability 1/7
        draw = self.rng.randrange(7)
        return index if draw < 4 else (index + draw - 3) % self.d


class DEClientRaw(DEClient):
    def privatise(self, data: Any) -> int:
        index = self.index_mapper(data)
        draw = self.rng.randrange(7)
        return index if draw < 4 else (draw - 3) % self.d


add(
    "client of pure-ldp",
    name="direct encoding",
    honest=lambda item, rng: DEClient(4, rng).privatise(item),
    bugged=lambda item, rng: DEClientRaw(4, rng).privatise(item),
    left=1,
    right=3,
    law=lambda item: truthful(Fraction(4, 7), 4)(item - 1),
    epsilon="1.3863",
)


class UEClient:
    """Optimised unary encoding: 1 with probability 1/2 at the item, 1/4 elsewhere."""

    def __init__(self, d: int, rng: Any) -> None:
        self.d, self.rng = d, rng

    def privatise(self, item: int) -> list[int]:
        bits = [0] * self.d
        for i in range(self.d):
            if i == item:
                bits[i] = int(self.rng.random() < 0.5)
            else:
                bits[i] = int(self.rng.random() < 0.25)
        return bits


class UEClientSymmetric(UEClient):
    def privatise(self, item: int) -> list[int]:
        return [int(self.rng.random() < (0.75 if i == item else 0.125)) for i in range(self.d)]


def _unary(item: int) -> Probabilities:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    chances = [half if i == item else quarter for i in range(3)]
    return product(*({1: p, 0: 1 - p} for p in chances))


add(
    "client of pure-ldp",
    name="optimised unary encoding",
    honest=lambda item, rng: UEClient(3, rng).privatise(item),
    bugged=lambda item, rng: UEClientSymmetric(3, rng).privatise(item),
    left=0,
    right=2,
    law=_unary,
    epsilon=LN3,
)


class LHClient:
    """Local hashing: a public random hash into two buckets, then randomised response."""

    Report = namedtuple("Report", ["seed", "bucket"])

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    @staticmethod
    def bucket(seed: int, item: int) -> int:
        return (item >> seed) & 1

    def privatise(self, item: int) -> Any:
        seed = self.rng.randrange(2)
        bucket = self.bucket(seed, item)
        if self.rng.random() >= 0.75:
            bucket ^= 1
        return self.Report(seed, bucket)


class LHClientChosen(LHClient):
    def privatise(self, item: int) -> Any:  # the hash depends on the item
        seed = item & 1
        bucket = self.bucket(seed, item) ^ (self.rng.random() >= 0.75)
        return self.Report(seed, int(bucket))


def _hashing(item: int) -> Probabilities:
    return {
        (seed, y): Fraction(1, 2) * Fraction(3 if y == (item >> seed) & 1 else 1, 4)
        for seed in (0, 1)
        for y in (0, 1)
    }


add(
    "client of pure-ldp",
    name="local hashing with a named tuple",
    honest=lambda item, rng: tuple(LHClient(rng).privatise(item)),
    bugged=lambda item, rng: tuple(LHClientChosen(rng).privatise(item)),
    left=0,
    right=3,
    law=_hashing,
    epsilon=LN3,
)


class Answer(NamedTuple):
    coefficient: int
    sign: int


class HadamardClient:
    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def privatise(self, item: int) -> Answer:
        coefficient = self.rng.choice(range(4))
        sign = -1 if bin(coefficient & item).count("1") % 2 else 1
        return Answer(coefficient, sign if self.rng.randint(1, 4) > 1 else -sign)


class HadamardClientBiased(HadamardClient):
    def privatise(self, item: int) -> Answer:
        answer = super().privatise(item)
        return answer if answer.coefficient else Answer(0, 1 if item else -1)


def _hadamard(item: int) -> Probabilities:
    masses = {}
    for j in range(4):
        parity = sum((j >> b & 1) * (item >> b & 1) for b in range(2)) % 2
        for sign in (-1, 1):
            masses[j, sign] = Fraction(3 if (sign == -1) == bool(parity) else 1, 16)
    return masses


add(
    "client of a Hadamard protocol",
    name="Hadamard response",
    honest=lambda item, rng: tuple(HadamardClient(rng).privatise(item)),
    bugged=lambda item, rng: tuple(HadamardClientBiased(rng).privatise(item)),
    left=0,
    right=3,
    law=_hadamard,
    epsilon=LN3,
)


class Rappor:
    """A permanent response is memoised, an instantaneous one drawn at every report."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng
        self._permanent: dict[int, int] = {}

    def permanent(self, bit: int) -> int:
        if bit not in self._permanent:
            self._permanent[bit] = bit if self.rng.random() < 0.75 else 1 - bit
        return self._permanent[bit]

    def report(self, bit: int) -> int:
        return self.permanent(bit) if self.rng.random() < 0.75 else 1 - self.permanent(bit)


class RapporForgetful(Rappor):
    def permanent(self, bit: int) -> int:
        self._permanent.clear()
        return super().permanent(bit)


def _two_reports(client: Rappor, bit: int) -> tuple[int, int]:
    return client.report(bit), client.report(bit)


def _rappor(bit: int) -> Probabilities:
    masses: Probabilities = {}
    for kept in (0, 1):
        chance = Fraction(3 if kept == bit else 1, 4)
        for pair in ((0, 0), (0, 1), (1, 0), (1, 1)):
            rest = Fraction(1)
            for y in pair:
                rest *= Fraction(3 if y == kept else 1, 4)
            masses[pair] = masses.get(pair, Fraction(0)) + chance * rest
    return masses


add(
    "client with memoised answers",
    name="RAPPOR, two reports",
    honest=lambda bit, rng: _two_reports(Rappor(rng), bit),
    bugged=lambda bit, rng: _two_reports(RapporForgetful(rng), bit),
    left=0,
    right=1,
    law=_rappor,
    epsilon="0.8474",  # a little above ln(7/3)
)
