"""Many runs of one mechanism, each with a pair of neighbours that is chosen by the answers so far.

Let D_t(epsilon) be the largest delta of t runs. The first run has a pair of some loss L with
masses under P, and the others then leak at most D_(t-1)(epsilon - L). So

    D_t(epsilon) = max over all pairs of E_P D_(t-1)(epsilon - L),  D_0(epsilon) = (1 - e^epsilon)+,

and an upper bound takes for L a law whose curve is above the curves of a whole set of pairs, for
each of a few sets. All losses lie on a grid; all terms are >= 0, so each sum of m products in
doubles, in any order, has a relative error of at most (m + 1) u, and loses less than UNDERFLOW.

Further steps, before, between or after these runs, are composed with the curve D_t. Let C_t be the
composition of D_t and the curve of one further step, of loss K: C_t(epsilon) = E D_t(epsilon - K).
If the further step runs first, C_t bounds the whole. If a run of pair L is first, the rest leaks at
most C_(t-1) by induction, and E_L C_(t-1)(epsilon - L) = E_K E_L D_(t-1)(epsilon - K - L) is at
most E_K D_t(epsilon - K) = C_t(epsilon), whatever pair it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.grid.scaled import UNDERFLOW, UNIT, above
from exactdp.accounting.pld.losses.base import Family, LossLaw, Order, Step
from exactdp.accounting.pld.losses.curves import KnownCurve, chords
from exactdp.accounting.pld.losses.orders import orders
from exactdp.arrays import Floats, Integers, np
from exactdp.balls import precision
from exactdp.errors import Undecided
from exactdp.progress import tick

_BITS = 128

#: Largest number n of runs that are bounded together: the time grows as n^(3/2). Several blocks of
#: runs are composed like several steps; the longer the blocks, the tighter the bound.
_BLOCK_RUNS = 1000

#: Nodes for each standard deviation of the loss of a run: 4 add 1 % to its variance.
_FINE = 4

#: The loss of a run is followed to a delta of 2^-_REACH_BITS, the loss of all runs to _DEVIATIONS
#: standard deviations.
_REACH_BITS, _DEVIATIONS = 60, 12

#: Largest number of nodes: a thousand runs then take half a minute.
_MOST_NODES = 1 << 15

#: About the number of nodes up to the largest sum, where the pairs have few losses.
_NODES = 1 << 11

#: Number of nodes that are computed at a time.
_BLOCK = 512

#: Distances of the first losses from 0, in nodes, and the factor by which further ones grow.
_NEAR, _GROWTH = 8, 1.2


@followed
def adaptive_orders(steps: tuple[tuple[Step, int], ...]) -> list[Order]:
    """The laws of all losses where runs with known pairs of neighbours are bounded together.

    Empty where no pairs are known.
    """
    if not any(step.removed.family and times > 1 for step, times in steps):
        return []
    return orders(tuple(block for step, times in steps for block in _blocks(step, times)))


def _blocks(step: Step, times: int) -> list[tuple[Step, int]]:
    """Blocks of runs, each as one step with the worst curve of its runs."""
    family = step.removed.family
    if family is None or times == 1:
        return [(step, times)]
    runs = math.ceil(times / math.ceil(times / _BLOCK_RUNS))
    blocks = [(Step.alike(worst_runs(family, runs)), times // runs)]
    rest = times % runs
    return [*blocks, (Step.alike(worst_runs(family, rest)), 1)] if rest else blocks


@lru_cache(maxsize=16)
def worst_runs(family: Family, times: int) -> LossLaw:
    """A law whose curve is an upper bound for all runs together. Raises Undecided."""
    reach = family.reach(_REACH_BITS)
    spread = min(family.spread(), reach)
    far = times * spread**2 / 2 + _DEVIATIONS * spread * math.sqrt(times) + reach
    if family.losses:
        far = min(far, times * reach)
        step = Fraction(2) ** math.ceil(math.log2(far / _NODES))
        places = _near_losses([loss / float(step) for loss in family.losses])
    else:
        step = Fraction(2) ** math.floor(math.log2(spread / _FINE))
        places = _places(math.ceil(reach / float(step)))
    size, most = math.ceil(far / float(step)), int(places[-1])
    if size > _MOST_NODES or most > _MOST_NODES:
        raise Undecided(f"the losses of {times} runs fill more than {_MOST_NODES} nodes")
    masses, infinite = _choices(family, step, places)
    # delta is at most 1 to the left of the nodes -size ... size, and to the right as at the last
    with precision(_BITS):
        below = [above(-(arb(node) * arb(float(step))).expm1()) for node in range(-size, 0)]
    start = [*[1.0] * most, *below, *[0.0] * (size + 1 + most)]
    deltas, inside = np.array(start), slice(most, -most)
    windows = np.lib.stride_tricks.sliding_window_view(deltas, 2 * size + 1)
    # rounding, in units u: m products and their sum (m + 1), the mass at infinity and the product
    # with `up` (2); `up` allows twice as much
    up = 1 + 2 * (len(places) + 4) * UNIT
    for run in range(times):
        terms = windows[most - places]
        # small products run on one thread; threads would wait for each other
        blocks = [masses @ terms[:, i : i + _BLOCK] for i in range(0, 2 * size + 1, _BLOCK)]
        largest = (np.concatenate(blocks, axis=1) + infinite[:, None]).max(axis=0)
        deltas[inside] = np.minimum(largest * up + UNDERFLOW, 1.0)
        deltas[-most:] = deltas[-most - 1]
        if run % 64 == 0:
            tick()
    kept = deltas[most + size : -most].tolist()
    return KnownCurve(step, tuple(map(Fraction, kept)))


def _places(last: int) -> Integers:
    """The nodes of a loss of 0, and of losses of both signs up to the last."""
    nodes = list(range(1, _NEAR + 1))
    while nodes[-1] < last:
        nodes.append(math.ceil(nodes[-1] * _GROWTH))
    return np.array([*(-x for x in reversed(nodes)), 0, *nodes])


def _near_losses(losses: Sequence[float]) -> Integers:
    """The nodes on both sides of some losses and of their opposites, and of a loss of 0."""
    nodes = {0}
    for loss in losses:
        nodes |= {math.floor(loss), math.floor(loss) + 1}
    return np.array(sorted(nodes | {-x for x in nodes}))


def _choices(family: Family, step: Fraction, places: Integers) -> tuple[Floats, Floats]:
    """Masses at the places and at infinity, rounded up.

    There is one row for every set of pairs; its curve is above the curves of these pairs.
    """
    column = {place: i for i, place in enumerate(places.tolist())}
    losses = [place * step for place in column if place >= 0]
    rows = family.deltas(losses)
    masses, infinite = np.zeros((len(rows), len(column))), np.zeros(len(rows))
    for number, row in enumerate(rows):
        with precision(_BITS):
            outcomes, beyond = chords(losses, row, rows[family.reversed(number)])
        infinite[number] = above(beyond)
        for outcome in outcomes:
            assert outcome.exact is not None
            masses[number, column[int(outcome.exact / step)]] = above(outcome.p)
    return masses, infinite
