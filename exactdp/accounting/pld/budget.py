"""One budget for all mechanisms on the same data: it refuses what it cannot pay."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import covered_by
from exactdp.accounting.pld.expenses import Entry, FileLedger, Ledger, MemoryLedger, read
from exactdp.accounting.pld.filters import (
    Costs,
    Expense,
    Filter,
    GaussianFilter,
    RenyiFilter,
    SumFilter,
    ZcdpFilter,
)
from exactdp.accounting.pld.loss import Pld
from exactdp.display import html
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, Exhausted, InvalidParameter
from exactdp.parameters import Real, choice, integer, non_negative, positive, short_text

_EVERY = "the neighbours of every mechanism"

_WAYS = ("sums", "renyi", "gaussian")


class Budget:
    """A limit on all mechanisms that run on the same data, however they depend on the answers.

    epsilon, delta: the promise; or rho, of zCDP. by: how costs are counted. Each way is proved for
    mechanisms whose kind and parameters are chosen by the answers so far:

    - "sums": of epsilon and delta. Any mechanism; best for a few.
    - "renyi": Renyi divergences of one order. Any mechanism; best for many, and for training steps.
    - "gaussian": exact, for Gaussian noise without sampling.

    A sum of rho takes Gaussian noise and pure differential privacy. order: of "renyi", > 1; by
    default the best for Gaussian noise. failures: of "renyi", the part of delta for infinite
    losses, as thresholds have them; by default a tenth of delta. file: where expenses are kept; all
    processes that name this file share the budget. Deleting the file forgets what was spent.

    Privacy loss distributions do not compose if parameters depend on earlier answers (Tran,
    Koskela, Raisa, Honkela 2026). If all mechanisms are known in advance, compose their losses
    instead, and spend the composition. Raises InvalidParameter.
    Source: each of the classes in `exactdp.accounting.pld.filters`.

    >>> from exactdp.accounting import pld
    >>> budget = Budget(epsilon=3, delta="1e-6", by="renyi")
    >>> budget.spend(pld.sgd(noise_multiplier=1, rate="0.01", steps=500), note="first model")
    >>> budget.spend(epsilon="0.1", note="a local report")
    >>> budget.spend(pld.gaussian(sigma=2))
    Traceback (most recent call last):
    ...
    exactdp.errors.Exhausted: divergence 1.1... of 1.664 is left; nothing was spent
    """

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        by: str = "sums",
        order: Real | None = None,
        failures: Real | None = None,
        file: str | PathLike[str] | None = None,
    ) -> None:
        if (rho is None) == (epsilon is None and delta is None):
            raise InvalidParameter("limits", Described("others"), "epsilon and delta, or rho")
        options = {"epsilon": epsilon, "delta": delta, "rho": rho}
        limits = {name: non_negative(name, x) for name, x in options.items() if x is not None}
        settings = {"order": order, "failures": failures}
        exact = {name: non_negative(name, x) for name, x in settings.items() if x is not None}
        self._filter = _filter(choice("by", by, _WAYS), limits, exact)
        exact |= self._filter.settings
        self._promised = limits
        self._ledger: Ledger = MemoryLedger()
        if file is not None:
            terms = {"by": by, **{name: str(x) for name, x in (limits | exact).items()}}
            self._ledger = FileLedger(Path(file).resolve(), terms)
            if Path(file).exists():
                self._ledger.entries()  # the file states these terms; it may be read-only
            else:
                with self._ledger.changing():
                    pass  # the file exists and states these terms
        self._last: int | None = None

    @classmethod
    def open(cls, file: str | PathLike[str]) -> Budget:
        """The budget in an existing file. Raises InvalidParameter for a file that holds none."""
        terms, _ = read(Path(file).resolve())
        return cls(file=file, **terms)

    def spend(
        self,
        spending: Pld | Guarantee | None = None,
        *,
        note: str = "",
        times: int = 1,
        outcome: str = "",
        **costs: Real,
    ) -> None:
        """Pay for one mechanism before it runs, or raise Exhausted and pay nothing.

        spending: its privacy loss, or its guarantee. costs: instead of it epsilon and delta, or
        rho; with a loss, in "sums", delta: what the loss may use of it, by default a tenth of the
        limit (0 for the largest loss). note, outcome: texts for the ledger (see :meth:`settle`).
        times: number of expenses that the first of them pays for, if they keep the promise
        together; one more raises Exhausted.
        The expenses of a series have the same note (not empty), times, mechanism and cost; any
        other expense pays, and starts a series of its own if times > 1.
        Raises InvalidParameter for another relation between neighbours than before.
        """
        expense = Expense.of(spending, costs)
        cost, neighbours = self._filter.cost(expense), expense.neighbours
        count = integer("times", times, least=1)
        series = _series(expense, cost, note, count) if count > 1 else None
        with self._ledger.changing() as entries:
            if neighbours is not None:
                for entry in entries:
                    covered_by("neighbours", entry.neighbours or neighbours, neighbours)
            if series and (members := [e for e in entries if e.series == series]):
                if len(members) >= count:
                    raise Exhausted(f"all {count} expenses of the series {note!r} were made")
                cost = dict.fromkeys(cost, Fraction(0))
            left = self._left(entries)
            for name, amount in cost.items():
                if amount > left.get(name, 0):
                    raise self._exhausted(name, amount, left.get(name, Fraction(0)))
            self._last = len(entries)
            entries.append(Entry(cost, note, neighbours, series, outcome))

    def settle(self, outcome: str) -> None:
        """Say in the ledger what became of the last expense of this object; its cost stays paid."""
        if self._last is None:
            return
        with self._ledger.changing() as entries:
            entries[self._last] = replace(entries[self._last], outcome=outcome)

    @property
    def limits(self) -> Costs:
        """What can be spent, in the terms in which costs are counted."""
        return dict(self._filter.limits)

    @property
    def spent(self) -> Costs:
        """The sum of all costs."""
        return _sum(self._ledger.entries(), self.limits)

    @property
    def remaining(self) -> Costs:
        """What is left of every limit."""
        return self._left(self._ledger.entries())

    @property
    def expenses(self) -> list[Entry]:
        """Every expense, with its note."""
        return self._ledger.entries()

    @property
    def neighbours(self) -> str:
        """The neighbours that all expenses cover."""
        stated = [e.neighbours for e in self._ledger.entries() if e.neighbours]
        return covered_by("neighbours", *stated) if stated else _EVERY

    @property
    def source(self) -> str:
        """The theorem by which the costs add up."""
        return self._filter.source

    @property
    def guarantee(self) -> Guarantee:
        """The promise for all answers together, now and later."""
        if "rho" in self._promised:
            raise InvalidParameter("budget", Described("rho"), "one of epsilon and delta")
        delta = Enclosure.exact(self._promised.get("delta", 0))
        epsilon = self._promised.get("epsilon", Fraction(0))
        return Guarantee(epsilon, delta, self.neighbours, self.source)

    def __repr__(self) -> str:
        return f"<budget: {self}>"

    def _repr_html_(self) -> str:
        rows = {
            name: f"{short_text(spent)} of {short_text(self.limits[name])} spent"
            for name, spent in self.spent.items()
        }
        return html("budget", rows)

    def __copy__(self) -> Budget:
        """The same budget: two copies would spend it twice."""
        return self

    def __reduce__(self) -> str:
        raise TypeError("a budget cannot be copied; name its file, and open it by Budget.open")

    def __str__(self) -> str:
        return ", ".join(
            f"{name}: {short_text(spent)} of {short_text(self.limits[name])} spent"
            for name, spent in self.spent.items()
        )

    def _left(self, entries: list[Entry]) -> Costs:
        spent = _sum(entries, self.limits)
        return {name: limit - spent[name] for name, limit in self.limits.items()}

    def _exhausted(self, name: str, amount: Fraction, left: Fraction) -> Exhausted:
        if name not in self.limits:
            return Exhausted(
                f"{name} {short_text(amount)} was asked for, there is none; nothing was spent"
            )
        limit = short_text(self.limits[name])
        return Exhausted(
            f"{name} {short_text(amount)} was asked for, {short_text(left)} of {limit} is left; "
            "nothing was spent"
        )


@dataclass
class Odometer:
    """What mechanisms have cost so far, without a limit: (epsilon, delta), or rho of zCDP.

    neighbours: the relation that all mechanisms cover; None if none was stated.
    Source: Rogers, Roth, Ullman, Vadhan 2016, basic composition (see `filters.SumFilter`); for rho
    the sum is a promise only at a limit that is fixed in advance, as of :class:`Budget`.

    >>> odometer = Odometer()
    >>> odometer.add(epsilon="0.1", delta="1e-7")
    >>> odometer.add(epsilon="0.2")
    >>> print(odometer)
    epsilon = 0.3, delta = 1e-7
    """

    spent: Costs = field(default_factory=dict, init=False)
    neighbours: str | None = field(default=None, init=False)

    def add(self, spending: Pld | Guarantee | None = None, **costs: Real) -> None:
        """Count one mechanism: a loss with the delta it may use, a guarantee, or plain costs.

        Raises InvalidParameter for another relation between neighbours than before.
        """
        kind: Filter = ZcdpFilter({}) if "rho" in costs else SumFilter({})
        expense = Expense.of(spending, costs)
        amounts = kind.cost(expense)
        if self.spent and ("rho" in self.spent) != ("rho" in amounts):
            names = " and ".join(sorted(self.spent.keys() | amounts.keys()))
            raise InvalidParameter(
                "costs", Described(names), "epsilon and delta in every call, or rho in every call"
            )
        stated = [text for text in (self.neighbours, expense.neighbours) if text]
        self.neighbours = covered_by("neighbours", *stated) if stated else None
        for name, cost in amounts.items():
            self.spent[name] = self.spent.get(name, Fraction(0)) + cost

    def __str__(self) -> str:
        return ", ".join(f"{n} = {short_text(x)}" for n, x in self.spent.items()) or "nothing"


def _filter(by: str, limits: Costs, settings: Costs) -> Filter:
    if settings and by != "renyi":
        raise InvalidParameter("by", by, f"'renyi', with {' and '.join(settings)}")
    if by == "sums":
        return ZcdpFilter(limits) if "rho" in limits else SumFilter(limits)
    if limits.keys() != {"epsilon", "delta"}:
        raise InvalidParameter(
            "limits", Described(" and ".join(limits)), f"epsilon and delta, by {by!r}"
        )
    epsilon, delta = limits["epsilon"], positive("delta", limits["delta"])
    if delta >= 1:
        raise InvalidParameter("delta", delta, "> 0 and < 1")
    if by == "gaussian":
        return GaussianFilter.of(epsilon, delta)
    return RenyiFilter.of(
        epsilon, delta, settings.get("order"), settings.get("failures", delta / 10)
    )


def _series(expense: Expense, cost: Costs, note: str, times: int) -> str:
    """A digest of all that the expenses of a series have in common."""
    if not note.strip():
        raise InvalidParameter("note", note, f"the name of the series of {times} expenses")
    costs = sorted((name, str(amount)) for name, amount in cost.items())
    return hashlib.sha256(repr((note, times, costs, expense.mechanism)).encode()).hexdigest()


def _sum(entries: list[Entry], names: Costs) -> Costs:
    return {
        name: sum((e.cost.get(name, Fraction(0)) for e in entries), Fraction(0)) for name in names
    }
