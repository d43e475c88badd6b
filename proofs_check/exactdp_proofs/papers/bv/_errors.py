"""Error bounds of the form ceil(factor ln(argument)), and exact tail probabilities."""

from __future__ import annotations

from flint import arb

from exactdp.balls import ball, precision
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.comparisons import identity
from exactdp_proofs.rationals import Fraction


def log_error(factor: Fraction | arb, argument: Fraction) -> int:
    """ceil(factor ln(argument)), certified; factor may be a ball."""
    with precision(256):
        scale = factor if isinstance(factor, arb) else ball(factor)
        error = (scale * ball(argument).log()).ceil().unique_fmpz()
    if error is None:
        raise ArithmeticError("the ceiling is not certain at this precision")
    return int(error)


def beyond(noise: CountSampler, c: int, a: int) -> Fraction:
    """P(|M(c) - c| > a), exactly."""
    cdf = noise.cdf(c)
    above = cdf.denominator - cdf.numerator(min(c + a, noise.n))
    below = cdf.numerator(c - a - 1) if c - a - 1 >= 0 else 0
    return Fraction(above + below, cdf.denominator)


def prove_log_bound() -> None:
    """Prove ln(1 + y) >= 2y/(2 + y) for y >= 0: equal at 0, and the left side grows faster."""
    import sympy

    y = sympy.symbols("y", nonnegative=True)
    gap = sympy.log(1 + y) - 2 * y / (2 + y)
    identity(sympy.diff(gap, y) - y**2 / ((1 + y) * (2 + y) ** 2))
