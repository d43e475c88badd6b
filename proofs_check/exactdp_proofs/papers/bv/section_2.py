"""BV, Section 2: histograms and their representation, sampling, order statistics, the field."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from math import comb, prod

from flint import nmod_poly

from exactdp.accounting.divergence import max_loss, total_variation
from exactdp.law import Law
from exactdp.samplers import RationalCdf, exact_law
from exactdp_proofs.comparisons import at_most, equal, holds
from exactdp_proofs.papers.bv._laws import geo, histogram_law, weakened
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, as_printed, mutant

_LAWS = (
    Law({-1: Fraction(1, 2), 3: Fraction(1, 2)}),
    Law({0: Fraction(1, 3), 1: Fraction(1, 6), 4: Fraction(1, 2)}),
    Law({-2: Fraction(1, 12), -1: Fraction(5, 12), 0: Fraction(1, 4), 7: Fraction(1, 4)}),
)

_DEFINITIONS = {
    "Definition 2.1": "(a, beta)-per-query accuracy: each bin errs by <= a but for beta.",
    "Definition 2.2": "(a, beta)-simultaneous accuracy: all bins err by <= a but for beta.",
    "Definition 2.3": "Per-query accuracy on counts larger than t: on each bin with c_x > t.",
    "Definition 2.4": "Mass function, distribution function and support of an integer.",
    "Definition 2.8": "The i-th order statistic is the i-th smallest.",
}
for _item, _statement in _DEFINITIONS.items():
    BV.not_checkable(_item, _statement, "a definition")
BV.not_checkable(
    "Section 2.3",
    "Integers, field elements and polynomials are multiplied in quasi-linear time, polynomials "
    "evaluated and interpolated in O(q) and quasi-O(q) field operations, trees searched in "
    "O(log n log|X|); words have O(log n + log log|X|) bits.",
    "running times assumed or cited, in the word RAM model",
    "assumptions on running times",
)


@BV.holds("Section 2.1.1", "storage")
@mutant("at most (n|X|)^n'", one=0)
def storage(one: int = 1) -> None:
    """H_{n,n'}(X) has at most (1 + n|X|)^n' members, so that O(n' (log n + log|X|)) bits suffice;
    for n' = n this is also the output length of KeepHeavy (Section 6.1).
    """
    for n, kept, universe in product((1, 2, 3, 10), (1, 2, 3, 8), (1, 2, 5, 30)):
        size, at = (one + n * universe) ** kept, {"n": n, "kept": kept, "X": universe}
        members = sum(comb(universe, k) * n**k for k in range(min(kept, universe) + 1))
        if (n + 1) ** universe <= 300:
            vectors = product(range(n + 1), repeat=universe)
            equal(sum(sum(map(bool, h)) <= kept for h in vectors), members, **at)
        at_most(members, size, **at)


@BV.holds("Section 2.1.1", "footnote 1")
@mutant("it does not", data_first=False)
def footnote_1(data_first: bool = True, loss: Fraction = Fraction(1)) -> None:
    """Releasing the bins of the data first breaks (epsilon, 0)-DP: here some output of one data set
    is impossible for its neighbour. Bins in a fixed order lose epsilon only.
    """
    noise, outputs = geo(1), []
    for row in (0, 1):
        order = (row, 1 - row) if data_first else (0, 1)
        noisy = histogram_law(weakened(noise, loss), {row: 1}, 2)
        outputs.append((noisy, noisy.map(lambda z: tuple((x, z[x]) for x in order))))
    (p, first), (q, second) = outputs
    equal(max_loss(p, q), noise.e_half_epsilon**2)
    holds(bool(first.support - second.support))


@BV.holds("Definition 2.5")
@mutant(half=Fraction(51, 100))
def definition_2_5(half: Fraction = Fraction(1, 2)) -> None:
    """The largest difference of an event's probabilities is half the sum of the absolute
    differences, and what the library computes.
    """
    for p, q in product(_LAWS, repeat=2):
        outcomes = sorted(p.support | q.support)
        events = (A for k in range(len(outcomes) + 1) for A in combinations(outcomes, k))
        most = max(abs(sum((p[x] - q[x] for x in A), Fraction(0))) for A in events)
        equal(most, total_variation(p, q).upper, P=p, Q=q)
        equal(most, half * sum(abs(p[x] - q[x]) for x in outcomes), P=p, Q=q)


def _cdf(law: Law[int], z: int) -> Fraction:
    return law.probability(lambda y: y <= z)


def _inverse(law: Law[int], u: Fraction) -> int:
    return min(z for z in law.support if _cdf(law, z) >= u)


@BV.holds("Lemma 2.6")
@mutant("on [F(z - 1), F(z)]", first=0)
def lemma_2_6(first: int = 1) -> None:
    """F^-1(u) = z exactly on the interval (F(z - 1), F(z)], whose length is P(Z = z), so that
    F^-1(U) has the law of Z.

    Needs: the order of an abstract distribution function as a theorem (Rocq), not for listed ones.
    """
    for law in _LAWS:
        for z in sorted(law.support):
            low, high = _cdf(law, z - 1), _cdf(law, z)
            equal(high - low, law[z], law=law, z=z)
            for k in range(first, 8):
                if u := low + (high - low) * Fraction(k, 7):
                    equal(_inverse(law, u), z, law=law, u=u)


@BV.holds("Lemma 2.7")
@mutant("U uniform on 0/d, ..., (d - 1)/d", first=0)
def lemma_2_7(first: int = 1) -> None:
    """If every F(z) is a multiple of 1/d, then F^-1(U) for U uniform on 1/d, ..., d/d has the law
    of Z, and so has the shipped inversion.

    Needs: Lemma 2.6 for abstract F, and the shipped bisection verified for every n.
    """
    d = 12
    for law in _LAWS:
        ends = min(law.support), max(law.support)
        cdf = RationalCdf(*ends, lambda z: int(d * _cdf(law, z)), d)
        equal(exact_law(lambda source: source.inverse_cdf(cdf), residual=0), law)
        inverses = [_inverse(law, Fraction(k, d)) for k in range(first, first + d)]
        equal(Law.uniform(inverses), law)


@BV.holds("Section 2.3", "irreducible polynomial")
@mutant("x^(2 5^l) + x^(5^l) + 1", base=5)
def irreducible_polynomial(base: int = 3) -> None:
    """x^(2 3^l) + x^(3^l) + 1 is irreducible over F_2. It is the cyclotomic polynomial of
    3^(l + 1), and 2 generates the units modulo 3^(l + 1).
    """
    for level in range(13):
        order = 3 ** (level + 1)
        equal(pow(2, 3**level, order), order - 1, l=level)  # so 2 has an even order, not 2 3^j
        if level:
            holds(pow(2, 2 * 3 ** (level - 1), order) != 1, l=level)
    for level in range(4):
        k = base**level
        terms = [int(i in (0, k, 2 * k)) for i in range(2 * k + 1)]
        factors = nmod_poly(terms, 2).factor()[1]
        equal([power for _, power in factors], [1], l=level)


Weights = tuple[Fraction, ...]

_WEIGHTS: tuple[Weights, ...] = (
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 7), Fraction(4, 7), Fraction(2, 7)),
)
_SIZES = (1, 2, 3, 4)


def _sum(law: Weights, value: int) -> Fraction:
    return sum(law[: value + 1], Fraction(0))


def _probability(law: Weights, size: int, event: Callable[[list[int]], bool]) -> Fraction:
    """P(event) for the sorted values Z_(1) <= ... <= Z_(size), by summing over all tuples."""
    tuples = product(range(len(law)), repeat=size)
    chosen = (
        prod((law[z] for z in values), start=Fraction(1))
        for values in tuples
        if event(sorted(values))
    )
    return sum(chosen, Fraction(0))


@BV.holds("Lemma 2.9", "first half")
@mutant("the exponent is l + 1", more=1)
def first_half(more: int = 0) -> None:
    """The largest of l independent variables has the distribution function F^l."""
    for law, size in product(_WEIGHTS, _SIZES):
        for v in range(len(law)):
            exact = _probability(law, size, lambda z: z[-1] <= v)
            equal(exact, _sum(law, v) ** (size + more), l=size, v=v)


@BV.refuted("Lemma 2.9", severity="unsafe")
@as_printed(strictly=False)
@mutant("the exponent is i + 1", more=1)
def lemma_2_9(strictly: bool = True, more: int = 0) -> None:
    r"""For independent integers with distribution function F, given Z_(i+1) = w the next smaller
    order statistic has P(Z_(i) <= v) = (F(v)/F(w))^i.

    Printed (Section 2.2.2, Lemma 2.9, display, line 216): F_{Z_{(i)}|Z_{(i+1)}=v_{i+1}}(z) =
        \begin{cases} 1 & \text{if } z > v_{i+1} \\ \left(F(z)/F(v_{i+1})\right)^i &
        \text{otherwise} \end{cases}
    Corrected: Given Z_(i+1) = w > Z_(i), P(Z_(i) <= v) = (F(v)/F(w-1))^i, as for the largest of i
        independent draws below w. Whether Z_(i) = w must be drawn first.
    Regime: every law on the integers with two values or more, wherever Z_(i) = Z_(i+1) can occur.
    Extraction: no: formula, Algorithm 6 and the prose agree.

    >>> from fractions import Fraction
    >>> pairs = [(a, b) for a in (0, 1) for b in (0, 1)]      # two fair coins
    >>> top_is_1 = [sorted(p) for p in pairs if max(p) == 1]
    >>> Fraction(sum(low == 0 for low, _ in top_is_1), len(top_is_1))
    Fraction(2, 3)
    >>> Fraction(1, 2) / 1                                    # the printed (F(0)/F(1))^1
    Fraction(1, 2)
    """
    for law, size in product(_WEIGHTS, _SIZES):
        for i, w in product(range(1, size), range(1, len(law))):
            condition = _probability(law, size, lambda z: z[i] == w and z[i - 1] < w + 1 - strictly)
            for v in range(w):
                both = _probability(law, size, lambda z: z[i] == w and z[i - 1] <= v)
                stated = (_sum(law, v) / _sum(law, w - strictly)) ** (i + more)
                equal(both / condition, stated, l=size, i=i, v=v, w=w)


@BV.refuted("Lemma 2.9", "Markov property", severity="unsafe", follows_from="BV-Lemma-2.9")
@as_printed(ties=False)
@mutant("it depends on Z_(i+1) alone for l = 3", ties=False, sizes=(3,))
def markov_property(ties: bool = True, sizes: tuple[int, ...] = (3, 4)) -> None:
    r"""Given all larger order statistics Z_(i+1), ..., Z_(l), the law of Z_(i) depends on Z_(i+1)
    alone.

    Printed (Section 2.2.2, Lemma 2.9, display, first equality, line 216):
        F_{Z_{(i)}|Z_{(i+1)}=v_{i+1},\ldots,Z_{(\ell)}=v_{\ell}}(z) =
        F_{Z_{(i)}|Z_{(i+1)}=v_{i+1}}(z)
    Corrected: It depends on Z_(i+1) and on how many of the larger ones equal Z_(i+1).
    Regime: three variables or more on three values or more.
    Extraction: no: the equality of both conditional laws is the middle of the displayed formula.

    >>> from fractions import Fraction
    >>> from itertools import product
    >>> sets = [sorted(t) for t in product((0, 1, 2), repeat=3)]   # three uniform on {0, 1, 2}
    >>> def next_is_1(top):
    ...     given = [z[0] for z in sets if z[1:] == top]
    ...     return Fraction(given.count(1), len(given))
    >>> next_is_1([1, 1]), next_is_1([1, 2])                       # Z_(2) = 1 both times
    (Fraction(1, 4), Fraction(1, 3))
    """
    for law, size in product(_WEIGHTS, sizes):
        for i in range(1, size - 1):
            seen: dict[tuple[int, ...], Fraction] = {}
            for top in product(range(len(law)), repeat=size - i):
                if list(top) == sorted(top):
                    condition = _probability(law, size, lambda z: tuple(z[i:]) == top)
                    for v in range(top[0] + 1):
                        both = _both(law, size, i, top, v)
                        key = (top[0], top.count(top[0]), v) if ties else (top[0], v)
                        known = seen.setdefault(key, both / condition)
                        equal(both / condition, known, l=size, i=i, larger=top, v=v)


def _both(law: Weights, size: int, i: int, top: tuple[int, ...], v: int) -> Fraction:
    """P(Z_(i+1) .. Z_(l) = top and Z_(i) <= v)."""
    return _probability(law, size, lambda z: tuple(z[i:]) == top and z[i - 1] <= v)
