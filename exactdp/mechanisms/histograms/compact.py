"""A noisy count for every element of the universe, stored as the coefficients of one polynomial.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.balls import ball, precision
from exactdp.container import Kind, Scalar
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.mechanisms.histograms.mechanism import (
    Bins,
    HistogramMechanism,
)
from exactdp.mechanisms.released import Estimates
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.progress import bar, watched
from exactdp.samplers import FastSample, GeoSample, Source
from exactdp.samplers import binary_polynomials as polynomials
from exactdp.samplers.binary_evaluation import Evaluator
from exactdp.samplers.binary_field import BinaryField
from exactdp.samplers.binary_polynomials import PointTree
from exactdp.samplers.count_samplers import CountSampler
from exactdp.samplers.source import require_secure

#: Header fields of a file; gamma_inverse is None for GeoSample.
_FIELDS = ("n", "noise_epsilon", "gamma_inverse", "universe", "epsilon", "level", "text")
_FILE = Kind("compact histogram", 3, _FIELDS)
_HIGHEST_LEVEL = 12


@frozen
class CompactHistogram(HistogramMechanism):
    """A random (n + 1)-wise independent hash function that agrees with the noisy non-empty counts.

    noise: sampler of the non-empty counts, (eps_1, 0)-DP for a histogram. universe: number of
    elements. epsilon: total privacy loss, > eps_1. level: selects the field with 2^(2 * 3^level)
    elements, which must be at least as large as the universe. The release stores n + 1 field
    elements and answers a query for any element x.

    Usually made by :meth:`of`. Raises InvalidParameter if the field is too small for epsilon: the
    condition eps_1 + eps_2 + eps_3 <= epsilon is checked exactly (eps_2, eps_3: InverseCount).
    Source: BV, Algorithm 9, Theorem 7.2, Corollary 7.3.
    """

    epsilon: Number = number(positive)
    level: int = whole(least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.universe > self.field.order:
            raise InvalidParameter("level", self.level, "a field at least as large as the universe")
        with precision(256):
            if not ball(self.e_epsilon) <= ball(self.epsilon).exp():
                raise InvalidParameter("level", self.level, "a field large enough for epsilon")

    @classmethod
    def of(cls, *, n: int, epsilon: Real, universe: int, beta: Real) -> CompactHistogram:
        """The mechanism with the parameters of BV, Corollary 7.3.

        n: number of rows, >= 1. epsilon: > 0 and <= 1. universe: number of elements, >= 1.
        beta: probability that the error bound of a query fails, > 0 and < 1.
        """
        total, chance = positive("epsilon", epsilon), delta_target("beta", beta)
        if total > 1:
            raise InvalidParameter("epsilon", epsilon, "> 0 and <= 1")
        rows, size = integer("n", n, least=1), integer("universe", universe, least=1)
        share = Fraction(1, ceil(Fraction(10, 9) / total))
        noise = FastSample(n=rows, epsilon=share, gamma_inverse=ceil(2 * size / chance))
        needed = max(size, ceil((rows + 1) * noise.gamma_inverse * (1 + 2 / (total - share))))
        level = 0
        while BinaryField(level).order < needed:
            level += 1
        return cls(noise, size, total, level)

    @cached_property
    def field(self) -> BinaryField:
        """The field of hash values."""
        return BinaryField(self.level)

    @cached_property
    def inverse(self) -> InverseCount:
        """The map M_0 from hash values to counts."""
        return InverseCount(self.noise, self.field.degree)

    @cached_property
    def e_epsilon(self) -> Fraction:
        """e^(eps_1 + eps_2 + eps_3), exactly."""
        more, less = self.inverse.losses
        return self.noise.e_half_epsilon**2 * more * less

    def guarantee(self) -> Guarantee:
        zero = Enclosure.exact(0)
        return Guarantee(self.epsilon, zero, REPLACED_ROW, self._source(), self.e_epsilon)

    def accuracy(self, beta: Real) -> Accuracy:
        """Per query: the error of one count. Simultaneous: a union bound over the universe."""
        chance = delta_target("beta", beta)
        every = self.noise.error(chance / self.universe)
        return Accuracy(chance, self.noise.error(chance), -1, every)

    def release(self, counts: Mapping[int, int], source: Source) -> CompactRelease:
        """Publish the hash function.

        counts: element -> true count; the counts sum to n. source: randomness fit for a release,
        such as SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        coefficients = tuple(c for _, c in self.draw(counts, source))
        return CompactRelease(self, coefficients)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        """The coefficients of the polynomial, numbered from the constant term."""
        field, points = self.field, list(counts)
        values = []
        noisy = self.noise.sample_each(list(counts.values()), source)
        for c in watched(noisy, "counters"):
            start, size = self.inverse.values(c)
            values.append(start + source.below(size))
        free = [source.bits(field.degree) for _ in range(self.n - len(points) + 1)]
        with (
            bar(PointTree.work(len(points)), "polynomial") as done,
            polynomials.other_threads_run(),
        ):
            tree = PointTree(field, points, done)
            multiple = polynomials.multiply(field, tree.vanishing(), free)
            through = tree.interpolate(values)
        return tuple(enumerate(polynomials.add(field, multiple, through)))

    def _source(self) -> str:
        return "BV Algorithm 9, Theorem 7.2, Corollary 7.3"


