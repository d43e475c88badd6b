"""SVA, Theorems 11 and 15: lower bounds on the expected error; where the cap at 1 belongs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import Conditional, Mutant, Printed, Refuted, require
from exactdp.proofs_check.claims.sva._risk import bayes_risk
from exactdp.proofs_check.claims.sva._tails import at_most
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

Vector = tuple[int, ...]


def _exactly(d: int, k: int) -> list[Vector]:
    """S: the binary vectors of length d with exactly k ones."""
    return [tuple(int(i in ones) for i in range(d)) for ones in combinations(range(d), k)]


def _blind(estimate: Fraction, d: int, k: int, n: int) -> Fraction:
    """The worst error of a constant estimate over all n-tuples of S; it needs no data."""
    worst = Fraction(0)
    for users in product(_exactly(d, k), repeat=n):
        means = [Fraction(sum(column), n) for column in zip(*users, strict=True)]
        worst = max(worst, max(abs(estimate - m) for m in means))
    return worst


def _capped(cap: Fraction) -> str:
    """The bound is `cap` once (1/epsilon) sqrt(log|S|/n) is large; a blind estimate obeys it."""
    for d, k, n in ((4, 2, 2), (3, 1, 2), (2, 1, 3)):
        found = _blind(Fraction(1, 2), d, k, n)
        require(found >= cap, f"d={d}, k={k}, n={n}: the constant 1/2 has error {found} < {cap}")
    return "the constant estimate 1/2 on three sizes"


def _guess(cap: Fraction) -> str:
    """Even with estimates in S, a uniform guess has expected error 1 - 1/|S| for n = 1."""
    for d, k in ((2, 1), (3, 1), (4, 2)):
        vectors = _exactly(d, k)
        for truth in vectors:
            errors = [max(abs(a - b) for a, b in zip(v, truth, strict=True)) for v in vectors]
            found = Fraction(sum(errors), len(errors))
            require(found >= cap, f"d={d}, k={k}: a uniform guess from S has error {found} < {cap}")
    return "uniform guesses from S on three sizes"


def _at_two() -> str:
    """At d = 2 blind estimates of either kind err by 1/2 at most, whatever the data are."""
    for n in (1, 2, 3):
        found = _blind(Fraction(1, 2), 2, 1, n)
        require(found <= Fraction(1, 2), f"n={n}: the constant 1/2 has error {found}")
    for truth in _exactly(2, 1):
        errors = [max(abs(a - b) for a, b in zip(v, truth, strict=True)) for v in _exactly(2, 1)]
        require(sum(errors) * 2 <= len(errors), f"a guess of {truth} has error {errors}")
    return "at most 1/2 at d = 2"


def _bounded_below(constant: Fraction) -> str:
    """d = 2, k = 1, delta = 0: the Bayes risk against min(c sqrt(log 2/n)/epsilon, 2/5)."""
    cap = Fraction(2, 5)
    factors, sizes = (Fraction(11, 10), Fraction(3, 2), Fraction(3), Fraction(8)), (1, 2, 4, 7)
    with precision(80):
        for e_eps, n in product(factors, sizes):
            found = max(bayes_risk(n, e_eps, Fraction(j, 4)) for j in range(5))
            rate = (ball(2).log() / n).sqrt() / ball(e_eps).log()
            scaled = ball(constant) * rate
            bound = cap if scaled > ball(cap) else scaled
            at_most(bound, found, f"n={n}, e^epsilon={e_eps}: bound, least error")
    return "16 pairs of epsilon and n; two inputs: every pure mechanism is processed from this one"


def _counting(share: Fraction) -> str:
    """C(d, k) >= (d/k)^k, as (d - i)/(k - i) >= d/k for 0 <= i < k <= d: the gap is i (d - k)."""
    import sympy as sp

    d, k, i = sp.symbols("d k i", nonnegative=True)
    gap = sp.expand((d - i) * k - d * (k - i) - i * (d - k))
    require(gap == 0, f"(d - i) k - d (k - i) differs from i (d - k) by {gap}")
    for many in range(1, 41):
        for few in range(1, many + 1):
            chosen = comb(many, few) * few**few
            require(chosen >= share * many**few, f"d={many}, k={few}: {comb(many, few)}")
    return "identity, so each of the k factors is at least d/k; and 1 <= k <= d <= 40 counted"


CLAIMS = (
    SVA.not_checkable(
        "Theorem 11",
        "For k = 1, epsilon = O(1) and delta = o(epsilon/(n log n)), every "
        "non-interactive mechanism has expected error Omega(min(sqrt(log d/(epsilon^2 n)), 1)).",
        "cited without proof from Bassily and Smith; constants and little-o are not stated. "
        "Its steps are checked under Lemmas 20 to 23.",
        note="the first lines of Section VI quote it with delta = o(1/(n log n))",
    ),
    Conditional(
        paper="SVA",
        item="Theorem 15",
        statement="For some distribution on S every estimator from private reports has expected "
        "error Omega(min((1/epsilon) sqrt(log|S|/n), 1)).",
        outcome="verified",
        method="enumeration",
        condition="checked for d = 2, k = 1, delta = 0, as min(0.27 (1/epsilon) sqrt(log 2/n), "
        "0.4). In general the proof passes from the distribution's mean to the empirical one by "
        "Lemma 20, whose 'smaller order' needs epsilon^2/k to tend to 0 (or stay below a constant)",
        rests_on="SVA-Lemma-20-smaller-order",
        **varied(_bounded_below, Fraction(27, 100), Fraction(28, 100), "with constant 0.28"),
        note="where the cap stands: see the entry on it. The other steps are checked under Lemmas "
        "21 to 23 and Appendix D",
    ),
    Refuted(
        paper="SVA",
        item="Theorem 15, cap at 1",
        statement="For some distribution the expected error is at least min(Omega((1/epsilon) "
        "sqrt(log|S|/n)), 1): at least 1 once epsilon is small enough.",
        severity="cosmetic",
        printed=Printed(
            r"\geq \min \left\{ \Omega \left(\frac{1}{\epsilon} \sqrt{\frac{\log "
            r"|\mathcal{S}|}{n}} \right), 1 \right\}",
            "Section VI, Theorem 15, display",
            480,
        ),
        method="enumeration",
        check=lambda: _capped(Fraction(1)) + _guess(Fraction(1)),
        example="""
