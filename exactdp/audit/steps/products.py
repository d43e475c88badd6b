"""Products of independent laws: what the rounds of a loop have put into a list or dictionary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from exactdp.audit.steps.expressions import ITEMS, appended, replaced
from exactdp.audit.steps.values import Held, Product, Round, key, outcome, refuse
from exactdp.law import Law

#: Additions to a list or dictionary, by name.
CHANGES: dict[str, Callable[..., Held]] = {"appended": appended, "replaced": replaced}
#: The most outcomes of rounds that differ.
_MOST_OUTCOMES = 1 << 16
_NOTHING = Round("nothing", [(Held(list, (), True), Fraction(1))], Fraction(0))


@dataclass(frozen=True)
class Result:
    """What a program shows. name: equal only for equal objects. value: for people."""

    name: Any
    value: Any = field(compare=False)


def separate(whole: Product) -> tuple[Round, ...]:
    """The rounds, each of which has put at most one item into the list: of a dictionary, under a
    key that no other round uses."""
    if whole.kind not in (list, ITEMS) or any(
        len(h.items) > 1 for r in whole.rounds for h, _ in r.weights
    ):
        refuse("rounds that add several items")
    if whole.kind is ITEMS and _labels(whole.rounds) is None:
        refuse("rounds that share a key")
    return whole.rounds


def _labels(rounds: tuple[Round, ...]) -> list[Any] | None:
    """The key under which each round adds items, or what is no key; None if rounds share a key or
    have several."""
    keys = [{a[1] for held, _ in each.weights for a in held.items} for each in rounds]
    several = any(len(some) > 1 for some in keys)
    shared = len(set().union(*keys)) < sum(map(len, keys))
    if several or shared:
        return None
    return [next(iter(some), (None, place)) for place, some in enumerate(keys)]


def laws_of_products(left: Product, right: Product) -> tuple[list[Law[Result]], Fraction | None]:
    """The laws of the rounds that differ, and how far events of them are from events of outputs.

    The other rounds have the same law on both sides and are independent of these. The output
    follows from the additions of all rounds, in the same way on both sides, so it is as private as
    they are. An event of the rounds is one of the outputs but for the probability that is open in
    any round; None if the output does not tell what each round has added.
    """
    for each in (*left.rounds, *right.rounds):
        _check(each)
    pairs, exact = _aligned(left, right)
    differing = [(place, pair) for place, pair in enumerate(pairs) if pair[0].name != pair[1].name]
    laws = [_multiplied([(place, pair[side]) for place, pair in differing]) for side in (0, 1)]
    if not exact:
        return laws, None
    return laws, max(sum((e.residual for e in s.rounds), Fraction(0)) for s in (left, right))


def _check(one: Round) -> None:
    """Refuse lists inside the output, of which equal names do not tell which are one object."""
    for held, _ in one.weights:
        outcome(tuple(held.items))
    if one.residual and _with_lists(one.name[1:]):
        refuse("rounds that may add a list of another name")


def _with_lists(name: Any) -> bool:
    """Whether a name of values tells of a list that has another name."""
    if type(name) is not tuple:
        return False
    shared = name[:1] == ("held",) and name[2] == 0
    return shared or any(map(_with_lists, name))


def _aligned(left: Product, right: Product) -> tuple[list[tuple[Round, Round]], bool]:
    """The rounds of both sides that belong together, and whether the output tells what each round
    has added."""
    if left.kind is not right.kind:
        refuse("lists of different kinds")
    pairs = list(zip(left.rounds, right.rounds, strict=False))
    if len(left.rounds) == len(right.rounds):
        single = all(
            len(held.items) == 1 for pair in pairs for each in pair for held, _ in each.weights
        )
        if left.kind is not dict:
            return pairs, single
    if left.kind is not dict:
        refuse("loops of different length")
    labels = [_labels(each.rounds) for each in (left, right)]
    if labels[0] is None or labels[1] is None:
        refuse("rounds that share a key")
    order = _merged(labels[0], labels[1])
    sides = [
        dict(zip(labels[i] or [], each.rounds, strict=True)) for i, each in enumerate((left, right))
    ]
    exact = all(
        len(held.items) < 2 for each in (left, right) for r in each.rounds for held, _ in r.weights
    )
    return [(sides[0].get(x, _NOTHING), sides[1].get(x, _NOTHING)) for x in order], exact


def _merged(left: list[Any], right: list[Any]) -> list[Any]:
    """All labels, in an order in which those of each side stand as on that side."""
    order, place = list(left), 0
    for label in right:
        if label in order:
            place = order.index(label) + 1
        else:
            order.insert(place, label)
            place += 1
    if [x for x in order if x in right] != right:
        refuse("keys in another order")
    return order


def _multiplied(rounds: list[tuple[int, Round]]) -> Law[Result]:
    if prod(len(each.weights) for _, each in rounds) > _MOST_OUTCOMES:
        refuse("too many outcomes of rounds that differ")
    choices = [
        [(key(held), (place, *(outcome(a[1:]) for a in held.items)), share)
         for held, share in each.weights]
        for place, each in rounds
    ]  # fmt: skip
    weights: dict[Result, Fraction] = {}
    for parts in product(*choices):
        names, shown, shares = zip(*parts, strict=True) if parts else ((), (), ())
        weights[Result(names, shown)] = prod(shares, start=Fraction(1))
    return Law(weights, 1 - prod((1 - each.residual for _, each in rounds), start=Fraction(1)))
