"""How an audit spends its outputs and its probability of a false alarm, look by look.

The numbers below were chosen on lab.benchmarks.broken. They decide how soon a violation is found;
that what is stated holds with probability 1 - alpha rests on the alphas alone, which add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, integer

#: How the alpha of a look is divided over its events.
WEIGHTS = (16, 2, 1, 1)

_SPLIT = 12_500  # outputs from which on a look at a quarter of them comes first
_LAST = Fraction(7, 10)  # of alpha is kept for the last look
_TRAIN = Fraction(12, 100)  # of the outputs of a look
#: Most outputs of both sides that events are learned from.
LEARNED_FROM = 120_000
_MOST_TRAININGS = 3
_MOST_TRAINING_OUTPUTS = 6000
_MOST_OUTPUTS = 10**15
_FIRST, _GROWTH = 600, 4  # outputs of the first endless look; factor between two looks
_COUNTED = 8  # outputs an endless look counts for each output of its training
_STEP = Fraction(1, 6)  # outputs between two reports, as a part of those counted


@dataclass(frozen=True)
class Look:
    """One look: outputs to train on and outputs to count (both sides), and its alpha.

    patience: outputs that the training may take from the others while it finds nothing.
    last: whether no look follows.
    """

    training: int
    counting: int
    alpha: Fraction
    patience: int = 0
    last: bool = False


def outputs_in_all(samples: Real, least: int) -> int:
    """How many outputs may be drawn: an integer >= least and <= 10^15."""
    total = integer("samples", samples, least=least)
    if total > _MOST_OUTPUTS:
        raise InvalidParameter("samples", total, "<= 1e15")
    return total


def looks(samples: int, alpha: Fraction, search: bool) -> list[Look]:
    """The looks of an audit with `samples` outputs, each about four times the one before.

    Their alphas add up to alpha. search: whether outputs are needed to find events.
    """
    budgets = [samples]
    while budgets[0] >= _SPLIT:
        budgets.insert(0, budgets[0] // 4)
    plan = []
    for before, budget in zip([0, *budgets], budgets, strict=False):
        size = budget - before
        training = min(max(int(size * _TRAIN), 1), LEARNED_FROM) // 2 * 2 if search else 0
        last = budget == samples
        share = Fraction(1) if len(budgets) == 1 else _LAST
        if not last:
            share = (1 - _LAST) / (len(budgets) - 1)
        patience = max(min(_MOST_TRAININGS * training, _MOST_TRAINING_OUTPUTS), 1)
        plan.append(Look(training, size - training, alpha * share, patience, last))
    return plan


def endless(most: int | None, alpha: Fraction, total: Callable[[], int]) -> Iterator[Look]:
    """Looks until `most` outputs are drawn, or without end (None); their alphas add up to alpha.

    total: returns the number of outputs so far.
    """
    for i in count(1):
        training = min(_FIRST * _GROWTH ** (i - 1), LEARNED_FROM)
        if most is not None:
            training = min(training, (most - total()) // (1 + _COUNTED))
        if training < 2:
            return
        yield Look(training, _COUNTED * training, alpha / (i * (i + 1)))


def steps(total: int) -> Iterator[int]:
    """Sizes that add up to a total, each a part of what came before, the first ones equal."""
    done = 0
    while done < total:
        size = min(max(int(done * _STEP), total // 16, 2), total - done)
        yield size
        done += size


def shares(number: int) -> list[Fraction]:
    """The parts of a look's alpha for `number` events; they add up to 1."""
    weights = [WEIGHTS[i] if i < len(WEIGHTS) else 1 for i in range(number)]
    return [Fraction(weight, sum(weights)) for weight in weights]
