"""Questions that a composition answers: each over both orders of the neighbours."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import has_named_side
from exactdp.accounting.pld import ask
from exactdp.accounting.pld.losses.base import Order
from exactdp.accounting.pld.losses.orders import Steps, in_own_orders, orders, real_orders
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, delta_target, non_negative, positive, rational, truth

#: The largest epsilon of a question: the floats that guess where to look have to hold it.
_LARGEST = 10**300

#: With more runs than this, estimates tell reliably which orders leak most.
_FEW_RUNS = 16

#: The width of an epsilon, or the share of a large one.
_WIDTH, _SHARE = Fraction(1, 1000), Fraction(1, 100_000)

#: The relative width of a power that only says where to look.
_ROUGH = Fraction(1, 1000)


class Questions:
    """What can be asked of mechanisms run one after the other.

    steps: each step with its number of runs. neighbours: the relation. source: proves the
    dominating pairs.
    """

    steps: Steps
    neighbours: str
    source: str

    @property
    def count(self) -> int:
        """The number of mechanisms that are composed."""
        return sum(n for _, n in self.steps)

    @property
    def exact(self) -> bool:
        """Whether one pair of neighbours attains the upper end of every answer.

        False for batches and thresholded histograms, where the ends may stay apart, for mechanisms
        :func:`together` at an irrational distance, where the ends are 2^-512 apart, and for several
        mechanisms with an order of the neighbours for each of them.
        """
        return not (self._is_mixed or self._is_bounded)

    def orders(self) -> list[Order]:
        """The laws of all losses in each order of the neighbours; one order where both agree.

        No pair of neighbours leaks more, also if later mechanisms are chosen adaptively. Where no
        side of a pair has a name, a law dominates several runs of a mechanism, each in its own
        order.
        """
        if self._is_mixed:
            with suppress(Undecided):
                return ask.adaptive_orders(self.dominating) or orders(self.dominating)
        return orders(self.dominating)

    def real_orders(self) -> list[Order]:
        """The laws of all losses for pairs of data sets that exist, or for limits of these.

        Where no side of a pair has a name, some mechanisms may have the opposite order.
        """
        if not self._is_mixed:
            return real_orders(self.steps)
        all_orders = (order for steps in in_own_orders(self.steps) for order in real_orders(steps))
        return list(dict.fromkeys(all_orders))

    @property
    def dominating(self) -> Steps:
        """The steps; where each run has its own order, with a law that dominates both orders."""
        if not self._is_mixed:
            return self.steps
        return tuple((step.in_either_order(), n) for step, n in self.steps)

    @property
    def _is_bounded(self) -> bool:
        """Whether the lower ends belong to other pairs of data sets than the upper ends."""
        return any(step.real for step, _ in self.steps)

    @property
    def _is_mixed(self) -> bool:
        """Whether each run has its own order of the neighbours, and the order matters."""
        alike = all(step.is_alike for step, _ in self.steps)
        return not (alike or self.count == 1 or has_named_side(self.neighbours))

    def delta(self, epsilon: Real, *, relative_width: Real = "1e-3") -> Enclosure:
        """The smallest delta for which the composition is (epsilon, delta)-DP.

        epsilon: from -1e300 to 1e300; values below 0 complete the privacy curve. relative_width: of
        the enclosure, > 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).delta(1, relative_width="1e-6"), "6"))
        [0.126936, 0.126937]
        """
        loss, wanted = rational("epsilon", epsilon), _width("relative_width", relative_width)
        if loss >= 0 and (beyond := self._beyond_all_losses(loss)) is not None:
            return beyond
        _check_size(loss)
        if loss < 0:
            return ask.reversed_delta(loss, self.delta(-loss, relative_width=wanted))
        return self._largest(ask.Delta(loss, wanted))

    def against(self, epsilon: Real, delta: Real) -> Enclosure:
        """An enclosure of delta at epsilon >= 0 that leaves out a target, where that can be.

        delta: the target, > 0 and < 1. Cheaper than :meth:`delta` at the width that it takes.
        Raises InvalidParameter, Undecided.
        """
        loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
        if (beyond := self._beyond_all_losses(loss)) is not None:
            return beyond
        _check_size(loss)
        return self._largest(ask.DeltaAgainst(loss, target))

    def epsilon(
        self, delta: Real, *, width: Real | None = None, relative_width: Real | None = None
    ) -> Enclosure:
        """The smallest epsilon >= 0 for which the composition is (epsilon, delta)-DP.

        delta: >= 0 and < 1; losses may be infinite with a larger probability than this, and then
        no epsilon is enough. width: of the enclosure, > 0; by default 1e-3, or 1e-5 of epsilon
        where that is more. relative_width: in place of width, > 0, where epsilon is above 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=1).sampled("0.01").composed(1000)
        >>> print(format(loss.epsilon("1e-5"), "5"))
        [1.8279, 1.8285]
        >>> pld.laplace(scale=2).composed(3).epsilon(0)
        Enclosure[1.5, 1.5]
        """
        target, share = _target(delta), None
        if relative_width is not None:
            share = _width("relative_width", relative_width)
            if width is not None:
                raise InvalidParameter("relative_width", relative_width, "left out beside width")
        wanted = None if width is None else _width("width", width)
        end = None if self._is_bounded and target else self._end_at(target)
        if end is not None:
            return end if self.exact else Enclosure(self._least_end(target), end.upper)
        if not target:
            raise InvalidParameter("delta", delta, "> 0 and < 1: no largest loss is known")
        if wanted is None:
            about = Fraction(max(ask.about_epsilon(order, target) for order in self.orders()))
            wanted = share * about if share and about > 0 else max(_WIDTH, _SHARE * about)
        answer = self._largest(ask.Epsilon(target, wanted))
        if share and 0 < share * answer.lower < answer.width:
            answer = self._largest(ask.Epsilon(target, share * answer.lower))
        return answer

    def largest_loss(self) -> Enclosure | None:
        """The largest finite privacy loss, over both orders of the neighbours; None if unbounded.

        >>> from exactdp.accounting import pld
        >>> pld.approximate(epsilon="0.5", delta="1e-6").composed(4).largest_loss()
        Enclosure[2, 2]
        """
        losses = [ask.ends(order).largest for order in orders(self.dominating)]
        known = [largest for largest in losses if largest is not None]
        if len(known) < len(losses):
            return None
        return Enclosure(max(x.lower for x in known), max(x.upper for x in known))

    def infinite_mass(self) -> Enclosure:
        """The probability of an infinite privacy loss: no epsilon has a smaller delta.

        Where the pair of laws is only a bound (not :attr:`exact`), the mass is only a bound.

        >>> from exactdp.accounting import pld
        >>> pld.approximate(epsilon="0.5", delta="0.1").composed(2).infinite_mass()
        Enclosure[0.19, 0.19]
        """
        masses = [ask.ends(order).mass for order in orders(self.dominating)]
        return Enclosure(max(x.lower for x in masses), max(x.upper for x in masses))

    def mu(self, *, least_delta: Real = "1e-10", relative_width: Real = "1e-4") -> Enclosure:
        """The smallest mu whose Gaussian mechanism leaks as much or more, where delta matters.

        At every delta >= least_delta, the Gaussian mechanism's epsilon is at least the epsilon of
        the composition. So mu is 0 where :meth:`epsilon` of least_delta is 0.
        least_delta: > 0 and < 1. (Without this limit only the mu of all steps without sampling
        would dominate a sampled mechanism.) relative_width: of the enclosure, > 0.
        Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.sgd(noise_multiplier=1, rate="0.01", steps=1000).mu(), "5"))
        [0.52887, 0.52891]
        """
        least = delta_target("least_delta", least_delta)
        wanted = _width("relative_width", relative_width)
        try:
            width, last = Fraction(1, 10), self.epsilon(least, width="0.1")
            while last.upper and last.width > (enough := ask.last_width(last, least, wanted)):
                width, last = enough, self.epsilon(least, width=enough)
        except InvalidParameter as error:
            raise InvalidParameter("least_delta", least_delta, error.allowed) from None
        if not last.upper:
            return Enclosure.exact(0)
        return self._largest(ask.GaussianMu(least, last, width, wanted))

    def power(self, false_alarms: Real, *, relative_width: Real = "1e-3") -> Enclosure:
        """The largest power of a test between neighbours, at this rate of false alarms.

        The test says from all outputs whether a user's data was used; the false-alarm rate is the
        probability of a wrong yes, the power that of a right yes. The trade-off curve of all tests
        is the one that :meth:`delta` implies: the minimum over epsilon, of both signs, of
        delta(epsilon) + e^epsilon false_alarms. Where both orders of the neighbours differ, that
        is the concave hull of both orders' powers.
        false_alarms: > 0 and < 1. relative_width: of the enclosure, > 0.
        Raises InvalidParameter, Undecided. Source: Dong, Roth, Su 2022, Proposition 2.12.

        >>> from exactdp.accounting import pld
        >>> loss = pld.gaussian(sigma=1).sampled("0.01").composed(1000)
        >>> print(format(loss.power("1e-6"), "4"))
        [9.364e-6, 9.37e-6]
        """
        alpha, wanted = (
            delta_target("false_alarms", false_alarms),
            _width("relative_width", relative_width),
        )
        return self._largest(ask.Power(alpha, wanted))

    def threshold(self, false_alarms: Real) -> Fraction:
        """About the epsilon >= 0 at which delta decides the power; nothing is certified.

        false_alarms: > 0 and < 1. Raises InvalidParameter, Undecided.

        >>> from exactdp.accounting import pld
        >>> round(float(pld.laplace(scale="0.5").threshold("0.01")), 2)  # the largest loss
        2.0
        """
        alpha = delta_target("false_alarms", false_alarms)
        return ask.Power(alpha, _ROUGH).reading(self.orders()).place

    def advantage(self, *, relative_width: Real = "1e-3") -> Enclosure:
        """The largest difference of power and false-alarm rate of a test: delta at epsilon = 0.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.randomized_response(epsilon=1).advantage(), "6"))
        [0.462117, 0.462118]
        """
        return self.delta(0, relative_width=relative_width)

    def type_two_error(self, alpha: Real, *, width: Real = "1e-3") -> Enclosure:
        """The least type II error of a test between neighbours: 1 minus :meth:`power`.

        alpha: type I error, > 0 and < 1. width: of the enclosure, > 0.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).type_two_error("0.05"), "3"))
        [0.74, 0.741]
        """
        level, wanted = delta_target("alpha", alpha), _width("width", width)
        return 1 - self._largest(ask.Power(level, wanted))

    def renyi(self, order: Real, *, finite: bool = False) -> Enclosure:
        """The Renyi divergence of an order > 1 between neighbours, of all steps together.

        order: > 1. finite: leave out infinite losses, whose mass is :meth:`infinite_mass`.
        Raises InvalidParameter where the divergence is infinite.

        >>> from exactdp.accounting import pld
        >>> pld.gaussian(sigma=1).renyi("2.5")
        Enclosure[1.25, 1.25]
        """
        alpha = rational("order", order)
        if alpha <= 1:
            raise InvalidParameter("order", order, "> 1")
        truth("finite", finite)

        def divergence(order: Order) -> Enclosure:
            return ask.divergence(order, alpha, finite=finite)

        if not self._is_mixed:
            return _most(divergence, self.orders(), self.real_orders())
        # divergences add up, and each run has the order in which its own is larger
        runs = [(((step, 1),), n) for step, n in self.steps]
        parts = (_most(divergence, orders(run), real_orders(run)) * n for run, n in runs)
        return sum(parts, Enclosure.exact(0))

    def renyi_delta(self, epsilon: Real) -> Enclosure:
        """The best delta that the Renyi divergences of all real orders imply; at least delta.

        epsilon: >= 0 and <= 1e300. Source: Canonne, Kamath, Steinke 2020, Proposition 12.

        >>> from exactdp.accounting import pld
        >>> print(format(pld.gaussian(sigma=1).renyi_delta(3), "4"))
        [0.005143, 0.005144]
        """
        loss = non_negative("epsilon", epsilon)
        _check_size(loss)
        above, real = orders(self.dominating), self.real_orders()
        return _most(lambda order: ask.best_delta(order, loss), above, real)

    def guarantee(self, epsilon: Real) -> Guarantee:
        """The guarantee at epsilon >= 0, with the delta of :meth:`delta`."""
        loss = non_negative("epsilon", epsilon)
        return Guarantee(loss, self.delta(loss), self.neighbours, self.source)

    def _beyond_all_losses(self, epsilon: Fraction) -> Enclosure | None:
        """delta, where no finite loss is larger than epsilon; else None."""
        if self._is_bounded:
            return None
        largest = self.largest_loss()
        return self.infinite_mass() if largest is not None and epsilon >= largest.upper else None

    def _end_at(self, delta: Fraction) -> Enclosure | None:
        """The largest finite loss, if delta is exactly the mass at infinity; else None."""
        ends = [ask.ends(order) for order in orders(self.dominating)]
        if any(end.largest is None or end.mass.width or end.mass.lower != delta for end in ends):
            return None
        largest, none = self.largest_loss(), Fraction(0)
        if largest is None:
            return None
        return Enclosure(max(largest.lower, none), max(largest.upper, none))

    def _least_end(self, delta: Fraction) -> Fraction:
        """The largest loss of real pairs of data sets with this mass at infinity, or less."""
        ends = [ask.ends(order) for order in self.real_orders()]
        known = [end.largest for end in ends if end.mass.lower >= delta]
        return max((end.lower for end in known if end is not None), default=Fraction(0))

    def _largest(self, question: ask.Question) -> Enclosure:
        """The largest answer: its upper end over all orders, its lower end over the real orders."""
        above, real = self.orders(), self.real_orders()
        if self.count == 1 and self.steps[0][0].attained:
            real = above  # at every epsilon some neighbours attain the bound of a single step
        bound = question.largest(above)
        with suppress(InvalidParameter, Undecided):  # the curve ends at some delta
            if (
                not self._is_mixed
                and any(step.removed.family for step, _ in self.steps)
                and (tighter := ask.adaptive_orders(self.steps))
            ):
                bound = min(bound, question.largest(tighter), key=lambda ends: ends.upper)
        if above == real:
            return bound
        # fewer orders give a valid lower end, and faster
        most = 2 if self._is_mixed and self.count > _FEW_RUNS else None
        return Enclosure(question.largest_decided(real, most=most).lower, bound.upper)


def _most(answer: Callable[[Order], Enclosure], above: list[Order], real: list[Order]) -> Enclosure:
    """The largest answer: its upper end over some orders, its lower end over others."""
    most = max(answer(order).upper for order in above)
    return Enclosure(max(answer(order).lower for order in real), most)


def _check_size(epsilon: Fraction) -> None:
    if abs(epsilon) > _LARGEST:
        raise InvalidParameter("epsilon", epsilon, ">= -1e300 and <= 1e300")


def _target(delta: Real) -> Fraction:
    target = non_negative("delta", delta)
    if target >= 1:
        raise InvalidParameter("delta", delta, ">= 0 and < 1")
    return target


def _width(name: str, width: Real) -> Fraction:
    """The largest width of an enclosure, in the range of floats."""
    wanted = positive(name, width)
    if not 1 <= wanted * 10**100 <= 10**200:
        raise InvalidParameter(name, width, "> 0, between 1e-100 and 1e100")
    return wanted
