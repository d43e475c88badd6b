"""BV, Lemma 2.9: order statistics of independent integers, where the printed law forgets ties."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

Weights = tuple[Fraction, ...]

_LAWS: tuple[Weights, ...] = (
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
    (Fraction(1, 7), Fraction(4, 7), Fraction(2, 7)),
)
_SIZES = (1, 2, 3, 4)


def _cdf(law: Weights, value: int) -> Fraction:
    return sum(law[: value + 1], Fraction(0))


def _probability(law: Weights, size: int, event: Callable[[list[int]], bool]) -> Fraction:
    """P(event) for the sorted values Z_(1) <= ... <= Z_(size), by summing over all tuples."""
    tuples = product(range(len(law)), repeat=size)
    return sum(
        (prod((law[z] for z in values), start=Fraction(1)) for values in tuples
         if event(sorted(values))),
        Fraction(0),
    )  # fmt: skip


def _largest(power: int) -> str:
    """P(Z_(l) <= v) = F(v)^(l + power)."""
    for law, size in product(_LAWS, _SIZES):
        for v in range(len(law)):
            exact = _probability(law, size, lambda z: z[-1] <= v)
            printed = _cdf(law, v) ** (size + power)
            require(exact == printed, f"l={size}, v={v}: exact {exact}, stated {printed}")
    return f"{len(_LAWS)} laws, l up to {max(_SIZES)}, every value"


def _next(stated: Callable[[Weights, int, int, int], Fraction]) -> str:
    """P(Z_(i) <= v | Z_(i+1) = w) as stated, for every i < l and w that can occur."""
    for law, size in product(_LAWS, _SIZES):
        for i, w in product(range(1, size), range(len(law))):
            given = _probability(law, size, lambda z: z[i] == w)
            for v in range(w + 1):
                both = _probability(law, size, lambda z: z[i] == w and z[i - 1] <= v)
                exact, printed = both / given, stated(law, i, v, w)
                case = f"l={size}, i={i}, P(Z_(i) <= {v} | Z_(i+1) = {w}) = {exact}"
                require(exact == printed, f"{case}, stated {printed}, law {law}")
    return f"{len(_LAWS)} laws, l up to {max(_SIZES)}, every i, v and w"


def _depends_on_value_and_ties(ties: bool) -> str:
    """Given Z_(i+1) .. Z_(l), the law of Z_(i) depends on Z_(i+1) (and on its ties) alone."""
    compared = 0
    for law, size in product(_LAWS, (3, 4)):
        for i in range(1, size - 1):
            seen: dict[tuple[int, ...], Fraction] = {}
            for top in product(range(len(law)), repeat=size - i):
                if list(top) != sorted(top):
                    continue
                given = _probability(law, size, lambda z: tuple(z[i:]) == top)
                for v in range(top[0] + 1):
                    exact = _both(law, size, i, top, v) / given
                    key = (top[0], top.count(top[0]), v) if ties else (top[0], v)
                    known = seen.setdefault(key, exact)
                    case = f"l={size}, P(Z_({i}) <= {v} | larger ones {top}) = {exact}"
                    require(known == exact, f"{case}, but {known} given other larger ones")
                    compared += 1
    return f"{compared} conditional probabilities"


def _both(law: Weights, size: int, i: int, top: tuple[int, ...], v: int) -> Fraction:
    """P(Z_(i+1) .. Z_(l) = top and Z_(i) <= v)."""
    return _probability(law, size, lambda z: tuple(z[i:]) == top and z[i - 1] <= v)


def _printed(law: Weights, i: int, v: int, w: int) -> Fraction:
    return (_cdf(law, v) / _cdf(law, w)) ** i


def _given_ties(extra: int) -> str:
    """Given Z_(i+1) = w > Z_(i), the next value is the largest of i draws below w."""
    for law, size in product(_LAWS, _SIZES):
        for i, w in product(range(1, size), range(1, len(law))):
            given = _probability(law, size, lambda z: z[i] == w > z[i - 1])
            for v in range(w):
                both = _probability(law, size, lambda z: z[i] == w and z[i - 1] <= v)
                stated = (_cdf(law, v) / _cdf(law, w - 1)) ** (i + extra)
                require(both / given == stated, f"l={size}, i={i}, v={v}, w={w}: {both / given}")
    return f"{len(_LAWS)} laws, l up to {max(_SIZES)}, every i, v < w"


_CONDITIONAL = Refuted(
    paper="BV",
    item="Lemma 2.9",
    printed=Printed(
        r"F_{Z_{(i)}|Z_{(i+1)}=v_{i+1}}(z) = \begin{cases} 1 & \text{if } z > v_{i+1} \\ "
        r"\left(F(z)/F(v_{i+1})\right)^i & \text{otherwise} \end{cases}",
        "Section 2.2.2, Lemma 2.9, display",
        216,
    ),
    statement="For independent integers with distribution function F, given Z_(i+1) = w the next "
    "smaller order statistic has P(Z_(i) <= v) = (F(v)/F(w))^i.",
    severity="unsafe",
    method="enumeration",
    check=lambda: _next(_printed),
    example="""
