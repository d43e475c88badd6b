"""SVA, Table I: asymptotic errors and communication, row by row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local import SparseVectorMean
from exactdp.local.sparse import Harmony, KFold, NaiveLaplace, Pckv, ReportPlan, Sampled
from exactdp.local.sparse.baseline import Baseline
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.sva._tails import not_negative
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

#: Printed factors in front of (1/epsilon) sqrt(log d/n), as powers of k: events 0, users 1.
_EXPONENT = {
    ("repetition", 0): Fraction(1, 2),
    ("naive", 0): Fraction(0),
    ("ours", 0): Fraction(0),
    ("sampling", 1): Fraction(1),
    ("naive", 1): Fraction(1),
}


def _squares(k: int) -> dict[tuple[str, int], Fraction]:
    """n times the mean square error of what is shipped: events 0, users 1; n = 1e5, epsilon = 1."""
    basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": 1}
    schemes: dict[tuple[str, int], Baseline | ReportPlan] = {
        ("repetition", 0): KFold(**basic),
        ("naive", 0): NaiveLaplace(**basic, promise="event"),
        ("ours", 0): SparseVectorMean(**basic, level="event").plan,
        ("sampling", 1): Sampled(**basic),
        ("naive", 1): NaiveLaplace(**basic),
        ("ours", 1): SparseVectorMean(**basic, level="user").plan,
    }
    return {row: scheme.mean_square(10**5) for row, scheme in schemes.items()}


def _grown(ours: Fraction) -> str:
    """The powers of k in the errors as printed, against those from k = 256 to 1024 as shipped.

    ours: the power for users.
    """
    small, large = _squares(256), _squares(1024)
    with precision(64):
        for name, level in small:
            printed = _EXPONENT.get((name, level), ours)
            found = ball(large[name, level] / small[name, level]).log() / ball(16).log()
            case = f"{name}, {('events', 'users')[level]}: k^{found.str(4, radius=False)}"
            require(bool(abs(found - ball(printed)) < ball(Fraction(1, 100))), case)
    return "six rows as shipped, d = n = 1e5, epsilon = 1"


def _over_ours(k: int) -> dict[str, Fraction]:
    """Mean square errors at event level as shipped over that of Algorithm 1; d = n = 1e5."""
    basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": 1}
    ours = SparseVectorMean(**basic, level="event").plan.mean_square(10**5)
    schemes = {
        "repetition": KFold(**basic),
        "sampling": Sampled(**basic, promise="event"),
        "Harmony": Harmony(**basic),
        "PCKV": Pckv(**basic),
        "naive": NaiveLaplace(**basic, promise="event"),
    }
    return {name: scheme.mean_square(10**5) / ours for name, scheme in schemes.items()}


def _all_ahead(share: Fraction) -> str:
    """All others have at least share * k times ours."""
    for k in (64, 256, 1024):
        for name, found in _over_ours(k).items():
            require(found >= share * k, f"k={k}: {name} has {float(found):.4g} times ours")
    return "k = 64, 256, 1024"


def _short_ahead(share: Fraction) -> str:
    """All with short reports have; naive perturbation has 0.66 to 0.67 of ours."""
    for k in (64, 256, 1024):
        others = _over_ours(k)
        naive = others.pop("naive")
        require(Fraction(66, 100) <= naive <= Fraction(67, 100), f"naive: {float(naive):.4g}")
        for name, found in others.items():
            require(found >= share * k, f"k={k}: {name} has {float(found):.4g} times ours")
    return "k = 64, 256, 1024, epsilon = 1"


def _naive_loss(d: int, flip: Fraction, changed: int) -> Fraction:
    """e^epsilon of flipping every bit: the loss over so many changed coordinates."""
    bit = {0: Law({0: 1 - flip, 1: flip}), 1: Law({0: flip, 1: 1 - flip})}
    first: Law[tuple[int, ...]] = Law.point(())
    second: Law[tuple[int, ...]] = Law.point(())
    for i in range(d):
        first = first.product(bit[0]).map(lambda t: (*t[0], t[1]))
        second = second.product(bit[int(i < changed)]).map(lambda t: (*t[0], t[1]))
    return Fraction(max_loss(first, second))


def _naive(multiple: Fraction) -> str:
    """Randomized response per coordinate: e^eps per event, e^(2k eps) per user."""
    for k in (1, 2):
        event = _naive_loss(2 * k, Fraction(1, 3), 1)
        user = _naive_loss(2 * k, Fraction(1, 3), 2 * k)
        require(event == 2, f"k={k}: an event costs {event}")
        require(user**100 == event ** int(100 * multiple * k), f"k={k}: a user costs {user}")
    return "d = 2k, k = 1, 2: so epsilon/(2k) per coordinate and an error factor of order k"


def _naive_variance(least: Fraction) -> str:
    """e^x/(e^x - 1)^2 <= least/x^2 for the variance of one debiased bit, all x > 0."""
    # = 1/(4 sinh(x/2)^2); with y = x/2, y^2/sinh(y)^2 <= least; sinh(y)/y >= 1 + y^2/6
    for e_eps in (Fraction(101, 100), Fraction(2), Fraction(5)):
        p = e_eps / (e_eps + 1)
        bit = Law({Fraction(1): p, Fraction(0): 1 - p})
        scale = (e_eps + 1) / (e_eps - 1)
        variance = (bit.expectation(lambda x: x * x) - p * p) * scale**2
        require(variance == e_eps / (e_eps - 1) ** 2, f"e^x={e_eps}: variance {variance}")
        bounded = ball(variance) * ball(e_eps).log() ** 2 <= ball(least)
        require(bool(bounded), f"e^x={e_eps}: variance {float(variance):.6g}")
    parts = always_positive(
        lambda y: ball(least) * (1 + y * y / 6) ** 2 - 1 + ball(Fraction(1, 10**9)), [(0, 50)]
    )
    return f"variance at most 1/epsilon^2 per client, {parts} part(s) up to epsilon = 100"


def _gap(factor: Fraction) -> str:
    """log d <= factor log(d/k) for k <= sqrt(d): x = log k/log d in [0, 1/2]."""
    not_negative(factor - 1, -factor, 0, Fraction(1, 2))
    return "all log k/log d in [0, 1/2], equality at 1/2"


_BY_ITEMS: tuple[dict[str, Any], ...] = tuple(
    {"d": 1 << digits, "k": 16, "epsilon": 1} for digits in (10, 12, 16, 20)
)


def _by_items(least: Fraction) -> str:
    """Variances over d."""
    one = Harmony(**_BY_ITEMS[0]).variance / _BY_ITEMS[0]["d"]
    for basic in _BY_ITEMS:
        harmony, pckv = (scheme(**basic).variance / basic["d"] for scheme in (Harmony, Pckv))
        case = f"d={basic['d']}: {float(harmony):.4g} d, {float(pckv):.4g} d"
        require(harmony == one, case)
        require(least <= pckv <= Fraction(26, 10), case)
    return "d = 2^10, 2^12, 2^16, 2^20"


def _sizes(sign: int) -> str:
    """Bits of shipped reports; sign: what a report takes beside the item."""
    for basic in _BY_ITEMS:
        d = basic["d"]
        one = d.bit_length() - 1 + sign
        found = [scheme(**basic).bits for scheme in (NaiveLaplace, Pckv, KFold, Sampled, Harmony)]
        stated = [18 * d, d.bit_length() + 1, 16 * one, one, one]
        require(found == stated, f"d={d}: {found} bits, stated {stated}")
    return "d = 2^10, 2^12, 2^16, 2^20"


def _free_of_k(share: Fraction) -> str:
    """The shipped scheme's variance with share * eps^2 k/4 bins is at most 12/eps^2."""
    for epsilon in (Fraction(1, 2), Fraction(1)):
        found = []
        for k in (64, 256, 1024):
            bins = int(share * epsilon**2 * k / 4)
            basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": epsilon, "level": "event"}
            found.append(SparseVectorMean(**basic, bins=bins).plan.variance)
            case = f"k={k}, epsilon={epsilon}, b={bins}: variance {float(found[-1]):.6g}"
            require(found[-1] == found[0], f"{case}, not {float(found[0]):.6g}")
            require(found[-1] <= 12 / epsilon**2, f"{case}, above 12/epsilon^2")
    return "k = 64, 256, 1024, epsilon = 1/2, 1 as shipped"


