"""From the loss of one user who takes part or not to that of other neighbours and samples.

What is proved of each is in docs, section 4: Gaussian noise in any dimension, and noise on one
number that is symmetric and log-concave.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TypeAlias

from exactdp.accounting.pld.atoms import AtomicLoss, ResponseLoss, SampledAtoms
from exactdp.accounting.pld.guesses import OneLoss, Order
from exactdp.accounting.pld.integers import DiscreteGaussianLoss, DiscreteLaplaceLoss
from exactdp.accounting.pld.laplace import (
    BatchedLaplace,
    EndedLoss,
    LaplaceLoss,
    ReplacedLaplace,
    SampledLaplace,
)
from exactdp.accounting.pld.laws import GaussianLoss, LossLaw, SampledLoss
from exactdp.accounting.pld.mixtures import MixtureLoss
from exactdp.accounting.pld.replaced_atoms import BatchAtoms, ReplacedAtoms
from exactdp.accounting.pld.replacement import BatchLoss, ReplacedLoss
from exactdp.errors import InvalidParameter

__all__ = [
    "ADD_REMOVE",
    "REPLACE_ONE",
    "REPLACE_SPECIAL",
    "Step",
    "Steps",
    "batched",
    "group",
    "grouped",
    "is_group",
    "is_sampled",
    "mixture",
    "orders",
    "real_orders",
    "replaced",
    "sampled",
]

ADD_REMOVE = "add-remove neighbours: one user takes part or not"
REPLACE_ONE = "replace-one neighbours: one user's data is replaced by other data"
REPLACE_SPECIAL = "replace-special neighbours: one user's data is replaced by a null record"
_GROUP = "add-remove neighbours: a group"


@dataclass(frozen=True)
class Step:
    """One step: the law of its loss for each order of the neighbours.

    removed: the data with the user against those without (or one of two replaced against the
    other). added: the other way round. real: where no pair of data sets has these laws, sequences
    of steps that are pairs of data sets, or limits of such; empty where the laws are one.
    attained: whether at each epsilon some pair of data sets attains the delta of a single run.
    """

    removed: OneLoss
    added: OneLoss
    real: tuple[tuple[Step, ...], ...] = ()
    attained: bool = True


#: Each step with how often it is run.
Steps: TypeAlias = tuple[tuple[Step, int], ...]


def group(size: int) -> str:
    """The relation of data sets that differ in so many users."""
    return f"{_GROUP} of {size} users takes part or not"


def is_group(neighbours: str) -> bool:
    """Whether it is such a relation."""
    return neighbours.startswith(_GROUP)


def orders(steps: Steps) -> list[Order]:
    """The laws of all losses in either order of the neighbours; one where both agree."""
    removed = tuple((step.removed, n) for step, n in steps)
    added = tuple((step.added, n) for step, n in steps)
    return list(dict.fromkeys([removed, added]))


def real_orders(steps: Steps) -> list[Order]:
    """The same for pairs of data sets that exist: the first choice of every step, the second ..."""
    choices = max((len(step.real) for step, _ in steps), default=0)
    found: list[Order] = []
    for choice in range(max(choices, 1)):
        chosen: list[tuple[Step, int]] = []
        for step, n in steps:
            last = min(choice, len(step.real) - 1)
            chosen += [(part, n) for part in (step.real[last] if step.real else (step,))]
        found += orders(tuple(chosen))
    return list(dict.fromkeys(found))


def sampled(step: Step, rate: Fraction) -> Step:
    """The step on a Poisson sample."""
    removed, added = (_on_sample(step, rate, removed=removed) for removed in (True, False))
    return Step(removed, added, _real(step, lambda choice: sampled(choice, rate)), step.attained)


def replaced(step: Step) -> Step:
    """The step for replace-one neighbours, both of whose data is within the sensitivity."""
    law = _replaced(step.removed)
    return Step(law, law, _real(step, replaced), step.attained)


def _replaced(law: OneLoss) -> OneLoss:
    if isinstance(law, GaussianLoss | LaplaceLoss):
        return type(law)(2 * law.mu)
    if isinstance(law, DiscreteGaussianLoss | DiscreteLaplaceLoss):
        return dataclasses.replace(law, shift=2 * law.shift)
    if isinstance(law, SampledLoss) and isinstance(law.base, GaussianLoss):
        return ReplacedLoss(law.base.mu, law.rate)
    if isinstance(law, SampledLaplace):
        return ReplacedLaplace(law.mu, law.rate)
    if isinstance(law, SampledAtoms) and isinstance(
        law.base, DiscreteGaussianLoss | DiscreteLaplaceLoss
    ):
        return ReplacedAtoms(law.base, law.rate)
    raise _unknown(law, "one whose loss for replace-one neighbours is known")


def batched(step: Step, rate: Fraction) -> Step:
    """A step for replace-one neighbours on a batch drawn without replacement."""
    law = step.removed
    worst: OneLoss
    if isinstance(law, GaussianLoss):
        worst = BatchLoss(
            SampledLoss(law, rate, removed=True), SampledLoss(law, rate, removed=False)
        )
    elif isinstance(law, LaplaceLoss):
        worst = BatchedLaplace(law.mu, rate)
    elif isinstance(law, DiscreteGaussianLoss | DiscreteLaplaceLoss | ResponseLoss):
        worst = BatchAtoms(law, rate)
    else:
        raise _unknown(law, "one whose loss on batches is known")
    real = _real(step, lambda choice: sampled(choice, rate)) or ((sampled(step, rate),),)
    return Step(worst, worst, real, step.attained)


def is_sampled(step: Step) -> bool:
    """Whether a user is in a sample or not."""
    return isinstance(step.removed, SampledLoss)


def grouped(step: Step, size: int) -> Step:
    """The step for a group of users."""
    real = _real(step, lambda choice: grouped(choice, size))
    return dataclasses.replace(_grouped(step.removed, size), real=real, attained=step.attained)


def _grouped(law: OneLoss, size: int) -> Step:
    if isinstance(law, GaussianLoss):
        all_ = GaussianLoss(size * law.mu)
        return Step(all_, all_)
    if isinstance(law, SampledLoss) and isinstance(law.base, GaussianLoss):
        rate = law.rate
        return mixture(
            [
                (j * law.base.mu, comb(size, j) * rate**j * (1 - rate) ** (size - j))
                for j in range(size + 1)
            ]
        )
    raise _unknown(law, "Gaussian noise, sampled or not")


def _real(step: Step, change: Callable[[Step], Step]) -> tuple[tuple[Step, ...], ...]:
    """The real pairs of a step after a change; pairs of several steps on one sample are left out:
    several steps on one sample are not several samples."""
    return tuple((change(*choice),) for choice in step.real if len(choice) == 1)


def mixture(shifts: list[tuple[Fraction, Fraction]]) -> Step:
    """Gaussian noise of variance 1 around a random shift >= 0, against none: (shift, weight)."""
    weights: dict[Fraction, Fraction] = {}
    for shift, weight in shifts:
        if weight:
            weights[shift] = weights.get(shift, Fraction(0)) + weight
    rate = 1 - weights.pop(Fraction(0), Fraction(0))
    moved = tuple((s, w / rate) for s, w in sorted(weights.items()))
    none = ((Fraction(0), Fraction(1)),)
    mirrored = tuple((-s, w) for s, w in reversed(moved))
    one = len(moved) == 1
    law: LossLaw = GaussianLoss(moved[0][0]) if one else MixtureLoss(moved, none)
    if rate < 1:
        # the base is the law of log A/B under A, in both orders
        return Step(SampledLoss(law, rate, removed=True), SampledLoss(law, rate, removed=False))
    return Step(law, law if one else MixtureLoss(none, mirrored))


def _on_sample(step: Step, rate: Fraction, *, removed: bool) -> OneLoss:
    law = step.removed
    if isinstance(law, LaplaceLoss):
        return SampledLaplace(law.mu, rate, removed)
    if isinstance(law, SampledLaplace):
        return SampledLaplace(law.mu, rate * law.rate, removed)
    if isinstance(law, EndedLoss):
        raise _unknown(law, "one that can be sampled")
    if isinstance(law, AtomicLoss):
        return SampledAtoms(law, rate, removed)
    if isinstance(law, SampledLoss):
        return SampledLoss(law.base, rate * law.rate, removed)
    return SampledLoss(law, rate, removed)


def _unknown(law: OneLoss, wanted: str) -> InvalidParameter:
    return InvalidParameter("mechanism", type(law).__name__, wanted)
