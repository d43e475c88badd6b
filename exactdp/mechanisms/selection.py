"""Private choice of one option: the exponential mechanism, and permute-and-flip."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from flint import arb, arb_poly

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import ADD_REMOVE
from exactdp.accounting.pld import Pld, exponential, noisy_max
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, flag, frozen, number
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.parameters import Real, positive, rational
from exactdp.samplers import BernoulliExp, Source, SystemSource
from exactdp.samplers.source import require_secure

_Option = TypeVar("_Option", bound=Hashable)


@frozen
class _Choice(Simulated[Mapping[Any, Real]], ABC):
    """The base of both mechanisms.

    epsilon: > 0. sensitivity: > 0, the largest change of any utility by one user. monotone: whether
    one user's changes are all >= 0 or all <= 0; half the noise is then enough.
    """

    epsilon: Number = number(positive)
    sensitivity: Number = number(positive, default=1)
    monotone: bool = flag(default=False)

    def choose(self, utilities: Mapping[_Option, Real], source: Source | None = None) -> _Option:
        """One of the options; large utilities are likely.

        utilities: option -> exact number; options and their number must not depend on the data.
        source: None for the operating system's randomness. Raises InvalidParameter.
        """
        used = SystemSource() if source is None else source
        require_secure(used)
        return self.draw(utilities, used)

    release = choose

    def draw(self, utilities: Mapping[_Option, Real], source: Source) -> _Option:
        """As :meth:`choose`, with randomness from any source, for simulations."""
        losses = self._losses(utilities)
        options = list(losses)
        return options[self._pick([losses[option] for option in options], source)]

    def law(self, utilities: Mapping[_Option, Real]) -> Law[_Option]:
        """The law of the choice, with the lower ends of :meth:`probabilities`."""
        least = {option: p.lower for option, p in self.probabilities(utilities).items()}
        return Law(least, 1 - sum(least.values(), Fraction(0)))

    def probabilities(self, utilities: Mapping[_Option, Real]) -> dict[_Option, Enclosure]:
        """The probability of every option, as an enclosure."""
        losses = self._losses(utilities)
        return {
            option: refine(partial(self._probability, i, list(losses.values())))
            for i, option in enumerate(losses)
        }

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, 0)-differential privacy. For compositions, `loss` is more precise."""
        return Guarantee(self.epsilon, Enclosure.exact(0), ADD_REMOVE, self.loss().source)

    @abstractmethod
    def loss(self) -> Pld:
        """The privacy loss, which composes with those of other mechanisms."""

    @abstractmethod
    def _pick(self, losses: list[Fraction], source: Source) -> int:
        """The index of an option; an option is accepted with probability e^-loss."""

    @abstractmethod
    def _probability(self, index: int, losses: list[Fraction]) -> arb:
        """The probability that an option is picked."""

    def _losses(self, utilities: Mapping[_Option, Real]) -> dict[_Option, Fraction]:
        """How far each utility is below the largest, in units of the scale of the noise."""
        if not utilities:
            raise InvalidParameter("utilities", Described("no options"), "at least one")
        exact = {option: rational("utilities", value) for option, value in utilities.items()}
        largest = max(exact.values())
        rate = self.epsilon / self.sensitivity / (1 if self.monotone else 2)
        return {option: (largest - value) * rate for option, value in exact.items()}


@frozen
class ExponentialMechanism(_Choice):
    """Choose an option with probability proportional to e^(epsilon u/(2 sensitivity)).

    With monotone utilities e^(epsilon u/sensitivity). The law is exact: options are drawn uniformly
    until one is accepted, by coins with probability e^-x for rational x. The number of draws
    depends on the utilities, and with it the running time.
    Source: McSherry, Talwar 2007.

    >>> from exactdp.mechanisms import ExponentialMechanism
    >>> mechanism = ExponentialMechanism(epsilon=2)
    >>> {o: round(float(p.upper), 3) for o, p in mechanism.probabilities({"a": 1, "b": 0}).items()}
    {'a': 0.731, 'b': 0.269}
    """

    def loss(self) -> Pld:
        """The privacy loss: bounded range, exact for one run."""
        return exponential(epsilon=self.epsilon)

    def _pick(self, losses: list[Fraction], source: Source) -> int:
        while True:
            index = source.below(len(losses))
            if BernoulliExp(gamma=losses[index]).sample(source):
                return index

    def _probability(self, index: int, losses: list[Fraction]) -> arb:
        weights = [(-ball(loss)).exp() for loss in losses]
        return weights[index] / sum(weights, arb(0))


@frozen
class PermuteAndFlip(_Choice):
    """Look at the options in random order; accept one with probability e^-(its loss).

    The loss of an option is epsilon/(2 sensitivity) times how far its utility is below the largest
    one (epsilon/sensitivity with monotone utilities). Never worse for the expected utility than
    the exponential mechanism at the same epsilon. The number of coins depends on the utilities, and
    with it the running time.
    Source: McKenna, Sheldon 2020.

    >>> from exactdp.mechanisms import PermuteAndFlip
    >>> mechanism = PermuteAndFlip(epsilon=2)
    >>> {o: round(float(p.upper), 3) for o, p in mechanism.probabilities({"a": 1, "b": 0}).items()}
    {'a': 0.816, 'b': 0.184}
    """

    def loss(self) -> Pld:
        """The privacy loss, exact for one run."""
        return noisy_max(epsilon=self.epsilon, noise="exponential")

    def _pick(self, losses: list[Fraction], source: Source) -> int:
        left = list(range(len(losses)))
        while True:
            index = left.pop(source.below(len(left)))
            if BernoulliExp(gamma=losses[index]).sample(source):
                return index

    def _probability(self, index: int, losses: list[Fraction]) -> arb:
        """q_r times the integral from 0 to 1 of prod over j != r of (1 - t q_j).

        Give every option a uniform time: those before time t were refused, each with 1 - t q_j.
        """
        accepted = [(-ball(loss)).exp() for loss in losses]
        before = arb_poly([1])
        for j, q in enumerate(accepted):
            if j != index:
                before *= arb_poly([arb(1), -q])
        return accepted[index] * before.integral()(arb(1))
