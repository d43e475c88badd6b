"""Promises compose for one relation between neighbours, and for no two."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from exactdp.accounting import pld
from exactdp.accounting.calculator import CALCULATORS, calculator
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW, add_remove, group
from exactdp.accounting.pld.loss import Pld
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

STATED = {
    "add-remove": [pld.ADD_REMOVE, add_remove("changing one counter")],
    "replace-one": [pld.REPLACE_ONE, REPLACED_ROW],
    "replace-special": [pld.REPLACE_SPECIAL],
    "groups of 2": [group(2)],
    "groups of 3": [group(3)],
    "other": ["two values of one user"],
    "another": ["two vectors of one user: at most k entries"],
}
ONE = pld.gaussian(sigma=1)


def _loss(neighbours: str) -> Pld:
    return Pld(ONE.steps, neighbours, "a test")


def _promise(neighbours: str) -> Guarantee:
    return Guarantee(Fraction(1, 10), Enclosure.exact(0), neighbours, "a test")


@pytest.mark.parametrize("stated", STATED.values(), ids=STATED)
def test_one_relation_composes(stated: list[str]) -> None:
    first, last = _loss(stated[0]), _loss(stated[-1])
    assert first.then(last).orders() == ONE.composed(2).orders()
    budget = pld.Budget(epsilon=9, delta="1e-6", by="renyi")
    for neighbours in stated:
        budget.spend(_promise(neighbours))
        assert neighbours.partition(": ")[2] in first.then(last).neighbours
    assert budget.guarantee.neighbours == first.then(last).neighbours


def test_two_relations_are_refused_by_name() -> None:
    for one, other in combinations(STATED, 2):
        first, second = STATED[one][0], STATED[other][0]
        named = f"relation '{first.partition(':')[0]}.*', got .{second[:25]}"
        with pytest.raises(InvalidParameter, match=named):
            _loss(first).then(_loss(second))
        budget = pld.Budget(epsilon=9)
        budget.spend(_promise(first))
        with pytest.raises(InvalidParameter, match=named):
            budget.spend(_promise(second))
        assert len(budget.expenses) == 1


@pytest.mark.parametrize("name", CALCULATORS)
def test_every_calculator_states_a_relation_of_losses(name: str) -> None:
    entry = calculator(name)
    text = entry(**entry.example).neighbours
    relation = pld.REPLACE_ONE if text.startswith("replace") else pld.ADD_REMOVE
    same = pld.approximate(epsilon=1, delta=0, neighbours=text)
    assert same.then(_loss(relation)).neighbours.startswith(f"{text}; ")


def test_a_relation_that_no_loss_states_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="neighbours must be add-remove neighbours, repl"):
        pld.approximate(epsilon=1, delta=0, neighbours="two values of one user")
