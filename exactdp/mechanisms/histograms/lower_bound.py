"""The least error that every private sparse histogram has: Theorem 1.5 of BV, as a number.

Let a sparse (epsilon, delta)-private histogram release at most m bins, and err by more than E < n
with probability at most beta, for every data set and element. From n rows of one element, a rare
other element x is released with probability at most m/(|X| - 1). Change a = floor(E) + 1 rows to x:
group privacy bounds the new probability, and x with a count of a must be released with probability
1 - beta at least. So

    1 - beta <= e^(a epsilon) m/(|X| - 1) + delta (e^(a epsilon) - 1)/(e^epsilon - 1).

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Theorem 1.5, with its
constants, and E < n (`exactdp proofs BV-Theorem-1.5`).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.balls import ball, refine
from exactdp.bisection import least
from exactdp.parameters import Real, delta_target, integer, non_negative, positive


def least_sparse_error(
    *,
    n: int,
    universe: int,
    epsilon: Real,
    delta: Real = 0,
    beta: Real = "0.05",
    bins: int | None = None,
) -> int:
    """An error E that no private sparse histogram stays below with probability 1 - beta.

    n: number of rows, >= 1. universe: number of elements, >= 2. epsilon: > 0. delta: >= 0 and < 1.
    beta: probability that the error of one count is larger, > 0 and < 1. bins: the largest number
    of bins of a release, by default n. Raises InvalidParameter.
    Source: BV, Theorem 1.5.

    >>> from exactdp.mechanisms import least_sparse_error
    >>> [least_sparse_error(n=1000, universe=2**64, epsilon=1, delta=d) for d in (0, "1e-6")]
    [37, 14]
    """
    rows, size = integer("n", n, least=1), integer("universe", universe, least=2)
    loss, chance = positive("epsilon", epsilon), delta_target("beta", beta)
    leak = non_negative("delta", delta)
    released = rows if bins is None else integer("bins", bins, least=1)
    share = Fraction(released, size - 1)

    def possible(a: int) -> bool:
        """Whether an error below a is not excluded."""

        def most() -> arb:
            growth = ball(loss)
            grown = (growth * a).exp() * ball(share)
            return grown + ball(leak) * (growth * a).expm1() / growth.expm1()

        bound = refine(most, accept=lambda x: x.lower >= 1 - chance or x.upper < 1 - chance)
        return bound.upper >= 1 - chance

    return least(1, rows + 1, possible) - 1
