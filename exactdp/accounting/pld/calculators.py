"""The privacy loss of a calculator's mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import singledispatch

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Calculator
from exactdp.accounting.csh import Csh
from exactdp.accounting.discrete_gaussian import DiscreteGaussian
from exactdp.accounting.discrete_laplace import DiscreteLaplace
from exactdp.accounting.exponential import Exponential
from exactdp.accounting.gaussian import Gaussian
from exactdp.accounting.gshm import Gshm
from exactdp.accounting.laplace import Laplace
from exactdp.accounting.pld import mechanisms
from exactdp.accounting.pld.histograms import csh, gshm
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.losses.finite import FiniteLaws
from exactdp.accounting.pld.losses.one_release import DeltaCurve, OneRelease
from exactdp.accounting.pld.selection import exponential
from exactdp.accounting.randomized_response import RandomizedResponse
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, non_negative


@singledispatch
def loss_of(instance: Calculator) -> Pld:
    """The privacy loss of a mechanism with values for its parameters, at any epsilon.

    Where only delta is known, a single release has answers, by the curve of delta; where the noise
    depends on epsilon, the loss is that of any mechanism with this epsilon and delta. Where delta
    is only an upper bound, the lower ends of answers are those of a mechanism that leaks nothing.
    Raises InvalidParameter for an analysis other than the exact one where it is left out.

    >>> from exactdp.accounting.calculator import calculator
    >>> laplace = calculator("laplace")(scale=2, epsilon=0)
    >>> print(format(loss_of(laplace).composed(10).epsilon("1e-6"), "4"))
    [4.998, 4.999]
    """
    if "epsilon" not in instance.falls_with:
        promise = instance.guarantee()
        worst = mechanisms.approximate(epsilon=promise.epsilon, delta=promise.delta.upper)
        return Pld(worst.steps, instance.neighbours, f"{instance.source}; {worst.source}")
    return _one_release(
        _Curve(instance), instance.neighbours, instance.source, tight=instance.tight
    )


def zcdp_loss(rho: Real) -> Pld:
    """The loss of any rho-zCDP mechanism: answers are upper bounds, for a single release.

    rho: >= 0; of several releases, the sum.

    >>> print(format(zcdp_loss("0.1").delta(1), "3"))
    [0, 0.00894]
    """
    curve, source = _Concentrated(non_negative("rho", rho)), "Canonne, Kamath, Steinke 2020"
    return _one_release(curve, "the neighbours of rho", source, tight=False)


def _one_release(curve: DeltaCurve, neighbours: str, source: str, *, tight: bool) -> Pld:
    law, leaks_nothing = OneRelease(curve), Law({"nothing": Fraction(1)})
    nothing = Step.alike(FiniteLaws(leaks_nothing, leaks_nothing))
    step = Step(law, law, ((nothing,),), attained=tight)
    return Pld(((step, 1),), neighbours, source)


@dataclass(frozen=True)
class _Curve:
    """delta of a mechanism."""

    instance: Calculator

    def delta(self, epsilon: Fraction) -> Enclosure:
        return replace(self.instance, epsilon=epsilon).delta()


@dataclass(frozen=True)
class _Concentrated:
    """delta of rho-zCDP."""

    rho: Fraction

    def delta(self, epsilon: Fraction) -> Enclosure:
        return zcdp.delta(rho=self.rho, epsilon=epsilon)


def _same(kind: type[Calculator], law: Callable[..., Pld]) -> None:
    """The loss of a calculator whose law has the same parameters."""

    def loss(instance: Calculator) -> Pld:
        values = {each.name: getattr(instance, each.name) for each in fields(instance)}
        values.pop("epsilon")
        if (analysis := values.pop("analysis", "exact")) != "exact":
            raise InvalidParameter("analysis", analysis, "exact, for a privacy loss")
        return law(**{name: value for name, value in values.items() if value is not None})

    loss_of.register(kind, loss)


for _kind, _law in (
    (Gaussian, mechanisms.gaussian),
    (Laplace, mechanisms.laplace),
    (DiscreteGaussian, mechanisms.discrete_gaussian),
    (Gshm, gshm),
    (Csh, csh),
):
    _same(_kind, _law)


@loss_of.register
def _(instance: DiscreteLaplace) -> Pld:
    distance = instance.largest_loss().lower
    return mechanisms.discrete_laplace(epsilon=distance, sensitivity=instance.sensitivity)


@loss_of.register
def _(instance: Exponential) -> Pld:
    return exponential(epsilon=instance.width)


@loss_of.register
def _(instance: RandomizedResponse) -> Pld:
    right, wrong, others = 1 - instance.flip, instance.other, instance.values - 2
    rest = {"another": others * wrong} if others else {}
    one = Law({"own": right, "other": wrong, **rest})
    other = Law({"own": wrong, "other": right, **rest})
    return mechanisms.laws(one, other, neighbours=instance.neighbours)
