"""BV, Section 7: a dense histogram in a polynomial over a binary field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from math import ceil, prod
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms import CompactHistogram, CompactRelease
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.samplers import FastSample
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, equal, holds
from exactdp_proofs.papers.bv._data_sets import Counts, data_sets, worst_ratio
from exactdp_proofs.papers.bv._errors import beyond, log_error, prove_log_bound
from exactdp_proofs.papers.bv._field import evaluate, polynomials
from exactdp_proofs.papers.bv._laws import FLAT, fast, geo, noisy_counts, weakened
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, as_printed, fitted, loose, mutant

#: n, and M_0 by its values at the elements of F_4.
_MAPS: tuple[tuple[int, tuple[int, ...]], ...] = (
    *((1, (0, 0, 0, 1)), (1, (0, 1, 1, 0)), (2, (0, 0, 0, 1))),
    *((2, (0, 0, 1, 2)), (2, (0, 1, 1, 0)), (2, (1, 0, 2, 2))),
)


def _members(n: int, m_0: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The counts at the four elements of F_4 for every polynomial of degree <= n."""
    return [tuple(m_0[evaluate(p, x, 3)] for x in range(4)) for p in polynomials(n + 1, 3)]


def _sets(n: int) -> list[tuple[int, ...]]:
    """All sets A of at most n elements of F_4."""
    return [bins for size in range(n + 1) for bins in combinations(range(4), size)]


@BV.holds("Lemma 7.1")
@mutant("of any n + 2 bins", extra=1)
def lemma_7_1(extra: int = 0) -> None:
    """Each count of a uniform member of the family has the law of M_0 on a uniform argument, and
    the counts of any n + 1 bins are independent.

    Needs: interpolation over an abstract finite field: n + 1 values determine the polynomial
        (Rocq).
    """
    for n, m_0 in _MAPS:
        for bins in combinations(range(4), n + 1 + extra):
            law = Law.uniform(tuple(g[x] for x in bins) for g in _members(n, m_0))
            for counts in product(range(n + 1), repeat=len(bins)):
                stated = prod(Fraction(m_0.count(c), 4) for c in counts)
                equal(law[counts], stated, M_0=m_0, bins=bins, counts=counts)


@BV.note("Lemma 7.1", "fourth item", elsewhere="the mutant adds counts that M_0 does not reach")
@as_printed(only_reached=False)
@mutant("for all counts in [n]", only_reached=False)
def fourth_item(only_reached: bool = True) -> None:
    r"""For every M_0 and all counts on at most n bins a member of the family can be drawn uniformly
    among those with these counts.

    Printed (Section 7.1, Lemma 7.1, fourth item, line 507): For all $A \subseteq \mathcal{X}$ such
        that $|A| \leq n$ and $c \in [n]^A$ sampling a histogram h uniformly at random from $\{g \in
        \mathcal{G}_{\mathcal{M}_0}(\mathcal{X}) : \forall x \in A \ g_x = c_x\}$ can be done
    Corrected: For all counts that M_0 reaches. In Theorem 7.2 M_0 reaches every count that M gives.
    Extraction: no: the item says "for all" counts in [n]^A, and M_0 is only assumed to map into
        [n].
    """
    for n, m_0 in _MAPS:
        values, members = set(m_0) if only_reached else range(n + 1), _members(n, m_0)
        for bins in _sets(n):
            for counts in product(values, repeat=len(bins)):
                some = any(tuple(g[x] for x in bins) == counts for g in members)
                holds(some, M_0=m_0, bins=bins, counts=counts)


@BV.holds("Lemma 7.1", "proof, sampling")
@mutant("uniform field elements everywhere", conditional=False)
def sampling(conditional: bool = True) -> None:
    """A uniform preimage under M_0 on each bin of A, and uniform field elements at n + 1 - |A|
    further points, give a uniform member with these counts.
    """
    for n, m_0 in _MAPS:
        family = polynomials(n + 1, 3)
        for bins in _sets(n):
            counts = tuple(m_0[x] for x in bins)  # some counts that M_0 reaches
            values = {p: tuple(m_0[evaluate(p, x, 3)] for x in bins) for p in family}
            wanted = [p for p in family if values[p] == counts]
            preimages = [[u for u in range(4) if m_0[u] == c or not conditional] for c in counts]
            spare = [x for x in range(4) if x not in bins][: n + 1 - len(bins)]
            by_values = {tuple(evaluate(p, x, 3) for x in (*bins, *spare)): p for p in family}
            members = [by_values[v] for v in product(*preimages, *[range(4)] * len(spare))]
            equal(sorted(members), wanted, M_0=m_0, bins=bins)


