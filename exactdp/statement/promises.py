"""Statements that take the epsilon and delta of a mechanism, or of a budget, from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.guarantee import Guarantee
from exactdp.errors import Undecided
from exactdp.parameters import decimal_text
from exactdp.statement.claims import Claim
from exactdp.statement.releases import Release, merged, number, rounded_up

#: What a statement does not show that states a guarantee.
PROMISED = (
    "That the mechanism keeps its (epsilon, delta): this is taken from its proof or calculator."
)

_BUDGET = "The limits were fixed before the first answer. One release is what is left of them."


@dataclass(frozen=True)
class Content:
    """The parts of a statement that depend on what is stated.

    premises: the first one names the neighbours. one_pair: whether one pair of neighbours attains
    all runs.
    """

    releases: list[Release]
    claims: list[Claim]
    premises: list[str]
    one_pair: bool = False


def promised(promise: Guarantee) -> Content:
    """The content for any mechanism that keeps a guarantee."""
    epsilon, delta = rounded_up(promise.epsilon), rounded_up(promise.delta.upper)
    releases = [{"mechanism": "approximate", "epsilon": epsilon, "delta": delta, "times": 1}]
    head = {"measure": "delta", "epsilon": epsilon, "at_most": delta}
    checked = [f"Checked on the data at run time: {fact}." for fact in promise.checked]
    premises = [promise.neighbours, f"Proof: {promise.source}.", *checked]
    return Content(releases, [{**head, "derivation": {"rule": "basic"}}], premises)


def budgeted(budget: pld.Budget) -> Content:
    """The limit of a budget, as the sum of its expenses and of what is left.

    A checker adds up epsilon and delta, or rho. For other budgets, the limit is a promise. Raises
    Undecided if the expenses exceed the limit when each is rounded up to ten digits.
    """
    if "rho" in budget.limits:
        releases, limits = _shared(budget, "zcdp", ("rho",))
        claim = {"measure": "rho", "at_most": limits["rho"], "derivation": {"rule": "sum"}}
    elif budget.limits.keys() <= {"epsilon", "delta"}:
        releases, limits = _shared(budget, "approximate", ("epsilon", "delta"))
        head = {"measure": "delta", "epsilon": limits["epsilon"], "at_most": limits["delta"]}
        claim = {**head, "derivation": {"rule": "basic"}}
    else:
        return promised(budget.guarantee)
    premises = [budget.neighbours, f"Proof: {budget.source}.", _BUDGET]
    return Content(releases, [claim], premises)


def facts_of(mechanism: Any, prefix: str = "") -> dict[str, str]:
    """The parameters of a mechanism, a dataclass, with those of its parts: exact decimals."""
    facts: dict[str, str] = {}
    for each in fields(mechanism):
        value = getattr(mechanism, each.name)
        if not each.repr or value is None:
            continue
        if isinstance(value, Mapping):
            for name, part in value.items():
                facts |= facts_of(part, f"{prefix}{name}.")
        elif is_dataclass(value):
            facts[f"{prefix}{each.name}"] = type(value).__name__
            facts |= facts_of(value, f"{prefix}{each.name}.")
        else:
            many = value if isinstance(value, tuple) else (value,)
            texts = [decimal_text(x) if isinstance(x, Fraction) else str(x) for x in many]
            facts[f"{prefix}{each.name}"] = ", ".join(texts) or "none"
    return facts


def _shared(
    budget: pld.Budget, kind: str, names: tuple[str, ...]
) -> tuple[list[Release], dict[str, str]]:
    """The expenses and what is left as releases, and the limits. A series is one release."""
    limits = {name: budget.limits.get(name, Fraction(0)) for name in names}
    releases = [
        {"mechanism": kind, **{n: rounded_up(entry.cost.get(n, Fraction(0))) for n in names}}
        for entry in budget.expenses
        if entry.series is None or any(entry.cost.values())
    ]
    left = {n: limits[n] - sum(Fraction(release[n]) for release in releases) for n in names}
    if min(left.values()) < 0:
        raise Undecided("the expenses, rounded up to ten digits each, exceed the budget")
    releases.append({"mechanism": kind, **{n: number(n, value) for n, value in left.items()}})
    texts = {name: number(name, value) for name, value in limits.items()}
    return merged([{**release, "times": 1} for release in releases]), texts
