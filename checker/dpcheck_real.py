"""Real numbers for dpcheck.py: intervals with whole ends, in units of 2^-256."""

from fractions import Fraction
from math import isqrt, lcm

P = 256  # real numbers are enclosed by multiples of 2^-P
ONE = 1 << P
SUM_BITS = 1 << 14  # longest common denominator of an exact sum


class Stop(Exception):
    """The verdict and its reason."""


def prove(fact, reason, verdict="not proved"):
    if not fact:
        raise Stop(verdict, reason)


def up(n, bits):
    """n / 2^bits, rounded up, as n >> bits is rounded down."""
    return -(-n >> bits)


class Real:
    """Some number from lo / 2^P to hi / 2^P: every operation rounds lo down and hi up."""

    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    def __add__(self, other):
        return Real(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other):
        return Real(self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, other):
        ends = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Real(min(ends) >> P, up(max(ends), P))

    def over(self, other):
        prove(self.lo >= 0 and other.lo > 0, "a quotient of numbers that may be negative or 0")
        return Real((self.lo << P) // other.hi, -(-(self.hi << P) // other.lo))

    def sqrt(self):
        return Real(isqrt(max(self.lo, 0) << P), isqrt(self.hi << P) + 1)

    def exp(self):
        """e^x = (e^y)^(2^k), y = x / 2^k < 2^-8; e^-x = 1 / e^x; e^x < 2^-P below -180.

        e^hi <= e^lo (1 + 2 (hi - lo)) if hi - lo <= 1.
        """
        if self.hi < -180 * ONE:
            return Real(0, 1)
        n, width = abs(self.lo), self.hi - self.lo
        prove(width <= ONE and n <= ONE << 12, "the argument of e^x is too large")
        k = max(n.bit_length() - P + 8, 0)
        at = series(ONE, Real(n >> k, up(n, k)), 1, 1)
        for _ in range(k):
            at = at * at
        at = UNIT.over(at) if self.lo < 0 else at
        return Real(at.lo, up(at.hi * (ONE + 2 * width), P))

    def log(self):
        """ln x = k ln 2 + 2 atanh((m - 1)/(m + 1)), x = m 2^k. ln hi <= ln lo + (hi - lo)/lo."""
        prove(self.lo > 0, "a logarithm of a number that may be 0")
        k = self.lo.bit_length() - P - 1
        m = Real(self.lo >> k, up(self.lo, k)) if k > 0 else Real(self.lo << -k, self.lo << -k)
        at = TWO * atanh((m - UNIT).over(m + UNIT)) + LN2 * real(k)
        return Real(at.lo, at.hi - (self.lo - self.hi) * ONE // self.lo)

    def tail(self):
        """Phi(-x) = 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...) if x >= 0, else 1 - Phi(x).

        For x >= 19 it is below phi(x)/x < 2^-P. Its slope is above -1/2.
        """
        n, square = abs(self.lo), Real(self.lo**2 >> P, up(self.lo**2, P))
        at = Real(0, 1)
        if n < 19 * ONE:
            at = HALF - series(n, square, 3, 2).over((HALF * square).exp() * ROOT_2PI)
        at = UNIT - at if self.lo < 0 else at
        return Real(max(at.lo - up(self.hi - self.lo, 1), 0), max(at.hi, 0))


def series(t, r, j, step):
    """t + t r/j + t r^2/(j (j + step)) + ..., r >= 0.

    Once r/j <= 1/2 and a term is at most one unit, the rest is at most one unit.
    """
    s, s_up, t_up = t, t, t
    while t_up > 1 or 2 * r.hi > j << P:
        t, t_up, j = (t * r.lo >> P) // j, -(-up(t_up * r.hi, P) // j), j + step
        s, s_up = s + t, s_up + t_up
    return Real(s, s_up + 1)


def atanh(z):
    """z + z^3/3 + z^5/5 + ..., 0 <= z <= 1/3: terms after the 82nd are below 2^-268 together."""
    low, high, s, s_up, square = z.lo, z.hi, 0, 1, z * z
    for j in range(1, 165, 2):
        s, s_up = s + low // j, s_up - (-high // j)
        low, high = low * square.lo >> P, up(high * square.hi, P)
    return Real(s, s_up)


def real(number, other=1):
    """The quotient of two rational numbers."""
    n, d = number.numerator * other.denominator << P, number.denominator * other.numerator
    return Real(n // d, -(-n // d))


def log(number):
    """The logarithm of a rational number of any size."""
    return real(number.numerator).log() - real(number.denominator).log()


def total(numbers, verdict="not proved"):
    """The exact sum of rational numbers."""
    d, n = 1, 0
    for number in numbers:
        both = lcm(d, number.denominator)
        n = n * (both // d) + number.numerator * (both // number.denominator)
        d = both
        prove(d.bit_length() <= SUM_BITS, "the common denominator of a sum is too long", verdict)
    return Fraction(n, d)


UNIT, NOTHING, TWO, HALF = real(1), real(0), real(2), real(1, 2)
LN2 = TWO * atanh(real(1, 3))
_PI = 314159265358979323846264338327950288419716939937510582097494459230781640628620899
PI = Real(real(_PI, 10**80).lo, real(_PI + 1, 10**80).hi)
ROOT_2PI = Real(2 * PI.lo, 2 * PI.hi).sqrt()
