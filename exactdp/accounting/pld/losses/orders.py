"""The orders of the neighbours in a composition.

Where the neighbours have a named side (`neighbours.has_named_side`), all mechanisms have one order.
Where they have none, each run has its own, which may depend on earlier answers. Let G and G' be the
curves of a run in both orders. Whatever the order, the curve of the run is at most max(G, G'),
which is convex and is the curve of a pair that is alike in both orders. As composition is monotone
in the curve, the composition of these pairs is an upper bound. It need not be attained: one run has
one order for all epsilons. Pairs of data sets that exist have an order for each run.

Gaussian queries beside other mechanisms are one law: normal losses N(mu_i^2/2, mu_i^2) have the sum
N(mu^2/2, mu^2) with mu^2 = sum mu_i^2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import ceil, prod
from typing import TypeAlias

from exactdp.accounting.pld.losses.base import LossLaw, Order, Step
from exactdp.accounting.pld.losses.normal import GaussianSum

Steps: TypeAlias = tuple[tuple[Step, int], ...]

#: Most choices of orders that are all tried; and the number of parts of a share of the runs.
_FEW, _PARTS = 16, 4


def orders(steps: Steps) -> list[Order]:
    """The laws of all losses in either order of the neighbours; one where both agree."""
    removed = _with_one_gaussian((step.removed, n) for step, n in steps)
    added = _with_one_gaussian((step.added, n) for step, n in steps)
    return list(dict.fromkeys([removed, added]))


def _with_one_gaussian(laws: Iterable[tuple[LossLaw, int]]) -> Order:
    """The laws, where different Gaussian queries beside others are runs of a single law."""
    order = tuple(laws)
    queries = [(law.distance, n) for law, n in order if law.distance is not None]
    if not 1 < len(queries) < len(order):
        return order
    square = sum((n * mu**2 for mu, n in queries), Fraction(0))
    # a wide law needs many nodes: a run has a distance of at most 1, where there are enough runs
    runs = min(sum(n for _, n in queries), ceil(square))
    others = tuple((law, n) for law, n in order if law.distance is None)
    return ((GaussianSum(square / runs), runs), *others)


def real_orders(steps: Steps) -> list[Order]:
    """The laws for pairs of data sets: the first real choice of every step, the second, ..."""
    choices = max((len(step.real) for step, _ in steps), default=0)
    all_orders: list[Order] = []
    for choice in range(max(choices, 1)):
        chosen: list[tuple[Step, int]] = []
        for step, n in steps:
            last = min(choice, len(step.real) - 1)
            chosen += [(part, n) for part in (step.real[last] if step.real else (step,))]
        all_orders += orders(tuple(chosen))
    return list(dict.fromkeys(all_orders))


def in_own_orders(steps: Steps) -> Iterator[Steps]:
    """The steps, with an order of the neighbours for each run.

    All choices where they are few; else shares of the runs have the order with the larger losses.
    Steps that are known by other pairs of data sets keep their order.
    """
    yield steps
    kept = tuple((step, n) for step, n in steps if step.real or step.is_alike)
    free = [(step, n) for step, n in steps if not (step.real or step.is_alike)]
    if prod(n + 1 for _, n in free) <= _FEW:
        for counts in product(*(range(n + 1) for _, n in free)):
            yield kept + _split(free, counts)
        return
    free = [(_larger_first(step), n) for step, n in free]
    ends = list(accumulate((n for _, n in free), initial=0))
    for part in range(_PARTS + 1):
        upto = [(2 * part * end + _PARTS) // (2 * _PARTS) for end in ends]
        yield kept + _split(free, [b - a for a, b in pairwise(upto)])


def _split(steps: list[tuple[Step, int]], counts: Sequence[int]) -> Steps:
    """These numbers of runs in the order of their step, and the others in the opposite one."""
    both = [
        part
        for (step, n), count in zip(steps, counts, strict=True)
        for part in ((step, count), (step.turned(), n - count))
    ]
    return tuple((step, n) for step, n in both if n)


def _larger_first(step: Step) -> Step:
    """The step, in the order in which its largest loss is larger."""
    ends = [law.ends().largest for law in (step.removed, step.added)]
    if ends[0] is None or (ends[1] is not None and ends[0].lower >= ends[1].lower):
        return step
    return step.turned()
