"""opake-accounting (JetBrains): privacy loss distributions, with its default discretisation.

- gaussian_pld, poisson_pld, eps_delta_pld and random_allocation_gaussian_pld, which opake's own
  accountants call; delta_at, epsilon_at, and beta_at, so that the power is 1 - beta.
- Sampling: add-remove neighbours only. Matrices: toeplitz_minsep_sensitivity_squared, for
  coefficients that do not rise and are not negative, and mf_gaussian_pld.
- It needs Python 3.13: on 3.11 and 3.12 its classes fail to be made (__weakref__).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from math import sqrt
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod


@dataclass(frozen=True)
class Opake(ByMethod):
    """Calls into opake."""

    core: Any
    settings: Any
    version: str
    name: str = "opake"

    def _gaussian(self, parameters: Mapping[str, str], steps: int = 1) -> Any:
        ratio = float(parameters["sigma"]) / float(parameters.get("sensitivity", "1"))
        once = self.core.gaussian_pld(ratio, self.settings)
        return once if steps == 1 else once.self_compose(steps)

    def _analytic_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._gaussian(parameters).delta_at(float(parameters["epsilon"]))

    def _analytic_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        return self._gaussian(parameters).epsilon_at(float(parameters["delta"]))

    def _composed(self, parameters: Mapping[str, str]) -> Any:
        copies = int(parameters["k"])
        if parameters["mechanism"] == "gaussian":
            return self._gaussian(parameters, copies)
        if parameters["mechanism"] != "pure":
            return None
        each = float(parameters["epsilon_each"]), float(parameters["delta_each"])
        return self.core.eps_delta_pld(*each, self.settings).self_compose(copies)

    def _composition_delta(self, parameters: Mapping[str, str]) -> Any:
        loss = self._composed(parameters)
        return Unsupported() if loss is None else loss.delta_at(float(parameters["epsilon"]))

    def _composition_epsilon(self, parameters: Mapping[str, str]) -> Any:
        loss = self._composed(parameters)
        return Unsupported() if loss is None else loss.epsilon_at(float(parameters["delta"]))

    def _trained(self, parameters: Mapping[str, str]) -> Any:
        if parameters["neighbours"] != "add-remove":
            return None
        noise, rate = self._gaussian(parameters), float(parameters["rate"])
        step = noise if rate == 1 else self.core.poisson_pld(noise, rate)
        return step.self_compose(int(parameters["k"]))

    def _sampled_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        loss = self._trained(parameters)
        return Unsupported() if loss is None else loss.delta_at(float(parameters["epsilon"]))

    def _sampled_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        loss = self._trained(parameters)
        return Unsupported() if loss is None else loss.epsilon_at(float(parameters["delta"]))

    def _power_power(self, parameters: Mapping[str, str]) -> Any:
        loss = self._trained(parameters)
        if loss is None:
            return Unsupported("add-remove neighbours only")
        return 1 - loss.beta_at(float(parameters["false_alarms"]))

    def _allocation_delta(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] != "gaussian":
            return Unsupported("Gaussian noise only")
        loss = self.core.random_allocation_gaussian_pld(
            float(parameters["sigma"]), int(parameters["steps"]), 1, self.settings
        )
        return loss.delta_at(float(parameters["epsilon"]))

    def _matrix_delta(self, parameters: Mapping[str, str]) -> Any:
        coefficients = [float(text) for text in parameters["strategy"].split()]
        square = self.core.toeplitz_minsep_sensitivity_squared(
            coefficients,
            int(parameters["steps"]),
            int(parameters["separation"]),
            int(parameters["participations"]),
        )
        loss = self.core.mf_gaussian_pld(float(parameters["sigma"]), sqrt(square), self.settings)
        return loss.delta_at(float(parameters["epsilon"]))


def make() -> Opake:
    """The adapter; raises ImportError where opake-accounting is not installed."""
    core = import_module("opake.api.accounting.core.opake_accounting")
    return Opake(core, core.DiscretizationConfig(), version("opake-accounting"))
