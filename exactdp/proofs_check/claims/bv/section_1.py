"""BV, Section 1: differential privacy, the Laplace Mechanism, and remarks of the introduction."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, product

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.mechanisms import KeepHeavy
from exactdp.proofs_check.claim import Mutant, require
from exactdp.proofs_check.claims.bv._data_sets import (
    data_sets,
    neighbours,
)
from exactdp.proofs_check.claims.bv._errors import beyond, log_error
from exactdp.proofs_check.claims.bv._laws import geo
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import GeoSample

__all__ = ["CLAIMS"]

_F = Fraction
_EPSILONS = (_F(1), _F(99, 100), _F(3, 10))


def _events(singletons: bool) -> str:
    """max over events of P(S) - e^eps Q(S), against the sum of positive parts; who attains it."""
    laws = [
        Law({0: _F(a, 8), 1: _F(b, 8), 2: _F(8 - a - b, 8)})
        for a, b in product(range(0, 9, 2), repeat=2)
        if a + b <= 8
    ]
    sizes = (0, 1) if singletons else range(4)
    events = list(chain.from_iterable(combinations(range(3), k) for k in sizes))
    needed = set()
    for p, q in product(laws, repeat=2):
        for e in (_F(1), _F(3, 2), _F(4)):
            gains = [sum((p[x] - e * q[x] for x in S), _F(0)) for S in events]
            most = max(gains)
            if gains.count(most) == 1:
                needed.add(events[gains.index(most)])
            exact = hockey_stick(p, q, e_epsilon=e).upper
            require(most == exact, f"{p}, {q}, e^eps={e}: {most} over events, {exact}")
    proper = set(chain.from_iterable(combinations(range(3), k) for k in range(3)))
    require(needed == proper, f"the only largest ones are {sorted(needed)}")
    return f"{len(laws) ** 2} pairs of laws on three outputs"


def _sensitivity(scale: Fraction) -> str:
    """Lap(scale/epsilon): ln of the density ratio is epsilon sum (|z_x-c'_x| - |z_x-c_x|)/scale."""
    for n, universe in ((1, 3), (3, 3), (4, 4)):
        for counts in data_sets(n, universe):
            for other in neighbours(counts, universe):
                moved = sum(abs(counts.get(x, 0) - other.get(x, 0)) for x in range(universe))
                require(moved == 2, f"{counts} to {other}: {moved} in sum")
                # the largest difference of |z - c'_x| and |z - c_x|, which is reached on integers
                pairs = [(counts.get(x, 0), other.get(x, 0)) for x in range(universe)]
                gains = (max(abs(z - b) - abs(z - a) for z in range(n + 1)) for a, b in pairs)
                loss = sum(gains) / scale
                require(loss <= 1, f"{counts} to {other}: loss {loss} epsilon")
    return "all neighbours for three sizes; attained"


def _laplace_tail(rate: Fraction) -> str:
    """P(|Lap(2/eps)| > (2/eps) ln(1/beta)) = beta, by integration."""
    import sympy

    eps, beta, a, z = sympy.symbols("epsilon beta a z", positive=True)
    mass = 2 * sympy.integrate(sympy.exp(-eps * z / 2), (z, 0, sympy.oo))
    tail = 2 * sympy.integrate(sympy.exp(-eps * z / 2), (z, a, sympy.oo)) / mass
    at = sympy.simplify(tail.subs(a, sympy.Rational(rate.numerator, rate.denominator) / eps
                                  * sympy.log(1 / beta)))  # fmt: skip
    require(sympy.simplify(at - beta) == 0, f"the tail there is {at}")
    return "symbolic; the simultaneous error is the union bound with beta/|X|"


def _expected_bins(factor: Fraction) -> str:
    """|X| P(M(0) > t) < 1/2, t = ceil(factor/epsilon ln|X|); some chance of all bins if t < n."""
    for epsilon, universe in product(_EPSILONS, (2, 100, 10**6, 2**64)):
        t = log_error(factor / epsilon, _F(universe))
        noise = GeoSample(t + 5, epsilon)
        chance = beyond(noise, 0, t)
        require(chance > 0, f"epsilon={epsilon}, |X|={universe}: no empty bin above {t}")
        expected = universe * chance
        case = f"epsilon={epsilon}, |X|={universe}"
        require(expected < _F(1, 2), f"{case}: {float(expected):.4f} expected")
    return "twelve cases; with the at most n non-empty bins fewer than n + 1 are expected"


def _long_denominators(part: Fraction) -> str:
    """P(no empty bin above 0) = (F(0)/d)^m in lowest terms: m times the bits of one denominator."""
    for n, k, m in ((1, 1, 50), (2, 2, 200), (5, 3, 1000)):
        cdf = geo(n, k).cdf(0)
        one = _F(cdf.numerator(0), cdf.denominator)
        bits = (one**m).denominator.bit_length()
        least = part * m * (one.denominator.bit_length() - 1)
        require(bits >= least, f"n={n}, {m} empty bins: {bits} bits < {least}")
    return "three samplers, up to 1000 empty bins"


def _distinct(extra: int) -> str:
    """Two neighbouring data sets of n rows contain at most n + 1 different elements."""
    for n, universe in ((1, 4), (3, 5), (4, 6)):
        for counts in data_sets(n, universe):
            for other in neighbours(counts, universe):
                together = len(counts.keys() | other.keys())
                require(together <= n + extra, f"{counts}, {other}: {together} elements")
    return "all neighbours for three sizes; attained"


def _synthetic(fewer: int) -> str:
    """What KeepHeavy releases is the histogram of at most n^2 - fewer rows."""
    for n, universe in ((1, 3), (2, 4)):
        for counts in data_sets(n, universe):
            for released in KeepHeavy(geo(n), universe).law(counts, residual=0):
                listed, rows = {x for x, _ in released}, sum(count for _, count in released)
                require(len(listed) == len(released), f"{released}: an element twice")
                require(rows <= n * n - fewer, f"{released}: {rows} synthetic rows")
    return "every data set and every release for two sizes; n bins of count n occur"


CLAIMS = (
    BV.verified(
        "Definition 1.1",
        "The largest P(S) - e^eps Q(S) over events S is the sum of the positive parts of "
        "P(r) - e^eps Q(r): for delta > 0 all events matter, each but the certain one being the "
        "only largest somewhere.",
        "enumeration",
        **varied(_events, False, True, "single outputs are enough"),
    ),
    BV.verified(
        "Section 1, Laplace Mechanism",
        "Lap(2/epsilon) on every bin is (epsilon, 0)-DP: neighbouring histograms differ by 2 in "
        "sum.",
        "enumeration",
        **varied(_sensitivity, _F(2), _F(19, 10), "Lap(1.9/epsilon) is"),
    ),
    BV.proved(
        "Section 1, errors of the Laplace Mechanism",
        "P(|Lap(2/epsilon)| > (2/epsilon) ln(1/beta)) = beta: errors O(1/epsilon) per "
        "query and O(log(|X|)/epsilon) at once.",
        "symbolic",
        check=lambda: _laplace_tail(_F(2)),
        mutant=Mutant("at (1.99/epsilon) ln(1/beta)", lambda: _laplace_tail(_F(199, 100))),
    ),
    BV.verified(
        "Section 1, expected number of bins",
        "With the threshold t = ceil(9/(2 epsilon) ln|X|) fewer than one empty bin is expected to "
        "exceed it (not even one half), though with some probability all do.",
        "exact law",
        **varied(_expected_bins, _F(9, 2), _F(44, 10), "4.4/epsilon in place of 9/(2 epsilon)"),
    ),
    BV.verified(
        "Section 1, denominators linear in |X|",
        "The probability that none of m empty bins is noisy has a denominator of at least "
        "(b - 1) m bits, b the bits of the denominator for one bin.",
        "exact law",
        **varied(_long_denominators, _F(1), _F(12, 10), "at least 1.2 (b - 1) m bits"),
    ),
    BV.verified(
        "Section 1, elements of neighbours",
        "Two neighbouring data sets together contain at most n + 1 distinct elements.",
        "enumeration",
        **varied(_distinct, 1, 0, "at most n"),
    ),
    BV.verified(
        "Section 1, synthetic data",
        "A release of KeepHeavy lists no element twice, and so is a synthetic data set, of at most "
        "n^2 rows.",
        "exact law",
        **varied(_synthetic, 0, 1, "of at most n^2 - 1 rows"),
    ),
    BV.not_checkable(
        "Section 1, running times of Theorems 1.2, 1.3, 1.4 and 1.6",
        "Strict running times of the four mechanisms, quasi-polynomial factors hidden.",
        "asymptotic running times in the word RAM model",
    ),
    BV.not_checkable(
        "Section 1, cited results",
        "Attacks on floating point, universal optimality of the geometric mechanism, "
        "lower bounds for synthetic data and for learners of point functions.",
        "cited from other papers, without statements to check",
    ),
    BV.not_checkable(
        "Abstract, comparison of errors",
        "Simultaneous error within constant factors of the Laplace Mechanism, per-bin "
        "error of the sparse histogram worse by a factor log|X|; error log(1/delta)/epsilon better "
        "than log(|X|)/epsilon when delta > 1/|X|.",
        "up to constant factors; the explicit bounds are the entries of Figures 1 and 2",
    ),
)
