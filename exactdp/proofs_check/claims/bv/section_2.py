"""BV, Section 2: histograms, probability, sampling, order statistics, the field."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import chain, combinations, product
from math import comb, inf
from typing import Any

from exactdp.accounting.divergence import max_loss, total_variation
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._laws import (
    geo,
    histogram_law,
)
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import RationalCdf, exact_law

__all__ = ["CLAIMS"]

_F = Fraction
_LAWS = (
    Law({-1: _F(1, 2), 3: _F(1, 2)}),
    Law({0: _F(1, 3), 1: _F(1, 6), 4: _F(1, 2)}),
    Law({-2: _F(1, 12), -1: _F(5, 12), 0: _F(1, 4), 7: _F(1, 4)}),
    Law({5: _F(1)}),
)


def _cdf(law: Law[int], z: int) -> Fraction:
    return law.probability(lambda y: y <= z)


def _stored(one: int) -> str:
    """|H_{n,n'}(X)| = sum over k <= n' of C(|X|, k) n^k <= (one + n |X|)^n', one = 1."""
    for n, kept, universe in product((1, 2, 3, 10), (1, 2, 3, 8), (1, 2, 5, 30)):
        size = sum(comb(universe, k) * n**k for k in range(min(kept, universe) + 1))
        if (n + 1) ** universe <= 4096:
            listed = sum(
                sum(c > 0 for c in h) <= kept for h in product(range(n + 1), repeat=universe)
            )
            require(listed == size, f"n={n}, n'={kept}, |X|={universe}: {listed} histograms")
        most = (one + n * universe) ** kept
        require(size <= most, f"n={n}, n'={kept}, |X|={universe}: {size} > {most}")
    return "64 cases, the small ones listed"


def _shorter(share: Fraction) -> str:
    """(1 + n|X|)^n' <= (n + 1)^|X| when n' <= share |X|/log2(1 + |X|), share = 1.

    With b = log2(1 + |X|) >= 1 the function (1 + n)^b - 1 - n|X| is convex in n, and 0 at n = 0
    and n = 1: log2(1 + n|X|) <= b log2(1 + n) for n >= 1.
    """
    for n, universe in product((1, 2, 5, 100), (1, 2, 7, 50, 255, 1000, 4095)):
        kept = int(share * universe / (universe.bit_length()))
        short, full = (1 + n * universe) ** kept, (n + 1) ** universe
        case = f"n={n}, n'={kept}, |X|={universe}"
        require(short <= full, f"{case}: {short.bit_length()} against {full.bit_length()} bits")
    return "28 cases; bit_length(|X|) >= log2(1 + |X|)"


def _order_of_release(first: float) -> str:
    """Sorted bins lose e^epsilon; bins of the data first have the ratio `first`."""
    noise = geo(1)
    noisy = [histogram_law(noise, {row: 1}, 2) for row in (0, 1)]
    in_order = [law.map(lambda z: tuple(enumerate(z))) for law in noisy]
    own = [
        law.map(lambda z: tuple((x, z[x]) for x in (row, 1 - row))) for row, law in enumerate(noisy)
    ]
    ratio = _ratio(in_order)
    require(ratio == noise.e_half_epsilon**2, f"sorted bins, one row: ratio {ratio}")
    require(_ratio(own) == first, f"the bin of the row first: ratio {_ratio(own)}")
    return f"data sets of one row: ratios {ratio} = e^epsilon and {_ratio(own)}"


def _ratio(laws: list[Law[Any]]) -> Fraction | float:
    return max(max_loss(laws[0], laws[1]), max_loss(laws[1], laws[0]))


def _mass(step: int) -> str:
    """f(z) = F(z) - F(z - step) for every z, and supp(Z) = {z: f(z) != 0}."""
    for law in _LAWS:
        for z in range(-4, 10):
            require((z in law.support) == (law[z] != 0), f"{law}, z={z}")
            require(law[z] == _cdf(law, z) - _cdf(law, z - step), f"{law}, z={z}")
    return f"{len(_LAWS)} laws"


def _variation(half: Fraction) -> str:
    """max over A of |P(A) - Q(A)| = half the sum of |P - Q|."""
    cases = 0
    for p, q in product(_LAWS, repeat=2):
        outcomes = sorted(p.support | q.support)
        subsets = chain.from_iterable(combinations(outcomes, k) for k in range(len(outcomes) + 1))
        most = max(abs(sum((p[x] - q[x] for x in A), _F(0))) for A in subsets)
        total = half * sum(abs(p[x] - q[x]) for x in outcomes)
        require(most == total, f"{p}, {q}: {most} over events, {total} as a sum")
        require(total_variation(p, q).upper == total, f"{p}, {q}: the library disagrees")
        cases += 1
    return f"{cases} pairs of laws, all events"


def _inverse(law: Law[int], u: Fraction) -> int:
    return min(z for z in law.support if _cdf(law, z) >= u)


def _inversion(closed: bool) -> str:
    """{u in (0,1]: F^-1(u) = z} is the interval (F(z - 1), F(z)], of length f(z)."""
    for law in _LAWS:
        support = sorted(law.support)
        for z in support:
            low, high = _cdf(law, z - 1), _cdf(law, z)
            inside = [low + (high - low) * _F(k, 7) for k in range(1, 8)]
            inside += [] if closed else [low]
            for u in inside:
                if u > 0:
                    require(_inverse(law, u) == z, f"{law}, u={u}: {_inverse(law, u)}, not {z}")
    return f"{len(_LAWS)} laws, points in every interval"


def _discrete_inversion(denominator: int, first: int) -> str:
    """u = first/d, ..., (first + d - 1)/d inverts to Z exactly; binary search agrees."""
    for law in _LAWS:
        draws = [_F(k, denominator) for k in range(first, first + denominator)]
        found = [_inverse(law, u) for u in draws]
        require(found == [_binary_search(law, u) for u in draws], f"{law}: binary search differs")
        require(_shipped_inversion(law, denominator) == law, f"{law}: not what is shipped")
        require(Law.uniform(found) == law, f"{law}: {Law.uniform(found)}")
    return f"{len(_LAWS)} laws with denominator {denominator}"


def _shipped_inversion(law: Law[int], denominator: int) -> Law[int]:
    ends = min(law.support), max(law.support)
    cdf = RationalCdf(*ends, lambda z: int(denominator * _cdf(law, z)), denominator)
    return exact_law(lambda source: source.inverse_cdf(cdf), residual=0)


def _binary_search(law: Law[int], u: Fraction) -> int:
    support = sorted(law.support)
    low, high = 0, len(support) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _cdf(law, support[middle]) >= u else (middle + 1, high)
    return support[low]


def _order_statistic(shift: int) -> str:
    """P(Z_(i) <= z) = P(at least i of l variables are <= z)."""
    weights = (_F(1, 7), _F(4, 7), _F(2, 7))
    for size in (1, 2, 3, 4):
        for i, z in product(range(1, size + 1), range(3)):
            below = sum(weights[: z + 1], _F(0))
            stated = sum(
                (comb(size, j) * below**j * (1 - below) ** (size - j)
                 for j in range(i + shift, size + 1)),
                _F(0),
            )  # fmt: skip
            exact = _F(0)
            for values in product(range(3), repeat=size):
                if sorted(values)[i - 1] <= z:
                    weight = _F(1)
                    for v in values:
                        weight *= weights[v]
                    exact += weight
            require(exact == stated, f"l={size}, i={i}, z={z}: {exact}, not {stated}")
    return "l <= 4, every i and z"


def _irreducible(base: int) -> str:
    """x^(2k) + x^k + 1 over F_2 is irreducible for k = base^l: Rabin's test; order of 2."""
    from flint import nmod_poly

    for level in range(13):
        order = 3 ** (level + 1)
        half = pow(2, 3**level, order)
        require(half == order - 1, f"2^(3^{level}) = {half} mod {order}")
        require(level == 0 or pow(2, 2 * 3 ** (level - 1), order) != 1, f"order of 2, {level}")
    for level in range(4):
        k = base**level
        modulus = nmod_poly([1] + [0] * (k - 1) + [1] + [0] * (k - 1) + [1], 2)
        factors = modulus.factor()[1]
        require(len(factors) == 1 and factors[0][1] == 1, f"k={k}: {len(factors)} factors")
    return "factored for l <= 3; for l <= 12 it is the cyclotomic polynomial of 3^(l+1) and 2 " + (
        "generates the units modulo 3^(l+1)"
    )


CLAIMS = (
    BV.not_checkable(
        "Section 2, notation",
        "[n] = {0, ..., n} has n + 1 elements; the counts of a data set of n rows add up to n.",
        "a definition",
    ),
    BV.verified(
        "Section 2.1.1, storage",
        "H_{n,n'}(X) has at most (1 + n|X|)^n' members, so O(n' (log n + log|X|)) bits suffice.",
        "enumeration",
        **varied(_stored, 1, 0, "at most (n|X|)^n'"),
    ),
    BV.verified(
        "Section 2.1.1, comparison of lengths",
        "Partial vectors take no more bits than full vectors when n' <= |X|/log2(1 + |X|).",
        "enumeration",
        **varied(_shorter, _F(1), _F(105, 100), "when n' <= 1.05 |X|/log2(1 + |X|)"),
        note="the text says n' = o(|X|/log|X|)",
    ),
    BV.verified(
        "Section 2.1.1, footnote 1",
        "Releasing the bins of the data before the others breaks (epsilon, 0)-DP, sorted bins do "
        "not.",
        "enumeration",
        **varied(_order_of_release, inf, 2.25, "nor do bins of the data first"),
    ),
    BV.verified(
        "Definition 2.4",
        "f(z) = F(z) - F(z - 1), and the support is where f is not 0.",
        "enumeration",
        **varied(_mass, 1, 2, "f(z) = F(z) - F(z - 2)"),
    ),
    BV.verified(
        "Definition 2.5",
        "The largest difference of an event's probabilities is half the sum of absolute "
        "differences.",
        "enumeration",
        **varied(_variation, _F(1, 2), _F(51, 100), "it is 0.51 of the sum"),
    ),
    BV.verified(
        "Lemma 2.6",
        "For U uniform on (0, 1], the least z in the support with F(z) >= U has the law of Z.",
        "enumeration",
        **varied(_inversion, True, False, "u = F(z - 1) inverts to z, too"),
        note="for a law without a largest value the inverse is undefined at U = 1, an event of "
        "probability 0",
    ),
    BV.verified(
        "Lemma 2.7",
        "When every F(z) is a multiple of 1/d, U uniform on 1/d, ..., d/d inverts to Z; binary "
        "search over the support finds the inverse, and the shipped inversion has this law.",
        "enumeration",
        **varied(
            partial(_discrete_inversion, 12), 1, 0, "U uniform on 0/d, ..., (d-1)/d does, too"
        ),
    ),
    BV.verified(
        "Definition 2.8",
        "The i-th smallest of l variables is <= z when at least i of them are.",
        "enumeration",
        **varied(_order_statistic, 0, 1, "when at least i + 1 of them are"),
    ),
    BV.verified(
        "Section 2.3, irreducible polynomial",
        "x^(2 3^l) + x^(3^l) + 1 is irreducible over F_2, so it represents the field with "
        "2^(2 3^l) elements.",
        "enumeration",
        **varied(_irreducible, 3, 5, "x^(2 5^l) + x^(5^l) + 1 is"),
    ),
    BV.not_checkable(
        "Section 2.3, assumptions (i) to (v)",
        "Quasi-linear products of integers, field elements and polynomials; evaluation "
        "and interpolation in O(q) and quasi-O(q) field operations; tree operations in "
        "O(log n log|X|); words of O(log n + log log|X|) bits.",
        "running times assumed or cited, in the word RAM model",
    ),
)
