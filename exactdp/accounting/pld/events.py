"""A PrivacyAccountant for dp_accounting: its DpEvents in, certified answers out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from exactdp.accounting.pld.loss import ADD_REMOVE, REPLACE_ONE, Pld
from exactdp.accounting.pld.mechanisms import (
    approximate,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    gaussian_mixture,
    laplace,
    laws,
)
from exactdp.accounting.pld.together import together
from exactdp.enclosure import Enclosure
from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.extras import optional
from exactdp.law import Law
from exactdp.parameters import Real, choice, integer, rational

__all__ = ["accountant", "loss_of"]

#: Events of noise on vectors, where the worst replacement on Poisson samples is known for numbers.
_ON_VECTORS = ("LaplaceDpEvent", "DiscreteLaplaceDpEvent")


def accountant(neighbours: str = ADD_REMOVE) -> Any:
    """A PrivacyAccountant of dp_accounting (the extra `peers`).

    neighbours: ADD_REMOVE or REPLACE_ONE. Every event counts as often as it is composed. Numbers
    are read as the decimals they print.
    """
    theirs = optional("dp_accounting.privacy_accountant")
    choice("neighbours", neighbours, (ADD_REMOVE, REPLACE_ONE))
    bases = (_Certified, theirs.PrivacyAccountant)
    made = type("CertifiedAccountant", bases, {"_relation": neighbours})
    adds = neighbours == ADD_REMOVE
    relation = theirs.NeighboringRelation
    return made(relation.ADD_OR_REMOVE_ONE if adds else relation.REPLACE_ONE)


class _Certified:
    """The answers of the accountant; their ends are certainly safe."""

    _relation: str
    _total: Pld | None = None
    CompositionErrorDetails: Any

    def loss(self) -> Pld | None:
        """The privacy loss so far; None while nothing has leaked."""
        return self._total

    def enclosure(self, target_delta: Real, *, width: Real = "1e-3") -> Enclosure:
        """Both certified ends of epsilon."""
        if self._total is None:
            return Enclosure.exact(0)
        return self._total.epsilon(target_delta, width=width)

    def get_epsilon(self, target_delta: float) -> float:
        """An epsilon that is certainly kept."""
        return self.enclosure(target_delta).float_upper()

    def get_delta(self, target_epsilon: float) -> float:
        """A delta that is certainly kept."""
        return 0.0 if self._total is None else self._total.delta(target_epsilon).float_upper()

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        try:
            # asked with 0 whether it is supported
            found = loss_of(event, max(count, 1), neighbours=self._relation)
        except ExactDPError as error:
            return self.CompositionErrorDetails(event, str(error))
        if do_compose and count and found is not None:
            self._total = found if self._total is None else self._total.then(found)
        return None


def loss_of(event: Any, count: int = 1, *, neighbours: str = ADD_REMOVE) -> Pld | None:
    """The privacy loss of an event composed count times; None where nothing leaks.

    neighbours: ADD_REMOVE or REPLACE_ONE. Raises InvalidParameter for events without a certified
    law. Several mechanisms inside a sampled event run on one sample (:func:`exactdp.accounting.pld.
    together`).
    """
    total: Pld | None = None
    for part, times in _parts(event, count):
        step = _step(part, neighbours)
        if step is not None:
            found = step.composed(times)
            total = found if total is None else total.then(found)
    return total


def _step(event: Any, neighbours: str) -> Pld | None:
    kind = type(event).__name__
    if kind == "PoissonSampledDpEvent":
        rate = event.sampling_probability
        whole = _on_one_sample(event.event, ADD_REMOVE) if rate else None
        if whole is None:
            return None
        made = whole.sampled(rate)
        if neighbours != REPLACE_ONE:
            return made
        if any(type(part).__name__ in _ON_VECTORS for part, _ in _parts(event.event)):
            raise InvalidParameter("event", kind, "of Gaussian noise for replace-one neighbours")
        return made.replaced()
    if kind == "SampledWithoutReplacementDpEvent":
        if neighbours != REPLACE_ONE:
            raise InvalidParameter("neighbours", neighbours, f"{REPLACE_ONE!r} for {kind}")
        size = integer("source_dataset_size", event.source_dataset_size, least=1)
        drawn = Fraction(integer("sample_size", event.sample_size, least=0), size)
        whole = _on_one_sample(event.event, neighbours) if drawn else None
        return None if whole is None else whole.batched(drawn)
    if kind == "RandomizedResponseDpEvent":
        return _response(event, neighbours)
    return _mechanism(event, neighbours)


def _on_one_sample(event: Any, neighbours: str) -> Pld | None:
    """All mechanisms of an event that is sampled as a whole, as one; None where nothing leaks."""
    found = [_mechanism(part, neighbours).composed(times) for part, times in _parts(event)]
    return together(*found) if found else None


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


def _mechanism(event: Any, neighbours: str) -> Pld:
    kind = type(event).__name__
    if kind == "EpsilonDeltaDpEvent":
        return approximate(epsilon=event.epsilon, delta=event.delta, neighbours=neighbours)
    made = _noise(event, kind)
    return made.replaced() if neighbours == REPLACE_ONE else made


def _noise(event: Any, kind: str) -> Pld:
    if kind == "GaussianDpEvent":
        return gaussian(sigma=event.noise_multiplier)
    if kind == "LaplaceDpEvent":
        return laplace(scale=event.noise_multiplier)
    if kind == "DiscreteLaplaceDpEvent":
        shift = event.sensitivity
        rate = rational("noise_parameter", event.noise_parameter)
        return discrete_laplace(epsilon=rate * shift, sensitivity=shift)
    if kind == "DiscreteGaussianDpEvent" and event.dimension == 1:
        shift = integer("sensitivity", rational("sensitivity", event.sensitivity), least=1)
        return discrete_gaussian(sigma2=rational("sigma", event.sigma) ** 2, sensitivity=shift)
    if kind == "MixtureOfGaussiansDpEvent":
        return gaussian_mixture(
            sigma=event.standard_deviation,
            sensitivities=event.sensitivities,
            weights=event.sampling_probs,
        )
    raise InvalidParameter("event", kind, "an event with a certified law")


def _response(event: Any, neighbours: str) -> Pld | None:
    """Of several answers the own one, unless with this probability any one."""
    if neighbours != REPLACE_ONE:
        raise InvalidParameter("neighbours", neighbours, f"{REPLACE_ONE!r} for a response")
    noise = rational("noise_parameter", event.noise_parameter)
    answers = integer("num_buckets", event.num_buckets, least=1)
    if not 0 < noise <= 1:
        raise InvalidParameter("noise_parameter", event.noise_parameter, "> 0 and <= 1")
    if noise == 1 or answers == 1:
        return None
    other = noise / answers
    own, rest = 1 - noise + other, (answers - 2) * other
    p = {"own": own, "other": other, "rest": rest}
    q = {"own": other, "other": own, "rest": rest}
    kept = [{name: mass for name, mass in law.items() if mass} for law in (p, q)]
    return laws(Law(kept[0]), Law(kept[1]), neighbours=REPLACE_ONE)
