"""ALP, Section 5.1: errors in Lemmas 5.7 to 5.9 and Theorem 5.11, where epsilon is limited."""

from __future__ import annotations

from itertools import product
from typing import Any

import sympy as sp
from flint import arb

from exactdp.accounting.divergence import hockey_stick
from exactdp.balls import ball, precision, refine
from exactdp.mechanisms.projections import alp as shipped
from exactdp.mechanisms.projections.combined import Combined
from exactdp.mechanisms.projections.thresholds import ApproximateThreshold
from exactdp_proofs.comparisons import at_most, every, identity
from exactdp_proofs.papers.alp._model import (
    columns,
    neighbours,
    text,
)
from exactdp_proofs.papers.alp._shipped import combined_laws, literal
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant, weaker

_ONE = Fraction(1)
_ALPHA = Fraction(3)


def _mean_error(x: Fraction, eps: int, log_delta: arb) -> arb:
    """E|x - v~| of Algorithm 9 for a single nonzero entry."""
    t = log_delta / eps + 2
    y = ball(max(x, _ONE))  # the rounded value that can be released
    gap = t - y
    tail = (-eps * abs(gap)).exp() / 2
    released = tail * (abs(gap) + arb(1) / eps)  # mean of v - y where v >= t, for gap >= 0
    if x < 1:  # 0, or 1 with probability x
        kept = (1 - tail) * ball(x) + released + tail * ball(1 - x)
        return ball(x) * kept + ball(x * (1 - x))
    return y * (1 - tail) + released if gap >= 0 else y * tail + 1 / arb(eps) - released


@ALP.refuted("Lemma 5.7", severity="unsafe")
@as_printed(constant=20, extra=Fraction(0))
@mutant(extra=Fraction(39, 20))
def lemma_5_7(constant: int = 2, extra: Fraction = Fraction(2)) -> None:
    r"""For delta = O(1/k) the expected maximum error of Algorithm 9 is O(log(1/delta)/epsilon), for
    every epsilon > 0.

    Printed (Section 5.1, Lemma 5.7, line 582): Suppose that $\delta = O(1/k)$. Then the expected
        maximum error of Algorithm 9 is $O(\log(1/\delta)/\varepsilon)$.
    Corrected: It is O(1 + log(1/delta)/epsilon): for k = 1 at most 2 + 2 ln(1/delta)/epsilon. That
        is O(log(1/delta)/epsilon) for epsilon = O(log(1/delta)).
    Regime: epsilon much larger than log(1/delta). Section 7 lets epsilon tend to infinity and
        extends its results to Algorithm 9, so large epsilon is within the paper's range.
    Extraction: no: t = log(1/delta)/epsilon + 2 is printed twice and used in the proofs.
    Note: the cause of Lemmas 5.8 and 5.9, too: the summand 2 of t and the rounding of entries below
        1 do not shrink with 1/epsilon.

    >>> from math import exp, log
    >>> delta, x = 1e-6, 2                                 # k = 1
    >>> for eps in (1, 10, 100, 1000, 10_000):             # the quotient grows without bound
    ...     t = log(1 / delta) / eps + 2
    ...     dropped = 1 - exp(-eps * (t - x)) / 2          # then the error is 2
    ...     print(round(2 * dropped / (log(1 / delta) / eps), 1))
    0.1
    1.4
    14.5
    144.8
    1447.6
    """
    entries = [Fraction(n, 10) for n in range(1, 120, 4)] + [Fraction(2), Fraction(199, 100)]
    for inverse, eps, x in product((4, 1000), (1, 4, 100, 10**4), entries):
        with precision(128):
            log_delta = ball(inverse).log()
            bound = constant * log_delta / eps + ball(extra)
            at_most(_mean_error(x, eps, log_delta), bound, eps=eps, delta=Fraction(1, inverse), x=x)


