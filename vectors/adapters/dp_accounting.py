"""dp-accounting (Google): privacy loss distributions, the analytic Gaussian, and Renyi orders.

- One query: the hockey-stick divergence of the additive noise (get_delta_for_epsilon of its privacy
  loss), and get_sigma_gaussian, get_epsilon_gaussian, with their default tolerance 1e-12, which
  is absolute.
- Composition, training runs: PLDAccountant with its default, pessimistic discretisation of 1e-4.
- zCDP: RdpAccountant with its default orders.
- noise_cdf is the distribution function of the noise; that of the discrete Gaussian is documented
  to be cut where the tail is small. The discrete Laplace parameter is 1/scale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from math import comb, sqrt
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod

#: Mechanisms of the group of events for which this library has none.
_NO_EVENTS = {"discrete-gaussian", "approximate"}


@dataclass(frozen=True)
class DPAccounting(ByMethod):
    """Calls into dp_accounting."""

    library: Any
    losses: Any
    version: str
    name: str = "dp_accounting"

    def _analytic_gaussian_delta(self, given: Mapping[str, str]) -> Any:
        loss = self.losses.GaussianPrivacyLoss(
            float(given["sigma"]), sensitivity=float(given["sensitivity"])
        )
        return loss.get_delta_for_epsilon(float(given["epsilon"]))

    def _analytic_gaussian_sigma(self, given: Mapping[str, str]) -> Any:
        unit = self.library.get_sigma_gaussian(float(given["epsilon"]), float(given["delta"]))
        return unit * float(given["sensitivity"])

    def _analytic_gaussian_epsilon(self, given: Mapping[str, str]) -> Any:
        ratio = float(given["sigma"]) / float(given["sensitivity"])
        return self.library.get_epsilon_gaussian(ratio, float(given["delta"]))

    def _discrete_gaussian(self, given: Mapping[str, str]) -> Any:
        return self.losses.DiscreteGaussianPrivacyLoss(
            sqrt(float(given["sigma2"])), sensitivity=int(given.get("sensitivity", "1"))
        )

    def _discrete_gaussian_delta(self, given: Mapping[str, str]) -> Any:
        return self._discrete_gaussian(given).get_delta_for_epsilon(float(given["epsilon"]))

    def _discrete_gaussian_cdf(self, given: Mapping[str, str]) -> Any:
        return self._discrete_gaussian(given).noise_cdf(float(given["z"]))

    def _discrete_laplace(self, given: Mapping[str, str]) -> Any:
        return self.losses.DiscreteLaplacePrivacyLoss(
            1 / float(given["scale"]), sensitivity=int(given.get("sensitivity", "1"))
        )

    def _discrete_laplace_delta(self, given: Mapping[str, str]) -> Any:
        return self._discrete_laplace(given).get_delta_for_epsilon(float(given["epsilon"]))

    def _discrete_laplace_cdf(self, given: Mapping[str, str]) -> Any:
        return self._discrete_laplace(given).noise_cdf(float(given["z"]))

    def _zcdp(self, given: Mapping[str, str]) -> Any:
        return self.library.rdp.RdpAccountant().compose(self.library.ZCDpEvent(float(given["rho"])))

    def _zcdp_delta(self, given: Mapping[str, str]) -> Any:
        return self._zcdp(given).get_delta(float(given["epsilon"]))

    def _zcdp_epsilon(self, given: Mapping[str, str]) -> Any:
        return self._zcdp(given).get_epsilon(float(given["delta"]))

    def _composed(self, given: Mapping[str, str]) -> Any:
        distributions = self.library.pld.privacy_loss_distribution
        if given["mechanism"] == "gaussian":
            ratio = float(given["sigma"]) / float(given["sensitivity"])
            event = self.library.GaussianDpEvent(ratio)
        elif given["mechanism"] == "laplace":
            event = self.library.LaplaceDpEvent(float(given["scale"]))
        else:
            promise = self.library.pld.common.DifferentialPrivacyParameters(
                float(given["epsilon_each"]), float(given["delta_each"])
            )
            single = distributions.from_privacy_parameters(promise)
            return _Composed(single.self_compose(int(given["k"])))
        accountant = self.library.pld.PLDAccountant()
        return accountant.compose(self.library.SelfComposedDpEvent(event, int(given["k"])))

    def _composition_delta(self, given: Mapping[str, str]) -> Any:
        return self._composed(given).get_delta(float(given["epsilon"]))

    def _composition_epsilon(self, given: Mapping[str, str]) -> Any:
        return self._composed(given).get_epsilon(float(given["delta"]))

    def _sampling_delta(self, given: Mapping[str, str]) -> Any:
        events, rate, scale = self.library, float(given["rate"]), float(given["scale"])
        relations = events.NeighboringRelation
        relation = relations.ADD_OR_REMOVE_ONE
        if given["neighbours"] == "replace-one":
            relation = relations.REPLACE_ONE
        size = int(given["group"])
        if given["sampling"] == "batch":
            return Unsupported()
        if size > 1:
            shares = [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]
            mixture = events.dp_event.MixtureOfGaussiansDpEvent
            event = mixture(scale, list(range(size + 1)), shares)
        else:
            gaussian = given["mechanism"] == "gaussian"
            noise = events.GaussianDpEvent if gaussian else events.LaplaceDpEvent
            event = events.PoissonSampledDpEvent(rate, noise(scale))
        accountant = self.library.pld.PLDAccountant(relation)
        if not accountant.supports(event):
            return Unsupported()
        return accountant.compose(event).get_delta(float(given["epsilon"]))

    def _trained(self, given: Mapping[str, str]) -> Any:
        relations = self.library.NeighboringRelation
        added = given["neighbours"] == "add-remove"
        noise = self.library.GaussianDpEvent(float(given["sigma"]))
        step = self.library.PoissonSampledDpEvent(float(given["rate"]), noise)
        accountant = self.library.pld.PLDAccountant(
            relations.ADD_OR_REMOVE_ONE if added else relations.REPLACE_ONE
        )
        return accountant.compose(self.library.SelfComposedDpEvent(step, int(given["k"])))

    def _happened(self, given: Mapping[str, str]) -> Any:
        relations, parts = self.library.NeighboringRelation, json.loads(given["events"])
        added = given["neighbours"] == "add-remove"
        accountant = self.library.pld.PLDAccountant(
            relations.ADD_OR_REMOVE_ONE if added else relations.REPLACE_ONE
        )
        repeated = self.library.SelfComposedDpEvent
        if not {part["mechanism"] for part in parts}.isdisjoint(_NO_EVENTS):
            return None
        events = [repeated(self._event(part), int(part["count"])) for part in parts]
        whole = self.library.ComposedDpEvent(events)
        return accountant.compose(whole) if accountant.supports(whole) else None

    def _event(self, part: Mapping[str, str]) -> Any:
        events, kind = self.library.dp_event, part["mechanism"]
        given = {name: text for name, text in part.items() if name != "mechanism"}
        if kind == "gaussian-mixture":
            lengths, weights = (
                [float(text) for text in given[name].split()]
                for name in ("sensitivities", "weights")
            )
            return events.MixtureOfGaussiansDpEvent(float(given["sigma"]), lengths, weights)
        if kind == "discrete-laplace":
            size = int(given["sensitivity"])
            return events.DiscreteLaplaceDpEvent(float(given["epsilon"]) / size, size)
        if kind == "randomized-response":
            return events.RandomizedResponseDpEvent(float(given["noise"]), int(given["answers"]))
        plain = kind == "gaussian"
        noise = events.GaussianDpEvent if plain else events.LaplaceDpEvent
        made = noise(float(given["sigma" if plain else "scale"]))
        rate = given.get("rate")
        return made if rate is None else events.PoissonSampledDpEvent(float(rate), made)

    def _events_delta(self, given: Mapping[str, str]) -> Any:
        found = self._happened(given)
        return Unsupported() if found is None else found.get_delta(float(given["epsilon"]))

    def _events_epsilon(self, given: Mapping[str, str]) -> Any:
        found = self._happened(given)
        return Unsupported() if found is None else found.get_epsilon(float(given["delta"]))

    def _sampled_gaussian_delta(self, given: Mapping[str, str]) -> Any:
        return self._trained(given).get_delta(float(given["epsilon"]))

    def _sampled_gaussian_epsilon(self, given: Mapping[str, str]) -> Any:
        return self._trained(given).get_epsilon(float(given["delta"]))


@dataclass(frozen=True)
class _Composed:
    """A privacy loss distribution, asked like an accountant."""

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
