"""BV, Theorem 6.1: KeepHeavy is private by post-processing, and how accurate it is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from exactdp.proofs_check.claim import Mutant
from exactdp.proofs_check.claims.bv._accuracy import (
    per_query_failure,
    require_heavy_accuracy,
    simultaneous_failure,
)
from exactdp.proofs_check.claims.bv._data_sets import require_pure
from exactdp.proofs_check.claims.bv._laws import EXACT, SKEW, STICKY, fast, geo, keep_heavy
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

_CASES = ((geo(1), 3), (geo(1, 2), 4), (fast(1), 4), (geo(2), 3), (fast(2, 2), 3))

#: With geo(3) more than 2 a_2 = 2 occurs, and not with probability 0.
_ACCURACY_CASES = ((geo(1), 2), (geo(2), 3), (geo(3), 4), (EXACT, 3), (STICKY, 4), (SKEW, 4))


def _private(slack: Fraction) -> str:
    worst = [
        require_pure(
            lambda counts: keep_heavy(noise, counts, universe),
            noise.n,
            universe,
            noise.e_half_epsilon**2 * slack,
        )
        for noise, universe in _CASES
    ]
    return "worst ratios " + ", ".join(map(str, worst))


def _accurate(failure: Callable[..., Fraction]) -> str:
    require_heavy_accuracy(keep_heavy, _ACCURACY_CASES, failure, 1, Fraction(0))
    return f"{len(_ACCURACY_CASES)} counting-query algorithms, every data set, all a_1 <= a_2"


CLAIMS = (
    BV.verified(
        "Theorem 6.1",
        "KeepHeavy is (epsilon, 0)-DP when the counting-query algorithm is (epsilon/2, 0)-DP.",
        "exact law",
        **varied(_private, Fraction(1), Fraction(98, 100), "with e^epsilon 2 % smaller"),
    ),
    BV.verified(
        "Theorem 6.1, per-query accuracy",
        "If noise on every bin errs by more than a_1 on one bin, and by more than "
        "a_2 >= a_1 on some bin, with probability at most beta each, KeepHeavy errs by more than "
        "a_1 on a bin of count > 2 a_2 with probability at most 2 beta, in these cases even beta.",
        "enumeration",
        check=lambda: _accurate(per_query_failure),
        mutant=Mutant(
            "also on bins of count exactly 2 a_2",
            lambda: _accurate(partial(per_query_failure, strict=False)),
        ),
    ),
    BV.verified(
        "Theorem 6.1, simultaneous accuracy",
        "Under the same conditions KeepHeavy errs by more than 2 a_2 on some bin with "
        "probability at most beta.",
        "enumeration",
        check=lambda: _accurate(simultaneous_failure),
        mutant=Mutant(
            "by more than a_2 on some bin",
            lambda: _accurate(partial(simultaneous_failure, factor=1)),
        ),
    ),
)
