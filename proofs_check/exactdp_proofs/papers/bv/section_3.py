"""BV, Section 3: mixing with a law that reaches every output buys back pure privacy."""

from __future__ import annotations

from itertools import product

from exactdp.accounting.divergence import max_loss, total_variation
from exactdp.law import Law
from exactdp.mechanisms import FixedTimeSparseHistogram
from exactdp.mechanisms.histograms.mixture import mixed_law, required_distance
from exactdp_proofs.comparisons import at_most, below, equal, identity
from exactdp_proofs.papers.bv._laws import geo
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import BV, mutant

_GAMMAS = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 100))


@BV.holds("Algorithm 1")
@mutant("M'(D) with probability gamma", swapped=True)
def algorithm_1(swapped: bool = False) -> None:
    """The shipped algorithm (in FixedTimeSparseHistogram) releases M'(D) with probability
    1 - gamma, else an element drawn from a law on all outputs that does not depend on D.

    Note: the text has "with probability 1γ" in step 1, where a minus sign is lost.
    """
    for bits in (2, 3, 5):
        mechanism = FixedTimeSparseHistogram(geo(1), 3, gamma_bits=bits)
        gamma = 1 - Fraction(1, 2**bits) if swapped else Fraction(1, 2**bits)
        added = []
        for x in range(3):
            whole, sparse = (m.law({x: 1}, residual=0) for m in (mechanism, mechanism.sparse))
            added.append({h: whole[h] - (1 - gamma) * sparse[h] for h in whole})
            equal(len(whole), 4, bits=bits, x=x)  # nothing, or one of three bins
            below(0, min(added[-1].values()), bits=bits, x=x)
            equal(added[-1], added[0], bits=bits, x=x)


@BV.holds("Lemma 3.1", no_mechanism="an identity in epsilon and delta")
@mutant("(e^epsilon - 1)/e^epsilon in place of (e^epsilon - 1)/(e^epsilon + 1)", weight=0)
def lemma_3_1(weight: int = 1) -> None:
    """If M is (epsilon, 0)-DP and M' within delta of M on every data set, then the mixture is
    (epsilon, 0)-DP for delta <= (e^epsilon - 1)/(e^epsilon + 1) gamma/(1 - gamma) min D.

    Note: (1) divides by 0 at gamma = 1, where nothing is required.
    """
    import sympy

    # At one output of probability q on the neighbour: P'(r) <= e q + d, Q'(r) >= q - d, p = min D.
    e, g, d, p, q = sympy.symbols("e g d p q", positive=True)
    gap = e * ((1 - g) * (q - d) + g * p) - ((1 - g) * (e * q + d) + g * p)
    identity(sympy.diff(gap, d) + (1 - g) * (1 + e))  # falls in d
    identity(gap.subs(d, (e - 1) / (e + weight) * g / (1 - g) * p))  # and is 0 at equality in (1)


def _response(high: Fraction) -> Law[int]:
    return Law({0: high, 1: 1 - high})


@BV.holds("Lemma 3.1", "equation (1)", ours=True)
@mutant(stretch=Fraction(101, 100))
def equation_1(stretch: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """The bound on delta cannot be improved: randomised response that is moved by delta and mixed
    with a fair coin has the ratio e^epsilon.
    """
    coin = _response(Fraction(1, 2))
    for e, gamma in product((Fraction(9, 8), Fraction(3), Fraction(10)), _GAMMAS):
        delta = required_distance(e_epsilon=e, gamma=gamma, least=Fraction(1, 2)) * stretch
        grown = raised(e, loss)
        if delta <= 1 / (grown + 1):
            p = mixed_law(_response(grown / (grown + 1) + delta), coin, gamma)
            q = mixed_law(_response(1 / (grown + 1) - delta), coin, gamma)
            equal(max_loss(p, q), e, e_epsilon=e, gamma=gamma)


@BV.holds("Section 3", "distance of the mixture", no_mechanism="a distance of any two laws")
@mutant(share=Fraction(98, 100))
def distance(share: Fraction = Fraction(1)) -> None:
    """The mixture lies within gamma + delta of M in total variation."""
    laws = [_response(Fraction(k, 4)) for k in range(5)]
    for m, near, other in product(laws, repeat=3):
        delta = total_variation(m, near).upper
        for gamma in _GAMMAS:
            gap = total_variation(mixed_law(near, other, gamma), m).upper
            at_most(gap, gamma + share * delta, gamma=gamma, delta=delta)
