"""PLD_accounting (Shenfeld): random allocation, and sampling, of any privacy loss distribution.

- Allocation: gaussian_allocation_delta_configurable with its default configuration, a dominating
  bound, for epsilon > 0. Its discrete noise is additive, so randomised responses are not asked.
- Sampling: subsample_pld of dp_accounting's Gaussian mechanism, add-remove neighbours, composed by
  dp_accounting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod


@dataclass(frozen=True)
class PLDAccounting(ByMethod):
    """Calls into PLD_accounting."""

    library: Any
    distributions: Any
    version: str
    name: str = "PLD_accounting"

    def _allocation_delta(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] != "gaussian":
            return Unsupported("not asked")
        question = self.library.PrivacyParams(
            sigma=float(parameters["sigma"]),
            num_steps=int(parameters["steps"]),
            epsilon=float(parameters["epsilon"]),
        )
        return self.library.gaussian_allocation_delta_configurable(
            params=question, config=self.library.AllocationSchemeConfig()
        )

    def _trained(self, parameters: Mapping[str, str]) -> Any:
        if parameters["neighbours"] != "add-remove":
            return None
        noise = self.distributions.from_gaussian_mechanism(float(parameters["sigma"]))
        rate = float(parameters["rate"])
        step = self.library.subsample_pld(pld=noise, sampling_probability=rate)
        return step.self_compose(int(parameters["k"]))

    def _sampled_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        loss = self._trained(parameters)
        if loss is None:
            return Unsupported("add-remove neighbours only")
        return loss.get_delta_for_epsilon(float(parameters["epsilon"]))

    def _sampled_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        loss = self._trained(parameters)
        if loss is None:
            return Unsupported("add-remove neighbours only")
        return loss.get_epsilon_for_delta(float(parameters["delta"]))


def make() -> PLDAccounting:
    """The adapter; raises ImportError where PLD_accounting is not installed."""
    names = ("PLD_accounting", "dp_accounting.pld.privacy_loss_distribution")
    library, distributions = map(import_module, names)
    return PLDAccounting(library, distributions, version("PLD-accounting"))