@ALP.holds("Lemma 5.7", "proof, display")
@mutant("t plus 0.95 of it", share=Fraction(19, 20))
def pointwise(share: Fraction = _ONE) -> None:
    """Every nonzero entry, dropped or released, rounded or not, errs by at most t plus the size of
    its noise.

    Note: with the maximum of the noise of k entries, Proposition 2.5, the expected maximum error is
        at most (1 + ln k)/epsilon + t.
    """
    for t, x, eta in product((2, 3, 5), (Fraction(n, 4) for n in range(1, 40)), range(-6, 7)):
        for y in (x,) if x >= 1 else (Fraction(0), _ONE):
            kept = y + eta if y and y + eta >= t else Fraction(0)
            at_most(abs(x - kept), t + share * abs(eta), t=t, x=x, y=y, noise=eta)


#: ln(1/delta) and epsilon1 + epsilon2 = 2 epsilon1.
_LARGE = tuple(product((14, 1, 100), map(Fraction, (1, 10, 14, 100, 140, 10**3, 10**6))))


def _columns(log_delta: int, eps: Fraction) -> int:
    """m = ceil(t epsilon2/alpha) as shipped, t = ln(1/delta)/epsilon1 + 2, alpha = 3."""
    return literal((log_delta / (eps / 2) + 2) * eps / 2, _ALPHA).levels


@ALP.refuted("Lemma 5.8", severity="loose", follows_from="ALP-Lemma-5.7")
@as_printed(constant=10, per_epsilon=Fraction(0))
@mutant(per_epsilon=Fraction(32, 100))
def lemma_5_8(
    constant: Fraction | int = Fraction(1, 3), per_epsilon: Fraction = Fraction(1, 3)
) -> None:
    r"""With Algorithm 9 inside Algorithm 7 the access time is O(log(1/delta)), for every epsilon.

    Printed (Section 5.1, Lemma 5.8, line 592): By using Algorithm 9 in Algorithm 7 the access time
        is $O(\log(1/\delta))$.
    Corrected: It is O(log(1/delta) + epsilon): for alpha = 3 and epsilon1 = epsilon2 = epsilon/2 at
        most (ln(1/delta) + epsilon)/3 + 1 columns are read. The maximum error needs the same
        condition, epsilon = O(log(1/delta)), see Lemma 5.7.
    Regime: epsilon much larger than log(1/delta).
    Extraction: no: the summand 2 of t is printed in Algorithm 9 and in Lemma 5.9.

    >>> from math import ceil, log
    >>> alpha, delta = 3, 1e-6                                # log(1/delta) = 13.8
    >>> for eps in (1, 10, 100, 1000, 10_000):                # eps1 = eps2 = eps: columns read
    ...     print(ceil((log(1 / delta) / eps + 2) * eps / alpha))
    6
    12
    72
    672
    6672
    """
    for log_delta, eps in _LARGE:
        bound = constant * log_delta + per_epsilon * eps + 1
        at_most(_columns(log_delta, eps), bound, log_1_delta=log_delta, eps=eps)


@ALP.holds("Lemma 5.8", "per-entry error")
@mutant(constant=Fraction(60, 100))
@fitted(constant=Fraction(607, 1000))
def per_entry_error(constant: Fraction = Fraction(61, 100)) -> None:
    """That an entry below 1 may be stored adds at most 0.61/epsilon1 to its expected error.

    Note: Lemma 5.5 does not cover rounded entries, whose error is not the noise. It covers all
        others, so the expected error is at most 1/epsilon1 + C/epsilon2 for every epsilon.
    """
    log_delta, eps, w = sp.symbols("L varepsilon w", positive=True)
    # x <= 1 is stored with e^(-L - eps)/2 at most, then off by at most t + 1/eps in the mean
    error = sp.exp(-log_delta - eps) / 2 * (log_delta / eps + 2 + 1 / eps)
    scaled = sp.exp(-w) * (2 * w + 1) / 2  # w = L + eps; larger than eps * error
    slack = scaled.subs(w, log_delta + eps) - eps * error
    identity(slack - sp.exp(-log_delta - eps) * log_delta / 2)
    identity(sp.diff(scaled, w) - sp.exp(-w) * (1 - 2 * w) / 2)  # largest at w = 1/2: e^(-1/2)
    with precision(64):
        for at in every("the only maximum, w = 1/2", (Fraction(1, 2),)):
            at_most((-ball(at)).exp(), constant)


