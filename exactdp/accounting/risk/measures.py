"""Measures of risk: how well the best attack does, by a privacy loss or a guarantee.

The attacker knows everything but one user's data: all other users, the mechanism and its
parameters, and all outputs. So the numbers are upper bounds for every attack; an attacker who knows
less does worse. The attacker of a membership attack says whether the user's data was used. The
false-alarm rate is the probability of a yes where it was not, the power that of a yes where it was.

Let T be the largest power at each false-alarm rate (`Pld.power`), and delta the privacy curve
(`Pld.delta`); T(alpha) is the minimum over epsilon of delta(epsilon) + e^epsilon alpha. Both orders
of the neighbours count, as in these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, TypeAlias

from exactdp.accounting.calculator import Calculator
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld import Pld, approximate
from exactdp.accounting.pld.calculators import loss_of as loss_of_calculator
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.parameters import Real, delta_target

__all__ = [
    "MEASURES",
    "Accuracy",
    "Advantage",
    "Power",
    "Precision",
    "Reconstruction",
    "Risk",
    "Subject",
]

#: What is attacked. A guarantee stands for the worst mechanism that keeps it, a calculator for its
#: mechanism at every epsilon.
Subject: TypeAlias = Pld | Guarantee | Calculator


class Risk(ABC):
    """A measure of risk, between 0 and 1: the larger, the better for the attacker."""

    #: The name in commands and tables.
    name: ClassVar[str]

    #: One sentence, and where it comes from.
    definition: ClassVar[str]
    source: ClassVar[str]

    def of(self, subject: Subject, *, relative_width: Real = "1e-3") -> Enclosure:
        """An enclosure of the risk.

        subject: a privacy loss, a guarantee or a calculator. relative_width: to which the power, or
        delta, is enclosed. Raises InvalidParameter, Undecided.
        """
        return self._of(loss_of(subject), relative_width)

    @abstractmethod
    def _of(self, loss: Pld, relative_width: Real) -> Enclosure:
        """The risk of a loss."""

    @property
    @abstractmethod
    def least(self) -> Fraction:
        """The risk where nothing is published."""


@frozen
class Advantage(Risk):
    """The largest difference between power and false-alarm rate: delta(0), the total variation.

    1 - advantage is the Bayes security (Chatzikokolakis, Cherubin, Palamidessi, Troncoso 2020,
    arXiv 2011.03396).

    >>> from exactdp.accounting import pld, risk
    >>> loss = pld.sgd(noise_multiplier=1, rate="0.01", steps=1000)
    >>> print(format(risk.Advantage().of(loss), "4"))
    [0.161, 0.1611]
    """

    name = "advantage"
    definition = "the largest difference of power and false-alarm rate of a membership attack"
    source = "Kulynych, Gomez, Kaissis, du Pin Calmon, Troncoso 2024"

    def _of(self, loss: Pld, relative_width: Real) -> Enclosure:
        return loss.advantage(relative_width=relative_width)

    @property
    def least(self) -> Fraction:
        """The risk where nothing is published."""
        return Fraction(0)


@frozen
class Power(Risk):
    """The largest power of a membership attack at a false-alarm rate, > 0 and < 1: T.

    >>> from exactdp.accounting import pld, risk
    >>> loss = pld.sgd(noise_multiplier=1, rate="0.01", steps=1000)
    >>> print(format(risk.Power(false_alarms="1e-3").of(loss), "4"))
    [0.004067, 0.00407]
    """

    false_alarms: Number = number(delta_target)

    name = "power"
    definition = "the largest power of a membership attack at a false-alarm rate"
    source = "Dong, Roth, Su 2022, section 2"

    def _of(self, loss: Pld, relative_width: Real) -> Enclosure:
        return loss.power(self.false_alarms, relative_width=relative_width)

    @property
    def least(self) -> Fraction:
        """The false-alarm rate: a guess without the outputs."""
        return self.false_alarms


@frozen
class Precision(Risk):
    """How often a yes of a membership attack is right, at a false-alarm rate.

    prior: the probability that the user's data was used, > 0 and < 1. With r the prior and alpha
    the false-alarm rate, r T/(r T + (1 - r) alpha), T at alpha: no attack with at least this rate
    has more. For a smaller rate it may be larger.

    >>> from exactdp.accounting import pld, risk
    >>> loss = pld.sgd(noise_multiplier=1, rate="0.01", steps=1000)
    >>> print(format(risk.Precision(prior="0.01", false_alarms="1e-3").of(loss), "4"))
    [0.03946, 0.03949]
    """

    prior: Number = number(delta_target)
    false_alarms: Number = number(delta_target)

    name = "precision"
    definition = "the largest share of right answers among the yes of a membership attack"
    source = "Jayaraman, Wang, Knipmeyer, Gu, Evans 2021"

    def _of(self, loss: Pld, relative_width: Real) -> Enclosure:
        power = loss.power(self.false_alarms, relative_width=relative_width)
        wrong = (1 - self.prior) * self.false_alarms
        ends = (self.prior * end / (self.prior * end + wrong) for end in (power.lower, power.upper))
        return Enclosure(*ends)

    @property
    def least(self) -> Fraction:
        """The prior."""
        return self.prior


@frozen
class Accuracy(Risk):
    """How often the best guess is right whether a user's data was used: 1 - the Bayes risk.

    prior: the probability that the data was used, > 0 and < 1. With r the prior, 1 - r +
    r delta(log((1 - r)/r)); for 1/2, (1 + advantage)/2.

    >>> from exactdp.accounting import pld, risk
    >>> loss = pld.sgd(noise_multiplier=1, rate="0.01", steps=1000)
    >>> print(format(risk.Accuracy(prior="1/2").of(loss), "4"))
    [0.5805, 0.5806]
    >>> print(format(1 - risk.Accuracy(prior="0.3").of(loss), "4"))  # the Bayes risk
    [0.2981, 0.2982]
    """

    prior: Number = number(delta_target)

    name = "accuracy"
    definition = "the largest probability to guess right whether a user's data was used"
    source = "the definition of delta: the hockey-stick divergence as a Bayes risk"

    def _of(self, loss: Pld, relative_width: Real) -> Enclosure:
        place = _log((1 - self.prior) / self.prior)
        least = loss.delta(place.upper, relative_width=relative_width).lower
        most = loss.delta(place.lower, relative_width=relative_width).upper
        return Enclosure(*(1 - self.prior + self.prior * delta for delta in (least, most)))

    @property
    def least(self) -> Fraction:
        """The likelier answer."""
        return max(self.prior, 1 - self.prior)


@frozen
class Reconstruction(Risk):
    """An upper bound of the probability to reconstruct a user's data, or an attribute of the user.

    baseline: the largest probability of success of a guess without the outputs, > 0 and < 1; of one
    record among m that are equally likely, 1/m. The bound is T(baseline); it needs a loss for
    neighbours with the user's data and without, or with a record that is fixed. Both ends enclose
    the bound; an attack need not attain it.

    >>> from exactdp.accounting import pld, risk
    >>> loss = pld.sgd(noise_multiplier=1, rate="0.01", steps=1000)
    >>> print(format(risk.Reconstruction(baseline="0.1").of(loss), "4"))
    [0.1941, 0.1943]
    """

    baseline: Number = number(delta_target)

    name = "reconstruction"
    definition = "a bound of the probability to reconstruct data that is guessed with `baseline`"
    source = "Hayes, Mahloujifar, Balle 2023; Kaissis et al. 2023 (arXiv 2307.03928)"

    def _of(self, loss: Pld, relative_width: Real) -> Enclosure:
        return loss.power(self.baseline, relative_width=relative_width)

    @property
    def least(self) -> Fraction:
        """The baseline."""
        return self.baseline


#: All measures, by name.
MEASURES: dict[str, type[Risk]] = {
    measure.name: measure for measure in (Advantage, Power, Precision, Accuracy, Reconstruction)
}


def _log(odds: Fraction) -> Enclosure:
    if odds == 1:
        return Enclosure.exact(0)
    if odds < 1:
        return -refine(lambda: -ball(odds).log())
    return refine(lambda: ball(odds).log())


def loss_of(subject: Subject) -> Pld:
    """The loss of a subject. Raises InvalidParameter for a guarantee that promises nothing."""
    if isinstance(subject, Pld):
        return subject
    if isinstance(subject, Calculator):
        return loss_of_calculator(subject)
    if not isinstance(subject, Guarantee):
        allowed = "a privacy loss (exactdp.accounting.pld), a guarantee or a calculator"
        raise InvalidParameter("subject", Described(type(subject).__name__), allowed)
    return approximate(
        epsilon=subject.epsilon, delta=subject.delta.upper, neighbours=subject.neighbours
    )