@dataclass(frozen=True)
class CompactRelease(Estimates):
    """A published compact histogram: ``release[x]`` is the noisy count of any element x.

    mechanism: the parameters and the guarantee. coefficients: n + 1 field elements, from the
    constant term. text: None if elements are numbers; if they are byte strings encoded by
    encode_bytes, the largest length in bytes.
    """

    mechanism: CompactHistogram
    coefficients: tuple[int, ...]
    text: int | None = None

    def of_texts(self, longest: int | None) -> CompactRelease:
        """The same release, marked as a histogram of byte strings of at most this length."""
        return replace(self, text=longest)

    def __post_init__(self) -> None:
        size, order = self.mechanism.n + 1, self.mechanism.field.order
        if len(self.coefficients) != size:
            raise InvalidParameter(
                "coefficients",
                Described(f"{len(self.coefficients)} coefficients"),
                f"{size} coefficients",
            )
        for c in self.coefficients:
            if not isinstance(c, int) or not 0 <= c < order:
                raise InvalidParameter("coefficients", c, "elements of the mechanism's field")

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of the release."""
        return self.mechanism.guarantee()

    def __getitem__(self, element: int) -> int:
        """The noisy count of an element; raises InvalidParameter outside the universe."""
        x = integer("element", element, least=0)
        if x >= self.mechanism.universe:
            raise InvalidParameter("element", element, f"< universe = {self.mechanism.universe}")
        return self.mechanism.inverse.count(self._evaluator._value(x))

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.mechanism.field, self.coefficients)

    def as_dict(self) -> dict[str, Any]:
        """A dict for JSON, read by :meth:`from_dict`."""
        coefficients = [f"{c:x}" for c in self.coefficients]
        about = {"kind": _FILE.name, "version": _FILE.version}
        return {**about, **self._header(), "coefficients": coefficients}

    @classmethod
    def from_dict(cls, data: Any) -> CompactRelease:
        """The release from as_dict's result; raises InvalidParameter unless everything is valid."""
        given = data if isinstance(data, dict) else {}
        about = (given.get("kind"), given.get("version"))
        if about != (_FILE.name, _FILE.version):
            raise InvalidParameter("kind", about, f"{_FILE.name!r} of version {_FILE.version}")
        missing = {*_FIELDS, "coefficients"} - given.keys()
        if missing:
            raise InvalidParameter(
                "header", Described(f"a header without {sorted(missing)}"), "complete"
            )
        texts = given["coefficients"]
        if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
            raise InvalidParameter("coefficients", type(texts).__name__, "a list of hex strings")
        if integer("n", given["n"], least=0) != len(texts) - 1:
            raise InvalidParameter(
                "coefficients", Described(f"{len(texts)} coefficients"), "n + 1 coefficients"
            )
        mechanism = _mechanism(given)
        try:
            return cls(mechanism, tuple(int(text, 16) for text in texts), _text(given))
        except ValueError as error:
            if isinstance(error, InvalidParameter):
                raise
            raise InvalidParameter("coefficients", Described("other text"), "hex strings") from None

    def to_bytes(self) -> bytes:
        """A checked file with the parameters and coefficients, read by :meth:`from_bytes`."""
        degree = self.mechanism.field.degree
        return _FILE.pack(self._header(), _joined(self.coefficients, degree))

    @classmethod
    def from_bytes(cls, data: bytes) -> CompactRelease:
        """The release from a file of to_bytes; raises InvalidParameter if a single bit changed."""
        header, body = _FILE.unpack(data)
        mechanism = _mechanism(header, len(body))
        coefficients = _split(body, mechanism.n + 1, mechanism.field.degree)
        return cls(mechanism, coefficients, _text(header))

    def _header(self) -> dict[str, Scalar]:
        noise = self.mechanism.noise
        return {
            "n": noise.n,
            "noise_epsilon": decimal_text(noise.epsilon),
            "gamma_inverse": str(noise.gamma_inverse) if isinstance(noise, FastSample) else None,
            "universe": str(self.mechanism.universe),
            "epsilon": decimal_text(self.mechanism.epsilon),
            "level": self.mechanism.level,
            "text": self.text,
        }


