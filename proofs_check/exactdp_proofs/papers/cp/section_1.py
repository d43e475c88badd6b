"""CP, Section 1: the model, Definition 1 and Lemma 1.2 (for Theorem 1.1 see there)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import sympy as sp

from exactdp.law import Law
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.cp._model import (
    HIGH_PRIVACY,
    MIXED,
    Columns,
    distributions,
    dot,
    empirical_laws,
    gram,
    hadamard,
    image,
    isometric,
    minus,
    output,
    square,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, as_printed, mutant

CP.not_checkable(
    "Abstract",
    "The number of samples depends on the sparsity and only weakly on the size of the universe.",
    "a summary of Theorem 1.1; m in Theorem 3.6 also depends on log(k)/alpha^2",
    "sample complexity",
)
CP.not_checkable(
    "Equation (1)",
    "Q is epsilon-LDP when Q(y|x) <= e^epsilon Q(y|x') for all x, x' and y.",
    "a definition; Lemmas 2.1 and 4.1 are checked against it",
)


def _error_laws() -> Iterator[tuple[Law[Fraction], Fraction]]:
    """Laws of an error within [0, 2], and alpha."""
    for alpha in (Fraction(1, 10_000), Fraction(1, 10), Fraction(1)):
        for j in range(1, 21):
            rare = Fraction(j, 95)
            for small, large in ((0, Fraction(2)), (alpha, Fraction(1)), (0, alpha / rare)):
                if small < large <= 2:
                    yield Law({Fraction(small): 1 - rare, Fraction(large): rare}), alpha


@CP.refuted("Section 1", "expected error and probability 0.9", severity="cosmetic")
@as_printed(converse=True, constant=1000)
@mutant(constant=9)
def expected_error(constant: int = 10, converse: bool = False) -> None:
    """An expected error of at most alpha gives an error of at most 10 alpha with probability at
    least 0.9.

    Printed (Section 1, LDP distribution estimation, line 41): However, up to a constant factor,
        they are equivalent by Markov inequality.
    Corrected: Markov's inequality gives this direction only. The converse fails for every
        constant; with repetition it costs a logarithmic factor.
    Regime: alpha below 0.2/C, for a constant C.
    Extraction: no: the sentence before names both definitions. The paper itself uses only the
        direction that holds.

    >>> from fractions import Fraction as F
    >>> alpha = F(1, 10_000)
    >>> law = {F(0): F(9, 10), F(2): F(1, 10)}     # l1 error: P(d <= alpha) = 0.9
    >>> sum(d * chance for d, chance in law.items()) / alpha
    Fraction(2000, 1)
    """
    for law, alpha in _error_laws():
        limit = constant * alpha
        if converse and law.probability(lambda d: d <= alpha) >= Fraction(9, 10):
            at_most(law.expectation(), limit, alpha=alpha)
        if not converse and law.expectation() <= alpha:
            chance = law.probability(lambda d: d <= limit)
            at_most(Fraction(9, 10), chance, alpha=alpha, mean=law.expectation())


@CP.holds("Section 1", "known rates, randomized response")
@mutant("0.99 of that", share=Fraction(99, 100))
def randomized_response_error(share: Fraction = Fraction(1)) -> None:
    """For k-ary randomized response n E|z - p|_2^2 = ((e^epsilon + k - 1)/(e^epsilon - 1))^2
    (1 - |q|_2^2), z the estimate before projection: of the order k^2, not k. So not every one of
    the works cited for the optimal rates k and k^2 has them.
    """
    for k, e in product((2, 3, 5), HIGH_PRIVACY[1:4]):
        columns = tuple(tuple(2 * (y == x) - 1 for y in range(k)) for x in range(k))
        for p in distributions(k):
            q, exact = output(columns, e, p), Fraction(0)
            for chance, seen in empirical_laws(q, 2):
                z = [(v * (e + k - 1) - 1) / (e - 1) for v in seen]
                exact += 2 * chance * square(minus(z, p))
            equal(exact, share * ((e + k - 1) / (e - 1)) ** 2 * (1 - square(q)), k=k, e=e, p=p)


@CP.note("Section 1", "medium privacy regime", severity="unsafe")
@as_printed(of_k=True)
@mutant("epsilon <= log(2.01 m)", multiple=Fraction(201, 100))
def medium_regime(of_k: bool = False, multiple: Fraction = Fraction(2)) -> None:
    r"""The method extends to 1 <= epsilon <= log m, and not beyond log(2m): there no set but the
    empty one has a size within (1 +- beta) m/e^epsilon, beta <= 1.

    Printed (Section 1, Our results, line 51): Our framework can be easily extended to the regime
        with $1 \leq \varepsilon \leq \log k$ (see Section 4)
    Corrected: Section 4, Theorem 4.3 and Table 1 have log m in place of log k.
    """
    for k, m in ((10_000, 500), (2**20, 2**13)):
        e_eps = k if of_k else multiple * m
        at_most(1, 2 * m / Fraction(e_eps), k=k, m=m)


CP.not_checkable(
    "Section 1",
    "s^2/(epsilon alpha)^2 samples are necessary for l1 error alpha, up to a constant.",
    "asymptotic, cited; for l2 see the part on optimality",
    "lower bounds",
)


def _within(columns: Columns, low: Fraction, high: Fraction) -> bool:
    """Definition 1 for 2-sparse vectors of small entries.

    All columns of A/sqrt(m) have norm 1, so that (1, 1) or (1, -1) is extreme for each pair: these
    vectors decide.
    """
    for x in product((-1, 0, 1, 2), repeat=len(columns)):
        if 0 < sum(map(bool, x)) <= 2:
            norm = square(image(columns, [Fraction(v) for v in x])) / len(columns[0])
            if not low * square(x) <= norm <= high * square(x):
                return False
    return True


@CP.holds("Definition 1")
@mutant("the eigenvalues lie in [1 - delta, 1 + delta]", power=1)
def definition_1(power: int = 2) -> None:
    """|Bx|_2 lies within (1 +- delta)|x|_2 for all s-sparse x exactly when the eigenvalues of every
    B_S^T B_S with |S| = s lie in [(1 - delta)^2, (1 + delta)^2].
    """
    for columns, step in product((*MIXED[:2], hadamard(4)), range(1, 20, 3)):
        delta = Fraction(step, 20)
        direct = _within(columns, (1 - delta) ** 2, (1 + delta) ** 2)
        is_isometric = isometric(gram(columns), 2, (1 - delta) ** power, (1 + delta) ** power)
        equal(is_isometric, direct, delta=delta, columns=columns)


CP.not_checkable(
    "Lemma 1.2",
    "If B is (2s, 1/sqrt(2))-RIP, a polynomial-time algorithm recovers x from y = Bx + e within "
    "(C/sqrt(s))|x - [x]_s|_1 + D|e|_2, for constants C and D.",
    "the existence of an algorithm with unstated constants, cited; what the cited theorem gives is "
    "a part of its own",
)


@CP.holds(
    "Lemma 1.2",
    "by the cited theorem",
    ours=True,
    elsewhere="with a larger delta more matrices have the property",
)
@mutant(delta=Fraction(43, 100))
def by_the_cited_theorem(delta: Fraction = Fraction(414, 1000)) -> None:
    """The cited theorem (least l1 norm) is about squared norms; for Definition 1 its condition is
    delta < sqrt(2) - 1 for order 2s, with B rescaled. It then finds every 1-sparse vector.
    """
    low, high = (1 - delta) ** 2, (1 + delta) ** 2
    values = [Fraction(j, 10) for j in range(5, 15)]
    for a, b, h in product(values, values, (Fraction(j, 100) for j in (100, 150, 199, 201, 300))):
        # B has the null vectors c (h, 1, 1). Another vector than a 1-sparse one with the same image
        # has a smaller l1 norm exactly when the largest entry exceeds the sum of the others.
        columns = ((-2 * a / h, 0), (a, b), (a, -b))
        products = [[dot(x, y) for y in columns] for x in columns]
        if isometric(products, 2, low, high):
            at_most(h, 2, a=a, b=b)


@CP.holds("Lemma 1.2", "constant in terms of Definition 1", ours=True)
@mutant("delta = 1/sqrt(2)", delta="1/sqrt(2)")
def constant_of_definition_1(delta: str = "sqrt(2) - 1") -> None:
    """delta = sqrt(2) - 1 for the norms of Definition 1 is the constant 1/sqrt(2) for squared
    norms, once B is scaled so that the squared bounds are symmetric about 1.
    """
    x = sp.symbols("x", positive=True)
    squared = 2 * x / (1 + x**2)
    identity((1 + squared) / (1 - squared) - ((1 + x) / (1 - x)) ** 2)
    identity(squared.subs(x, sp.sympify(delta)) - 1 / sp.sqrt(2))