>>> users = [(1, 0), (0, 1)]                     # S for d = 2, k = 1
>>> [max(abs(0.5 - x) for x in v) for v in users]     # the constant estimate: no data, any epsilon
[0.5, 0.5]
>>> [sum(max(abs(a - b) for a, b in zip(g, v)) for g in users) / 2 for v in users]    # a guess
[0.5, 0.5]
""",
        extraction="no: Corollary 16 has the same form; Theorem 11 has Omega(min(..., 1)), and the "
        "proof yields eta/10 with eta <= 1",
        corrected=SVA.verified(
            "Theorem 15, cap at 1, corrected",
            "The cap belongs inside, Omega(min((1/epsilon) sqrt(log|S|/n), 1)): blind "
            "estimates, real or from S, allow no cap above 1/2 at d = 2.",
            "enumeration",
            check=lambda: "; ".join((_at_two(), _guess(Fraction(1, 2)), _capped(Fraction(1, 2)))),
            mutant=Mutant("a cap of 0.51", lambda: _capped(Fraction(51, 100))),
            note="the theorem takes estimates from S, though a mean is not in S; the proof does "
            "not need that",
        ),
    ),
    SVA.proved(
        "Theorem 15, size of S",
        "log|S| = log C(d, k) >= k log(d/k).",
        "symbolic",
        **varied(_counting, Fraction(1), Fraction(101, 100), "C(d, k) >= 1.01 (d/k)^k"),
    ),
)
