"""BV, Lemma 7.1: the family of histograms behind a polynomial over a binary field."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

from exactdp.mechanisms import CompactHistogram
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.bv._field import evaluate, polynomials
from exactdp.proofs_check.claims.bv._laws import fast, geo
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

#: M_0 by its values at the field elements, for n = 1 and n = 2 over F_4.
_INVERSES = ((0, 0, 0, 1), (0, 0, 1, 2), (0, 1, 1, 0), (1, 0, 2, 2))


def _histograms(n: int, inverse: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The counts at the four elements of F_4 for every polynomial of degree <= n."""
    return [tuple(inverse[evaluate(p, x, 0)] for x in range(4)) for p in polynomials(n + 1, 0)]


def _marginals(constants: int) -> str:
    """Each count of a uniform member has the law of M_0(U); so many constant terms occur."""
    for n, inverse in _cases():
        members = _histograms(n, inverse)[: constants * 4**n]
        for x in range(4):
            found = Counter(g[x] for g in members)
            for c in range(n + 1):
                exact = Fraction(found[c], len(members))
                stated = Fraction(inverse.count(c), 4)
                require(exact == stated, f"n={n}, M_0={inverse}, P(g_{x} = {c}) = {exact}")
    return f"{len(_cases())} maps M_0 over F_4, all polynomials"


def _independence(extra: int) -> str:
    """The counts of n + 1 + extra bins are independent."""
    for n, inverse in _cases():
        members = _histograms(n, inverse)
        share = {c: Fraction(inverse.count(c), 4) for c in range(n + 1)}
        for bins in combinations(range(4), n + 1 + extra):
            found = Counter(tuple(g[x] for x in bins) for g in members)
            for counts in product(range(n + 1), repeat=len(bins)):
                stated = Fraction(1)
                for c in counts:
                    stated *= share[c]
                exact = Fraction(found[counts], len(members))
                require(exact == stated, f"n={n}, M_0={inverse}, bins {bins} = {counts}: {exact}")
    return f"{len(_cases())} maps M_0 over F_4, all sets of bins"


def _cases() -> list[tuple[int, tuple[int, ...]]]:
    coins: list[tuple[int, tuple[int, ...]]] = [(1, m) for m in _INVERSES if max(m) == 1]
    return [*coins, *((2, m) for m in _INVERSES)]


def _consistent(only_reached: bool) -> str:
    """For every A of at most n bins and counts on it, some member has these counts."""
    cases = 0
    for n, inverse in _cases():
        members = _histograms(n, inverse)
        values = sorted(set(inverse)) if only_reached else range(n + 1)
        for size in range(1, n + 1):
            for bins in combinations(range(4), size):
                for counts in product(values, repeat=size):
                    wanted = dict(zip(bins, counts, strict=True))
                    some = any(all(g[x] == c for x, c in wanted.items()) for g in members)
                    require(some, f"n={n}, M_0={inverse}: no member has counts {counts} on {bins}")
                    cases += 1
    return f"{cases} conditions"


def _sampling(conditional: bool) -> str:
    """Uniform preimages on A and uniform values elsewhere: uniform on the consistent members."""
    for n, inverse in _cases():
        every = polynomials(n + 1, 0)
        for bins in (b for size in range(n + 1) for b in combinations(range(4), size)):
            counts = tuple(inverse[x] for x in bins)
            wanted = [p for p in every if all(
                inverse[evaluate(p, x, 0)] == c for x, c in zip(bins, counts, strict=True)
            )]  # fmt: skip
            preimages = [
                [u for u in range(4) if not conditional or inverse[u] == c] for c in counts
            ]
            spare = [x for x in range(4) if x not in bins][: n + 1 - len(bins)]
            by_values = {tuple(evaluate(p, x, 0) for x in (*bins, *spare)): p for p in every}
            drawn = [by_values[values] for values in product(*preimages, *[range(4)] * len(spare))]
            require(sorted(drawn) == wanted, f"n={n}, M_0={inverse}, counts {counts} on {bins}")
    return f"{len(_cases())} maps M_0 over F_4, all A of at most n bins"


