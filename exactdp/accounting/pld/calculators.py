"""The privacy loss of a calculator's mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import singledispatch

from exactdp.accounting.calculator import Calculator
from exactdp.accounting.discrete_gaussian import DiscreteGaussian
from exactdp.accounting.discrete_laplace import DiscreteLaplace
from exactdp.accounting.exponential import Exponential
from exactdp.accounting.gaussian import Gaussian
from exactdp.accounting.laplace import Laplace
from exactdp.accounting.pld import mechanisms
from exactdp.accounting.pld.histograms import csh, gshm
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.selection import exponential
from exactdp.accounting.randomized_response import RandomizedResponse
from exactdp.accounting.sparse_histograms.csh import Csh
from exactdp.accounting.sparse_histograms.gshm import Gshm
from exactdp.errors import InvalidParameter
from exactdp.law import Law


@singledispatch
def loss_of(instance: Calculator) -> Pld:
    """The privacy loss of a mechanism with values for its parameters, at any epsilon.

    Raises InvalidParameter for a mechanism, or an analysis, whose loss is not known.

    >>> from exactdp.accounting.calculator import calculator
    >>> laplace = calculator("laplace")(scale=2, epsilon=0)
    >>> print(format(loss_of(laplace).composed(10).epsilon("1e-6"), "4"))
    [4.998, 4.999]
    """
    allowed = "one whose privacy loss is known, with the exact analysis"
    raise InvalidParameter("mechanism", instance.name, allowed)


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