@ALP.holds("Lemma 5.8", "privacy", slow=True)
@weaker
def lemma_5_8_privacy(loss: Fraction = _ONE) -> None:
    """The combined mechanism, as shipped, is (epsilon1 + epsilon2, delta)-differentially private.

    Note: the cells have width 1, so that an entry which rises from 2 to 3 = t loses all of both
        epsilons, and delta is 0.02.
    """
    large, small = _parts(_ONE)
    promise = Combined(large=large, small=small).guarantee
    large, small = _parts(loss)
    laws = combined_laws(Combined(large=large, small=small), (0, Fraction(1, 2), 1, 2, 3))
    for x, other, _ in neighbours(laws):
        delta = hockey_stick(laws[x], laws[other], e_epsilon=promise.e_epsilon).upper
        at_most(delta, promise.delta.upper, x=text(x), other=text(other))


def _parts(loss: Fraction) -> tuple[ApproximateThreshold, shipped.ALP]:
    """Both parts, for loss times epsilon1 = 2 and epsilon2 = ln 9."""
    options: Any = {"d": 1, "k": 1, "largest": 4, "grid": Fraction(1, 4), "delta": Fraction(1, 40)}
    grown = raised(Fraction(9), loss)
    second = refine(lambda: ball(grown).log()).upper
    return ApproximateThreshold(**options, epsilon=2 * loss), shipped.ALP(
        d=1, k=1, s=3, largest=3, epsilon=second, alpha=grown - 1, steps=1
    )


@ALP.refuted("Lemma 5.9", severity="loose", follows_from="ALP-Lemma-5.7")
@as_printed(constant=10, per_epsilon=Fraction(0))
@mutant(per_epsilon=Fraction(96, 100))
def lemma_5_9(constant: int = 1, per_epsilon: Fraction = _ONE) -> None:
    r"""Algorithm 9 and the projection together take O(k log(d + u) + k log(1/delta) + log(d)
    log(1/delta)) bits, for every epsilon.

    Printed (Section 5.1, Lemma 5.9, line 596): Then the memory requirement of combining Algorithm 9
        and the ALP mechanism is $O(k \log(d+u) + k \log(1/\delta) + \log(d) \log(1/\delta))$.
    Corrected: The embedding takes O((k + log d)(log(1/delta) + epsilon)) bits: with s = 3k, alpha =
        3, epsilon1 = epsilon2 = epsilon/2 and w bits per hash function, (k + w)(ln(1/delta) +
        epsilon + 3) suffice.
    Regime: epsilon much larger than log(1/delta).
    Extraction: no: beta = ln(1/delta)/epsilon + 2 stands in the proof.

    >>> from math import ceil, log
    >>> k, s, w, alpha, delta = 1, 3, 20, 3, 1e-6          # w = log2(d) bits per hash function
    >>> for eps in (1, 10, 100, 1000, 10_000):             # bits over (k + w) log(1/delta)
    ...     m = ceil((log(1 / delta) / eps + 2) * eps / alpha)
    ...     print(round(m * (s + w) / ((k + w) * log(1 / delta)), 1))
    0.5
    1.0
    5.7
    53.3
    528.9
    """
    for (log_delta, eps), (k, w) in product(_LARGE, ((1, 1), (1, 30), (1000, 10))):
        bits = _columns(log_delta, eps) * (3 * k + w)
        bound = constant * (k + w) * (log_delta + per_epsilon * eps + 3)
        at_most(bits, bound, log_1_delta=log_delta, eps=eps, k=k, w=w)


