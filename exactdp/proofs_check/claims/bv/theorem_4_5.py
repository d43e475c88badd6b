"""BV, Theorems 4.4 and 4.5: the truncated geometric mechanism and its sampler GeoSample."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.proofs_check.claim import Mutant, require
from exactdp.proofs_check.claims.bv._errors import beyond, log_error
from exactdp.proofs_check.claims.bv._laws import clamped_geometric, geo
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

_F = Fraction
_RATIOS = (_F(1, 2), _F(2, 3), _F(4, 5), _F(16, 17), _F(1, 10))


def _private(slack: Fraction) -> str:
    """Counts c and c + 1: ratios at most 1/q = e^(epsilon/2), attained."""
    for q, n in product(_RATIOS, (1, 2, 3, 7)):
        laws = [Law(dict(enumerate(clamped_geometric(n, q, c)))) for c in range(n + 1)]
        for c in range(n):
            worst = max(max_loss(laws[c], laws[c + 1]), max_loss(laws[c + 1], laws[c]))
            require(worst <= slack / q, f"q={q}, n={n}, c={c}: ratio {worst} > {slack / q}")
    return f"{len(_RATIOS)} ratios q = e^(-epsilon/2), n <= 7; every single ratio is q or 1/q"


def _accurate(rounding: Callable[[int], int]) -> str:
    """P(error > a) <= 2 q^(a+1)/(1+q) <= q^a <= beta at the least a with q^a <= beta."""
    for q in _RATIOS:
        for j in range(1, 12):
            for beta in (q**j, q**j * _F(99, 100), q**j * _F(101, 100)):
                if not 0 < beta < 1:
                    continue
                least = next(a for a in range(20) if q**a <= beta)  # = ceil(ln(1/b)/ln(1/q))
                a = rounding(least)
                n = 2 * least + 3
                law = clamped_geometric(n, q, n // 2)
                fails = sum((p for z, p in enumerate(law) if abs(z - n // 2) > a), _F(0))
                require(fails <= beta, f"q={q}, beta={beta}, a={a}: fails with {fails}")
    return f"{len(_RATIOS)} ratios, up to 33 values of beta each, count in the middle"


def _interval(low: Fraction, high: Fraction, most: int = 2100) -> str:
    """low epsilon < eps~ <= high epsilon for epsilon = 1/k.

    2^-b is in (epsilon/4, epsilon/2], and 2y/(2 + y) < ln(1 + y) < y gives
    eps~ > 4 epsilon/(8 + epsilon) >= 4/9 epsilon and eps~ < epsilon.
    """
    for k in range(1, most):
        bits = (2 * k - 1).bit_length()
        require(2 * k <= 2**bits < 4 * k, f"epsilon=1/{k}: b={bits}")
        with precision(128):
            ratio = 2 * k * (1 + ball(_F(1, 2**bits))).log()
            case = f"epsilon=1/{k}: eps~/epsilon = {float(ratio.mid()):.6f}"
            require(bool(ratio > ball(low)) and bool(ratio <= ball(high)), case)
    return f"k < {most}; the bounds on ln(1 + y) give it for all"


def _shipped_law(bits_off: int) -> str:
    """GeoSample as shipped is the clamped geometric law with q = 2^b/(2^b + 1)."""
    cases = 0
    for n, k in product((1, 2, 3, 6), (1, 2, 3, 10)):
        b = (2 * k - 1).bit_length() + bits_off
        q = _F(2**b, 2**b + 1)
        for c in range(n + 1):
            exact = dict(enumerate(clamped_geometric(n, q, c)))
            law = geo(n, k).law(c)
            require(dict(law.items()) == exact, f"n={n}, epsilon=1/{k}, c={c}: {law}")
            cases += 1
    return f"{cases} laws"


def _shipped_loss(slack: Fraction) -> str:
    for n, k in product((1, 2, 4), (1, 2, 3, 10)):
        noise = geo(n, k)
        b = (2 * k - 1).bit_length()
        worst = max(
            max(max_loss(noise.law(c), noise.law(c + 1)), max_loss(noise.law(c + 1), noise.law(c)))
            for c in range(n)
        )
        most = (1 + _F(1, 2**b)) * slack
        require(worst == most, f"n={n}, epsilon=1/{k}: ratio {worst}, not {most}")
    return "12 samplers: the worst ratio is 1 + 2^-b exactly"


def _shipped_accuracy(scale: Fraction) -> str:
    """a = ceil(scale (2/eps~) ln(1/beta)), every c."""
    for n, k in (*product((5, 40), (1, 2, 5)), (150, 9)):
        noise = geo(n, k)
        with precision(256):
            factor = ball(scale) / ball(noise.e_half_epsilon).log()
        for beta in (_F(9, 10), _F(1, 2), _F(1, 7), _F(1, 100)):
            a = log_error(factor, 1 / beta)
            worst = max(beyond(noise, c, a) for c in range(n + 1))
            case = f"n={n}, epsilon=1/{k}, beta={beta}, a={a}"
            require(worst <= beta, f"{case}: fails with {float(worst):.4f}")
    return "seven samplers, four values of beta, every count"


def _denominator(most: Callable[[int, int], Fraction | int]) -> str:
    """d <= most(n, k) for epsilon = 1/k; no smaller d can carry the law."""
    for n, k in product((1, 2, 3, 10, 50), (1, 2, 3, 7, 64, 65)):
        d = geo(n, k).cdf(0).denominator
        require(d <= most(n, k), f"n={n}, epsilon=1/{k}: d = {d} > {most(n, k)}")
    return "30 samplers"


CLAIMS = (
    BV.verified(
        "Theorem 4.4",
        "The geometric mechanism clamped to [0, n] is (epsilon/2, 0)-DP for counting queries.",
        "enumeration",
        check=lambda: _private(_F(1)),
        mutant=Mutant("with e^(epsilon/2) 2 % smaller", lambda: _private(_F(98, 100))),
    ),
    BV.verified(
        "Theorem 4.4, accuracy",
        "It errs by more than a = ceil((2/epsilon) ln(1/beta)) with probability at most beta.",
        "enumeration",
        **varied(_accurate, lambda a: a, lambda a: a - 1, "a may be one less"),
    ),
    BV.verified(
        "Theorem 4.5",
        "GeoSample, with integers only, has exactly the law of the clamped geometric "
        "mechanism for eps~ = 2 ln(1 + 2^-ceil(log2(2/epsilon))).",
        "exact law",
        **varied(_shipped_law, 0, 1, "with b one larger"),
        note="the construction is not printed; the shipped one is checked",
    ),
    BV.verified(
        "Theorem 4.5, privacy",
        "GeoSample is (eps~/2, 0)-DP for counting queries, and not better.",
        "exact law",
        check=lambda: _shipped_loss(_F(1)),
        mutant=Mutant("with e^(eps~/2) 1 % smaller", lambda: _shipped_loss(_F(99, 100))),
    ),
    BV.verified(
        "Theorem 4.5, accuracy",
        "GeoSample errs by more than ceil((2/eps~) ln(1/beta)) with probability at most beta.",
        "exact law",
        **varied(_shipped_accuracy, _F(1), _F(97, 100), "than ceil((1.94/eps~) ln(1/beta))"),
    ),
    BV.verified(
        "Theorem 4.5, eps~",
        "eps~ lies in (4/9 epsilon, epsilon] for epsilon = 1/k.",
        "certified numerics",
        check=lambda: _interval(_F(4, 9), _F(1)),
        mutant=Mutant("in (0.51 epsilon, epsilon]", lambda: _interval(_F(51, 100), _F(1))),
        note="log is the logarithm to base 2; the end epsilon is never attained, eps~ < epsilon",
    ),
    BV.verified(
        "Theorem 4.5, eps~, sharper",
        "For epsilon = 1/k it even lies in (epsilon/2, epsilon): 4/epsilon could replace "
        "9/(2 epsilon) in both figures.",
        "certified numerics",
        check=lambda: _interval(_F(1, 2), _F(1), 4200),
        mutant=Mutant("in (0.501 epsilon, epsilon]", lambda: _interval(_F(501, 1000), _F(1), 4200)),
        note="4/9 is the bound for all real epsilon <= 1; for k >= 2, 2^b is even and < 4k, so "
        "2^b <= 4k - 4 and eps~ > 4/(2^(b+1) + 1) > 1/(2k)",
        ours=True,
    ),
    BV.verified(
        "Theorem 4.5, log d",
        "log2 d <= n log2(4/epsilon) + 1 for epsilon = 1, 1/2, 1/3, ...; so log d = "
        "O(n log(1/epsilon)) for epsilon <= 1/2.",
        "exact law",
        **varied(
            _denominator,
            lambda n, k: 2 * (4 * k) ** n,
            lambda n, k: 2 * (_F(39, 10) * k) ** n,
            "log2 d <= n log2(3.9/epsilon) + 1",
        ),
        note="the text has O(n log(1/epsilon)), here, in the two running times and in Figure 1, "
        "which is 0 at epsilon = 1: read with the usual convention epsilon <= 1/2",
    ),
    BV.not_checkable(
        "Theorem 4.5, running times",
        "Sampling and one value of the scaled distribution function in quasi-linear time "
        "in n log(1/epsilon).",
        "asymptotic running time in the word RAM model",
    ),
)
