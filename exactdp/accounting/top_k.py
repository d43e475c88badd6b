"""The k largest counters, with continuous noise.

Subtracting the (k + 1)-th largest count from all counters leaves at most k positive ones, to which
the correlated sparse histogram (CSH) is applied.
"""

from __future__ import annotations

from flint import arb

from exactdp.accounting import csh
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.accounting.sparse_histograms.csh_exact import threshold_only
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.lazy import own_names
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, integer, non_negative, positive

DEFAULT_ANALYSIS = "exact"


@without_k
def delta(
    *, top: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
    """The delta of the top-k mechanism without its base, which is the delta of the CSH.

    top: number of largest counters that are released, the k of the paper, >= 1. The other
    parameters are those of ``exactdp.accounting.csh.delta``. The promise holds for users who change
    any number of counters, of any number.
    Source: Lebeda and Retschmeier (CSH), Algorithm 3, Lemma 4.1, Corollary 4.2.
    """
    return csh.delta(sparsity=top, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)


@without_k
def delta_with_base(*, top: int, sigma: Real, tau: Real, epsilon: Real) -> Enclosure:
    """An upper bound on delta when the (k + 1)-th largest count (the base) is released, too.

    With k = top, the base gets N(0, sigma^2/sqrt k) and moves by at most one, which turns
    k + sqrt(k) into k + 5 sqrt(k) in the noise part. The threshold part is exact.
    The parameters are those of :func:`delta`.
    Returns an enclosure of the bound, relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: CSH, Section 4 (after Corollary 4.2), with Theorem 3.3.

    >>> from exactdp.accounting import top_k
    >>> print(top_k.delta_with_base(top=10, sigma=27, tau=150, epsilon="0.35"))
    [9.079764955e-6, 9.079764956e-6]
    """
    number, noise = integer("top", top, least=1), positive("sigma", sigma)
    limit, loss = non_negative("tau", tau), non_negative("epsilon", epsilon)

    def compute() -> arb:
        mu = (number + 5 * arb(number).sqrt()).sqrt() / (2 * ball(noise))
        shows = threshold_only(number, ball(limit / noise), None, number)
        return hockey_stick(ball(loss), mu) + shows

    return refine(compute, cap_bits=1024).clamped(0, 1)


__dir__ = own_names(__name__)