CLAIMS = (
    SVA.verified(
        "Table I",
        "In powers of k, within 0.01, the errors of what is shipped grow from k = 256 to 1024 as "
        "printed: repetition 1/2 and ours 0 at event level, sampling 1 and ours 1/2 at user level, "
        "naive perturbation 0 and 1.",
        "exact law",
        **varied(_grown, Fraction(1, 2), Fraction(51, 100), "ours 0.51 at user level"),
        note="for sampling at event level the table has the user level's k, an upper bound",
    ),
    SVA.verified(
        "Table I, naive perturbation, privacy",
        "Randomized response per coordinate costs epsilon per event and 2k epsilon per "
        "user, hence the factor k in its user-level error.",
        "exact law",
        **varied(_naive, Fraction(2), Fraction(199, 100), "1.99 k epsilon per user"),
    ),
    SVA.verified(
        "Table I, naive perturbation, error",
        "One debiased bit has variance e^epsilon/(e^epsilon - 1)^2 <= 1/epsilon^2, so "
        "the event-level error is O((1/epsilon) sqrt(log d/n)).",
        "interval search",
        **varied(_naive_variance, Fraction(1), Fraction(49, 50), "0.98/epsilon^2"),
    ),
    SVA.verified(
        "Table I, ours",
        "With epsilon^2 k/4 bins the event-level error has no k: the variance of a shipped report "
        "is the same for k = 64, 256 and 1024, at most 12/epsilon^2.",
        "exact law",
        **varied(_free_of_k, Fraction(1), Fraction(1, 2), "with half as many bins"),
        note="the user-level row is Theorem 1",
    ),
    SVA.proved(
        "Table I, gap to the lower bound",
        "For k <= sqrt(d), the user-level error and the lower bound differ by the order "
        "of sqrt(log n) only: log d <= 2 log(d/k).",
        "symbolic",
        **varied(_gap, Fraction(2), Fraction(199, 100), "log d <= 1.99 log(d/k)"),
        note="for k of the order of d the gap also has log d",
    ),
    Refuted(
        paper="SVA",
        item="Section V-C, gap sqrt(k)",
        statement="By Table I, every other method has an event-level error at least sqrt(k) times "
        "ours.",
        severity="cosmetic",
        printed=Printed(
            r"Theoretically (from Table I), our method is better than other methods by at "
            r"least a polynomial gap \sqrt{k}",
            "Section V-C, first paragraph",
            388,
        ),
        method="exact law",
        check=lambda: _all_ahead(Fraction(1, 20)),
        example="""
>>> from math import exp
>>> # randomized response per coordinate: variance e^eps/(e^eps - 1)^2 per client, without k
>>> naive = lambda eps: exp(eps) / (exp(eps) - 1) ** 2
>>> ours = lambda eps: 2 * (1 / eps) ** 2           # noise alone, binary vectors, Delta = 1
>>> [naive(eps) < ours(eps) for eps in (0.1, 1.0, 3.0)]
[True, True, True]
""",
        extraction="no: Table I prints the same error for naive perturbation and for ours",
        corrected=SVA.verified(
            "Section V-C, gap sqrt(k), corrected",
            "Every other method with short reports has: as shipped, at epsilon = 1 and k from 64 "
            "to 1024, 0.39 k times the mean square error at least; naive perturbation, with d "
            "numbers per report, has 2/3 of ours.",
            "exact law",
            **varied(_short_ahead, Fraction(39, 100), Fraction(40, 100), "0.4 k times at least"),
        ),
    ),
    SVA.verified(
        "Table I, Harmony and PCKV",
        "Errors of order sqrt(d): as shipped, at epsilon = 1 and k = 16, the variance of Harmony "
        "is proportional to d, and that of PCKV from 2.51 d to 2.6 d for d from 2^10 to 2^20.",
        "exact law",
        **varied(_by_items, Fraction(251, 100), Fraction(252, 100), "from 2.52 d to 2.6 d"),
    ),
    SVA.verified(
        "Table I, communication",
        "O(k log d), O(log d), O(log d), O(log d), O(d): as shipped, in bits, k (1 + log2 d) for "
        "k-fold repetition, 1 + log2 d for sampling and Harmony, 2 + log2 d for PCKV, 18 d for "
        "naive perturbation at epsilon = 1, k = 16.",
        "exact law",
        **varied(_sizes, 1, 0, "log2 d in place of 1 + log2 d"),
        note="our rows: Theorem 12, communication; lambda is the length of a seed",
    ),
    SVA.not_checkable(
        "Table I, lower bounds",
        "Omega((1/epsilon) sqrt(log d/n)) for events, Omega((sqrt(k)/epsilon) "
        "sqrt(log(d/k)/n)) for users.",
        "asymptotic; the event-level bound is cited, the user-level one is Theorem 15",
    ),
)
