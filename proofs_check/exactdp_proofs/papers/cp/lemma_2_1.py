"""CP, Lemma 2.1: the privacy of the mechanism when the sets have nearly equal sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import sympy as sp
from flint import arb

from exactdp.balls import ball
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, identity
from exactdp_proofs.papers.cp._model import (
    ALL_PRIVACY,
    TANH_HALF,
    artanh_quotient,
    channel,
    first,
    privacy_factor,
)
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import CP, fitted, loose, mutant


def _worst_ratios(loss: Fraction) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """For two sets of every pair of sizes, nested and apart: largest ratio, e^epsilon, beta."""
    for m in (2, 3, 8):
        for (a, b), e in product(product(range(1, m), repeat=2), ALL_PRIVACY):
            beta = max(abs(Fraction(2 * n, m) - 1) for n in (a, b))
            for other in (first(b, m), first(b, m)[::-1]):
                laws = channel((first(a, m), other), raised(e, loss))
                yield privacy_factor(laws), e, beta


def _normalisers(sign: int) -> None:
    """n e^epsilon + m - n rises with n; its largest ratio is (1 + beta t)/(1 - beta t)."""
    x, b, m, n = sp.symbols("x b m n", positive=True)
    base = n * (1 + x) + m - n  # e^epsilon = 1 + x
    t = x / (1 + x + sign)
    identity(sp.diff(base, n) - x)
    ratio = base.subs(n, (1 + b) * m / 2) / base.subs(n, (1 - b) * m / 2)
    identity(ratio - (1 + b * t) / (1 - b * t))


@CP.holds("Lemma 2.1", "proof, ratio of the normalisers")
@mutant("t = (e^epsilon - 1)/(e^epsilon + 2)", sign=2)
def ratio_of_the_normalisers(sign: int = 1) -> None:
    """The largest ratio of the normalisers n e^epsilon + m - n is (1 + beta t)/(1 - beta t) with
    t = (e^epsilon - 1)/(e^epsilon + 1).
    """
    _normalisers(sign)


@CP.holds("Lemma 2.1", no_mechanism="what unequal sets add; the laws are under beyond epsilon 1")
@mutant("(epsilon + 0.99 beta)-LDP", slope=Fraction(99, 100))
@fitted(slope=Fraction(1001, 1000))
def lemma_2_1(slope: Fraction = Fraction(2)) -> None:
    """For 0 < epsilon <= 1, the paper's range, and 0 <= beta <= 1, sets of sizes within
    (1 +- beta) m/2 make the mechanism (2) (epsilon + 2 beta)-LDP.
    """
    _normalisers(1)
    # the logarithm of their ratio is 2 artanh(beta t), t = tanh(epsilon/2)
    always_positive(
        lambda beta, t: ball(slope) / 2 - t * artanh_quotient(beta * t), [(0, 1), (0, TANH_HALF)]
    )


@CP.holds("Lemma 2.1", "beyond epsilon 1", ours=True, slow=True)
@mutant("(1 + 0.95 beta) epsilon-LDP", share=Fraction(95, 100))
def beyond_epsilon_1(share: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """For every epsilon > 0 and 0 <= beta < 1 the mechanism is (1 + beta) epsilon-LDP: so
    (epsilon + 2 beta)-LDP for epsilon <= 2, and 2 epsilon-LDP whatever the sets are.
    """
    for ratio, e, beta in _worst_ratios(loss):
        power = share * beta  # ratio <= e^(1 + power), as a comparison of integer powers
        left, right = (ratio / e) ** power.denominator, e**power.numerator
        at_most(left, right, e=e, beta=beta)


@CP.holds("Lemma 2.1", "proof, last inequalities")
@mutant("at most 1 + 1.96 beta", slope=Fraction(196, 100))
def last_inequalities(slope: Fraction = Fraction(2)) -> None:
    """t <= 1/2 for epsilon <= 1, and (1 + beta/2)/(1 - beta/2) <= 1 + 2 beta for beta <= 1."""
    always_positive(lambda eps: ball(Fraction(1, 2)) - (eps / 2).tanh(), [(0, 1)])
    # (1 + slope b)(1 - b/2) - (1 + b/2), over b
    never_negative([slope - 1, -slope / 2], 0, 1)


def _loses(share: Fraction, multiple: Fraction, loss: Fraction) -> None:
    """With beta = share eps the mechanism made for loss eps, which loses
    loss eps + 2 artanh(beta tanh(loss eps/2)), loses less than multiple eps.
    """

    def room(eps: arb) -> arb:
        t = (ball(loss) * eps / 2).tanh()
        return ball(multiple - loss) - 2 * ball(share) * t * artanh_quotient(ball(share) * eps * t)

    always_positive(room, [(0, 1)])


@CP.holds("Section 2", "3 epsilon-LDP")
@mutant("1.99 epsilon-LDP", multiple=Fraction(199, 100))
@fitted(multiple=Fraction(2001, 1000))
@loose("2 epsilon is enough", loss=Fraction(8, 5))
def three_epsilon(multiple: Fraction = Fraction(3), loss: Fraction = Fraction(1)) -> None:
    """With beta = epsilon in Lemma 2.1 the mechanism is 3 epsilon-LDP, for 0 < epsilon <= 1."""
    _loses(Fraction(1), multiple, loss)


@CP.holds("Section 2", "property P1")
@mutant("1.47 epsilon-LDP", multiple=Fraction(147, 100))
@fitted(multiple=Fraction(1471, 1000))
@loose("3/2 epsilon is enough", loss=Fraction(139, 100))
def property_p1(multiple: Fraction = Fraction(2), loss: Fraction = Fraction(1)) -> None:
    """P1, with beta <= epsilon/2, makes the mechanism 2 epsilon-LDP for 0 < epsilon <= 1 (and
    epsilon-LDP only after rescaling epsilon).
    """
    _loses(Fraction(1, 2), multiple, loss)


@CP.holds("Section 2", "rescaling epsilon")
@mutant(factor=Fraction(294, 100))
def rescaling_epsilon(factor: Fraction = Fraction(3)) -> None:
    """Running with epsilon/3 in place of epsilon multiplies the noise factor
    (e^epsilon + 1)/(e^epsilon - 1) by at most 3, hence the number of samples by at most 9.
    """
    t = sp.symbols("t", positive=True)  # tanh(epsilon/6): tanh(3u) = (3 t + t^3)/(1 + 3 t^2)
    quotient = sp.tanh(3 * sp.Symbol("u")).expand(trig=True)
    identity(quotient.subs(sp.tanh(sp.Symbol("u")), t) - (3 * t + t**3) / (1 + 3 * t**2))
    # factor (1 + 3 x) - (3 + x) with x = t^2
    never_negative([factor - 3, 3 * factor - 1], 0, 1)
