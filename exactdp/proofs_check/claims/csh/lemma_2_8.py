"""CSH, Lemma 2.8: the correlated Gaussian mechanism."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS", "distance", "farthest"]

Matrix = list[list[Fraction]]


def _solve(matrix: Matrix, right: list[Fraction]) -> list[Fraction]:
    """Gauss-Jordan in fractions."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        swap = next(r for r in range(i, len(rows)) if rows[r][i])
        rows[i], rows[swap] = rows[swap], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r, row in enumerate(rows):
            if r != i and row[i]:
                rows[r] = [x - row[i] * y for x, y in zip(row, rows[i], strict=True)]
    return [row[-1] for row in rows]


def distance(d: int, a: int, gamma: Fraction) -> Fraction:
    """v' Cov^-1 v for a of d counters moved by one, Cov = I + 11'/gamma (sigma = 1)."""
    return _moved(Fraction(1), 1 / gamma, d, a)


def farthest(own: Fraction, shared: Fraction, d: int) -> Fraction:
    """The largest v' Cov^-1 v over changes of d counters, each with noise of its own and shared."""
    return max(_moved(own, shared, d, a) for a in range(d + 1))


def _moved(own: Fraction, shared: Fraction, d: int, a: int) -> Fraction:
    covariance = [[own * (i == j) + shared for j in range(d)] for i in range(d)]
    shift = [Fraction(i < a) for i in range(d)]
    return sum((v * x for v, x in zip(shift, _solve(covariance, shift), strict=True)), Fraction(0))


def _bound(scale: Fraction) -> str:
    """No change of 0/1 counters is farther than sqrt(d + gamma)/2 * scale."""
    gammas = [Fraction(1, 3), Fraction(1), Fraction(2), Fraction(3), Fraction(7, 2), Fraction(40)]
    for gamma in gammas:
        for d in range(1, 10):
            for a in range(d + 1):
                exact, most = distance(d, a, gamma), (d + gamma) / 4 * scale**2
                require(exact <= most, f"d={d}, a={a}, gamma={gamma}: {exact} > {most}")
    return f"every a <= d <= 9, {len(gammas)} gammas, covariance inverted in fractions"


def _square(times: int) -> str:
    """(d + gamma)/4 - (a - a^2/(d + gamma)) is a square."""
    import sympy as sp

    a, d, gamma = sp.symbols("a d gamma", positive=True)
    gap = (d + gamma) / 4 - (a - times * a**2 / (d + gamma))
    square = (a - (d + gamma) / 2) ** 2 / (d + gamma)
    rest = sp.simplify(gap - square)
    require(rest == 0, f"the difference is {rest}")
    return "(d+gamma)/4 - a + a^2/(d+gamma) = (a - (d+gamma)/2)^2/(d+gamma) >= 0"


def _inverse(times: int) -> str:
    """(I + 11'/gamma)^-1 moves the a ones by a - times a^2/(d + gamma)."""
    for d in range(1, 8):
        for a in range(d + 1):
            for gamma in (Fraction(1, 2), Fraction(2), Fraction(5)):
                exact, stated = distance(d, a, gamma), a - times * Fraction(a * a) / (d + gamma)
                require(exact == stated, f"d={d}, a={a}, gamma={gamma}: {exact}, not {stated}")
    return "every a <= d <= 7, 3 gammas"


def _total_noise(power: Fraction) -> str:
    """(d + g)(1 + 1/g), 4 times the squared total noise, is least at g = d^power; without shared
    noise, g to infinity, the exact squared sensitivity of d counters tends to d.
    """
    import sympy as sp

    d, g = sp.symbols("d gamma", positive=True)
    total, best = (d + g) * (1 + 1 / g), d ** sp.Rational(power.numerator, power.denominator)
    alone = sp.limit(d - d**2 / (d + g), g, sp.oo)
    require(alone == d, f"without shared noise the squared sensitivity is {alone}")
    rest = sp.simplify(sp.diff(total, g).subs(g, best))
    require(rest == 0, f"the slope at d^{power} is {rest}")
    require(sp.simplify(sp.diff(total, g, 2) - 2 * d / g**3) == 0, "not convex")
    least = sp.simplify(sp.expand(total.subs(g, best) - (sp.sqrt(d) + 1) ** 2))
    require(least == 0, f"four times its square differs from (sqrt(d) + 1)^2 by {least}")
    return "convex in gamma, slope 0 at sqrt(d), where the total noise is (sqrt(d) + 1)/2"


def _attained(always: bool) -> str:
    """The bound is reached exactly where (d + gamma)/2 is an integer <= d (or always)."""
    for d in range(1, 8):
        for gamma in (Fraction(1), Fraction(2), Fraction(3), Fraction(5, 2), Fraction(30)):
            half = (d + gamma) / 2
            reached = max(distance(d, a, gamma) for a in range(d + 1)) == half / 2
            stated = always or (half.denominator == 1 and half <= d)
            require(reached == stated, f"d={d}, gamma={gamma}: reached {reached}, not {stated}")
    return "d up to 7, 5 gammas"


CLAIMS = (
    CSH.verified(
        "Lemma 2.8",
        "Independent N(0, sigma^2) noise and one shared N(0, sigma^2/gamma) on d "
        "counters act like the Gaussian mechanism at sensitivity at most sqrt(d + gamma)/2 when "
        "all counters move by zero or one in the same direction.",
        "enumeration",
        **varied(_bound, Fraction(1), Fraction(99, 100), "99 percent of that sensitivity"),
    ),
    CSH.verified(
        "Lemma 2.8, exact sensitivity",
        "When a of the d counters move, the exact squared sensitivity is "
        "a - a^2/(d + gamma) in units of sigma.",
        "enumeration",
        **varied(_inverse, 1, 2, "a - 2 a^2/(d + gamma)"),
        ours=True,
    ),
    CSH.proved(
        "Lemma 2.8, for every d and gamma",
        "a - a^2/(d + gamma) <= (d + gamma)/4, with equality only at a = (d + gamma)/2.",
        "symbolic",
        **varied(_square, 1, 2, "with twice the second term"),
    ),
    CSH.verified(
        "Lemma 2.8, where it is attained",
        "So sqrt(d + gamma)/2 is the exact sensitivity only where (d + gamma)/2 is an "
        "integer at most d; otherwise the lemma asks for a little too much noise.",
        "enumeration",
        **varied(_attained, False, True, "it is attained for every d"),
        ours=True,
    ),
    CSH.proved(
        "Lemma 2.8, proof, choice of gamma",
        "gamma = sqrt(d) minimises the total noise sigma sqrt(1 + 1/gamma) for sigma "
        "proportional to sqrt(d + gamma)/2; it is then (sqrt(d) + 1)/2, against sqrt(d) without "
        "shared noise.",
        "symbolic",
        **varied(_total_noise, Fraction(1, 2), Fraction(1, 4), "gamma = d^(1/4)"),
    ),
)
