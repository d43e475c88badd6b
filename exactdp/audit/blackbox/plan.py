"""How an audit spends its outputs and its probability of a false alarm, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, integer

__all__ = ["WEIGHTS", "Round", "outputs_in_all", "rounds", "shares"]

#: How the error budget of a look is divided over the events that are confirmed.
WEIGHTS = (16, 2, 1, 1)

_SPLIT = 12_500  # a budget from here on is preceded by a look at a quarter of it
_LAST = Fraction(7, 10)  # of alpha is kept for the last look
_TRAIN = Fraction(12, 100)
_TRAIN_MOST = 120_000
_MOST_OUTPUTS = 10**15


@dataclass(frozen=True)
class Round:
    """One look: outputs to train on, outputs to confirm with (both sides), and its alpha."""

    training: int
    confirming: int
    alpha: Fraction


def outputs_in_all(samples: Real, least: int) -> int:
    """How many outputs may be drawn: an integer >= least and <= 10^15."""
    total = integer("samples", samples, least=least)
    if total > _MOST_OUTPUTS:
        raise InvalidParameter("samples", total, "<= 1e15")
    return total


def rounds(samples: int, alpha: Fraction, search: bool) -> list[Round]:
    """The looks of an audit of so many outputs, each about four times the one before.

    Their alphas sum to alpha. search: whether outputs are needed to find events.
    """
    budgets = [samples]
    while budgets[0] >= _SPLIT:
        budgets.insert(0, budgets[0] // 4)
    looks = []
    for before, budget in zip([0, *budgets], budgets, strict=False):
        size = budget - before
        training = min(max(int(size * _TRAIN), 1), _TRAIN_MOST) // 2 * 2 if search else 0
        last = budget == samples
        share = Fraction(1) if len(budgets) == 1 else _LAST
        if not last:
            share = (1 - _LAST) / (len(budgets) - 1)
        looks.append(Round(training, size - training, alpha * share))
    return looks


def shares(count: int) -> list[Fraction]:
    """Parts of a look's error budget for so many events; they sum to 1."""
    weights = [WEIGHTS[i] if i < len(WEIGHTS) else 1 for i in range(count)]
    return [Fraction(weight, sum(weights)) for weight in weights]
