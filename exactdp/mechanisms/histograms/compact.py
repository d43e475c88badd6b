"""A noisy count for every element of the universe, stored as the coefficients of one polynomial.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as option
from fractions import Fraction
from functools import cached_property
from itertools import count as naturals
from itertools import islice, zip_longest
from math import ceil
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.balls import ball, precision
from exactdp.container import Kind, Scalar
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.mechanisms.histograms.mechanism import Bins, HistogramMechanism
from exactdp.mechanisms.histograms.packing import byte_count, joined, split
from exactdp.mechanisms.released import Estimates
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.progress import bar
from exactdp.samplers import FastSample, GeoSample, Source
from exactdp.samplers.binary_evaluation import Evaluator
from exactdp.samplers.binary_field import BinaryField, smallest_field
from exactdp.samplers.binary_polynomials import PointTree, multiply, other_threads_run
from exactdp.samplers.count_samplers import CountSampler
from exactdp.samplers.source import require_secure

#: The part of epsilon that is kept for hash values drawn from a fixed number of bits.
_SHARE = Fraction(1, 1 << 42)

#: Header fields of a file; gamma_inverse and bits are None for GeoSample.
_FIELDS = (
    *("n", "noise_epsilon", "power_of_two", "gamma_inverse", "bits"),
    *("universe", "epsilon", "period", "words", "text"),
)
_FILE = Kind("compact histogram", 4, _FIELDS)


@frozen
class CompactHistogram(HistogramMechanism):
    """A random (n + 1)-wise independent hash function that agrees with the noisy non-empty counts.

    noise: sampler of the non-empty counts, (eps_1, 0)-DP for a histogram. universe: number of
    elements. epsilon: total privacy loss, >= eps_1. period: selects a field, see BinaryField; it
    must be at least as large as the universe. words: a hash value is a vector of that number of
    field elements, by default 1 as in BV. The release stores n + 1 vectors, the coefficients of
    polynomials, and answers a query for any element x.
    fixed_time: interpolate through n + 1 points for every data set, so that the field operations do
    not depend on the data. Otherwise they depend on the number of non-empty bins, which is faster
    if that is far below n.

    With FastSample as noise, every release reads the same number of random bits. Usually made by
    :meth:`of`. Raises InvalidParameter if the field is too small for epsilon: the condition
    eps_1 + eps_2 + eps_3 <= epsilon is checked exactly (eps_2, eps_3: InverseCount).
    Source: BV, Algorithm 9, Theorem 7.2, Corollary 7.3.
    """

    epsilon: Number = number(positive)
    period: int = whole(least=3)
    words: int = whole(least=1, default=1)
    fixed_time: bool = option(default=False, kw_only=True)

    source = "BV Algorithm 9, Theorem 7.2, Corollary 7.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.universe > self.field.order:
            allowed = "a field at least as large as the universe"
            raise InvalidParameter("period", self.period, allowed)
        with precision(256):
            if not ball(self.e_epsilon) <= ball(self.epsilon).exp():
                raise InvalidParameter("period", self.period, "a field large enough for epsilon")

    @classmethod
    def of(
        cls, *, n: int, epsilon: Real, universe: int, beta: Real, fixed_time: bool = False
    ) -> CompactHistogram:
        """The mechanism with the least field for these errors, in which M_0 is exact.

        n: number of rows, >= 1. epsilon: > 0. universe: number of elements, >= 1. beta: probability
        that an error bound fails, > 0 and < 1: of a query with beta, of all elements with beta.
        The noise of BV, Corollary 7.3, has about twice the variance, as it keeps 9/10 epsilon, in
        powers of two; here eps~ is at least (1 - 2^-10) epsilon.
        """
        loss, chance = positive("epsilon", epsilon), delta_target("beta", beta)
        rows, size = integer("n", n, least=1), integer("universe", universe, least=1)
        kept = loss * (1 - _SHARE)
        usual = FastSample(n=rows, epsilon=kept).gamma_inverse
        gamma = max(usual, ceil(2 * size / chance))
        # rounding costs a factor 1 + 6/(L - 3), see FastSample, and L is at least half of
        # 2^bits/(gamma (n + 1))
        least = 2 * gamma * (rows + 1) * (3 + 3 * 2**12 * ceil(1 + 2 / loss))
        words, field = _field_for((size - 1).bit_length(), least.bit_length())
        bits = words * field.degree
        noise = FastSample(n=rows, epsilon=kept, gamma_inverse=gamma, bits=bits)
        return cls(noise, size, loss, field.period, words, fixed_time=fixed_time)

    @cached_property
    def field(self) -> BinaryField:
        """The field of the polynomials, which contains the universe."""
        return BinaryField(self.period)

    @property
    def value_bits(self) -> int:
        """Bits of a hash value, and of a coefficient."""
        return self.words * self.field.degree

    @cached_property
    def inverse(self) -> InverseCount:
        """The map M_0 from hash values to counts."""
        return InverseCount(self.noise, self.value_bits)

    @property
    def _hash_bits(self) -> int:
        """Random bits of a hash value with a given count.

        Each hash value then has its probability up to a factor 1 +- 2^-48 min(epsilon, 1).
        """
        return self.value_bits + 48 + ceil(1 / self.epsilon).bit_length()

    @property
    def bits(self) -> int | None:
        per_draw = self.noise.bits_per_draw
        if per_draw is None:
            return None
        return self.n * (per_draw + self._hash_bits) + (self.n + 1) * self.value_bits

    @cached_property
    def e_epsilon(self) -> Fraction:
        """e^(eps_1 + eps_2 + eps_3), and what hash values from a fixed number of bits cost."""
        more, less = self.inverse.losses
        uneven = Fraction(1)
        if self.noise.bits_per_draw is not None:
            unit = 1 << self._hash_bits - self.value_bits
            uneven = Fraction(unit + 1, unit - 1)
        return self.noise.e_half_epsilon**2 * more * less * uneven

    @property
    def guarantee(self) -> Guarantee:
        zero = Enclosure.exact(0)
        return Guarantee(self.epsilon, zero, REPLACED_ROW, self.source, self.e_epsilon)

    def release(self, counts: Mapping[int, int], source: Source) -> CompactRelease:
        """Publish the hash function.

        counts: element -> true count; the counts sum to n. source: randomness fit for a release,
        such as SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        coefficients = tuple(c for _, c in self.draw(counts, source))
        return CompactRelease(self, coefficients)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        """The coefficients of the polynomials, numbered from the constant term."""
        points, values = list(counts), self._hash_values(counts, source)
        others = self.n + 1 - len(points)
        free = self._free_values(others, source)
        if self.fixed_time:  # uniform values at other points, in place of uniform coefficients
            unused = (x for x in naturals() if x not in counts)
            points, values = [*points, *islice(unused, others)], [*values, *free]
        degree = self.field.degree
        with (
            bar(PointTree.work(len(points), self.words), "polynomial") as done,
            other_threads_run(),
        ):
            tree = PointTree(self.field, points, done)
            coefficients = [0] * (self.n + 1)
            for place in range(0, self.value_bits, degree):
                word = tree.interpolate([value >> place & self.field.order - 1 for value in values])
                if not self.fixed_time:
                    more = [value >> place & self.field.order - 1 for value in free]
                    multiple = multiply(self.field, tree.vanishing(), more)
                    word = [x ^ y for x, y in zip_longest(multiple, word, fillvalue=0)]
                coefficients = [x | y << place for x, y in zip(coefficients, word, strict=True)]
        return tuple(enumerate(coefficients))

    def _hash_values(self, counts: dict[int, int], source: Source) -> list[int]:
        """A random hash value with the noisy count of each non-empty bin."""
        ranges = [self.inverse.values(c) for c in self._noisy(counts, source)]
        if self.noise.bits_per_draw is None:
            return [start + source.below(size) for start, size in ranges]
        sizes = [size for _, size in ranges]
        sizes += [1] * (source.draws(len(sizes), self.n) - len(sizes))
        places = source.fixed_below(sizes, self._hash_bits)
        return [start + place for (start, _), place in zip(ranges, places, strict=False)]

    def _free_values(self, others: int, source: Source) -> list[int]:
        """Uniform hash values; n + 1 are drawn if the number of bits is fixed."""
        fixed = self.noise.bits_per_draw is not None
        needed = source.draws(others, self.n + 1) if fixed else others
        return source.integers(needed, self.value_bits)[:others]


