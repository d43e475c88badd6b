"""The optimal composition of pure mechanisms, which is that of randomised response, in two ways."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from mpmath import mp, mpf

from vectors.generate.common import Bounds, bracket, number, settled

#: Up to so many pure mechanisms, the second method goes through them one after the other.
ONE_BY_ONE = 250


def _first(k: int, each: Fraction, total: Fraction) -> int:
    """The least number l of true answers with (2 l - k) each > total."""
    return floor((total / each + k) / 2) + 1


def _sums(k: int, each: mpf, first: int) -> tuple[mpf, mpf]:
    """P(at least first of k answers are true), and the same for lies."""
    q = 1 / (1 + mp.exp(each))
    mode = max(first, min(k, int(mp.floor((k + 1) * (1 - q)))))
    start = mp.binomial(k, mode) * (1 - q) ** mode * q ** (k - mode)
    ratio, fall = mp.exp(each), mp.exp(-each)
    truth, lies = mpf(0), mpf(0)
    for direction in (1, -1):
        term, true = start, mode
        while first <= true <= k:
            if direction == 1 or true != mode:
                truth += term
                lies += term * mp.exp(-(2 * true - k) * each)
            if term < truth * mp.eps * fall:
                break
            term *= (
                ratio * (k - true) / (true + 1) if direction == 1 else fall * true / (k - true + 1)
            )
            true += direction
    return truth, lies


def pure(k: str, epsilon_each: str, delta_each: str, epsilon: str) -> Bounds:
    copies, each, total = int(k), Fraction(epsilon_each), Fraction(epsilon)
    first = _first(copies, each, total)
    if first > copies and not Fraction(delta_each):
        return "0", "0"

    def combined(part: mpf) -> mpf:
        lost = -mp.expm1(copies * mp.log1p(-number(delta_each)))
        return lost + (1 - lost) * part

    def value() -> mpf:
        truth, lies = _sums(copies, number(epsilon_each), first)
        return combined(truth - mp.exp(number(epsilon)) * lies)

    with mp.workdps(90):
        if copies <= ONE_BY_ONE:
            other = combined(_one_by_one(copies, epsilon_each, epsilon))
        else:
            other = combined(_by_beta(copies, epsilon_each, epsilon, first))
    return bracket(settled(value), (other, "1e-30"), most=1)


def _one_by_one(k: int, each: str, total: str) -> mpf:
    """H_k(e) = (1 - q) H_{k-1}(e - each) + q H_{k-1}(e + each), H_0(e) = max(0, 1 - e^e)."""
    step, q = number(each), 1 / (1 + mp.exp(number(each)))
    row = [max(mpf(0), -mp.expm1(number(total) + i * step)) for i in range(-k, k + 1, 2)]
    while len(row) > 1:
        row = [(1 - q) * row[i] + q * row[i + 1] for i in range(len(row) - 1)]
    return row[0]


def _by_beta(k: int, each: str, total: str, first: int) -> mpf:
    """Both binomial tails as regularised incomplete beta functions, by a continued fraction."""
    if first > k:
        return mpf(0)
    truth = mp.exp(number(each)) / (1 + mp.exp(number(each)))
    return _beta(first, k - first + 1, truth) - mp.exp(number(total)) * _beta(
        first, k - first + 1, 1 - truth
    )


def _beta(a: int, b: int, x: mpf) -> mpf:
    """I_x(a, b) by Lentz's method, from the side on which it converges."""
    if x > mpf(a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = (
        mp.exp(
            mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b) + a * mp.log(x) + b * mp.log1p(-x)
        )
        / a
    )
    c, d = mpf(1), 1 / (1 - (a + b) * x / (a + 1))
    result, m = d, 1
    while True:
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d)
            c = 1 + numerator / c
            result *= c * d
        if abs(c * d - 1) < mpf(10) ** -70:
            return front * result
        m += 1
        if m > 2_000_000:
            raise ArithmeticError("the continued fraction does not converge")


def pure_epsilon(k: str, epsilon_each: str, delta_each: str, delta: str) -> Bounds:
    """delta = A - e^epsilon B between two losses, so epsilon = log((A - delta)/B) there."""
    copies, each, target = int(k), Fraction(epsilon_each), Fraction(delta)
    if Fraction(delta_each):
        raise ValueError("only for pure parts")

    def at(first: int) -> tuple[mpf, mpf]:
        return _sums(copies, number(epsilon_each), first)

    def least() -> mpf:
        low, high = copies // 2, copies  # delta at (2 l - k) each: too large, small enough
        while high - low > 1:
            middle = (low + high) // 2
            truth, lies = at(middle + 1)
            loss = (2 * middle - copies) * number(epsilon_each)
            fits = truth - mp.exp(loss) * lies <= number(delta)
            low, high = (low, middle) if fits else (middle, high)
        truth, lies = at(low + 1)
        return max(mpf(0), mp.log((truth - number(delta)) / lies))

    with mp.workdps(90):
        zero = (copies + 2) // 2
        truth, lies = at(zero)
        if truth - lies <= number(delta):
            return "0", "0"
    ends = bracket(settled(least))
    with mp.workdps(90):
        for text, small_enough in ((ends[0], False), (ends[1], True)):
            truth, lies = at(_first(copies, each, Fraction(text)))
            if (truth - mp.exp(number(text)) * lies <= number(delta)) is not small_enough:
                raise ArithmeticError(f"the end {text} is on the wrong side of {target}")
    return ends
