"""CP, Theorem 3.6: the method with a random sign matrix, with explicit constants."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, require
from exactdp.proofs_check.claims.cp._hadamard_projection import noise_factor, samples_any
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]

_EPS = (Fraction(1, 100), Fraction(1, 2), Fraction(1))
_ALPHA = (Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2))


def _method(row_constant: int, sample_constant: int) -> str:
    """P1 fails with probability <= delta, and Theorem 3.4's bound is <= alpha for s-sparse p.

    beta = min(eps/2, alpha/(4D)), m = row_constant log(k/delta)/beta^2 and
    n = sample_constant D^2 m/(eps alpha)^2.
    """
    cases = 0
    with precision(128):
        for eps, alpha, d in product(_EPS, _ALPHA, (1, 2, 7)):
            beta = min(eps / 2, alpha / (4 * d))
            root = ball(eps * alpha / d) / ball(sample_constant).sqrt()  # sqrt(m/n)
            error = ball((1 + beta / 2) * d) * (ball(2 * beta) + noise_factor(eps) * root)
            case = f"eps={eps}, alpha={alpha}, D={d}"
            for k, delta in ((2, Fraction(9, 10)), (10_000, Fraction(1, 100))):
                log = ball(Fraction(k) / delta).log()
                failure = 2 * k * (-row_constant * log / 6).exp()
                require(bool(failure <= ball(delta)), f"k={k}, delta={delta}: {failure.str(6)}")
                cases += 1
            require(bool(error <= ball(alpha)), f"{case}: error {error.str(6)}")
    return f"{cases} sets of parameters"


def _against_hadamard(constant: Fraction) -> str:
    """8 coth(eps/2)^2 log(2k)/alpha^4 <= constant log(k)/(eps^2 alpha^4) for k >= 2, eps <= 1."""
    with precision(128):
        for eps, alpha, k in product(_EPS, _ALPHA, (2, 100, 10**6)):
            theirs = samples_any(k, eps, alpha)
            ours = ball(constant / (eps * alpha * alpha) ** 2) * ball(k).log()
            case = f"eps={eps}, alpha={alpha}, k={k}: {theirs.str(6)} reports"
            require(bool(theirs <= ours), f"{case} > {ours.str(6)}")
    return "27 sets of parameters; eps coth(eps/2) grows and log(2k)/log(k) falls"


CLAIMS = (
    Conditional(
        paper="CP",
        item="Theorem 3.6",
        statement="With a random sign matrix O(m/(eps alpha)^2) samples give l2 error alpha: for "
        "beta = min(eps/2, alpha/(4D)) and m >= 12 log(k/delta)/beta^2, P1 holds with probability "
        "1 - delta and n = 25 D^2 m/(eps alpha)^2 suffices (alpha <= 1/2, s-sparse p).",
        outcome="verified",
        method="certified numerics",
        condition="RIP of order 2s (Theorem 3.4 fails with the order s of P2), and its "
        "probability, which is not 1 - e^(-m), see Section 3",
        rests_on="CP-Theorem-3.4",
        **varied(partial(_method, 12), 25, 24, "n = 24 D^2 m/(eps alpha)^2"),
        note="c = O(1) is 1/(4D) for l2, 1/(8 D sqrt(s)) for l1. The scheme is 2 eps-LDP before "
        "rescaling",
    ),
    CP.verified(
        "Theorem 3.6, against Hadamard response",
        "With m >= log(k)/(c alpha)^2 the l2 rate is at least log(k)/(eps^2 alpha^4) up "
        "to the constant; Hadamard response with projection reaches 76 log(k)/(eps^2 alpha^4) "
        "without sparsity, so that the guarantee is never better by more than a constant.",
        "certified numerics",
        **varied(_against_hadamard, Fraction(76), Fraction(74), "74 log(k)/(eps^2 alpha^4)"),
        note="a remark of this ledger, not of the paper: compared are guarantees, not errors",
        ours=True,
    ),
    CP.not_checkable(
        "Theorem 3.6, probability",
        "The guarantee holds with probability at least 1 - delta - e^(-m).",
        "RIP fails with probability above e^(-m) (see Section 3), but whether the sum "
        "delta + e^(-m) is exceeded depends on the unstated constant in m",
    ),
    CP.not_checkable(
        "Theorem 3.6, rates",
        "O(m/(eps alpha)^2) samples for l2 and O(s m/(eps alpha)^2) for l1, also for "
        "(s, sqrt(s) alpha)- and (s, alpha)-sparse p.",
        "asymptotic; explicit constants are checked under Theorem 3.6 and Corollary 3.4.1",
    ),
)