@ALP.refuted("Lemma 5.9", "proof, beta", severity="unsafe")
@as_printed(of_second=True)
@mutant("within 0.49 steps", share=Fraction(98, 100))
def beta(of_second: bool = False, share: Fraction = _ONE) -> None:
    r"""beta = ln(1/delta)/epsilon2 + 2 covers the entries that the threshold t of Algorithm 9
    drops: each is within half a step alpha/epsilon2 of an estimate.

    Printed (Section 5.1, Lemma 5.9, proof, line 598): We set $\beta = \ln(1/\delta)/\varepsilon_2 +
        2$
    Corrected: beta = t = ln(1/delta)/epsilon1 + 2 does. The memory is not affected, and Algorithm 7
        itself uses t.
    Regime: epsilon2 > epsilon1: then the error of an entry grows with log(1/delta).
    Extraction: no: Algorithm 9 runs with epsilon1, and Algorithm 7 sets m from its threshold t.

    >>> eps1, eps2, log_delta, alpha = 1, 2, 100, 3          # delta = e^-100
    >>> t, beta = log_delta / eps1 + 2, log_delta / eps2 + 2
    >>> x = t             # dropped with probability 1/2; then the estimate is <= beta + alpha/eps2
    >>> (x - (beta + alpha / eps2)) / 2      # least expected error
    24.25
    >>> 1 / eps1 + 16.9 / eps2               # the O(1/eps) of Lemma 5.5 with alpha = 3, s = 10k
    9.45
    """
    for first, second, log_delta in ((1, 1, 100), (1, 2, 100), (2, 1, 100), (1, 4, 50)):
        t = Fraction(log_delta, first) + 2
        covered = Fraction(log_delta, second if of_second else first) + 2
        step, levels = _ALPHA / second, columns(covered * second, _ALPHA)
        for x in (t * n / 40 for n in range(41)):
            gap = min(abs(x - step * y) for y in range(levels + 1))
            case = {"epsilon1": first, "epsilon2": second, "log_1_delta": log_delta, "x": x}
            at_most(gap, share * step / 2, **case)


@ALP.conditional("Theorem 5.11", rests_on="ALP-Lemma-5.7", elsewhere="it weakens the condition")
@mutant("for epsilon <= 2 ln(1/delta)", most=2)
def theorem_5_11(most: int = 1) -> None:
    """The access reads O(log(1/delta)) columns: by Lemma 5.8 with alpha = 3 and epsilon1 = epsilon2
    = epsilon/2 at most (2/3) ln(1/delta) + 1 for epsilon <= ln(1/delta).

    Condition: epsilon = O(log(1/delta)), for the access time, the space and the maximum error of
        the algorithm of Lemmas 5.7 to 5.9, from which the theorem is derived.
    Note: a statement of existence is not refuted by one algorithm.
    """
    for log_delta, eps in (*_LARGE, (14, Fraction(28))):
        if eps <= most * log_delta:
            bound = Fraction(2, 3) * log_delta + 1
            at_most(_columns(log_delta, eps), bound, log_1_delta=log_delta, eps=eps)


@ALP.conditional("Theorem 5.11", "maximum error")
@mutant("for delta = 1/2", at_most_one_over_k=False)
def theorem_5_11_maximum(at_most_one_over_k: bool = True) -> None:
    """The expected maximum error of the noise of k >= 2 entries far above t, which are all
    released, is at most 4.4 ln(1/delta)/epsilon for delta <= 1/k and epsilon1 = epsilon/2.

    Condition: delta = O(1/k), which Lemma 5.8 has (and Section 3 assumes) and the theorem does not
        repeat; for delta = 1/2 the maximum grows with log k.
    """
    for k in (2, 10, 100, 3000):
        harmonic = sum((Fraction(1, n) for n in range(1, k + 1)), Fraction(0))
        inverse = k if at_most_one_over_k else 2
        with precision(64):
            at_most(2 * ball(harmonic), ball(Fraction(44, 10)) * ball(inverse).log(), k=k)
