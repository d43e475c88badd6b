"""Compressive privatization for a target: outputs, users, sparsity and error from each other.

The error is the proved bound of recovery_certificate.py for distributions on s values of a balanced
matrix. Its columns are drawn alike, so the values 0 to s - 1 stand for any s values that are chosen
without looking at the matrix. More outputs separate the values better, which needs fewer users, but
the server's time grows with k m; a report grows by log2 m bits only.

Source: CP (Xiong et al.), Corollary 3.4.1 and Theorems 3.6 and 4.3, with computed constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.local.compressive import CompressiveResponse
from exactdp.local.recovery_certificate import Certificate
from exactdp.parameters import Real, delta_target, integer, positive

#: Outputs for each value of the support that are tried, and the largest matrix, in entries.
_OUTPUTS, _LARGEST = (20, 40, 80), 1 << 26

_MOST_USERS = 1 << 50


@dataclass(frozen=True)
class CompressivePlan:
    """mechanism: with the planned number m of outputs. sparsity: s. users: n. error: bound of the
    l1 error of s shares, all others being 0, except with probability beta."""

    mechanism: CompressiveResponse
    sparsity: int
    users: int
    error: float

    @classmethod
    def for_target(
        cls,
        *,
        k: int,
        epsilon: Real,
        sparsity: int | None = None,
        users: int | None = None,
        error: Real | None = None,
        beta: Real = "0.05",
        seed: int = 0,
    ) -> CompressivePlan:
        """The plan for two of sparsity, users and error, with the best third.

        The fewest users for an error, the least error for a number of users, or the largest
        sparsity for both. m is the least of 20 s, 40 s and 80 s whose error is at most 3/2 of the
        least. k: number of values. beta: probability that the bound fails. seed: of the matrix.
        Raises InvalidParameter.

        >>> from exactdp.local import CompressivePlan
        >>> plan = CompressivePlan.for_target(k=1000, epsilon=1, sparsity=5, error="0.1")
        >>> plan.mechanism.m, plan.users < 2_000_000, plan.error <= 0.1  # takes seconds
        (200, True, True)
        """
        targets = (sparsity, users, error)
        if sum(x is not None for x in targets) != 2:
            raise InvalidParameter("sparsity, users, error", targets, "two of the three")
        fixed = integer("k", k, least=2), positive("epsilon", epsilon), seed
        chance, most = delta_target("beta", beta), float(positive("error", error or 2))
        n = integer("users", users or _MOST_USERS, least=1)
        if sparsity is None:
            certificate = _sparsest(fixed, n, chance, most)
        else:
            certificate = _outputs(fixed, integer("sparsity", sparsity, least=1), n, chance)
        if users is None:  # the error falls like 1/sqrt(n), so the best m hardly depends on n
            n = _fewest(certificate, chance, most)
        mechanism: Any = certificate.mechanism
        return cls(mechanism, len(certificate.support), n, certificate.l1(n, chance))


def _outputs(fixed: tuple[Any, ...], s: int, n: int, beta: Real) -> Certificate:
    """The certificate with the fewest outputs whose error is at most 3/2 of the least."""
    certificates = [
        x for x in (_certificate(*fixed, s, each) for each in _OUTPUTS) if x is not None
    ]
    if not certificates:
        raise InvalidParameter("sparsity", s, f"smaller, for k = {fixed[0]} and k m <= 2^26")
    errors = [each.l1(n, beta) for each in certificates]
    return next(
        x for x, error in zip(certificates, errors, strict=True) if error <= 1.5 * min(errors)
    )


@lru_cache(8)
def _certificate(k: int, epsilon: Real, seed: int, s: int, each: int) -> Certificate | None:
    """The certificate for the values 0 to s - 1 and m = each * s outputs; None if there is none."""
    if s >= k or each * s * k > _LARGEST:
        return None
    try:
        return Certificate.of(
            CompressiveResponse(k=k, m=each * s, epsilon=epsilon, seed=seed), range(s)
        )
    except InvalidParameter as refusal:
        if refusal.name == "support":
            return None
        raise


def _fewest(certificate: Certificate, beta: Real, most: float) -> int:
    """The least number of users, up to 0.1 %, whose error is at most `most`."""
    low, high = 0, 1
    while certificate.l1(high, beta) > most:
        low, high = high, 2 * high
        if high > _MOST_USERS:
            raise InvalidParameter("error", most, "larger: no number of users suffices")
    while high - low > max(high // 1024, 1):
        middle = (low + high) // 2
        low, high = (low, middle) if certificate.l1(middle, beta) <= most else (middle, high)
    return high


def _sparsest(fixed: tuple[Any, ...], n: int, beta: Real, most: float) -> Certificate:
    """The certificate with the largest sparsity, in steps of a tenth, that keeps the error."""
    best, s = None, 1
    while True:
        certificate = _certificate(*fixed, s, _OUTPUTS[1])
        if certificate is None or certificate.l1(n, beta) > most:
            break
        best, s = certificate, max(s + 1, s * 11 // 10)
    if best is None:
        raise InvalidParameter("error", most, f"larger, for {n} users, even with one value")
    return best
