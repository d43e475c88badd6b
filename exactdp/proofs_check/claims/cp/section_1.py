"""CP, abstract and Section 1: the model, the known rates and what is announced."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from exactdp.law import Law
from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.claims.cp._instances import distributions
from exactdp.proofs_check.claims.cp._model import (
    HIGH_PRIVACY,
    MIXED,
    channel,
    empirical_laws,
    output,
    privacy_factor,
    square,
    tail,
)
from exactdp.proofs_check.entries import CP, varied

__all__ = ["CLAIMS"]


def _events(laws: list[Law[int]], outcomes: range) -> Fraction:
    """The largest ratio of the probabilities of an event."""
    worst = Fraction(0)
    for size in range(1, len(outcomes) + 1):
        for event in combinations(outcomes, size):
            chances = [sum((law[y] for y in event), Fraction(0)) for law in laws]
            worst = max(worst, max(chances) / min(chances))
    return worst


def _privacy(share: Fraction) -> str:
    """The largest ratio over events is the largest over single outcomes."""
    for columns, e in product(MIXED, HIGH_PRIVACY):
        laws = channel(columns, e)
        events = _events(laws, range(len(columns[0])))
        single = privacy_factor(laws)
        require(events >= single, f"e^eps={e}: events {events}, outcomes {single}")
        require(events <= share * single, f"e^eps={e}: events {events}, outcomes {single}")
    return "three matrices, five values of eps, all events"


def _error_laws() -> Iterator[tuple[Law[Fraction], Fraction]]:
    """Laws of an error within [0, 2], and alpha."""
    for alpha in (Fraction(1, 10_000), Fraction(1, 10), Fraction(1)):
        for j in range(1, 21):
            rare = Fraction(j, 95)
            for small, large in ((0, Fraction(2)), (alpha, Fraction(1)), (0, alpha / rare)):
                if small < large <= 2:
                    yield Law({Fraction(small): 1 - rare, Fraction(large): rare}), alpha


def _nine_tenths(constant: Fraction) -> str:
    """E d <= alpha implies P(d <= constant alpha) >= 0.9."""
    done = 0
    for law, alpha in _error_laws():
        if law.expectation() <= alpha:
            below = law.probability(lambda d: d <= constant * alpha)
            require(below >= Fraction(9, 10), f"alpha={alpha}: P(d <= {constant} alpha) = {below}")
            done += 1
    return f"{done} laws with mean at most alpha"


def _expectation(constant: Fraction) -> str:
    """P(d <= alpha) >= 0.9 implies E d <= constant alpha."""
    for law, alpha in _error_laws():
        if law.probability(lambda d: d <= alpha) >= Fraction(9, 10):
            mean = law.expectation()
            require(mean <= constant * alpha, f"alpha={alpha}: P(d<=alpha) >= 0.9, E d = {mean}")
    return "no counterexample"


def _best_terms(lost: int) -> str:
    """|p - [p]_s|_1 is the least distance of p to an s-sparse vector supported on s places."""
    for k in (3, 5):
        for p in distributions(k):
            for s in range(1, k + 1):
                best = min(
                    sum((p[x] for x in range(k) if x not in kept), Fraction(0))
                    for kept in combinations(range(k), s)
                )
                found = tail(p, s - lost)
                require(found == best, f"p={p}, s={s}: {found} against {best}")
    return "all supports, eight distributions"


def _randomized_response(share: Fraction) -> str:
    """n E|z - p|^2 = share ((e+k-1)/(e-1))^2 (1 - |q|^2) for k-ary randomized response."""
    for k, e in product((2, 3, 5), HIGH_PRIVACY[1:4]):
        columns = tuple(tuple(1 if y == x else -1 for y in range(k)) for x in range(k))
        for p in distributions(k):
            q, exact = output(columns, e, p), Fraction(0)
            for weight, seen in empirical_laws(q, 2):
                z = [(v * (e + k - 1) - 1) / (e - 1) for v in seen]
                exact += weight * square([a - b for a, b in zip(z, p, strict=True)])
            stated = share * ((e + k - 1) / (e - 1)) ** 2 * (1 - square(q))
            require(2 * exact == stated, f"k={k}, e^eps={e}: {2 * exact} against {stated}")
    return "36 exact laws; of the order k^2/eps^2, against k/eps^2 for Hadamard response"


CLAIMS = (
    CP.verified(
        "Equation (1)",
        "Q is eps-LDP when Q(y|x) <= e^eps Q(y|x') for all x, x', y; the same then holds "
        "for every event.",
        "enumeration",
        **varied(
            _privacy, Fraction(1), Fraction(99, 100), "events differ by 1 % less than outcomes"
        ),
    ),
    Quibble(
        paper="CP",
        item="Section 1, expected error and probability 0.9",
        statement="E d <= alpha and P(d <= alpha) >= 0.9 are equivalent up to a constant factor "
        "in alpha, by Markov's inequality.",
        printed=Printed(
            r"However, up to a constant factor, they are equivalent by Markov inequality.",
            "Section 1, LDP distribution estimation",
            41,
        ),
        method="enumeration",
        check=lambda: _expectation(Fraction(1000)),
        example="""
