"""A budget that refuses what it cannot pay, and an odometer: exact sums, O(1) a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.parameters import Real, decimal_text, non_negative

__all__ = ["Budget", "Exhausted", "Odometer"]


class Exhausted(ExactDPError):
    """A query would have cost more than is left; nothing was spent."""


@dataclass
class Odometer:
    """What queries have cost so far, in one currency: (epsilon, delta), or rho of zCDP.

    Costs add up, also where later queries depend on earlier answers (Rogers, Roth, Ullman, Vadhan
    2016, basic composition; Feldman, Zrnic 2021 for rho).

    >>> odometer = Odometer()
    >>> odometer.add(epsilon="0.1", delta="1e-7")
    >>> odometer.add(epsilon="0.2")
    >>> print(odometer)
    epsilon = 0.3, delta = 1e-7
    """

    spent: dict[str, Fraction] = field(default_factory=dict, init=False)

    def add(self, **costs: Real) -> None:
        """Count one query.

        costs: epsilon and delta, or rho; each >= 0.
        """
        exact = {name: non_negative(name, cost) for name, cost in costs.items()}
        _same_currency(self.spent, exact)
        for name, cost in exact.items():
            self.spent[name] = self.spent.get(name, Fraction(0)) + cost

    def __str__(self) -> str:
        return ", ".join(f"{n} = {decimal_text(x)}" for n, x in self.spent.items()) or "nothing"


class Budget:
    """A limit on an odometer: a privacy filter, decided before a query is answered.

    limits: epsilon and delta, or rho.

    >>> budget = Budget(epsilon=1, delta="1e-6")
    >>> for _ in range(10):
    ...     budget.spend(epsilon="0.1")
    >>> budget.remaining["epsilon"]
    Fraction(0, 1)
    >>> budget.spend(epsilon="1e-20")
    Traceback (most recent call last):
    ...
    exactdp.accounting.pld.budget.Exhausted: epsilon 1e-20 was asked for, 0 of 1 is left
    """

    def __init__(self, **limits: Real) -> None:
        self.limits = {name: non_negative(name, limit) for name, limit in limits.items()}
        _same_currency({}, self.limits)
        self.odometer = Odometer()

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of every limit."""
        spent = self.odometer.spent
        return {name: limit - spent.get(name, 0) for name, limit in self.limits.items()}

    def spend(self, **costs: Real) -> None:
        """Pay for one query, or raise Exhausted and pay nothing."""
        exact = {name: non_negative(name, cost) for name, cost in costs.items()}
        _same_currency(self.limits, exact)
        for name, left in self.remaining.items():
            if exact.get(name, Fraction(0)) > left:
                asked, all_ = decimal_text(exact[name]), decimal_text(self.limits[name])
                raise Exhausted(
                    f"{name} {asked} was asked for, {decimal_text(left)} of {all_} is left"
                )
        for name in exact.keys() - self.limits.keys():
            if exact[name]:
                raise Exhausted(f"{name} {decimal_text(exact[name])} was asked for, there is none")
        self.odometer.add(**exact)


def _same_currency(known: dict[str, Fraction], named: dict[str, Fraction]) -> None:
    names = known.keys() | named.keys()
    if not named or not (names <= {"epsilon", "delta"} or names == {"rho"}):
        text = " and ".join(sorted(names)) or "none"
        raise InvalidParameter("costs", text, "epsilon and delta, or rho, always the same")
