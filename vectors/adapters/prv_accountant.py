"""prv-accountant (Microsoft): numerical composition of privacy random variables.

It returns a lower bound, an estimate and an upper bound; the answer is the upper bound. Its errors
are set as its documentation suggests: delta_error = delta/1000 where delta is given, else 1e-10,
and eps_error = 0.1 (0.01 where epsilon is asked for or below 1, as 0.1 would say nothing there). It
extends epsilon below 0; where it does, the answer is 0.

Its answers about pure mechanisms of a large epsilon are too small, also where no double overflows
(epsilon 2, 50 times, at 60: .48973 for .93049): it chooses the size of its domain from a Renyi
divergence of PureDPMechanism that is too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported, beyond_doubles


@dataclass(frozen=True)
class PRVAccountant:
    """Calls into prv_accountant."""

    library: Any
    version: str
    name: str = "prv_accountant"

    def answer(self, question: str, group: str, parameters: Mapping[str, str]) -> Any:
        """The upper bound of the composition."""
        if beyond_doubles(parameters):
            return Unsupported("a parameter is beyond double precision")
        if group == "analytic_gaussian" and question != "sigma":
            return self._composed(question, {"mechanism": "gaussian", "k": "1", **parameters})
        if group == "composition":
            return self._composed(question, parameters)
        if group == "sampled_gaussian" and parameters["neighbours"] == "add-remove":
            return self._composed(question, {"mechanism": "sampled", **parameters})
        return Unsupported()

    def _variable(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] == "gaussian":
            return self.library.GaussianMechanism(
                float(parameters["sigma"]), l2_sensitivity=float(parameters["sensitivity"])
            )
        if parameters["mechanism"] == "sampled":
            return self.library.PoissonSubsampledGaussianMechanism(
                noise_multiplier=float(parameters["sigma"]),
                sampling_probability=float(parameters["rate"]),
            )
        if parameters["mechanism"] == "laplace":
            return self.library.LaplaceMechanism(mu=1 / float(parameters["scale"]))
        if float(parameters["delta_each"]):
            return self.library.ApproximateDPMechanism(
                float(parameters["epsilon_each"]), float(parameters["delta_each"])
            )
        return self.library.PureDPMechanism(float(parameters["epsilon_each"]))

    def _composed(self, question: str, parameters: Mapping[str, str]) -> Any:
        copies = int(parameters["k"])
        fine = question == "epsilon" or float(parameters["epsilon"]) < 1
        delta_error = float(parameters["delta"]) / 1000 if question == "epsilon" else 1e-10
        accountant = self.library.PRVAccountant(
            prvs=[self._variable(parameters)],
            max_self_compositions=[copies],
            eps_error=0.01 if fine else 0.1,
            delta_error=delta_error,
        )
        if question == "epsilon":
            return max(0.0, accountant.compute_epsilon(float(parameters["delta"]), [copies])[2])
        return accountant.compute_delta(float(parameters["epsilon"]), [copies])[2]


def make() -> PRVAccountant:
    """The adapter; raises ImportError where prv-accountant is not installed."""
    import prv_accountant

    return PRVAccountant(prv_accountant, version("prv-accountant"))