>>> from fractions import Fraction as F
>>> alpha = F(1, 10_000)
>>> law = {F(0): F(9, 10), F(2): F(1, 10)}     # l1 error: P(d <= alpha) = 0.9
>>> sum(d * chance for d, chance in law.items()) / alpha
Fraction(2000, 1)
""",
        extraction="no: Markov's inequality gives one direction only; the other takes repetition "
        "and a logarithmic factor",
        note="A remark in passing; the paper uses the direction that Markov's inequality gives.",
        corrected=CP.verified(
            "Section 1, expected error and probability 0.9, corrected",
            "E d <= alpha implies P(d <= 10 alpha) >= 0.9.",
            "enumeration",
            **varied(_nine_tenths, Fraction(10), Fraction(9), "P(d <= 9 alpha) >= 0.9"),
        ),
    ),
    CP.verified(
        "Section 1, sparsity",
        "p is (s, lambda)-sparse when |p - [p]_s|_1 <= lambda, [p]_s its s largest "
        "entries: the least l1 distance over all supports of size s.",
        "enumeration",
        **varied(_best_terms, 0, 1, "with the s - 1 largest entries"),
    ),
    CP.verified(
        "Section 1, known rates",
        "k-ary randomized response, in the list of works with optimal rates, has a mean square "
        "error of the order k^2: n E|z - p|_2^2 = ((e^eps+k-1)/(e^eps-1))^2 (1 - |q|_2^2).",
        "enumeration",
        **varied(_randomized_response, Fraction(1), Fraction(99, 100), "0.99 of that"),
        note="read as: the cited works together have achieved the optimal rates; those of Hadamard "
        "response are under Table 1",
    ),
    CP.not_checkable(
        "Section 1, lower bounds",
        "s^2/(eps alpha)^2 samples are necessary for l1, up to a constant.",
        "asymptotic, cited; for l2 the analogous bound fails for large alpha, see the entry "
        "on optimality",
    ),
    CP.not_checkable(
        "Sections 1 and 2, compressive sensing",
        "Sparse recovery is NP-hard in general and tractable under RIP; a deterministic "
        "construction of optimal RIP matrices is an open problem.",
        "cited; what is used of it is under Lemma 1.2 and Section 3",
    ),
    CP.not_checkable(
        "Section 1, privacy regimes",
        "Only small eps is treated and eps = omega(1) is left open.",
        "a statement about the paper itself; it disagrees with Section 4, which treats "
        "1 <= eps <= log m, and with the announced range 1 <= eps <= log k",
    ),
    CP.not_checkable(
        "Abstract, sample complexity",
        "The number of samples depends on the sparsity, k replaced by s for l2 and k^2 "
        "by s^2 for l1 up to logarithms, and only weakly on the size of the universe.",
        "a summary of Theorem 1.1, see there and Theorem 3.6 (m also depends on log(k)/alpha^2)",
    ),
    CP.not_checkable(
        "Section 6, first mechanism",
        "No earlier LDP mechanism has a guarantee that depends on the sparsity.",
        "a claim of priority; note that projection alone gives such a guarantee for "
        "Hadamard response, see Theorem 1.1, corrected",
    ),
)