def _field_for(element_bits: int, value_bits: int) -> tuple[int, BinaryField]:
    """The number of words and the field for which interpolation is fastest.

    The tree takes 5/7 of the time for one word, the sums of its polynomials 2/7 for each word.
    """
    options = []
    for words in (1, 2, 3):
        field = smallest_field(max(element_bits, -(-value_bits // words)))
        options.append(((5 + 2 * words) * field.degree, words, field))
    _, words, field = min(options, key=lambda option: option[0])
    return words, field


@dataclass(frozen=True)
class CompactRelease(Estimates):
    """A published compact histogram: ``release[x]`` is the noisy count of any element x.

    mechanism: the parameters and the guarantee. coefficients: n + 1 vectors of field elements, from
    the constant term, as integers with the first element in the lowest bits. text: None if elements
    are numbers; if they are byte strings encoded by encode_bytes, the largest length in bytes.
    """

    mechanism: CompactHistogram
    coefficients: tuple[int, ...]
    text: int | None = None

    def __post_init__(self) -> None:
        size, bits = self.mechanism.n + 1, self.mechanism.value_bits
        if len(self.coefficients) != size:
            raise InvalidParameter(
                "coefficients",
                Described(f"{len(self.coefficients)} coefficients"),
                f"{size} coefficients",
            )
        for c in self.coefficients:
            if not isinstance(c, int) or not 0 <= c < 1 << bits:
                raise InvalidParameter("coefficients", c, f"integers of at most {bits} bits")

    def __getitem__(self, element: int) -> int:
        """The noisy count of an element; raises InvalidParameter outside the universe."""
        x = integer("element", element, least=0)
        if x >= self.mechanism.universe:
            raise InvalidParameter("element", element, f"< universe = {self.mechanism.universe}")
        return self.mechanism.inverse.count(self.value(x))

    def value(self, element: int) -> int:
        """The hash value of an element."""
        degree = self.mechanism.field.degree
        return sum(word(element) << i * degree for i, word in enumerate(self._words))

    @cached_property
    def _words(self) -> list[Evaluator]:
        field = self.mechanism.field
        places = range(0, self.mechanism.value_bits, field.degree)
        return [
            Evaluator(field, [c >> place & field.order - 1 for c in self.coefficients])
            for place in places
        ]

    def as_dict(self) -> dict[str, Any]:
        """A dict for JSON, read by :meth:`from_dict`."""
        coefficients = [f"{c:x}" for c in self.coefficients]
        about = {"kind": _FILE.name, "version": _FILE.version}
        return {**about, **self._header(), "coefficients": coefficients}

    @classmethod
    def from_dict(cls, data: Any) -> CompactRelease:
        """The release from as_dict's result; raises InvalidParameter unless everything is valid."""
        header = data if isinstance(data, dict) else {}
        about = (header.get("kind"), header.get("version"))
        if about != (_FILE.name, _FILE.version):
            raise InvalidParameter("kind", about, f"{_FILE.name!r} of version {_FILE.version}")
        missing = {*_FIELDS, "coefficients"} - header.keys()
        if missing:
            raise InvalidParameter(
                "header", Described(f"a header without {sorted(missing)}"), "complete"
            )
        texts = header["coefficients"]
        if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            raise InvalidParameter("coefficients", type(texts).__name__, "a list of hex strings")
        if integer("n", header["n"], least=0) != len(texts) - 1:
            raise InvalidParameter(
                "coefficients", Described(f"{len(texts)} coefficients"), "n + 1 coefficients"
            )
        mechanism = _mechanism(header)
        try:
            return cls(mechanism, tuple(int(text, 16) for text in texts), _text(header))
        except ValueError as error:
            if isinstance(error, InvalidParameter):
                raise
            raise InvalidParameter("coefficients", Described("other text"), "hex strings") from None

    def to_bytes(self) -> bytes:
        """A checked file with the parameters and coefficients, read by :meth:`from_bytes`."""
        bits = self.mechanism.value_bits
        return _FILE.pack(self._header(), joined(self.coefficients, bits))

    @classmethod
    def from_bytes(cls, data: bytes) -> CompactRelease:
        """The release from a file of to_bytes; raises InvalidParameter if a single bit changed."""
        header, body = _FILE.unpack(data)
        mechanism = _mechanism(header, len(body))
        coefficients = split(body, mechanism.n + 1, mechanism.value_bits)
        return cls(mechanism, coefficients, _text(header))

    def _header(self) -> dict[str, Scalar]:
        noise = self.mechanism.noise
        return {
            "n": noise.n,
            "noise_epsilon": decimal_text(noise.epsilon),
            "power_of_two": int(noise.power_of_two),
            "gamma_inverse": str(noise.gamma_inverse) if isinstance(noise, FastSample) else None,
            "bits": noise.bits_per_draw,
            "universe": str(self.mechanism.universe),
            "epsilon": decimal_text(self.mechanism.epsilon),
            "period": self.mechanism.period,
            "words": self.mechanism.words,
            "text": self.text,
        }


def _text(header: Mapping[str, Any]) -> int | None:
    longest = header["text"]
    return None if longest is None else integer("text", longest, least=0)


def _mechanism(header: Mapping[str, Any], size: int | None = None) -> CompactHistogram:
    """The mechanism of a header. size: length of the payload in bytes, which must fit n and period.

    Raises InvalidParameter.
    """
    rows, period = (integer(name, header[name], least=0) for name in ("n", "period"))
    words = integer("words", header["words"], least=1)
    # checked first: the time of what follows grows with n
    if size is not None and size != byte_count(rows + 1, words * BinaryField(period).degree):
        raise InvalidParameter(
            "data", Described(f"{size} bytes of coefficients"), "as long as its header states"
        )
    share = header["noise_epsilon"]
    power = bool(integer("power_of_two", header["power_of_two"], least=0))
    if header["gamma_inverse"] is None:
        noise: CountSampler = GeoSample(n=rows, epsilon=share, power_of_two=power)
    else:
        gamma, bits = (integer(x, header[x], least=1) for x in ("gamma_inverse", "bits"))
        noise = FastSample(
            n=rows, epsilon=share, gamma_inverse=gamma, bits=bits, power_of_two=power
        )
    return CompactHistogram(noise, header["universe"], header["epsilon"], period, words)
