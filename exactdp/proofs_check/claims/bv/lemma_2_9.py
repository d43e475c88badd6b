"""BV, Lemma 2.9: order statistics of independent integers, where the printed law forgets ties."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

from exactdp.proofs_check.claim import Holds, Mutant, Refuted, require

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
            exact = _probability(law, size, lambda z, v=v: z[-1] <= v)  # type: ignore[misc]
            printed = _cdf(law, v) ** (size + power)
            require(exact == printed, f"l={size}, v={v}: exact {exact}, stated {printed}")
    return f"{len(_LAWS)} laws, l up to {max(_SIZES)}, every value"


def _next(stated: Callable[[Weights, int, int, int], Fraction]) -> str:
    """P(Z_(i) <= v | Z_(i+1) = w) as stated, for every i < l and w that can occur."""
    for law, size in product(_LAWS, _SIZES):
        for i, w in product(range(1, size), range(len(law))):
            given = _probability(law, size, lambda z: z[i] == w)  # noqa: B023
            for v in range(w + 1):
                both = _probability(law, size, lambda z: z[i] == w and z[i - 1] <= v)  # noqa: B023
                exact, printed = both / given, stated(law, i, v, w)
                case = f"l={size}, i={i}, P(Z_(i) <= {v} | Z_(i+1) = {w}) = {exact}"
                require(exact == printed, f"{case}, stated {printed}, law {law}")
    return f"{len(_LAWS)} laws, l up to {max(_SIZES)}, every i, v and w"


def _printed(law: Weights, i: int, v: int, w: int) -> Fraction:
    return (_cdf(law, v) / _cdf(law, w)) ** i


def _given_ties(extra: int) -> str:
    """Given Z_(i+1) = w > Z_(i), the i smaller values are i independent draws below w."""
    for law, size in product(_LAWS, _SIZES):
        for i, w in product(range(1, size), range(1, len(law))):
            given = _probability(law, size, lambda z: z[i] == w > z[i - 1])  # noqa: B023
            for v in range(w):
                both = _probability(law, size, lambda z: z[i] == w and z[i - 1] <= v)  # noqa: B023
                stated = (_cdf(law, v) / _cdf(law, w - 1)) ** (i + extra)
                require(both / given == stated, f"l={size}, i={i}, v={v}, w={w}: {both / given}")
    return f"{len(_LAWS)} laws, l up to {max(_SIZES)}, every i, v < w"


_CONDITIONAL = Refuted(
    paper="BV",
    item="Lemma 2.9",
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
    corrected=Holds(
        paper="BV",
        item="Lemma 2.9, corrected",
        statement="Given Z_(i+1) = w > Z_(i), the i smaller values are i independent draws "
        "conditioned to lie below w: P(Z_(i) <= v) = (F(v)/F(w-1))^i; ties are drawn first.",
        outcome="verified",
        method="enumeration",
        check=lambda: _given_ties(0),
        mutant=Mutant("the exponent is i + 1", lambda: _given_ties(1)),
    ),
)

CLAIMS = (
    Holds(
        paper="BV",
        item="Lemma 2.9, first half",
        statement="The largest of l independent variables has the distribution function F^l.",
        outcome="verified",
        method="enumeration",
        check=lambda: _largest(0),
        mutant=Mutant("the exponent is l + 1", lambda: _largest(1)),
    ),
    _CONDITIONAL,
)