#: Over F_4 and, for the last one, F_16; the total that they promise is not what is checked here.
_COMPACT = (
    CompactHistogram(geo(1), 2, 9, 3),
    CompactHistogram(geo(1), 4, 9, 3),
    CompactHistogram(FLAT, 3, 9, 3),
    CompactHistogram(geo(1, 2), 2, 9, 5),
)


def _weakened(compact: CompactHistogram, loss: Fraction) -> CompactHistogram:
    """The mechanism with noise for `loss` times its epsilon, and the same M_0."""
    epsilon = loss * compact.epsilon  # what the noise may spend
    return replace(compact, noise=weakened(compact.noise, loss), epsilon=epsilon)


def _at(compact: CompactHistogram) -> dict[str, object]:
    return {"n": compact.n, "X": compact.universe, "d_0": compact.field.order}


@cache
def _law(compact: CompactHistogram, counts: tuple[tuple[int, int], ...]) -> Law[Any]:
    """The law of the released coefficients, by enumerating all random choices."""
    return compact.law(dict(counts), residual=0).map(lambda h: tuple(c for _, c in h))


def _literal(compact: CompactHistogram, counts: Counts, terms: int) -> Law[Any]:
    """Algorithm 9: noisy counts on A, then uniform among the consistent polynomials."""
    period, m_0 = compact.period, compact.inverse
    members: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for p in polynomials(terms, period):
        members.setdefault(tuple(m_0.count(evaluate(p, x, period)) for x in counts), []).append(p)
    noisy = noisy_counts(compact.noise, counts.values())
    return noisy.then(lambda values: Law.uniform(members[values]))


@BV.holds("Algorithm 9")
@mutant("polynomials of degree < n", fewer=1)
def algorithm_9(fewer: int = 0) -> None:
    """CompactHistogram as shipped has exactly the law of Algorithm 9: noisy counts on the non-empty
    bins, then a uniform polynomial of degree at most n among those consistent with them.
    """
    for compact in _COMPACT:
        for counts in data_sets(compact.n, compact.universe)[: 1 if compact.period > 3 else 2]:
            literal = _literal(compact, counts, compact.n + 1 - fewer)
            equal(_law(compact, tuple(counts.items())), literal, **_at(compact), counts=counts)


def _eps_2(compact: CompactHistogram) -> Fraction:
    """e^(eps_1 + eps_2), from the laws themselves."""
    more = max_loss(compact.inverse.law, compact.noise.law(0))
    return compact.noise.e_half_epsilon**2 * Fraction(more)


def _eps_3(compact: CompactHistogram) -> Fraction:
    return _eps_2(compact) * Fraction(max_loss(compact.noise.law(0), compact.inverse.law))


@BV.holds("Theorem 7.2")
@mutant("(eps_1 + eps_2, 0)-DP", bound=_eps_2)
def theorem_7_2(
    bound: Callable[[CompactHistogram], Fraction] = _eps_3, loss: Fraction = Fraction(1)
) -> None:
    """CompactHistogram is (eps_1 + eps_2 + eps_3, 0)-DP, e^eps_2 and e^eps_3 being the largest
    ratios of the laws of M_0 and M(0), and M (eps_1/2, 0)-DP.

    Needs: Lemma 7.1 for an abstract field, and the product of the three ratios over all releases.
    """
    for compact in _COMPACT[:3]:
        n, universe, less = compact.n, compact.universe, _weakened(compact, loss)
        worst = worst_ratio(lambda counts: _law(less, tuple(counts.items())), n, universe)
        at_most(worst, bound(compact), **_at(compact))


@BV.holds("Theorem 7.2", "law of the release")
@mutant("with the denominator squared", power=2)
def law_of_the_release(power: int = 1, loss: Fraction = Fraction(1)) -> None:
    """A polynomial h has probability d_0^-(n+1) times the product over the non-empty bins of
    P(M(c_x) = h_x)/P(M_0 = h_x), from which the privacy follows.
    """
    for compact in _COMPACT[:3]:
        m_0, noise, less = compact.inverse, compact.noise, _weakened(compact, loss)
        for counts in data_sets(compact.n, compact.universe)[:2]:
            for p, weight in _law(less, tuple(counts.items())).items():
                stated = Fraction(1, compact.field.order ** (compact.n + 1))
                for x, c in counts.items():
                    z = m_0.count(evaluate(p, x, compact.period))
                    stated *= noise.law(c)[z] / m_0.law[z] ** power
                equal(weight, stated, **_at(compact), counts=counts, h=p)


