"""Costs of the approximate variant for large epsilon, where the summand 2 of t dominates.

log_delta = ln(1/delta) is taken rational; t = log_delta/eps1 + 2, alpha = 3.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._shipped import literal

__all__ = ["access", "max_error", "space"]

_ALPHA = Fraction(3)
_SIZES = (1, 10, 14, 100, 140, 10**3, 10**6)


def _columns(log_delta: int, eps: Fraction) -> int:
    """m = ceil(t eps2/alpha) with eps1 = eps2 = eps/2, as shipped."""
    half = eps / 2
    return literal((log_delta / half + 2) * half, _ALPHA).levels


def access(
    constant: Fraction, per_epsilon: Fraction, extra: int = 0, most_epsilon: int | None = None
) -> str:
    """m <= constant * ln(1/delta) + per_epsilon * eps + extra, eps <= most_epsilon ln(1/delta)."""
    for log_delta in (14, 1, 100):  # 14: delta about 1e-6
        for size in _SIZES:
            eps = Fraction(size)
            if most_epsilon is not None and eps > most_epsilon * log_delta:
                continue
            m = _columns(log_delta, eps)
            bound = constant * log_delta + per_epsilon * eps + extra
            require(m <= bound, f"ln(1/delta)={log_delta}, eps={eps}: m={m} > {bound}")
    return "ln(1/delta) = 1, 14, 100, eps up to 10^6, alpha = 3, eps1 = eps2"


def space(constant: int, per_epsilon: Fraction, extra: int = 0) -> str:
    """m (s + w) <= constant (k + w) (ln(1/delta) + per_epsilon * eps + extra), s = 3k."""
    for log_delta in (14, 1, 100):  # 14: delta about 1e-6
        for size in _SIZES:
            for k, w in ((1, 1), (1, 30), (1000, 10)):
                m = _columns(log_delta, Fraction(size))
                bound = constant * (k + w) * (log_delta + per_epsilon * size + extra)
                case = f"ln(1/delta)={log_delta}, eps={size}, k={k}, w={w}"
                require(m * (3 * k + w) <= bound, f"{case}: {m * (3 * k + w)} bits > {bound}")
    return "ln(1/delta) = 1, 14, 100, eps up to 10^6, s = 3k, w bits per hash function"


def _mean_error(x: Fraction, eps: int, log_delta: arb) -> arb:
    """E|x - v~| of Algorithm 9 for a single nonzero entry."""
    t = log_delta / eps + 2
    if x < 1:  # 0, or 1 with probability x; released only from 1
        gap = t - 1
        tail = (-eps * gap).exp() / 2
        released = tail * (gap + arb(1) / eps + 1 - ball(x))
        return (1 - ball(x)) * ball(x) + ball(x) * ((1 - tail) * ball(x) + released)
    gap = t - ball(x)
    tail = (-eps * abs(gap)).exp() / 2
    beyond = tail * (abs(gap) + arb(1) / eps)
    if gap >= 0:
        return ball(x) * (1 - tail) + beyond
    return ball(x) * tail + 1 / arb(eps) - beyond


def max_error(constant: int, extra: Fraction) -> str:
    """E|x - v~| <= constant ln(1/delta)/eps + extra for k = 1, delta = 1/4, 1/1000, exact means."""
    entries = [Fraction(n, 10) for n in range(1, 120, 2)] + [Fraction(2), Fraction(199, 100)]
    for inverse, eps in product((4, 1000), (1, 4, 100, 10**4)):
        for x in entries:
            with precision(128):
                log_delta = ball(inverse).log()
                mean = _mean_error(x, eps, log_delta)
                bound = constant * log_delta / eps + ball(extra)
                case = (
                    f"k=1, delta=1/{inverse}, eps={eps}, x={x}: mean error {float(mean.mid()):.4g}"
                )
                require(bool(mean <= bound), f"{case}, stated {float(bound.mid()):.4g}")
    return "k = 1, delta = 1/4, 1/1000, eps = 1, 4, 100, 10^4, 62 entries up to 12"