>>> from fractions import Fraction
>>> pairs = [(a, b) for a in (0, 1) for b in (0, 1)]      # two fair coins
>>> top_is_1 = [sorted(p) for p in pairs if max(p) == 1]
>>> Fraction(sum(low == 0 for low, _ in top_is_1), len(top_is_1))
Fraction(2, 3)
>>> Fraction(1, 2) / 1                                    # the printed (F(0)/F(1))^1
Fraction(1, 2)
""",
    extraction="no: formula, Algorithm 6 and the prose agree",
    corrected=BV.verified(
        "Lemma 2.9, corrected",
        "Given Z_(i+1) = w > Z_(i), P(Z_(i) <= v) = (F(v)/F(w-1))^i, as for the largest of i "
        "independent draws below w: ties must be drawn first.",
        "enumeration",
        **varied(_given_ties, 0, 1, "the exponent is i + 1"),
    ),
)

_MARKOV = Refuted(
    paper="BV",
    item="Lemma 2.9, Markov property",
    printed=Printed(
        r"F_{Z_{(i)}|Z_{(i+1)}=v_{i+1},\ldots,Z_{(\ell)}=v_{\ell}}(z) = "
        r"F_{Z_{(i)}|Z_{(i+1)}=v_{i+1}}(z)",
        "Section 2.2.2, Lemma 2.9, display, first equality",
        216,
    ),
    follows_from="BV-Lemma-2.9",
    statement="Given all larger order statistics Z_(i+1), ..., Z_(l), the law of Z_(i) depends on "
    "Z_(i+1) alone.",
    severity="unsafe",
    method="enumeration",
    check=lambda: _depends_on_value_and_ties(False),
    example="""
>>> from fractions import Fraction
>>> from itertools import product
>>> sets = [sorted(t) for t in product((0, 1, 2), repeat=3)]   # three uniform on {0, 1, 2}
>>> def next_is_1(top):
...     given = [z[0] for z in sets if z[1:] == top]
...     return Fraction(given.count(1), len(given))
>>> next_is_1([1, 1]), next_is_1([1, 2])                       # Z_(2) = 1 both times
(Fraction(1, 4), Fraction(1, 3))
""",
    extraction="no: the equality of both conditional laws is the middle of the displayed formula",
    corrected=BV.verified(
        "Lemma 2.9, Markov property, corrected",
        "It depends on Z_(i+1) and on how many of the larger ones equal it.",
        "enumeration",
        **varied(_depends_on_value_and_ties, True, False, "the number of ties is irrelevant"),
    ),
)

CLAIMS = (
    BV.verified(
        "Lemma 2.9, first half",
        "The largest of l independent variables has the distribution function F^l.",
        "enumeration",
        **varied(_largest, 0, 1, "the exponent is l + 1"),
    ),
    _CONDITIONAL,
    _MARKOV,
)