@BV.holds("Theorem 7.2", "accuracy")
@mutant(share=Fraction(68, 100))
def accuracy(share: Fraction = Fraction(1)) -> None:
    """If M and M_0 err by more than a with probability at most beta each, then one bin errs by more
    than a with probability at most beta, and some bin with at most |X| beta.
    """
    for compact in _COMPACT[:3]:
        n, universe, m_0 = compact.n, compact.universe, compact.inverse
        for counts, a in product(data_sets(n, universe)[:3], range(n + 1)):
            beta = max(beyond(compact.noise, c, a) for c in range(n + 1))
            beta = max(beta, m_0.law.probability(lambda z: z > a))
            off = _law(compact, tuple(counts.items())).map(
                lambda p: tuple(
                    abs(m_0.count(evaluate(p, x, compact.period)) - counts.get(x, 0)) > a
                    for x in range(universe)
                )
            )
            for x in range(universe):
                at_most(off.probability(lambda h: h[x]), beta, **_at(compact), a=a, x=x)
            some = off.probability(any)
            at_most(some, share * beta * universe, **_at(compact), a=a, counts=counts)


@BV.holds("Section 1", "n + 1 independent values")
@mutant("n-wise independence", terms=1)
def independent_values(terms: int = 2, loss: Fraction = Fraction(1)) -> None:
    """(n + 1)-wise independence keeps both the privacy and the law of an empty bin, here for n = 1
    over F_4; n-wise independence keeps the privacy only.
    """
    compact = _COMPACT[0]
    laws = [_literal(_weakened(compact, loss), {x: 1}, terms) for x in (0, 1)]
    for p, q in (laws, laws[::-1]):
        at_most(Fraction(max_loss(p, q)), compact.e_epsilon)
    empty = laws[0].map(lambda p: compact.inverse.count(evaluate(p, 1, 3)))
    equal(empty, compact.inverse.law)