def _size(count: int, bits: int) -> int:
    return (count * bits + 7) // 8


def _joined(elements: Sequence[int], bits: int) -> bytes:
    """Concatenate elements of `bits` bits each, lowest bits first; eight fill whole bytes."""
    eights = (elements[i : i + 8] for i in range(0, len(elements), 8))
    packed = (sum(x << j * bits for j, x in enumerate(eight)) for eight in eights)
    return b"".join(x.to_bytes(bits, "little") for x in packed)[: _size(len(elements), bits)]


def _split(data: bytes | memoryview, count: int, bits: int) -> tuple[int, ...]:
    """The elements that :func:`_joined` concatenated."""
    mask, found = (1 << bits) - 1, list[int]()
    for start in range(0, len(data), bits):
        packed = int.from_bytes(data[start : start + bits], "little")
        for _ in range(min(8, count - len(found))):
            found.append(packed & mask)
            packed >>= bits
        if packed:
            raise InvalidParameter(
                "data", Described("non-zero bits"), "zeros after the last coefficient"
            )
    return tuple(found)


def _text(header: Mapping[str, Any]) -> int | None:
    longest = header["text"]
    return None if longest is None else integer("text", longest, least=0)


def _mechanism(header: Mapping[str, Any], size: int | None = None) -> CompactHistogram:
    """The mechanism of a header. size: length of the payload in bytes, which must fit n and level.

    Raises InvalidParameter.
    """
    rows, level = (integer(name, header[name], least=0) for name in ("n", "level"))
    if level > _HIGHEST_LEVEL:
        raise InvalidParameter("level", level, f"<= {_HIGHEST_LEVEL}")
    # checked first: the time of what follows grows with n and level
    if size is not None and size != _size(rows + 1, 2 * 3**level):
        raise InvalidParameter(
            "data", Described(f"{size} bytes of coefficients"), "as long as its header states"
        )
    share = header["noise_epsilon"]
    if header["gamma_inverse"] is None:
        noise: CountSampler = GeoSample(n=rows, epsilon=share)
    else:
        gamma = integer("gamma_inverse", header["gamma_inverse"], least=2)
        noise = FastSample(n=rows, epsilon=share, gamma_inverse=gamma)
    return CompactHistogram(noise, header["universe"], header["epsilon"], level)
