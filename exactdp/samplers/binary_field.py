"""The fields F_2^(2·3^l): elements are integers, and field products are integer products.

Bit i of an element is the coefficient of x^i; the modulus is x^(2k) + x^k + 1 with k = 3^l.
Products are computed by Kronecker substitution: every bit moves to a slot that is wide enough for
the number of terms of a power. A product of big integers then counts the terms of every power, and
the low bit of each slot is the coefficient. Reduction works on slots, so operands stay in slots
during a longer computation (:class:`Slots`, used by :mod:`exactdp.samplers.binary_polynomials`).

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Sections 2.4 and 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from gmpy2 import f_mod_2exp, from_binary, mpz, to_binary

from exactdp.errors import InvalidParameter

#: Larger fields (elements of more than 1 062 882 bits) are refused: a typo should not fill memory.
MAX_LEVEL = 12

# The prefix that gmpy2.to_binary writes before the little-endian bytes of a positive integer.
_HEADER = b"\x01\x01"


@dataclass(frozen=True, repr=False, eq=False)
class Slots:
    """Vectors of field elements inside one integer, each bit in a slot of ``width`` bits.

    Element i of the vector starts at bit ``i * stride``. An unreduced product of two elements (4k
    slots) fits a stride, so one integer product multiplies two polynomials over the field. Callers
    must ensure that no slot counts to 2^width.

    :param level: the field is F_2^(2·3^level).
    :param width: bits per slot; 1 packs the bits without gaps.
    :param length: the longest vector for :meth:`reduce`.
    """

    level: int
    width: int
    length: int
    stride: int = field(init=False)
    _half: int = field(init=False)  # k slots, in bits
    _low: mpz = field(init=False)  # low bits of the slots of 1 .. x^(k-1), in every element
    _high: mpz = field(init=False)  # low bits of the slots of x^k .. x^(2k-1), in every element
    _steps: tuple[tuple[int, mpz, mpz], ...] = field(init=False)

    def __post_init__(self) -> None:
        k, w = 3**self.level, self.width
        stride = -(-4 * k * w // 8) * 8  # whole bytes, so that packing is joining bytes
        low = _repeated(_repeated(mpz(1), w, k), stride, self.length)
        doublings = (2 * k - 1).bit_length() if w > 1 else 0
        masks = [
            _repeated(mpz((1 << (1 << e)) - 1), w << e, -(-2 * k >> e))
            for e in range(doublings + 1)
        ]
        steps = tuple(((w - 1) << e, masks[e], masks[e + 1]) for e in range(doublings))
        values = {"stride": stride, "_half": k * w, "_low": low, "_high": low << k * w}
        for name, value in (values | {"_steps": steps}).items():
            object.__setattr__(self, name, value)

    def spread(self, element: int) -> mpz:
        """The element with each bit in its slot."""
        spread = mpz(element)
        for shift, mask, _ in reversed(self._steps):
            spread = (spread | spread << shift) & mask
        return spread

    def gather(self, spread: mpz) -> int:
        """The inverse of :meth:`spread`."""
        for shift, _, mask in self._steps:
            spread = (spread | spread >> shift) & mask
        return int(spread)

    def reduce(self, product: mpz) -> mpz:
        """Reduce every element of an integer product, or of a sum of products.

        With c0 .. c3 the blocks of k coefficients, x^(2k) = x^k + 1 and x^(3k) = 1 give
        (c0 + c2 + c3) + (c1 + c2)·x^k. Slots keep only their parities.
        """
        folded = product ^ (product >> self._half)
        lower = (product ^ (folded >> 2 * self._half)) & self._low
        return lower ^ (folded & self._high)

    def pack(self, elements: Iterable[int]) -> mpz:
        """The vector of these elements."""
        return self.join(self.spread(element) for element in elements)

    def join(self, spreads: Iterable[mpz]) -> mpz:
        """The vector of elements in slots."""
        size = self.stride // 8
        return self.load(b"".join(_bytes(spread, size) for spread in spreads))

    def load(self, data: bytes) -> mpz:
        """The vector of these bytes, lowest first, stride / 8 bytes per element."""
        return _integer(data)

    def unpack(self, vector: mpz, length: int) -> list[int]:
        """The inverse of :meth:`pack` for a vector of this length."""
        return [self.gather(spread) for spread in self.split(vector, length)]

    def split(self, vector: mpz, length: int) -> list[mpz]:
        """The inverse of :meth:`join` for a vector of this length."""
        return [_integer(piece) for piece in self._pieces(vector, length)]

    def reverse(self, vector: mpz, length: int) -> mpz:
        """The vector of ``length`` elements in reverse order."""
        return _integer(b"".join(reversed(self._pieces(vector, length))))

    def first(self, vector: mpz, length: int) -> mpz:
        """The first ``length`` elements, or that part of a product."""
        return f_mod_2exp(vector, length * self.stride)

    def skip(self, vector: mpz, length: int) -> mpz:
        """The elements after the first ``length``, or that part of a product."""
        return vector >> length * self.stride

    def _pieces(self, vector: mpz, length: int) -> list[bytes]:
        size = self.stride // 8
        data = _bytes(vector, length * size)
        return [data[start : start + size] for start in range(0, length * size, size)]


@dataclass(frozen=True)
class BinaryField:
    """The field with 2^(2·3^level) elements; an element is an integer 0 <= a < order.

    :param level: from 0 to 12; degrees 2, 6, 18, 54, 162, 486, 1458, ...
    :raises InvalidParameter: a level, or later an element, out of its domain.

    Source: BV, Section 2.4: x^(2·3^l) + x^(3^l) + 1 is irreducible over F_2 for every l.

    >>> f = BinaryField(1)  # modulo x^6 + x^3 + 1
    >>> f.degree, f.mul(0b100000, 0b10), f.mul(5, f.inverse(5))
    (6, 9, 1)
    """

    level: int

    def __post_init__(self) -> None:
        if not _is_integer(self.level) or not 0 <= self.level <= MAX_LEVEL:
            raise InvalidParameter("level", self.level, f"an integer from 0 to {MAX_LEVEL}")

    @cached_property
    def degree(self) -> int:
        """Bits of an element, 2·3^level."""
        degree: int = 2 * 3**self.level
        return degree

    @cached_property
    def order(self) -> int:
        """Number of elements, 2^degree."""
        return 1 << self.degree

    @cached_property
    def modulus(self) -> int:
        """x^(2k) + x^k + 1 as an integer, k = 3^level."""
        return self.order | (1 << self.degree // 2) | 1

    def check(self, name: str, value: int) -> None:
        """Raise InvalidParameter unless the value is an element; ``name`` is for the message."""
        if not _is_integer(value) or value < 0 or value.bit_length() > self.degree:
            raise InvalidParameter(name, value, f"an integer from 0 to 2^{self.degree} - 1")

    def add(self, a: int, b: int) -> int:
        """a + b, which is also a - b."""
        self.check("a", a)
        self.check("b", b)
        return a ^ b

    def mul(self, a: int, b: int) -> int:
        """a·b."""
        self.check("a", a)
        self.check("b", b)
        return self._mul(a, b)

    def square(self, a: int) -> int:
        """a²: bit i of a moves to bit 2i before reduction."""
        self.check("a", a)
        return self._square(a)

    def sqrt(self, a: int) -> int:
        """The unique element whose square is a."""
        self.check("a", a)
        return self._sqrt(a)

    def inverse(self, a: int) -> int:
        """1/a; raises InvalidParameter for a = 0."""
        self.check("a", a)
        if not a:
            raise InvalidParameter("a", a, "other than 0, which has no inverse")
        return self._inverse(a)

    def power(self, a: int, exponent: int) -> int:
        """a^exponent for any integer exponent; 0^0 = 1, and 0 has no negative powers."""
        self.check("a", a)
        if not _is_integer(exponent):
            raise InvalidParameter("exponent", exponent, "an integer")
        if exponent < 0:
            return self._power(self.inverse(a), -exponent)
        return self._power(a, exponent)

    def _mul(self, a: int, b: int) -> int:
        slots = self._slots
        return slots.gather(slots.reduce(slots.spread(a) * slots.spread(b)))

    def _square(self, a: int) -> int:
        return self._reduce(int(f"{a:b}", 4))

    def _sqrt(self, a: int) -> int:
        # a = E(x²) + x·O(x²), and x = (x^((3k+1)/2))² because x^(3k) = 1.
        bits = f"{a:0{self.degree}b}"
        odd, even = int(bits[0::2], 2), int(bits[1::2], 2)
        return self._reduce(even ^ (odd << (3 * self.degree // 2 + 1) // 2))

    def _inverse(self, a: int) -> int:
        # Euclid's algorithm keeping u = s·a and v = t·a modulo the modulus.
        u, v, s, t = a, self.modulus, 1, 0
        while u != 1:
            shift = u.bit_length() - v.bit_length()
            if shift < 0:
                u, v, s, t, shift = v, u, t, s, -shift
            u ^= v << shift
            s ^= t << shift
        return s

    def _power(self, a: int, exponent: int) -> int:
        result = 1
        for bit in f"{exponent:b}":
            result = self._square(result)
            if bit == "1":
                result = self._mul(result, a)
        return result

    def _reduce(self, product: int) -> int:
        """A polynomial of degree below 4k modulo the modulus (as :meth:`Slots.reduce`)."""
        k = self.degree // 2
        low = (1 << k) - 1
        folded = product ^ (product >> k)
        return ((product ^ (folded >> 2 * k)) & low) ^ (folded & (low << k))

    @cached_property
    def _slots(self) -> Slots:
        return element_slots(self.level)


def smallest_field(bits: int) -> BinaryField:
    """The smallest field whose elements have at least ``bits`` bits.

    :param bits: at least 1; with bits = ceil(log2 |X|) the universe X embeds in the field.
    :raises InvalidParameter: bits not an integer, below 1, or beyond the largest field.

    >>> [smallest_field(bits).degree for bits in (1, 2, 3, 54, 55)]
    [2, 2, 6, 54, 162]
    """
    largest = 2 * 3**MAX_LEVEL
    if not _is_integer(bits) or not 1 <= bits <= largest:
        raise InvalidParameter("bits", bits, f"an integer from 1 to {largest}")
    return BinaryField(next(level for level in range(MAX_LEVEL + 1) if 2 * 3**level >= bits))


@lru_cache(maxsize=MAX_LEVEL + 1)
def element_slots(level: int) -> Slots:
    """Slots for products of two elements: a slot counts at most 2k terms."""
    return Slots(level, (2 * 3**level).bit_length(), 1)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _repeated(pattern: mpz, stride: int, count: int) -> mpz:
    """``count`` copies of the pattern, ``stride`` bits apart, by doubling."""
    copies, result = 1, pattern
    while copies < count:
        result |= result << copies * stride
        copies *= 2
    return f_mod_2exp(result, count * stride)


def _bytes(value: mpz, size: int) -> bytes:
    data: bytes = to_binary(value)
    return data[len(_HEADER) :].ljust(size, b"\0")


def _integer(data: bytes) -> mpz:
    return from_binary(_HEADER + data)
