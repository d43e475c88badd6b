"""The laws of outputs whose parts are independent, as far as they differ between two data sets.

Parts with equal laws on both sides change no divergence, and are left out. The others are told from
the whole output, so that the divergence of their laws is that of the outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any, NamedTuple

from exactdp.audit.steps.chain import Values
from exactdp.audit.steps.values import Held, key, new, outcome
from exactdp.law import Law

#: The most outcomes of a law that is a product.
_MOST_OUTCOMES = 1 << 17
_ONE, _UNIT = Fraction(1), 1 << 128

Items = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """What a program shows. name: equal only for equal objects. value: for people."""

    name: Any
    value: Any = field(compare=False)


class _Part(NamedTuple):
    """What a part fills in. weights: probabilities by names; their sum may be less than 1."""

    weights: dict[Any, Fraction]
    items: dict[Any, Items]

    def heads(self) -> set[Any]:
        """The keys of a dictionary, or first entries of tuples in a list."""
        return {key(item[0]) for items in self.items.values() for item in items}

    def lengths(self) -> set[int]:
        return set(map(len, self.items.values()))


_NOTHING = _Part({key(()): _ONE}, {key(()): ()})
_Pair = tuple[_Part, _Part]


def joint_laws(
    left: Sequence[Values], right: Sequence[Values]
) -> tuple[Law[Result], Law[Result]] | None:
    """The laws of the parts that differ; None where parts cannot be told from the whole output."""
    kinds = {_kind(value) for side in (left, right) for value, _ in side[-1].weights}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None:
        return None
    sides = [[_part(each, kind) for each in side] for side in (left, right)]
    pairs = _aligned(sides[0], sides[1], kind is dict)
    if pairs is None:
        return None
    alike = [one for one, other in pairs if one.weights == other.weights]
    scale = prod((sum(each.weights.values(), Fraction(0)) for each in alike), start=_ONE)
    if scale < 1:  # rounded down: what is left out is open
        scale = Fraction(int(scale * _UNIT), _UNIT)
    differing = [pair for pair in pairs if pair[0].weights != pair[1].weights]
    if prod(len({**one.weights, **other.weights}) for one, other in differing) > _MOST_OUTCOMES:
        return None
    laws = [_law([pair[side] for pair in differing], scale, kind) for side in (0, 1)]
    return laws[0], laws[1]


def _law(parts: list[_Part], scale: Fraction, kind: type) -> Law[Result]:
    weights: dict[Result, Fraction] = {}
    for names in product(*(part.weights for part in parts)):
        named = list(zip(parts, names, strict=True))
        outcomes = [_outcome(part.items[name], kind) for part, name in named]
        result = Result(names, outcomes[0] if len(outcomes) == 1 else tuple(outcomes))
        weights[result] = prod((part.weights[name] for part, name in named), start=scale)
    return Law(weights, 1 - sum(weights.values(), Fraction(0)))


def _kind(value: Any) -> type | None:
    """The type of an output: list, dict or tuple."""
    kind = value.kind if type(value) is Held else type(value)
    return kind if kind in (list, dict, tuple) else None


def _outcome(items: Items, kind: type) -> Any:
    return outcome(items if kind is tuple else new(kind, items))


def _part(law: Values, kind: type) -> _Part:
    part = _Part({}, {})
    for value, p in law.weights:
        items = value.items if type(value) is Held else value
        _outcome(items, kind)  # refuses what is not plain
        name = key(items)
        part.items[name] = items
        part.weights[name] = part.weights.get(name, Fraction(0)) + p
    return part


def _aligned(left: list[_Part], right: list[_Part], distinct: bool) -> list[_Pair] | None:
    """The parts of both sides in pairs, if the whole output tells each of them.

    distinct: whether equal keys of two parts would be one.
    """
    if not distinct and len(left) == len(right):
        pairs = list(zip(left, right, strict=True))
        if sum(len(one.lengths() | other.lengths()) > 1 for one, other in pairs) <= 1:
            return pairs
    every = [item for part in (*left, *right) for items in part.items.values() for item in items]
    if not all(type(item) is tuple and item for item in every):
        return None
    return _aligned_by_heads(left, right)


def _aligned_by_heads(left: list[_Part], right: list[_Part]) -> list[_Pair] | None:
    """The parts in pairs, in the order of both sides, if no two pairs have a head in common."""
    one, other, pairs = list(left), list(right), list[_Pair]()
    while one or other:
        first = one[0].heads() if one else set()
        second = other[0].heads() if other else set()
        if one and other and (first & second or first == second):
            pairs.append((one.pop(0), other.pop(0)))
        elif one and not any(first & part.heads() for part in other):
            pairs.append((one.pop(0), _NOTHING))
        elif other and not any(second & part.heads() for part in one):
            pairs.append((_NOTHING, other.pop(0)))
        else:
            return None
    heads = [a.heads() | b.heads() for a, b in pairs]
    return None if any(a & b for a, b in combinations(heads, 2)) else pairs
