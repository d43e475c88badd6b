"""dp-accounting (Google): privacy loss distributions, the analytic Gaussian, and Renyi orders.

- One query: the hockey-stick divergence of the additive noise (get_delta_for_epsilon of its privacy
  loss), and get_sigma_gaussian, get_epsilon_gaussian, with their default tolerance 1e-12, which
  is absolute.
- Composition, training runs: PLDAccountant with its default, pessimistic discretisation of 1e-4.
- A sequence with a discrete Gaussian, or with a promise of epsilon and delta, which have no events:
  its distributions, composed; randomised response of k values: from_randomized_response.
- zCDP: RdpAccountant with its default orders.
- noise_cdf is the distribution function of the noise; that of the discrete Gaussian is documented
  to be cut where the tail is at most 1e-30. The discrete Laplace parameter is 1/scale.
- Its worst answers about events have one cause: PLDAccountant ignores the count of a randomised
  response. ComposedDpEvent([response] * 100), or its distribution and self_compose, is right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import comb, exp, sqrt
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod

#: The documented tolerance of the search for sigma or epsilon; and the noise that may be cut off.
TOLERANCES = {
    ("analytic_gaussian", "sigma"): ("answer", "1e-12"),
    ("analytic_gaussian", "epsilon"): ("answer", "1e-12"),
    ("discrete_gaussian", "cdf"): ("answer", "1e-30"),
}

#: Mechanisms of the group of events for which this library has a distribution and no event.
_NO_EVENTS = {"discrete-gaussian", "approximate"}


@dataclass(frozen=True)
class DPAccounting(ByMethod):
    """Calls into dp_accounting."""

    library: Any
    losses: Any
    version: str
    name: str = "dp_accounting"

    def _analytic_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        loss = self.losses.GaussianPrivacyLoss(
            float(parameters["sigma"]), sensitivity=float(parameters["sensitivity"])
        )
        return loss.get_delta_for_epsilon(float(parameters["epsilon"]))

    def _analytic_gaussian_sigma(self, parameters: Mapping[str, str]) -> Any:
        unit = self.library.get_sigma_gaussian(
            float(parameters["epsilon"]), float(parameters["delta"])
        )
        return unit * float(parameters["sensitivity"])

    def _analytic_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        ratio = float(parameters["sigma"]) / float(parameters["sensitivity"])
        return self.library.get_epsilon_gaussian(ratio, float(parameters["delta"]))

    def _discrete_gaussian(self, parameters: Mapping[str, str]) -> Any:
        return self.losses.DiscreteGaussianPrivacyLoss(
            sqrt(float(parameters["sigma2"])), sensitivity=int(parameters.get("sensitivity", "1"))
        )

    def _discrete_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._discrete_gaussian(parameters).get_delta_for_epsilon(
            float(parameters["epsilon"])
        )

    def _discrete_gaussian_cdf(self, parameters: Mapping[str, str]) -> Any:
        return self._discrete_gaussian(parameters).noise_cdf(float(parameters["z"]))

    def _discrete_laplace(self, parameters: Mapping[str, str]) -> Any:
        return self.losses.DiscreteLaplacePrivacyLoss(
            1 / float(parameters["scale"]), sensitivity=int(parameters.get("sensitivity", "1"))
        )

    def _discrete_laplace_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._discrete_laplace(parameters).get_delta_for_epsilon(
            float(parameters["epsilon"])
        )

    def _discrete_laplace_cdf(self, parameters: Mapping[str, str]) -> Any:
        return self._discrete_laplace(parameters).noise_cdf(float(parameters["z"]))

    def _zcdp(self, parameters: Mapping[str, str]) -> Any:
        return self.library.rdp.RdpAccountant().compose(
            self.library.ZCDpEvent(float(parameters["rho"]))
        )

    def _zcdp_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._zcdp(parameters).get_delta(float(parameters["epsilon"]))

    def _zcdp_epsilon(self, parameters: Mapping[str, str]) -> Any:
        return self._zcdp(parameters).get_epsilon(float(parameters["delta"]))

    def _composed(self, parameters: Mapping[str, str]) -> Any:
        distributions = self.library.pld.privacy_loss_distribution
        if parameters["mechanism"] == "gaussian":
            ratio = float(parameters["sigma"]) / float(parameters["sensitivity"])
            event = self.library.GaussianDpEvent(ratio)
        elif parameters["mechanism"] == "laplace":
            event = self.library.LaplaceDpEvent(float(parameters["scale"]))
        else:
            promise = self.library.pld.common.DifferentialPrivacyParameters(
                float(parameters["epsilon_each"]), float(parameters["delta_each"])
            )
            single = distributions.from_privacy_parameters(promise)
            return _Composed(single.self_compose(int(parameters["k"])))
        accountant = self.library.pld.PLDAccountant()
        return accountant.compose(self.library.SelfComposedDpEvent(event, int(parameters["k"])))

    def _composition_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._composed(parameters).get_delta(float(parameters["epsilon"]))

    def _composition_epsilon(self, parameters: Mapping[str, str]) -> Any:
        return self._composed(parameters).get_epsilon(float(parameters["delta"]))

    def _sampling_delta(self, parameters: Mapping[str, str]) -> Any:
        events, rate, scale = self.library, float(parameters["rate"]), float(parameters["scale"])
        relations = events.NeighboringRelation
        relation = relations.ADD_OR_REMOVE_ONE
        if parameters["neighbours"] == "replace-one":
            relation = relations.REPLACE_ONE
        size = int(parameters["group"])
        if parameters["sampling"] == "batch":
            return Unsupported()
        if size > 1:
            shares = [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]
            mixture = events.dp_event.MixtureOfGaussiansDpEvent
            event = mixture(scale, list(range(size + 1)), shares)
        else:
            gaussian = parameters["mechanism"] == "gaussian"
            noise = events.GaussianDpEvent if gaussian else events.LaplaceDpEvent
            event = events.PoissonSampledDpEvent(rate, noise(scale))
        accountant = self.library.pld.PLDAccountant(relation)
        if not accountant.supports(event):
            return Unsupported()
        return accountant.compose(event).get_delta(float(parameters["epsilon"]))

    def _trained(self, parameters: Mapping[str, str]) -> Any:
        relations = self.library.NeighboringRelation
        added = parameters["neighbours"] == "add-remove"
        noise = self.library.GaussianDpEvent(float(parameters["sigma"]))
        step = self.library.PoissonSampledDpEvent(float(parameters["rate"]), noise)
        accountant = self.library.pld.PLDAccountant(
            relations.ADD_OR_REMOVE_ONE if added else relations.REPLACE_ONE
        )
        return accountant.compose(self.library.SelfComposedDpEvent(step, int(parameters["k"])))

    def _happened(self, parameters: Mapping[str, str]) -> Any:
        relations, parts = self.library.NeighboringRelation, json.loads(parameters["events"])
        added = parameters["neighbours"] == "add-remove"
        accountant = self.library.pld.PLDAccountant(
            relations.ADD_OR_REMOVE_ONE if added else relations.REPLACE_ONE
        )
        repeated = self.library.SelfComposedDpEvent
        if not {part["mechanism"] for part in parts}.isdisjoint(_NO_EVENTS):
            return _Composed(self._distributions(parts)) if added else None
        events = [repeated(self._event(part), int(part["count"])) for part in parts]
        whole = self.library.ComposedDpEvent(events)
        return accountant.compose(whole) if accountant.supports(whole) else None

    def _distributions(self, parts: Sequence[Mapping[str, str]]) -> Any:
        """The composed distribution of mechanisms, one by one."""
        module = self.library.pld.privacy_loss_distribution
        first, *others = (self._distribution(module, part) for part in parts)
        for other in others:
            first = first.compose(other)
        return first

    def _distribution(self, module: Any, part: Mapping[str, str]) -> Any:
        rate = float(part.get("rate", "1"))
        if part["mechanism"] == "gaussian":
            once = module.from_gaussian_mechanism(float(part["sigma"]), sampling_prob=rate)
        elif part["mechanism"] == "laplace":
            once = module.from_laplace_mechanism(float(part["scale"]), sampling_prob=rate)
        elif part["mechanism"] == "discrete-gaussian":
            once = module.from_discrete_gaussian_mechanism(sqrt(float(part["sigma2"])))
        elif part["mechanism"] == "gaussian-mixture":
            lengths, weights = (
                [float(text) for text in part[name].split()]
                for name in ("sensitivities", "weights")
            )
            once = module.from_mixture_gaussian_mechanism(float(part["sigma"]), lengths, weights)
        else:
            promise = self.library.pld.common.DifferentialPrivacyParameters(
                float(part["epsilon"]), float(part["delta"])
            )
            once = module.from_privacy_parameters(promise)
        return once.self_compose(int(part["count"]))

    def _local_responses_delta(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] != "randomized_response":
            return Unsupported()
        values, budget = int(parameters["k"]), float(parameters["budget"])
        noise = values / (exp(budget) + values - 1)
        module = self.library.pld.privacy_loss_distribution
        loss = module.from_randomized_response(noise, values)
        return loss.get_delta_for_epsilon(float(parameters["epsilon"]))

    def _event(self, part: Mapping[str, str]) -> Any:
        events, kind = self.library.dp_event, part["mechanism"]
        parameters = {name: text for name, text in part.items() if name != "mechanism"}
        if kind == "gaussian-mixture":
            lengths, weights = (
                [float(text) for text in parameters[name].split()]
                for name in ("sensitivities", "weights")
            )
            return events.MixtureOfGaussiansDpEvent(float(parameters["sigma"]), lengths, weights)
        if kind == "discrete-laplace":
            size = int(parameters["sensitivity"])
            return events.DiscreteLaplaceDpEvent(float(parameters["epsilon"]) / size, size)
        if kind == "randomized-response":
            return events.RandomizedResponseDpEvent(
                float(parameters["noise"]), int(parameters["answers"])
            )
        plain = kind == "gaussian"
        noise = events.GaussianDpEvent if plain else events.LaplaceDpEvent
        event = noise(float(parameters["sigma" if plain else "scale"]))
        rate = parameters.get("rate")
        return event if rate is None else events.PoissonSampledDpEvent(float(rate), event)

    def _events_delta(self, parameters: Mapping[str, str]) -> Any:
        accountant = self._happened(parameters)
        return (
            Unsupported()
            if accountant is None
            else accountant.get_delta(float(parameters["epsilon"]))
        )

    def _events_epsilon(self, parameters: Mapping[str, str]) -> Any:
        accountant = self._happened(parameters)
        return (
            Unsupported()
            if accountant is None
            else accountant.get_epsilon(float(parameters["delta"]))
        )

    def _sampled_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._trained(parameters).get_delta(float(parameters["epsilon"]))

    def _sampled_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        return self._trained(parameters).get_epsilon(float(parameters["delta"]))


@dataclass(frozen=True)
class _Composed:
    """A privacy loss distribution with the methods of an accountant."""

    distribution: Any

    def get_delta(self, epsilon: float) -> Any:
        return self.distribution.get_delta_for_epsilon(epsilon)

    def get_epsilon(self, delta: float) -> Any:
        return self.distribution.get_epsilon_for_delta(delta)


def make() -> DPAccounting:
    """The adapter; raises ImportError where dp-accounting is not installed."""
    import dp_accounting
    from dp_accounting.pld import common, privacy_loss_distribution, privacy_loss_mechanism

    _ = common, privacy_loss_distribution
    return DPAccounting(dp_accounting, privacy_loss_mechanism, version("dp-accounting"))
