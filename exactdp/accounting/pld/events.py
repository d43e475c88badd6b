"""A PrivacyAccountant for dp_accounting: its DpEvents in, certified answers out."""

from __future__ import annotations

from typing import Any

from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.mechanisms import discrete_laplace, gaussian, laplace
from exactdp.enclosure import Enclosure
from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.parameters import Real, rational

__all__ = ["accountant", "loss_of"]


def accountant() -> Any:
    """A PrivacyAccountant of dp_accounting for add-remove neighbours (the extra `peers`).

    Every event counts as often as it is composed. Numbers are read as the decimals they print.
    """
    from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

    made = type("CertifiedAccountant", (_Certified, PrivacyAccountant), {})
    return made(NeighboringRelation.ADD_OR_REMOVE_ONE)


class _Certified:
    """The answers of the accountant; their ends are certainly safe."""

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
            found = loss_of(event, max(count, 1))  # asked with 0 whether it is supported
        except ExactDPError as error:
            return self.CompositionErrorDetails(event, str(error))
        if do_compose and count and found is not None:
            self._total = found if self._total is None else self._total.then(found)
        return None


def loss_of(event: Any, count: int = 1) -> Pld | None:
    """The privacy loss of an event composed count times; None where nothing leaks.

    Raises InvalidParameter for events without a certified law.
    """
    kind = type(event).__name__
    if kind == "NoOpDpEvent":
        return None
    if kind == "SelfComposedDpEvent":
        return loss_of(event.event, event.count * count) if event.count else None
    if kind == "ComposedDpEvent":
        total: Pld | None = None
        for part in event.events:
            found = loss_of(part, count)
            if found is not None:
                total = found if total is None else total.then(found)
        return total
    if kind == "PoissonSampledDpEvent":
        # one mechanism on the sample: several on one sample are not several samples
        if not event.sampling_probability:
            return None
        return _mechanism(event.event).sampled(event.sampling_probability).composed(count)
    return _mechanism(event).composed(count)


def _mechanism(event: Any) -> Pld:
    kind = type(event).__name__
    if kind == "GaussianDpEvent":
        return gaussian(sigma=event.noise_multiplier)
    if kind == "LaplaceDpEvent":
        return laplace(scale=event.noise_multiplier)
    if kind == "DiscreteLaplaceDpEvent":
        shift = event.sensitivity
        rate = rational("noise_parameter", event.noise_parameter)
        return discrete_laplace(epsilon=rate * shift, sensitivity=shift)
    raise InvalidParameter("event", kind, "an event with a certified law")
