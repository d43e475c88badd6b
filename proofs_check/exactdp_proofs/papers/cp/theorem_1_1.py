"""CP, Theorem 1.1 (informal) and the claim of optimality after it."""

from __future__ import annotations

from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.papers.cp._hadamard_projection import (
    errors,
    samples_for_any,
    unprojected,
)
from exactdp_proofs.papers.cp._model import (
    distributions,
    empirical_laws,
    hadamard_response,
    minus,
    output,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, as_printed, fitted, mutant


@CP.note("Theorem 1.1")
@as_printed(log_of_ratio=True)
@mutant("with 97 % of the error", share=Fraction(97, 100))
def theorem_1_1(share: Fraction = Fraction(1), log_of_ratio: bool = False) -> None:
    r"""Hadamard response with projection has l1 error at most 4 s |w|_inf and l2 error at most
    2 sqrt(s) |w|_inf for s-sparse p, w its error before projection. So 32 c^2 s^2 log(2k)/alpha^2
    samples give expected l1 error alpha, and 8 c^2 s log(2k)/alpha^2 give l2 error alpha, with
    c = coth(epsilon/2).

    Printed (Section 1, Theorem 1.1, line 49): If p is s sparse, then the sample complexity of Q is
        $O\left(\frac{s^2 \log(k/s)}{\varepsilon^2 \alpha^2}\right)$
    Corrected: For s = k, which nobody calls sparse, log(k/s) is 0; log(ek/s) is usual. Up to the
        logarithm the rates are right, by another scheme than the paper's.
    Extraction: no: log(k/s) stands in the theorem, in the text and in Theorem 3.6.

    >>> from math import log
    >>> s = k = 2
    >>> s ** 2 * log(k / s)              # no samples at all, for any constant and any alpha
    0.0
    >>> guess = (0.5, 0.5)               # without samples the best guess misses (1, 0) by 1 in l1
    >>> abs(1 - guess[0]) + abs(0 - guess[1])
    1.0
    """
    if log_of_ratio:  # s = k = 2, the constant 1000: at least one report is needed
        at_most(1, 1000 * 2**2 * (arb(2) / 2).log(), s=2, k=2)
    for s, noise, absolute, squared in errors():
        at_most(squared, share * 4 * s * noise**2, s=s, noise=noise)
        at_most(absolute, share * 4 * s * noise, s=s, noise=noise)


@CP.refuted("Theorem 1.1", "as a summary of Theorem 3.6", severity="unsafe")
@as_printed(level=Fraction(1, 10**4), constant=1000)
@mutant("at least 99 % of that", share=Fraction(99, 100))
def summary_of_theorem_3_6(
    share: Fraction = Fraction(1), level: Fraction | None = None, constant: int = 1
) -> None:
    r"""For l2 the number m of rows in Theorem 3.6 is of the order s log(k/s), as in Theorem 1.1,
    where alpha and epsilon are at least sqrt(log(k)/(s log(k/s))) (constants 1, alpha = epsilon).

    Printed (Section 1, Our results, and Theorem 1.1, line 47): The main result (informal) is
        summarized as follows; see Theorem 3.6 for exact bounds and results for approximately sparse
        distributions. ... For any $0 < \varepsilon < 1$ and $\alpha > 0$
    Corrected: For smaller alpha or epsilon m is log(k)/min(alpha, epsilon)^2. For small alpha the
        method then needs log(k)/(epsilon^2 alpha^4) samples: 1/alpha^4, not 1/alpha^2.
    Regime: alpha below sqrt(log(k)/(s log(k/s))): the small alpha for which samples are counted.
    Extraction: no: the three terms of m stand in Theorem 3.6 and before it, and P1 asks for
        beta <= c alpha; the error floor is real, see Algorithm 1, limit of many samples.

    >>> from math import log
    >>> k, s, alpha, eps = 10_000, 10, 0.01, 0.5
    >>> m = max(log(k) / eps ** 2, log(k) / alpha ** 2, s * log(k / s))      # Theorem 3.6, l2
    >>> m > 1000 * s * log(k / s)        # so n grows like 1/alpha^4, not 1/alpha^2
    True
    """
    for j in range(2, 41):  # k = 2^j and s = 2^i; logarithms in units of log(2)
        for i in {0, j // 2, j - 2, j - 1}:
            square = level or share**2 * Fraction(j, 2**i * (j - i))  # of alpha
            at_most(j / square, constant * 2**i * (j - i), log2_k=j, log2_s=i)


@CP.refuted("Section 1", "optimality", severity="loose")
@as_printed(any_alpha=True)
@mutant(factor=193)
def optimality(factor: int = 194, any_alpha: bool = False) -> None:
    r"""For alpha >= 194 sqrt(log(2k)/s) the l2 error alpha takes fewer than
    s/(1000 epsilon^2 alpha^2) samples for every p, sparse or not: 8 c^2 log(2k)/alpha^4 suffice,
    c = coth(epsilon/2), at epsilon = 1.

    Printed (Section 1, Our results, after Theorem 1.1, line 51): which means our sample complexity
        is *optimal* up to a $\log(k/s)$ factor
    Corrected: The lower bound Omega(s/(epsilon^2 alpha^2)) for l2 can hold only for alpha of the
        order sqrt(log(2k)/s) or less.
    Regime: alpha above that order, such as a constant alpha for growing s.
    Extraction: no: neither the bound nor Theorem 1.1 has a condition on alpha.

    >>> from math import log, tanh
    >>> s = k = 2 ** 40
    >>> eps, alpha = 1, 0.5
    >>> enough = 8 * log(2 * k) / tanh(eps / 2) ** 2 / alpha ** 4     # Hadamard response, projected
    >>> enough < 1e-6 * s / (eps * alpha) ** 2
    True
    """
    with precision(64):
        for j in range(24, 101):  # s = k = 2^j
            smallest = factor * (arb(2 ** (j + 1)).log() / 2**j).sqrt()
            alpha = ball(Fraction(1, 2)) if any_alpha else smallest
            bound = 2**j / (1000 * alpha**2)
            samples = samples_for_any(2**j, Fraction(1), alpha)
            at_most(*((bound, samples) if any_alpha else (samples, bound)), log2_s=j)


@CP.holds("Section 1", "optimality, the simple scheme", ours=True)
@mutant(factor=Fraction(17, 10))
def any_distribution(factor: Fraction = Fraction(2)) -> None:
    """For Hadamard response with projection the squared l2 error is at most 2 |w|_inf, w the error
    before projection.
    """
    for s, noise, _, squared in errors():
        at_most(squared, factor * noise, s=s, noise=noise)


@CP.holds("Theorem 1.1", "noise of Hadamard response", ours=True)
@mutant(share=Fraction(75, 100))
@fitted(share=Fraction(76, 100))
def noise_of_hadamard_response(share: Fraction = Fraction(1)) -> None:
    """The error w of Hadamard response before projection has
    E|w|_inf <= c sqrt(2 log(2k)/n), c = coth(epsilon/2).
    """
    for k, e, n in product((2, 3, 7), (Fraction(3, 2), Fraction(5, 2)), (1, 2)):
        columns, c = hadamard_response(k), (e + 1) / (e - 1)
        for p in distributions(k):
            mean = Fraction(0)
            for chance, seen in empirical_laws(output(columns, e, p), n):
                mean += chance * max(map(abs, minus(unprojected(columns, seen, e), p)))
            with precision(64):
                at_most(mean, ball(share * c) * (2 * arb(2 * k).log() / n).sqrt(), k=k, n=n, e=e)