@BV.holds("Section 7.2", "d is no field order")
@mutant("all have an odd factor >= 7", least=7)
def no_field_order(least: int = 5) -> None:
    """The denominators d of the shipped GeoSample have an odd factor of at least 5, so that d_0 = d
    is impossible.
    """
    for n, inverse in product((1, 2, 7, 30), (1, 2, 5)):
        d = geo(n, inverse).cdf(0).denominator
        at_most(least, d // (d & -d), n=n, k=inverse)


@BV.holds("Section 7.2", "d divides a field order", ours=True)
@mutant("one bit shorter than d", fewer=1)
def field_order(fewer: int = 0) -> None:
    """The denominators 2^T of the shipped FastSample divide every d_0 = 2^j with j >= T, and M_0
    then has exactly the law of M(0): eps_2 = eps_3 = 0.
    """
    for noise in (fast(1), fast(5, 2, 3), fast(30, 1, 2, 16)):
        for more in (0, 1, 9):
            inverse = InverseCount(noise, noise.bits + more - fewer)
            equal(inverse.law, noise.law(0), n=noise.n, more=more)


#: n, epsilon, |X|, beta.
_PARAMETERS = (
    (1, Fraction(1), 2, Fraction(1, 2)),
    (10, Fraction(1), 2**20, Fraction(1, 10)),
    (40, Fraction(1, 2), 1000, Fraction(1, 20)),
    (60, Fraction(1, 10), 2**64, Fraction(1, 5)),
    (400, Fraction(1), 2, Fraction(1, 2)),
    (3, Fraction(1, 57), 4, Fraction(1, 2)),
)


def _compact_of(
    case: tuple[int, Fraction, int, Fraction], loss: Fraction = Fraction(1)
) -> CompactHistogram:
    """Corollary 7.3 with the shipped FastSample, in the smallest field with room for its bits."""
    n, epsilon, universe, beta = case
    share, gamma = 1 / Fraction(ceil(10 / (9 * epsilon))), ceil(2 * universe / beta)
    noise = FastSample(n=n, epsilon=share, gamma_inverse=gamma, power_of_two=True)
    noise = weakened(noise, loss)
    power = 1
    while 2 * 3**power < max(noise.bits, universe.bit_length()):
        power += 1
    return CompactHistogram(noise, universe, loss * epsilon, 3 ** (power + 1))


@BV.holds("Corollary 7.3")
@mutant(share=Fraction(88, 100))
@fitted(share=Fraction(89, 100))
@loose("1/ceil(10/(9 epsilon)) is at most 9/10 epsilon", loss=Fraction(113, 100))
def corollary_7_3(share: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """With epsilon' = 1/ceil(10/(9 epsilon)), gamma = beta/(2|X|) and a suitable M_0, the losses
    eps_1 + eps_2 + eps_3 of Theorem 7.2 add up to at most epsilon.

    Note: the text omits M_0. The shipped one has exactly the law of M(0), as the shipped FastSample
        has probabilities that are multiples of 2^-T.

    Needs: bounds of the three logarithms for all real epsilon in (0, 1] and all |X|, n at once.
    """
    for case in _PARAMETERS:
        compact, (n, epsilon, _, _) = _compact_of(case, loss), case
        empty, m_0 = compact.noise.law(0), compact.inverse.law
        losses = Fraction(max_loss(m_0, empty) * max_loss(empty, m_0))
        with precision(256):
            spent = ball(compact.noise.e_half_epsilon**2 * losses).log()
            at_most(spent, ball(share * epsilon), n=n, epsilon=epsilon)


@BV.holds("Corollary 7.3", "constant 5")
@mutant(factor=Fraction(448, 100))
@fitted(factor=Fraction(9, 2))
def constant_5(factor: Fraction = Fraction(5)) -> None:
    """2/eps~' <= 5/epsilon for epsilon = 1/k and epsilon' = 1/K, K = ceil(10 k/9). As beta and
    beta/|X| are at least twice gamma, Theorem 4.6 then gives the printed errors
    ceil(5/epsilon ln(2/beta)) and ceil(5/epsilon ln(2|X|/beta)).

    Note: the interval for eps~ of Theorem 4.5 gives only 9/(2 epsilon'), 9/epsilon at epsilon = 1.
    """
    # 2/eps~' = 1/ln(1 + 2^-b) <= 2^b + 1/2; 2^b < 4K is a multiple of 4, so 2^b <= 4K - 4; and
    # K <= (10k + 8)/9. The sum 40k/9 + 1/18 is at most factor k: divided by k, with x = 1/k.
    prove_log_bound()
    never_negative([factor - Fraction(40, 9), -Fraction(1, 18)], 0, 1)


@BV.holds("Corollary 7.3", "accuracy of the shipped code")
@mutant(factor=Fraction(16, 5))
@fitted(factor=Fraction(17, 5))
def corollary_accuracy(factor: Fraction = Fraction(5)) -> None:
    """M(c) and M_0 err by more than ceil(5/epsilon ln(2/beta)) with probability at most beta, and
    by more than ceil(5/epsilon ln(2|X|/beta)) with at most beta/|X|.
    """
    for case in _PARAMETERS:
        compact, (n, epsilon, universe, beta) = _compact_of(case), case
        for share in (1, universe):
            a, at = log_error(factor / epsilon, 2 * share / beta), {"n": n, "epsilon": epsilon}
            empty = compact.inverse.law.probability(lambda z: z > a)
            at_most(empty, beta / share, **at, share=share)
            for c in (0, n // 2, n):
                at_most(beyond(compact.noise, c, a), beta / share, **at, share=share, c=c)


@BV.holds("Corollary 7.3", "log d_0 of the shipped code", ours=True)
@mutant(factor=Fraction(2))
def log_d_0(factor: Fraction = Fraction(3)) -> None:
    """d_0 >= |X| and log2 d_0 <= 3 (log2(n|X|/beta) + 2 log2(1/epsilon) + 60); the text has
    log d_0 = quasi-O(1/epsilon) (log n + log|X|) for beta >= 1/poly(n).
    """
    for case in _PARAMETERS:
        n, epsilon, universe, beta = case
        bits, at = _compact_of(case).field.degree, {"n": n, "epsilon": epsilon}
        at_most(universe, 2**bits, **at)
        with precision(128):
            most = ball(n * universe / beta / epsilon**2).log() / ball(2).log() + 60
            at_most(bits, ball(factor) * most, **at)


#: Hash values in vectors of two elements of F_4.
_VECTORS = CompactHistogram(FastSample(n=1, epsilon=12, gamma_inverse=2, bits=4), 2, 13, 3, 2)


@BV.holds(
    "Theorem 7.2",
    "vectors of field elements",
    ours=True,
    slow=True,
    no_mechanism="noise from 4 bits cannot lose as much as its guarantee allows",
)
@mutant("of M(0), not of M_0", same=False)
def vectors(same: bool = True) -> None:
    """CompactHistogram as shipped draws hash values from vectors of field elements, too: its loss
    is at most that of its guarantee, and the count of every empty bin has the law of M(0).
    """
    compact, n, universe = _VECTORS, _VECTORS.n, _VECTORS.universe
    worst = worst_ratio(lambda counts: _law(compact, tuple(counts.items())), n, universe)
    at_most(worst, compact.e_epsilon)
    empty = _law(compact, ((0, 1),)).map(lambda p: CompactRelease(compact, p)[1])
    equal(empty, compact.noise.law(0 if same else 1))
