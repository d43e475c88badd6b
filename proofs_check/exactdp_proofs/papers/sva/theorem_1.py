"""SVA, Theorems 1 and 2: the announced upper bounds, of which the constants can be decided."""

from __future__ import annotations

from itertools import product
from math import ceil

from exactdp.balls import ball
from exactdp_proofs.boxes import always_positive
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, mutant

SVA.not_checkable(
    "Theorem 1",
    "An epsilon-user-level mechanism has error O((1/epsilon) sqrt(k log(n/beta) log(d/beta)/n)) "
    "with O(log k + lambda) bits per client.",
    "asymptotic; Theorem 12 has constants. The pseudorandom function is not modelled: h and s are "
    "random functions",
)
SVA.not_checkable(
    "Theorem 2",
    "An epsilon-event-level mechanism has error O((1/epsilon) sqrt(log(d/beta)/n)) with "
    "O(k log k + lambda) bits per client.",
    "asymptotic; Theorem 12 has constants",
)


@SVA.conditional("Theorem 1", "constant of the error factor")
@mutant(widest=Fraction(101, 100))
def user_factor(widest: Fraction = Fraction(1)) -> None:
    """One bin clipped at eta = sqrt(2 k l), l = log(4n/beta), with Delta = 2 eta has error factor
    sqrt(k) + Delta/epsilon <= 3.83 (1/epsilon) sqrt(k l).

    Condition: epsilon <= sqrt(l); for large epsilon the first term is larger than the bound.
    """
    # over (1/epsilon) sqrt(k l), with r = epsilon/sqrt(l), the factor is r + 2 sqrt(2)
    constant = ball(Fraction(383, 100))
    always_positive(lambda r: constant - r - 2 * ball(2).sqrt(), [(0, widest)])


@SVA.conditional("Theorem 2", "constant of the error factor")
@mutant(shape=Fraction(24, 100))
def event_factor(shape: Fraction = Fraction(1, 4)) -> None:
    """With b = ceil(epsilon^2 k/4) bins and Delta = 2 the error factor sqrt(k/b) + Delta/epsilon
    is at most 4/epsilon, and b <= k.

    Condition: epsilon <= 2; the number of bins, so the communication, grows with epsilon^2.
    """
    for k, step in product((1, 2, 7, 100), range(1, 41)):
        epsilon = Fraction(step, 20)
        b = ceil(epsilon**2 * k * shape)
        at_most(b, k, k=k, epsilon=epsilon)
        at_most(Fraction(k, b) * epsilon**2, 4, k=k, epsilon=epsilon)  # sqrt(k/b) <= 2/epsilon
