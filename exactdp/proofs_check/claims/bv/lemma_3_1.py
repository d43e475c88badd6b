"""BV, Section 3: mixing with a law that reaches every output buys back pure privacy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick, max_loss, total_variation
from exactdp.law import Law
from exactdp.mechanisms import StrictPureSparseHistogram
from exactdp.mechanisms.histograms.mechanism import Bins
from exactdp.mechanisms.histograms.mixture import mixed_law, required_distance
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._laws import geo
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

_F = Fraction
_FACTORS = (_F(9, 8), _F(3, 2), _F(3), _F(10))
_GAMMAS = (_F(1, 2), _F(1, 4), _F(1, 100))


def _algebra(weight: int) -> str:
    """At one output: e^eps ((1-g)(Q-d) + g p) - ((1-g)(e^eps Q + d) + g p) = 0 at equality in (1).

    P <= e^eps Q, P' <= P + d, Q' >= Q - d are all that is used, and p >= min D.
    """
    import sympy

    e, g, d, p, q = sympy.symbols("e g d p q", positive=True)
    upper = (1 - g) * (e * q + d) + g * p
    lower = (1 - g) * (q - d) + g * p
    allowed = (e - 1) / (e + weight) * g / (1 - g) * p
    slope = sympy.diff(sympy.expand(e * lower - upper), d)
    require(sympy.simplify(slope + (1 - g) * (1 + e)) == 0, f"slope {slope}")
    rest = sympy.simplify((e * lower - upper).subs(d, allowed))
    require(rest == 0, f"e^eps Q* - P* = {rest} at delta = {allowed}")
    return "zero at equality and falling in delta: -(1 - gamma)(1 + e^eps)"


def _response(high: Fraction) -> Law[int]:
    return Law({0: high, 1: 1 - high})


def _attained(stretch: Fraction) -> str:
    """Randomised response moved by delta, mixed with a fair coin: ratio e^eps."""
    cases = 0
    for e, gamma in product(_FACTORS, _GAMMAS):
        delta = required_distance(e_epsilon=e, gamma=gamma, least=_F(1, 2)) * stretch
        if delta > 1 / (e + 1):
            continue
        coin = Law({0: _F(1, 2), 1: _F(1, 2)})
        p = mixed_law(_response(e / (e + 1) + delta), coin, gamma)
        q = mixed_law(_response(1 / (e + 1) - delta), coin, gamma)
        worst = max_loss(p, q)
        require(worst == e, f"e^eps={e}, gamma={gamma}, delta={delta}: ratio {worst}")
        cases += 1
    return f"equality in all {cases} cases"


def _distance(share: Fraction) -> str:
    """The mixture lies within gamma + share delta of M."""
    laws = [_response(_F(k, 8)) for k in range(9)]
    for m, near, other in product(laws, repeat=3):
        delta = total_variation(m, near).upper
        for gamma in _GAMMAS:
            gap = total_variation(mixed_law(near, other, gamma), m).upper
            require(gap <= gamma + share * delta, f"gamma={gamma}, delta={delta}: distance {gap}")
    return "729 triples of laws, three gammas"


def _program(swapped: bool) -> str:
    """What the shipped Algorithm 1 adds to (1 - gamma) M'(D), run through all its choices.

    gamma = 2^-j. M' is SparseHistogram, the law D is that of a random partial histogram.
    """
    for bits in (2, 3, 5):
        mechanism = StrictPureSparseHistogram(geo(1), 3, mixing_bits=bits)
        gamma = 1 - _F(1, 2**bits) if swapped else _F(1, 2**bits)
        added = [_added(mechanism, {x: 1}, gamma) for x in range(3)]
        case = f"gamma=2^-{bits}"
        reached = [bins for bins, weight in added[0].items() if weight > 0]
        require(len(reached) == 4, f"{case}: only {reached} are added")  # nothing, or one of 3 bins
        require(added[0] == added[1] == added[2], f"{case}: what is added depends on the data")
    return "three gammas, every data set and outcome"


def _added(
    mechanism: StrictPureSparseHistogram, counts: dict[int, int], gamma: Fraction
) -> dict[Bins, Fraction]:
    whole, sparse = (m.law(counts, residual=0) for m in (mechanism, mechanism.sparse))
    return {bins: whole[bins] - (1 - gamma) * sparse[bins] for bins in whole}


def _uniform_is_best(most: Fraction) -> str:
    """No law on r outputs has a least probability above 1/r."""
    for size in (2, 3, 4):
        leasts = {}
        for parts in product(range(13), repeat=size - 1):
            rest = 12 - sum(parts)
            if rest >= 0:
                leasts[*parts, rest] = _F(min(*parts, rest), 12)
        largest = max(leasts.values())
        best = [law for law, least in leasts.items() if least == largest]
        require(best == [(12 // size,) * size], f"the least probability is largest for {best}/12")
        require(largest <= most / size, f"{best[0]}/12: least {largest}")
    return "all laws in twelfths on 2 to 4 outputs; uniform alone attains 1/r"


def _from_approximate(weight: Fraction) -> str:
    """Pairs of (eps, delta)-DP laws on r outputs, delta at most `weight` times the bound.

    They are all laws in quarters, moved towards each other until delta is that number.
    """
    cases = 0
    for e, gamma, size in product(_FACTORS, _GAMMAS, (2, 3)):
        most, reached = weight * (e - 1) * gamma / (1 - gamma) / size, _F(0)
        for p, q in product(_quarters(size), repeat=2):
            delta = max(hockey_stick(a, b, e_epsilon=e).upper for a, b in ((p, q), (q, p)))
            share = min(most / delta, _F(1)) if delta else _F(1)
            near = Law.mixture([(share, p), (1 - share, q)])
            found = max(hockey_stick(a, b, e_epsilon=e).upper for a, b in ((near, q), (q, near)))
            require(found <= most, f"e^eps={e}: delta {found} > {most}")
            even = Law.uniform(range(size))
            a, b = mixed_law(near, even, gamma), mixed_law(q, even, gamma)
            worst = max(max_loss(a, b), max_loss(b, a))
            require(worst <= e, f"e^eps={e}, gamma={gamma}, r={size}: {near}, {q}: ratio {worst}")
            reached = max(reached, _F(worst))
            cases += 1
        needed = most > 1 or reached == e  # every pair has a delta of at most 1
        require(needed, f"e^eps={e}, gamma={gamma}, r={size}: no ratio above {reached}")
    return f"{cases} pairs; equality for an output that only one of the two can give"


def _quarters(size: int) -> list[Law[int]]:
    parts = (p for p in product(range(5), repeat=size) if sum(p) == 4)
    return [Law({x: _F(k, 4) for x, k in enumerate(p) if k}) for p in parts]


CLAIMS = (
    BV.proved(
        "Lemma 3.1",
        "If M is (eps, 0)-DP and M' within delta of it on every data set, "
        "(1 - gamma) M' + gamma D is (eps, 0)-DP when "
        "delta <= (e^eps - 1)/(e^eps + 1) gamma/(1 - gamma) min D.",
        "symbolic",
        **varied(_algebra, 1, 0, "delta <= (e^eps - 1)/e^eps gamma/(1 - gamma) min D"),
        note="for gamma = 1 the bound divides by 0: nothing is required then",
    ),
    BV.verified(
        "Lemma 3.1, equation (1)",
        "The bound on delta cannot be improved: randomised response and a fair coin "
        "attain e^eps exactly.",
        "enumeration",
        **varied(_attained, _F(1), _F(101, 100), "delta may be 1 % larger"),
    ),
    BV.verified(
        "Algorithm 1",
        "The law of the algorithm as shipped (in StrictPureSparseHistogram) is (1 - gamma) M'(D) + "
        "gamma D, D a law on all outputs that does not depend on the data.",
        "exact law",
        **varied(_program, False, True, "gamma M'(D) + (1 - gamma) D"),
        note="the text reads 'with probability 1gamma' in step 1; 1 - gamma is meant",
    ),
    BV.verified(
        "Section 3, distance of the mixture",
        "The mixture lies within gamma + delta of M in total variation.",
        "enumeration",
        **varied(_distance, _F(1), _F(98, 100), "within gamma + 0.98 delta"),
    ),
    BV.verified(
        "Section 3, uniform mixing law",
        "The uniform law on the outputs makes the least probability largest.",
        "enumeration",
        **varied(_uniform_is_best, _F(1), _F(99, 100), "no law reaches 1/r"),
    ),
    BV.verified(
        "Section 1, from approximate to pure",
        "An (eps, delta)-DP mechanism with delta small against 1/|R| becomes (eps, 0)-DP "
        "by a uniform output of small probability gamma: "
        "delta <= (e^eps - 1) gamma/((1 - gamma)|R|) is needed and enough.",
        "enumeration",
        **varied(_from_approximate, _F(1), _F(101, 100), "delta may be 1 % larger"),
        note="the text gives no constant; derived here",
    ),
    BV.not_checkable(
        "Lemma 3.1, running time",
        "O(log(1/gamma)) + Time(M') + Time(D).",
        "asymptotic running time in the word RAM model",
    ),
)
