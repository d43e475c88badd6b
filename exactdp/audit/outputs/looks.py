"""How an audit spends its outputs and its probability of a false alarm, look by look.

The numbers below were chosen on lab.benchmarks.broken. They decide how soon a violation is found;
that what is stated holds with probability 1 - alpha rests on the alphas alone, which add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise

from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, integer

#: How the alpha of a look is divided over its events: if the first speaks against the promise, and
#: if none does.
WEIGHTS, EQUAL = (16, 2, 1, 1), (2, 1, 1, 1)

_FIRST_LOOK, _APART = 3125, 4  # outputs up to the end of the first look; factor to the next
_LAST_LOOK = Fraction(5, 2)  # the last look ends at least this factor behind the one before
_EARLY = Fraction(3, 10)  # of alpha: half for the first look, a quarter for the second, ...
#: Outputs that events are learned from, as a part of those so far: in the first look, and later.
_TRAIN, _TRAIN_LATER = Fraction(12, 100), Fraction(3, 10)
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
    """One look: its outputs (both sides), and its alpha.

    training: outputs from which events are learned: those of earlier looks, and where these are
    fewer, some of its own. The others are counted. patience: the same, while nothing is learned.
    last: whether no look follows.
    """

    size: int
    training: int
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
    """The looks of an audit with `samples` outputs. search: whether outputs must find events first.

    All but the last end at the same places, with the same alphas, whatever `samples` is: an audit
    of more outputs sees what an audit of fewer sees, and then more. The alphas add up to alpha.
    """
    ends, plan, spent = [_FIRST_LOOK], list[Look](), Fraction(0)
    while ends[-1] * _LAST_LOOK <= samples:
        ends.append(ends[-1] * _APART)
    ends[-1] = samples
    for i, (before, end) in enumerate(pairwise([0, *ends])):
        size, last = end - before, end == samples
        part = _TRAIN_LATER if before else _TRAIN
        training = min(max(int(end * part), 1), LEARNED_FROM) // 2 * 2 if search else 0
        share = 1 - spent if last else _EARLY / 2 ** (i + 1)
        patience = max(min(_MOST_TRAININGS * training, _MOST_TRAINING_OUTPUTS), 1)
        plan.append(Look(size, training, alpha * share, patience, last))
        spent += share
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
        yield Look((1 + _COUNTED) * training, training, alpha / (i * (i + 1)))


def steps(total: int) -> Iterator[int]:
    """Sizes that add up to a total, each a part of what came before, the first ones equal."""
    done = 0
    while done < total:
        size = min(max(int(done * _STEP), total // 16, 2), total - done)
        yield size
        done += size


def shares(number: int, weights: tuple[int, ...] = WEIGHTS) -> list[Fraction]:
    """The parts of a look's alpha for `number` events; they add up to 1."""
    chosen = [weights[i] if i < len(weights) else 1 for i in range(number)]
    return [Fraction(weight, sum(chosen)) for weight in chosen]
