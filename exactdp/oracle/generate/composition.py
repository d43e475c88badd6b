"""Vectors for k-fold composition: Gaussian, Laplace, and the optimal bound for pure mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import comb, floor

from mpmath import mp, mpf

from exactdp.oracle.generate.analytic_gaussian import gaussian_delta, gaussian_epsilon
from exactdp.oracle.generate.common import Bounds, Group, Recipe, bracket, number, settled

__all__ = ["GROUP"]

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


def _pure(k: str, epsilon_each: str, delta_each: str, epsilon: str) -> Bounds:
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


def _pure_epsilon(k: str, epsilon_each: str, delta_each: str, delta: str) -> Bounds:
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
    found = bracket(settled(least))
    with mp.workdps(90):
        for text, small_enough in ((found[0], False), (found[1], True)):
            truth, lies = at(_first(copies, each, Fraction(text)))
            if (truth - mp.exp(number(text)) * lies <= number(delta)) is not small_enough:
                raise ArithmeticError(f"the end {text} is on the wrong side of {target}")
    return found


def _laplace(k: str, scale: str, epsilon: str) -> Bounds:
    """k-fold Laplace noise: the loss is e^(l/2) times a symmetric measure of atoms and uniforms."""
    copies, total, size = int(k), Fraction(epsilon), Fraction(scale)
    if total * size >= copies:
        return "0", "0"
    value = settled(lambda: _laplace_sum(copies, scale, epsilon), 600)
    with mp.workdps(60):
        other = _laplace_pieces(copies, scale, epsilon)
    return bracket(value, (other, "1e-30"), most=1)


def _laplace_sum(k: int, scale: str, epsilon: str) -> mpf:
    """Iterated antiderivatives of (e^(l/2) - e^(epsilon - l/2))_+ at the corners of a cube."""
    a, total = 1 / number(scale), number(epsilon)

    def rest(n: int, z: mpf) -> mpf:
        return mp.exp(z) - sum((z**m / mp.factorial(m) for m in range(n)), mpf(0))

    def antiderivative(n: int, x: mpf) -> mpf:
        z = (x - total) / 2
        if z <= 0:
            return mpf(0)
        return mp.exp(total / 2) * 2**n * (rest(n, z) - (-1) ** n * rest(n, -z))

    result = mpf(0)
    for n in range(k + 1):
        for p in range(k - n + 1):
            ways = comb(k, n) * comb(k - n, p) * mpf(2) ** -(k + n)
            centre = 2 * p - (k - n)
            for i in range(n + 1):
                sign = (-1) ** i * comb(n, i)
                result += ways * sign * antiderivative(n, (centre + n - 2 * i) * a)
    return mp.exp(-k * a / 2) * result


@lru_cache(None)
def _pieces(n: int) -> dict[int, list[Fraction]]:
    """The density of a sum of n uniforms on (-1, 1), times 2^n: polynomials on (i, i + 2)."""
    if n == 1:
        return {-1: [Fraction(1)]}
    # f_n(x) is the integral of f_{n-1} from x - 1 to x + 1
    before, result = _pieces(n - 1), {}
    for left in range(-n, n, 2):
        poly = [Fraction(0)] * n
        # x in (left, left + 2): x - 1 is in the piece at left - 1, x + 1 in the piece at left + 1
        upper, lower = before.get(left + 1), before.get(left - 1)
        if upper is not None:
            _add(poly, _shifted(_integral(upper, Fraction(left + 1)), 1), 1)
        if lower is not None:
            _add(poly, _shifted(_integral(lower, Fraction(left + 1)), -1), -1)
        result[left] = poly
    return result


def _integral(poly: list[Fraction], start: Fraction) -> list[Fraction]:
    """The antiderivative that vanishes at start."""
    raised = [Fraction(0), *(c / (i + 1) for i, c in enumerate(poly))]
    raised[0] = -sum((c * start**i for i, c in enumerate(raised)), Fraction(0))
    return raised


def _shifted(poly: list[Fraction], by: int) -> list[Fraction]:
    """poly(x + by)."""
    result = [Fraction(0)] * len(poly)
    for i, c in enumerate(poly):
        for j in range(i + 1):
            result[j] += c * comb(i, j) * by ** (i - j)
    return result


def _add(poly: list[Fraction], other: list[Fraction], sign: int) -> None:
    poly.extend([Fraction(0)] * (len(other) - len(poly)))
    for i, c in enumerate(other):
        poly[i] += sign * c


def _laplace_pieces(k: int, scale: str, epsilon: str) -> mpf:
    """The same from exact piecewise polynomials, integrated numerically."""
    b, total, result = number(scale), number(epsilon), mpf(0)
    cut = total * b

    def gain(y: mpf) -> mpf:
        return mp.exp(y / (2 * b)) - mp.exp(total - y / (2 * b))

    for n in range(k + 1):
        for p in range(k - n + 1):
            ways = comb(k, n) * comb(k - n, p) * mpf(2) ** -(k + n)
            centre = 2 * p - (k - n)
            if n == 0:
                result += ways * max(mpf(0), gain(mpf(centre)))
                continue
            for left, poly in _pieces(n).items():
                low, high = max(mpf(left), cut - centre), mpf(left + 2)
                if low >= high:
                    continue
                numbers = [mpf(c.numerator) / c.denominator for c in reversed(poly)]
                inner = mp.quad(
                    lambda y, c=numbers, z=centre: mp.polyval(c, y) * gain(y + z),
                    [low, high],
                    method="gauss-legendre",
                )
                result += ways * b**-n * inner
    return mp.exp(-k / (2 * b)) * result


def _gaussian(k: str, sigma: str, epsilon: str, sensitivity: str) -> Bounds:
    return gaussian_delta(epsilon=epsilon, sigma=sigma, sensitivity=sensitivity, copies=k)


def _gaussian_least(k: str, sigma: str, delta: str, sensitivity: str) -> Bounds:
    return gaussian_epsilon(delta=delta, sigma=sigma, sensitivity=sensitivity, copies=k)


GAUSSIAN = [
    # k, sigma, epsilon, sensitivity, comment, flags
    ("1", "4", "1", "1", "one mechanism", "FewCompositions Boundary"),
    ("2", "8", "0.5", "1", "two mechanisms", "FewCompositions"),
    ("4", "8", "1", "1", "as one with sigma 4", "Ordinary"),
    ("100", "32", "1", "1", "a hundred mechanisms", "Ordinary"),
    ("100", "16", "4", "1", "a hundred mechanisms", "Ordinary"),
    ("1000", "100", "2", "1", "a thousand mechanisms", "Ordinary"),
    ("1000", "100", "2", "2", "a thousand mechanisms, sensitivity 2", "Sensitivity"),
    ("1000000", "4000", "1", "1", "a million, as one with sigma 4", "ManyCompositions"),
    ("1000000", "1000", "4", "1", "a million mechanisms", "ManyCompositions"),
    ("1000000", "16000", "1", "1", "a million, 1e-59", "ManyCompositions TinyDelta"),
    ("1000000", "40000", "1", "1", "a million, below every double", "ManyCompositions TinyDelta"),
    ("1000000", "25", "800", "1", "a million, epsilon 800", "ManyCompositions LargeEpsilon"),
    ("1000000", "1000000000", "0.0000009765625", "1", "sigma 1e9", "ManyCompositions HugeNoise"),
    ("100", "1", "0", "1", "epsilon 0", "EpsilonZero DeltaNearOne"),
]

GAUSSIAN_EPSILONS = [
    # k, sigma, delta, sensitivity, comment, flags
    ("1", "4", "1e-5", "1", "one mechanism", "FewCompositions"),
    ("100", "32", "1e-5", "1", "a hundred mechanisms", "Ordinary"),
    ("1000", "64", "1e-6", "1", "a thousand mechanisms", "Ordinary"),
    ("1000000", "4000", "1e-6", "1", "a million mechanisms", "ManyCompositions"),
    ("1000000", "4000", "1e-15", "1", "a million, delta 1e-15", "ManyCompositions TinyDelta"),
]

PURE = [
    # k, epsilon_each, delta_each, epsilon, comment, flags
    ("1", "1", "0", "0.5", "one mechanism", "FewCompositions"),
    ("1", "1", "0", "1", "one mechanism at its own epsilon: delta 0", "FewCompositions Boundary"),
    ("1", "1", "1e-6", "1", "one approximate mechanism", "FewCompositions ApproximateParts"),
    ("2", "1", "0", "1", "two mechanisms", "FewCompositions"),
    ("2", "0.5", "0", "0", "two mechanisms, epsilon 0", "FewCompositions EpsilonZero"),
    ("2", "0.5", "0", "1", "two mechanisms at the sum: delta 0", "FewCompositions Boundary"),
    ("10", "0.25", "0", "1", "epsilon is a reachable loss", "Ordinary IntegerGrid"),
    ("10", "0.25", "0", "0.75", "epsilon between losses", "Ordinary BetweenGrid"),
    ("20", "0.125", "0", "1", "twenty mechanisms", "Ordinary IntegerGrid"),
    ("100", "0.125", "0", "4", "a hundred mechanisms", "Ordinary"),
    ("100", "0.1", "0", "4", "a hundred mechanisms", "Ordinary"),
    ("100", "0.125", "1e-8", "4", "a hundred approximate mechanisms", "ApproximateParts"),
    (
        "100",
        "0.125",
        "1e-300",
        "12.5",
        "the parts' delta alone: 1e-298",
        "ApproximateParts TinyDelta",
    ),
    ("100", "0.125", "1e-18", "13", "1 - delta rounds to 1", "ApproximateParts TinyDelta"),
    ("100", "0.125", "0", "12.25", "almost the sum: about 1e-29", "TinyDelta"),
    ("200", "4", "0", "798", "e^epsilon overflows", "LargeEpsilon"),
    ("200", "4", "0", "750", "e^epsilon overflows", "LargeEpsilon"),
    ("1000", "0.0625", "0", "4", "a thousand mechanisms", "Ordinary"),
    ("1000", "0.03125", "0", "8", "a thousand, tiny delta", "TinyDelta"),
    ("1000", "0.03125", "0", "30", "about 1e-256", "TinyDelta"),
    ("10000", "0.0078125", "0", "4", "ten thousand mechanisms", "ManyCompositions"),
    ("1000000", "0.0009765625", "0", "4", "a million mechanisms", "ManyCompositions"),
    (
        "1000000",
        "0.0009765625",
        "1e-12",
        "5",
        "a million approximate",
        "ManyCompositions ApproximateParts",
    ),
]

PURE_EPSILONS = [
    # k, epsilon_each, delta_each, delta, comment, flags
    ("1", "1", "0", "1e-6", "one mechanism", "FewCompositions"),
    ("2", "1", "0", "1e-6", "two mechanisms", "FewCompositions"),
    ("10", "0.25", "0", "1e-6", "ten mechanisms", "Ordinary"),
    ("100", "0.125", "0", "1e-6", "a hundred mechanisms", "Ordinary"),
    ("100", "0.1", "0", "1e-10", "a hundred mechanisms", "Ordinary"),
    ("1000", "0.0625", "0", "1e-6", "a thousand mechanisms", "Ordinary"),
    ("100", "0.125", "0", "1e-15", "delta 1e-15", "TinyDelta"),
    ("10", "0.0009765625", "0", "0.25", "epsilon is 0", "Boundary EpsilonZero"),
]

LAPLACE = [
    # k, scale, epsilon, comment, flags
    ("1", "1", "0.5", "one mechanism: 1 - e^(-1/4)", "FewCompositions"),
    ("1", "4", "0.125", "one mechanism", "FewCompositions"),
    ("1", "1", "1", "one mechanism at its own epsilon: delta 0", "FewCompositions Boundary"),
    ("1", "0.0009765625", "800", "e^epsilon overflows", "FewCompositions LargeEpsilon"),
    ("1", "2", "0", "epsilon 0", "FewCompositions EpsilonZero"),
    ("2", "2", "0.5", "two mechanisms", "FewCompositions"),
    ("2", "2", "0.75", "two mechanisms", "FewCompositions"),
    ("2", "1", "2", "two mechanisms at the sum: delta 0", "FewCompositions Boundary"),
    ("4", "4", "0.5", "four mechanisms", "Ordinary"),
    ("8", "8", "0.5", "eight mechanisms", "Ordinary"),
    ("8", "8", "0.96875", "close to the sum", "Ordinary"),
    ("12", "8", "1", "twelve mechanisms", "Ordinary"),
    ("16", "10", "1", "sixteen mechanisms", "Ordinary"),
]


def _recipes() -> list[Recipe]:
    found: list[Recipe] = []
    for k, sigma, epsilon, size, comment, flags in GAUSSIAN:
        given = {"k": k, "sigma": sigma, "epsilon": epsilon, "sensitivity": size}
        found.append(_recipe("delta", "gaussian", given, comment, flags))
    for k, sigma, delta, size, comment, flags in GAUSSIAN_EPSILONS:
        given = {"k": k, "sigma": sigma, "delta": delta, "sensitivity": size}
        found.append(_recipe("epsilon", "gaussian", given, comment, f"Calibration {flags}"))
    for k, each, lost, epsilon, comment, flags in PURE:
        given = {"k": k, "epsilon_each": each, "delta_each": lost, "epsilon": epsilon}
        found.append(_recipe("delta", "pure", given, comment, flags))
    for k, each, lost, delta, comment, flags in PURE_EPSILONS:
        given = {"k": k, "epsilon_each": each, "delta_each": lost, "delta": delta}
        found.append(_recipe("epsilon", "pure", given, comment, f"Calibration {flags}"))
    for k, scale, epsilon, comment, flags in LAPLACE:
        given = {"k": k, "scale": scale, "epsilon": epsilon}
        found.append(_recipe("delta", "laplace", given, comment, flags))
    return found


_COMPUTE: dict[tuple[str, str], Callable[..., Bounds]] = {
    ("gaussian", "delta"): _gaussian,
    ("gaussian", "epsilon"): _gaussian_least,
    ("pure", "delta"): _pure,
    ("pure", "epsilon"): _pure_epsilon,
    ("laplace", "delta"): _laplace,
}


def _recipe(
    question: str, mechanism: str, given: dict[str, str], comment: str, flags: str
) -> Recipe:
    compute = _COMPUTE[mechanism, question]
    return Recipe(
        question,
        {"mechanism": mechanism, **given},
        comment,
        tuple(flags.split()),
        lambda: compute(**given),
    )


GROUP = Group(
    name="composition",
    description="k mechanisms on the same data. mechanism 'gaussian': noise N(0, sigma^2) on k "
    "queries of l2 sensitivity `sensitivity` each; 'laplace': Laplace noise of this scale on k "
    "queries of sensitivity 1, all of which move by 1; 'pure': any k mechanisms that are "
    "(epsilon_each, delta_each)-differentially private, the optimal bound.",
    questions={
        "delta": "the least delta at epsilon that holds for all k together",
        "epsilon": "the least epsilon >= 0 at delta",
    },
    source="Kairouz, Oh, Viswanath 2015 and Murtagh, Vadhan 2016 (pure); Balle and Wang 2018",
    methods=(
        "gaussian: as analytic_gaussian, with sensitivity sqrt(k) times larger",
        "pure: sums of binomial terms outward from the largest, at two precisions; k <= 250 also "
        "by the recursion over one mechanism at a time, above that by incomplete beta functions as "
        "continued fractions, agreeing to 1e-30",
        "pure, epsilon: solved between two reachable losses; both ends checked",
        "laplace: a finite sum of iterated antiderivatives, and quadrature of exact piecewise "
        "polynomials, agreeing to 1e-30",
    ),
    recipes=_recipes,
)
