"""The fields F_2[x]/Phi_N(x) for prime powers N = p^e, with Phi_N = 1 + x^s + ... + x^((p-1)s).

s = N/p. The cyclotomic polynomial Phi_N is irreducible over F_2 if and only if 2 generates the
units modulo N, which is quickly checked. Elements are integers: bit i is the coefficient of x^i. As
x^N = 1, a product is reduced by folding, and squaring permutes powers of x. N = 3^(l+1) gives the
fields with 2^(2 3^l) elements of Balcer and Vadhan, "Differential Privacy on Finite Computers"
(BV), Section 2.4; primes N give fields of many more sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from exactdp.errors import InvalidParameter

#: Larger N are refused: a typo should not fill memory.
MAX_PERIOD = 1 << 21


@dataclass(frozen=True)
class BinaryField:
    """The field with 2^degree elements in which x has order N.

    period: N, an odd prime power modulo which 2 generates the units, such as 3, 5, 9, 11, 13, 19.
    Raises InvalidParameter, also for integers that are not elements.

    >>> f = BinaryField(9)  # modulo x^6 + x^3 + 1
    >>> f.degree, f.mul(0b100000, 0b10), f.mul(5, f.inverse(5))
    (6, 9, 1)
    """

    period: int

    def __post_init__(self) -> None:
        if not _is_integer(self.period) or not 3 <= self.period <= MAX_PERIOD:
            allowed = f"an integer from 3 to {MAX_PERIOD}"
            raise InvalidParameter("period", self.period, allowed)
        if not generates(self.period):
            allowed = "a prime power modulo which 2 generates the units"
            raise InvalidParameter("period", self.period, allowed)

    @cached_property
    def step(self) -> int:
        """s = N/p."""
        return self.period // _least_factor(self.period)

    @cached_property
    def degree(self) -> int:
        """Bits of an element, N - s."""
        return self.period - self.step

    @property
    def order(self) -> int:
        """Number of elements, 2^degree."""
        return 1 << self.degree

    @property
    def modulus(self) -> int:
        """Phi_N as an integer."""
        return self._repeat | 1 << self.degree

    @cached_property
    def _repeat(self) -> int:
        """1 + x^s + ... + x^((p-2)s) = x^((p-1)s)."""
        return ((1 << self.degree) - 1) // ((1 << self.step) - 1)

    def check(self, name: str, value: int) -> None:
        """Raise InvalidParameter unless the value is an element; ``name`` is for the message."""
        if not _is_integer(value) or value < 0 or value.bit_length() > self.degree:
            raise InvalidParameter(name, value, f"an integer from 0 to 2^{self.degree} - 1")

    def mul(self, a: int, b: int) -> int:
        """a b."""
        self.check("a", a)
        self.check("b", b)
        return self._mul(a, b)

    def inverse(self, a: int) -> int:
        """1/a; raises InvalidParameter for a = 0."""
        self.check("a", a)
        if not a:
            raise InvalidParameter("a", a, "other than 0, which has no inverse")
        return self._inverse(a)

    def power(self, a: int, exponent: int) -> int:
        """a^exponent for an exponent >= 0; 0^0 = 1."""
        self.check("a", a)
        if not _is_integer(exponent) or exponent < 0:
            raise InvalidParameter("exponent", exponent, "an integer >= 0")
        return self._power(a, exponent)

    def _mul(self, a: int, b: int) -> int:
        multiples = window(a)
        product = 0
        for digit in f"{b:x}":
            product = product << 4 ^ multiples[digit]
        return self._reduce(product)

    def _square(self, a: int) -> int:
        return self._reduce(int(f"{a:b}", 4))  # bit i moves to bit 2i

    def _inverse(self, a: int) -> int:
        # Euclid's algorithm keeping u = s a and v = t a modulo the modulus
        u, v, s, t = a, self.modulus, 1, 0
        while u != 1:
            shift = u.bit_length() - v.bit_length()
            if shift < 0:
                u, v, s, t, shift = v, u, t, s, -shift
            u ^= v << shift
            s ^= t << shift
        return self._reduce(s)

    def _power(self, a: int, exponent: int) -> int:
        result = 1
        for bit in f"{exponent:b}":
            result = self._square(result)
            if bit == "1":
                result = self._mul(result, a)
        return result

    def _reduce(self, product: int) -> int:
        """A polynomial of degree below 2N modulo the modulus."""
        folded = (product & ((1 << self.period) - 1)) ^ product >> self.period
        top = folded >> self.degree
        # the copies of top do not overlap, so an integer product makes them
        return (folded & (self.order - 1)) ^ top * self._repeat


def smallest_field(bits: int) -> BinaryField:
    """The smallest of these fields with a prime period whose elements have at least ``bits`` bits.

    >>> [smallest_field(bits).degree for bits in (1, 2, 3, 100, 101)]
    [2, 2, 4, 100, 106]
    """
    if not _is_integer(bits) or not 1 <= bits < MAX_PERIOD >> 1:
        raise InvalidParameter("bits", bits, f"an integer from 1 to {(MAX_PERIOD >> 1) - 1}")
    period = max(bits + 1, 3)
    while _least_factor(period) != period or not generates(period):
        period += 1
    return BinaryField(period)


def generates(n: int) -> bool:
    """Whether n >= 3 is an odd prime power modulo which 2 generates the units."""
    p = _least_factor(n)
    rest = n
    while rest % p == 0:
        rest //= p
    if rest != 1 or p == 2:
        return False
    units = n - n // p
    primes, left = set[int](), units
    while left > 1:
        primes.add(_least_factor(left))
        left //= _least_factor(left)
    return all(pow(2, units // q, n) != 1 for q in primes)


def window(a: int) -> dict[str, int]:
    """The multiples of a polynomial over F_2 by those of degree below 4, by hexadecimal digit."""
    multiples = [0, a]
    for i in range(2, 16, 2):
        multiples += [multiples[i // 2] << 1, multiples[i // 2] << 1 ^ a]
    return dict(zip("0123456789abcdef", multiples, strict=True))


def _least_factor(n: int) -> int:
    return next((q for q in range(2, int(n**0.5) + 1) if n % q == 0), n)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
