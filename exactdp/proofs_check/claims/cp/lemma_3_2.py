"""CP, Lemma 3.2: the error that comes from finitely many reports."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.cp._instances import instances, second_error
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    Vector,
    dot,
    empirical_laws,
    hadamard_response,
    output,
    square,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _mean(q: Vector, n: int) -> Vector:
    pairs = list(empirical_laws(q, n))
    return tuple(dot((w for w, _ in pairs), (seen[i] for _, seen in pairs)) for i in range(len(q)))


def _expected_square(q: Vector, n: int, e: Fraction) -> Fraction:
    """E|e_2|^2 by summing over every outcome of n reports."""
    return sum(
        (w * square(second_error(q, seen, e)) for w, seen in empirical_laws(q, n)), Fraction(0)
    ) / len(q)


def _bound(share: Fraction) -> str:
    """E|e_2|^2 = ((e+1)/(e-1))^2 (m/n)(1 - |q|^2) <= share^2 times the same without |q|^2."""
    done = 0
    for n, (columns, e, p) in enumerate(instances(HIGH_PRIVACY[1:3])):
        q, reports = output(columns, e, p), 1 + n % 3
        factor = ((e + 1) / (e - 1)) ** 2 * len(q) / reports
        exact = _expected_square(q, reports, e)
        require(exact == factor * (1 - square(q)), f"n={reports}, e^eps={e}: {exact}")
        require(exact <= share * factor, f"m={len(q)}, n={reports}, e^eps={e}: {exact} > {factor}")
        done += 1
    q = output(hadamard_response(63), Fraction(2), (Fraction(1, 63),) * 63)
    require(1 - square(q) <= share, f"m=64: 1 - |q|^2 = {float(1 - square(q)):.4f}")
    return f"{done} multinomial laws summed out; E|e_2| <= sqrt(E|e_2|^2) by Jensen"


def _unbiased(scale: Fraction) -> str:
    """E q_hat = q and Var q_hat_i = q_i(1 - q_i)/n <= scale q_i/n."""
    for columns, e, p in instances(HIGH_PRIVACY[1:3]):
        q, n = output(columns, e, p), 2
        require(_mean(q, n) == q, f"e^eps={e}: the mean differs")
        for i, chance in enumerate(q):
            variance = sum(
                (w * (seen[i] - chance) ** 2 for w, seen in empirical_laws(q, n)), Fraction(0)
            )
            require(variance == chance * (1 - chance) / n, f"coordinate {i}: {variance}")
            require(variance <= scale * chance / n, f"coordinate {i}: {variance} at q={chance}")
    q = output(hadamard_response(63), Fraction(2), (Fraction(1, 63),) * 63)
    total = sum(chance * (1 - chance) for chance in q)
    require(total <= scale, f"m=64: n E|q_hat - q|^2 = {float(total):.4f}")
    return "2 reports, every coordinate; the root of the sum by Jensen"


CLAIMS = (
    CP.verified(
        "Lemma 3.2",
        "E|e_2|_2 <= (e^eps+1)/(e^eps-1) sqrt(m/n); the mean square is exactly "
        "((e^eps+1)/(e^eps-1))^2 (m/n)(1 - |q|_2^2).",
        "enumeration",
        **varied(_bound, Fraction(1), Fraction(9801, 10_000), "0.99 sqrt(m/n)"),
        note="the proof writes N for n, and sqrt(m)e^eps+1 for sqrt(m)(e^eps+1)",
    ),
    CP.verified(
        "Lemma 3.2, proof",
        "E q_hat_i = q_i and Var q_hat_i = q_i(1-q_i)/n <= q_i/n, so that "
        "E|q_hat - q|_2 <= sqrt(1/n).",
        "enumeration",
        **varied(_unbiased, Fraction(1), Fraction(91, 100), "Var <= 0.91 q_i/n"),
    ),
)
