"""Published compact histograms: queries, and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from exactdp.container import Kind, Scalar
from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.histograms.compact import CompactHistogram
from exactdp.mechanisms.released import Estimates
from exactdp.parameters import decimal_text, integer
from exactdp.samplers import FastSample, GeoSample
from exactdp.samplers.binary_evaluation import Evaluator
from exactdp.samplers.binary_field import BinaryField
from exactdp.samplers.count_samplers import CountSampler

#: Header fields of a file; gamma_inverse and bits are None for GeoSample.
_FIELDS = (
    *("n", "noise_epsilon", "power_of_two", "gamma_inverse", "bits"),
    *("universe", "epsilon", "period", "words", "text"),
)
_FILE = Kind("compact histogram", 4, _FIELDS)


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
        return _FILE.pack(self._header(), _joined(self.coefficients, bits))

    @classmethod
    def from_bytes(cls, data: bytes) -> CompactRelease:
        """The release from a file of to_bytes; raises InvalidParameter if a single bit changed."""
        header, body = _FILE.unpack(data)
        mechanism = _mechanism(header, len(body))
        coefficients = _split(body, mechanism.n + 1, mechanism.value_bits)
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


def _size(count: int, bits: int) -> int:
    return (count * bits + 7) // 8


def _joined(elements: Sequence[int], bits: int) -> bytes:
    """Concatenate elements of `bits` bits each, lowest bits first; eight fill whole bytes."""
    eights = (elements[i : i + 8] for i in range(0, len(elements), 8))
    packed = (sum(x << j * bits for j, x in enumerate(eight)) for eight in eights)
    return b"".join(x.to_bytes(bits, "little") for x in packed)[: _size(len(elements), bits)]


def _split(data: bytes | memoryview, count: int, bits: int) -> tuple[int, ...]:
    """The elements that :func:`_joined` concatenated."""
    mask, elements = (1 << bits) - 1, list[int]()
    for start in range(0, len(data), bits):
        packed = int.from_bytes(data[start : start + bits], "little")
        for _ in range(min(8, count - len(elements))):
            elements.append(packed & mask)
            packed >>= bits
        if packed:
            raise InvalidParameter(
                "data", Described("non-zero bits"), "zeros after the last coefficient"
            )
    return tuple(elements)


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
    if size is not None and size != _size(rows + 1, words * BinaryField(period).degree):
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