def _length(slope: Fraction) -> str:
    """The shipped releases: as many as d_0^(n+1), of at most slope n log2 d_0 bits."""
    for noise, universe, level in ((geo(1), 2, 0), (fast(2, 1, 2), 3, 0), (geo(1), 2, 1)):
        n, compact = noise.n, CompactHistogram(noise, universe, 9, level)
        released = compact.law({0: n}, residual=0).support
        bits = (len(released) - 1).bit_length()
        require(bits == (n + 1) * compact.field.degree, f"n={n}: {len(released)} members")
        require(len(released) == 1 << bits, f"n={n}: {len(released)} members")
        most = slope * n * compact.field.degree
        require(bits <= most, f"n={n}, F_{compact.field.order}: {bits} bits > {most}")
    return "n = 1, 2 over F_4, n = 1 over F_64: every release"


CLAIMS = (
    Quibble(
        paper="BV",
        item="Lemma 7.1, fourth item",
        printed=Printed(
            r"For all $A \subseteq \mathcal{X}$ such that $|A| \leq n$ and $c \in [n]^A$ sampling "
            r"a histogram h uniformly at random from $\{g \in \mathcal{G}_{\mathcal{M}_0}"
            r"(\mathcal{X}) : \forall x \in A \ g_x = c_x\}$ can be done",
            "Section 7.1, Lemma 7.1, fourth item",
            507,
        ),
        statement="For every M_0 and all counts on at most n bins a member of the family can be "
        "drawn uniformly among those with these counts.",
        note="harmless in Theorem 7.2: its hypothesis makes M_0 reach every count that M can give",
        method="enumeration",
        check=lambda: _consistent(False),
        example="""
>>> M0 = lambda u: 0                     # a map [4]_+ -> [1], n = 1, |X| = 2
>>> histograms = [(M0(p), M0(q)) for p in range(1, 5) for q in range(1, 5)]
>>> [g for g in histograms if g[0] == 1]        # nothing to draw from
[]
""",
        extraction="no: the item says 'for all' counts in [n]^A, and M_0 is only assumed to map "
        "into [n]",
        corrected=BV.verified(
            "Lemma 7.1, fourth item, corrected",
            "For all counts that M_0 reaches.",
            "enumeration",
            **varied(_consistent, True, False, "for all counts in [n]"),
        ),
    ),
    BV.verified(
        "Lemma 7.1",
        "The counts of any n + 1 bins of a uniform member of the family are independent.",
        "enumeration",
        **varied(_independence, 0, 1, "of any n + 2 bins"),
    ),
    BV.verified(
        "Lemma 7.1, marginal law",
        "Each count of a uniform member has the law of M_0 on a uniform argument.",
        "enumeration",
        **varied(_marginals, 4, 3, "also when the constant term is never 3"),
    ),
    BV.verified(
        "Lemma 7.1, proof, sampling",
        "A uniform preimage under M_0 on each bin of A and uniform field elements at "
        "n + 1 - |A| further points give a uniform member with these counts.",
        "enumeration",
        **varied(_sampling, True, False, "uniform field elements everywhere"),
    ),
    BV.verified(
        "Lemma 7.1, length",
        "The shipped release is one of exactly d_0^(n+1), hence (n + 1) log2 d_0 bits, at most "
        "2 n log2 d_0.",
        "exact law",
        **varied(_length, Fraction(2), Fraction(19, 10), "at most 1.9 n log2 d_0 bits"),
    ),
    BV.not_checkable(
        "Lemma 7.1, running times",
        "Evaluation in O(n) quasi-linear field operations, sampling in n log^2 d_0.",
        "asymptotic running time in the word RAM model",
    ),
)
