"""The privacy loss of dp_accounting's DpEvents, read by the names of their classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.accounting import pld
from exactdp.accounting.pld import ADD_REMOVE, REPLACE_ONE, REPLACE_SPECIAL, Pld
from exactdp.errors import Described, ExactDPError, InvalidParameter, Signal, UnreadableEvent
from exactdp.law import Law
from exactdp.parameters import integer, probability, rational

#: Our relations between neighbours, and dp_accounting's names for them.
RELATIONS = {
    ADD_REMOVE: "ADD_OR_REMOVE_ONE",
    REPLACE_ONE: "REPLACE_ONE",
    REPLACE_SPECIAL: "REPLACE_SPECIAL",
}

#: Events that are not read, and why.
_REFUSED = {
    "RepeatAndSelectDpEvent": "private selection among repeated runs is not supported",
    "SampledWithReplacementDpEvent": "only Poisson samples and samples without replacement are",
    "ZCDpEvent": "zCDP alone has no privacy loss distribution, see accounting.zcdp",
}

#: Events of noise on vectors, where the worst replacement on Poisson samples is known for numbers.
_ON_VECTORS = ("LaplaceDpEvent", "DiscreteLaplaceDpEvent")


class _NotPrivate(Signal):
    """A mechanism without noise."""


@dataclass(frozen=True)
class Reading:
    """What an event leaks.

    loss: of its private mechanisms; None where nothing leaks. private: whether all mechanisms are.
    """

    loss: Pld | None
    private: bool


def loss_of(event: Any, count: int = 1, *, neighbours: str = ADD_REMOVE) -> Pld | None:
    """The privacy loss of an event composed count times; None where nothing leaks.

    neighbours: ADD_REMOVE, REPLACE_ONE or REPLACE_SPECIAL. Several mechanisms inside a sampled
    event run on one sample (:func:`exactdp.accounting.pld.together`). A sum changes by up to twice
    the sensitivity when a record is replaced (REPLACE_ONE), as in dp_accounting's PLDAccountant.
    Raises UnreadableEvent for an event without a certified law, and InvalidParameter for one that
    is not private.
    """
    reading = read(event, count, neighbours=neighbours)
    if not reading.private:
        raise InvalidParameter("event", Described(type(event).__name__), "differentially private")
    return reading.loss


def read(event: Any, count: int = 1, *, neighbours: str = ADD_REMOVE) -> Reading:
    """What an event leaks, composed count times; parameters and errors as for :func:`loss_of`."""
    total: Pld | None = None
    private = True
    for part, times in _parts(event, count):
        try:
            step = _step(part, neighbours)
        except _NotPrivate:
            private = False
        except UnreadableEvent:
            raise
        except ExactDPError as error:
            raise UnreadableEvent(part, error) from error
        else:
            if step is not None:
                composed = step.composed(times)
                total = composed if total is None else total.then(composed)
    return Reading(total, private)


def _parts(event: Any, times: int = 1) -> Iterator[tuple[Any, int]]:
    """The mechanisms of a composition, each with how often it is run."""
    kind = type(event).__name__
    if kind == "ComposedDpEvent":
        for part in event.events:
            yield from _parts(part, times)
    elif kind == "SelfComposedDpEvent":
        if event.count:
            yield from _parts(event.event, times * event.count)
    elif kind != "NoOpDpEvent":
        yield event, times


def _step(event: Any, neighbours: str) -> Pld | None:
    """The loss of one mechanism, or of several on one sample. Raises _NotPrivate."""
    if reader := _FOR_NEIGHBOURS.get(type(event).__name__):
        return reader(event, neighbours)
    return _for_neighbours(_noise(event), neighbours)


def _for_neighbours(loss: Pld | None, neighbours: str) -> Pld | None:
    """The loss for the given neighbours, from the loss for add-remove neighbours."""
    if loss is None or neighbours == ADD_REMOVE:
        return loss
    return loss.replaced() if neighbours == REPLACE_ONE else loss.replaced_by_null()


def _poisson(event: Any, neighbours: str) -> Pld | None:
    rate = rational("sampling_probability", event.sampling_probability)
    on_vectors = any(type(part).__name__ in _ON_VECTORS for part, _ in _parts(event.event))
    if neighbours == REPLACE_ONE and on_vectors:
        _only(neighbours, ADD_REMOVE, REPLACE_SPECIAL)
    whole = _on_one_sample(event.event, bool(rate))
    return None if whole is None else _for_neighbours(whole.sampled(rate), neighbours)


def _batch(event: Any, neighbours: str) -> Pld | None:
    _only(neighbours, REPLACE_ONE)
    size = integer("source_dataset_size", event.source_dataset_size, least=1)
    rate = Fraction(integer("sample_size", event.sample_size, least=0), size)
    whole = _on_one_sample(event.event, bool(rate))
    return None if whole is None else whole.batched(rate)


def _truncated(event: Any, neighbours: str) -> Pld | None:
    """Gaussian noise on a Poisson sample of a largest size."""
    if not (event.sampling_probability and event.truncated_batch_size and event.dataset_size):
        return None
    loss = _gaussian(event).sampled(
        rational("sampling_probability", event.sampling_probability),
        batch_limit=event.truncated_batch_size,
        users=event.dataset_size,
    )
    return _for_neighbours(loss, neighbours)


def _on_one_sample(event: Any, sampled: bool) -> Pld | None:
    """The loss of an event whose mechanisms all run on one sample; None where nothing leaks.

    sampled: whether the sample can hold anybody. An empty sample leaks nothing, even without noise.
    """
    losses: list[Pld] = []
    for part, times in _parts(event):
        try:
            loss = _noise(part)
        except _NotPrivate:
            if sampled:
                raise
            continue
        except ExactDPError as error:
            raise UnreadableEvent(part, error) from None
        if loss is not None:
            losses.append(loss.composed(times))
    return pld.together(*losses) if losses and sampled else None


def _promise(event: Any, neighbours: str) -> Pld | None:
    if event.delta == 1 or event.epsilon == math.inf:
        raise _NotPrivate
    if not event.delta and not event.epsilon:
        return None
    return pld.approximate(epsilon=event.epsilon, delta=event.delta, neighbours=neighbours)


def _selection(event: Any, neighbours: str) -> Pld | None:
    """The loss of a private choice; the epsilon of the event is for these neighbours."""
    if event.epsilon == math.inf:
        raise _NotPrivate
    if not rational("epsilon", event.epsilon):
        return None
    if type(event).__name__ == "ExponentialMechanismDpEvent":
        return pld.exponential(epsilon=event.epsilon, neighbours=neighbours)
    _only(neighbours, ADD_REMOVE, REPLACE_SPECIAL)
    return pld.noisy_max(epsilon=event.epsilon, noise="exponential", neighbours=neighbours)


def _response(event: Any, neighbours: str) -> Pld | None:
    """Randomised response: with probability noise_parameter a random answer, else the true one."""
    _only(neighbours, REPLACE_ONE, REPLACE_SPECIAL)
    noise = probability("noise_parameter", event.noise_parameter)
    answers = integer("num_buckets", event.num_buckets, least=1)
    if noise == 1 or answers == 1:
        return None
    if noise == 0:
        raise _NotPrivate
    other = noise / answers
    own, rest = 1 - noise + other, (answers - 2) * other
    p = {"own": own, "other": other, "rest": rest}
    if neighbours == REPLACE_ONE:
        q = {"own": other, "other": own, "rest": rest}
    else:  # the null record's answer is drawn from all answers
        each = Fraction(1, answers)
        q = {"own": each, "other": each, "rest": (answers - 2) * each}
    kept = [{name: mass for name, mass in law.items() if mass} for law in (p, q)]
    return pld.laws(Law(kept[0]), Law(kept[1]), neighbours=neighbours)


def _noise(event: Any) -> Pld | None:
    """The loss of noise for add-remove neighbours. Raises _NotPrivate where there is no noise."""
    kind = type(event).__name__
    if kind == "NonPrivateDpEvent":
        raise _NotPrivate
    if kind not in _MECHANISMS:
        reason = f" ({_REFUSED[kind]})" if kind in _REFUSED else ""
        raise InvalidParameter("event", Described(kind), f"one with a certified law{reason}")
    return _MECHANISMS[kind](event)


def _noisy(scale: float) -> float:
    """The scale of the noise. Raises _NotPrivate for 0."""
    if not rational("noise", scale):
        raise _NotPrivate
    return scale


def _gaussian(event: Any) -> Pld:
    return pld.gaussian(sigma=_noisy(event.noise_multiplier))


def _discrete_laplace(event: Any) -> Pld:
    rate = rational("noise_parameter", _noisy(event.noise_parameter))
    return pld.discrete_laplace(epsilon=rate * event.sensitivity, sensitivity=event.sensitivity)


def _discrete_gaussian(event: Any) -> Pld:
    if event.dimension != 1:
        raise InvalidParameter("dimension", event.dimension, "1: the law on vectors is another")
    shift = integer("sensitivity", rational("sensitivity", event.sensitivity), least=1)
    sigma = rational("sigma", _noisy(event.sigma))
    return pld.discrete_gaussian(sigma2=sigma**2, sensitivity=shift)


def _random_shifts(event: Any) -> Pld | None:
    shifts = [rational("sensitivities", shift) for shift in event.sensitivities]
    weights = [rational("sampling_probs", weight) for weight in event.sampling_probs]
    if len(shifts) == len(weights) and not any(s * w for s, w in zip(shifts, weights, strict=True)):
        return None
    sigma = _noisy(event.standard_deviation)
    return pld.gaussian_mixture(sigma=sigma, sensitivities=shifts, weights=weights)


def _mixture(event: Any, neighbours: str) -> Pld | None:
    _only(neighbours, ADD_REMOVE, REPLACE_SPECIAL)
    return _for_neighbours(_random_shifts(event), neighbours)


def _tree(event: Any, neighbours: str) -> Pld:
    """Each record is in one leaf of one tree, and in one node of each level above.

    Only whole subtrees are released: n steps fill floor(log2 n) + 1 levels.
    """
    _only(neighbours, REPLACE_SPECIAL)
    counts = event.step_counts if hasattr(event.step_counts, "__iter__") else [event.step_counts]
    most = max(integer("step_counts", count, least=1) for count in counts)
    return _gaussian(event).composed(most.bit_length()).replaced_by_null()


_MECHANISMS: dict[str, Callable[[Any], Pld | None]] = {
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": lambda event: pld.laplace(scale=_noisy(event.noise_multiplier)),
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "MixtureOfGaussiansDpEvent": _random_shifts,
}


#: Class name of an event -> the function that computes its loss for given neighbours.
_FOR_NEIGHBOURS: dict[str, Callable[[Any, str], Pld | None]] = {
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _batch,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "RandomizedResponseDpEvent": _response,
    "EpsilonDeltaDpEvent": _promise,
    "ExponentialMechanismDpEvent": _selection,
    "PermuteAndFlipDpEvent": _selection,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "MixtureOfGaussiansDpEvent": _mixture,
}


def _only(neighbours: str, *allowed: str) -> None:
    if neighbours not in allowed:
        names = " or ".join(f"`{RELATIONS[relation]}`" for relation in allowed)
        raise InvalidParameter("neighboring_relation", Described(RELATIONS[neighbours]), names)
