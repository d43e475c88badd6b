"""BV, Section 6.1, Algorithm 6 and Proposition 6.3: OrdSample against what it should draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

from exactdp.law import Law
from exactdp.samplers import OrderStatistics, RationalCdf, exact_law
from exactdp_proofs.comparisons import equal
from exactdp_proofs.papers.bv._laws import top_values
from exactdp_proofs.papers.bv._printed import ord_sample_law
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, as_printed, mutant

#: d F(0), ..., d F(n) with d the last one.
_SCALED = ((3, 5), (9, 11, 15), (1, 2, 3), (2, 2, 7), (0, 3, 7))

Sampler = Callable[[Sequence[int], int, int], Law[tuple[int, ...]]]


@BV.note("Algorithm 6", severity="unsafe")
@as_printed(previous=False)
@mutant("the exponent is m - i + 1", more=1)
def algorithm_6(previous: bool = True, more: int = 0) -> None:
    r"""With u uniform on 1, ..., F(v)^(m-i), v = n at the start, the least z <= v_(i-1) with
    F(z)^(m-i) >= u has the distribution function (F(z)/F(v_(i-1)))^(m-i) that Lemma 2.9 gives.

    Printed (Section 6.1, Algorithm 6, step 2a, line 411): Sample u_i uniformly at random from
        [F(v)^{m-i}]₊.
    Corrected: u is uniform on 1, ..., F(v_(i-1))^(m-i). No v is defined; step 2b has v_(i-1). (That
        this is the wrong law for an order statistic is the entry of Proposition 6.3.)
    Regime: every i after the first value below n.
    Extraction: possible: a subscript may be lost.
    """
    for scaled, rest in product(_SCALED[:-1], (1, 2, 3)):
        for v in range(len(scaled)):
            top = scaled[v] if previous else scaled[-1]
            outcomes = [_least(scaled, v, rest, u) for u in range(1, top**rest + 1)]
            for y in range(v + 1):
                exact = Fraction(sum(z <= y for z in outcomes), len(outcomes))
                stated = Fraction(scaled[y], scaled[v]) ** (rest + more)
                equal(exact, stated, F=scaled, previous=v, power=rest, y=y)


def _least(scaled: tuple[int, ...], v: int, rest: int, u: int) -> int:
    return next((z for z in range(v + 1) if scaled[z] ** rest >= u), v)


def _shipped(scaled: Sequence[int], variables: int, k: int) -> Law[tuple[int, ...]]:
    cdf = RationalCdf(0, len(scaled) - 1, scaled.__getitem__, scaled[-1])
    order = OrderStatistics(cdf, variables)
    return exact_law(lambda source: order.sample(k, source), residual=0)


def _variables() -> Iterator[tuple[tuple[int, ...], list[Fraction], int]]:
    """A scaled distribution function, its probabilities and a number m >= n + 1 of variables."""
    for scaled in _SCALED:
        weights = [Fraction(b - a, scaled[-1]) for a, b in pairwise((0, *scaled))]
        for m in range(len(scaled), 6):
            yield scaled, weights, m


@BV.refuted("Proposition 6.3", severity="unsafe", follows_from="BV-Lemma-2.9")
@as_printed(sampler=ord_sample_law)
@mutant("of m + 1 variables", more=1)
def proposition_6_3(sampler: Sampler = _shipped, more: int = 0) -> None:
    r"""OrdSample draws the n + 1 largest of m independent variables with their exact joint law.

    Printed (Section 6.1, Proposition 6.3, line 401): Then the following algorithm
        $\mathsf{OrdSample}_F(m)$ is identically distributed to the top n+1 order statistics
        $(Z_{(m)}, \ldots, Z_{(m-n)})$.
    Corrected: Drawing the largest value, then how many variables share that value, then the largest
        of the rest below it, gives the n + 1 largest with their exact joint law. The library ships
        that.
    Regime: every M that gives two values or more with positive probability at the count 0.
    Extraction: no: algorithm, Lemma 2.9 and the proposition agree with each other.

    >>> from fractions import Fraction as Q
    >>> from itertools import product
    >>> p = {0: Q(3, 5), 1: Q(2, 5)}                           # F(0) = 3, F(1) = d = 5; m = 3
    >>> sum(p[a] * p[b] * p[c] for a, b, c in product(p, repeat=3)
    ...     if sorted((a, b, c))[1:] == [0, 1])                # largest 1, second largest 0
    Fraction(54, 125)
    >>> (1 - Q(3, 5)**3) * Q(3, 5)**2                          # what OrdSample does
    Fraction(882, 3125)
    """
    for scaled, weights, m in _variables():
        exact, sampled = top_values(weights, m, len(scaled)), sampler(scaled, m + more, len(scaled))
        for top in sorted(exact.support | sampled.support):
            equal(sampled[top], exact[top], F=scaled, m=m, values=top)


@BV.holds("Proposition 6.3", "largest value")
@mutant("of m + 1 variables", more=1)
def largest_value(more: int = 0) -> None:
    """The first value that OrdSample returns has the law of the largest of the m variables."""
    for scaled, weights, m in _variables():
        sampled = ord_sample_law(scaled, m + more, len(scaled)).map(lambda top: top[:1])
        equal(sampled, top_values(weights, m, 1), F=scaled, m=m)
