"""autodp: mechanisms with their epsilon(delta), the analytic Gaussian's calibrator, composition.

- Its sigma is in units of the sensitivity.
- analytic Gaussian: get_logdelta_ana_gaussian, ExactGaussianMechanism and ana_gaussian_calibrator.
  The calibrator documents an absolute tolerance of 1e-12 on delta, which is kept at its default.
- zCDP and pure DP go through Renyi orders with its default conversion, and so does the discrete
  Gaussian, which is accounted for as zCDP; k Gaussians through ComposeGaussian; k Laplace through
  ComposeAFA, its Fourier accountant.
- One sampled step: AmplificationBySampling, Poisson samples of add-remove neighbours.
- Training runs: NoisySGD_Mechanism, through Renyi orders. Its Fourier accountant of samples needs
  scipy.integrate.quadrature, which scipy has no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod

#: The documented tolerance of the calibrator, on delta.
TOLERANCES = {("analytic_gaussian", "sigma"): ("delta", "1e-12")}


@dataclass(frozen=True)
class AutoDP(ByMethod):
    """Calls into autodp."""

    zoo: Any
    transformers: Any
    calibrators: Any
    bank: Any
    version: str
    name: str = "autodp"

    def _analytic_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        ratio = float(parameters["sigma"]) / float(parameters["sensitivity"])
        return math.exp(self.bank.get_logdelta_ana_gaussian(ratio, float(parameters["epsilon"])))

    def _analytic_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        ratio = float(parameters["sigma"]) / float(parameters["sensitivity"])
        return self.zoo.ExactGaussianMechanism(ratio).get_approxDP(float(parameters["delta"]))

    def _analytic_gaussian_sigma(self, parameters: Mapping[str, str]) -> Any:
        calibrate = self.calibrators.ana_gaussian_calibrator()
        mechanism = calibrate(
            self.zoo.ExactGaussianMechanism,
            float(parameters["epsilon"]),
            float(parameters["delta"]),
        )
        return mechanism.params["sigma"] * float(parameters["sensitivity"])

    def _zcdp_delta(self, parameters: Mapping[str, str]) -> Any:
        mechanism = self.zoo.zCDP_Mechanism(float(parameters["rho"]))
        return mechanism.get_approx_delta(float(parameters["epsilon"]))

    def _discrete_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        ratio = math.sqrt(float(parameters["sigma2"])) / float(parameters["sensitivity"])
        mechanism = self.zoo.DiscreteGaussianMechanism(ratio)
        return mechanism.get_approx_delta(float(parameters["epsilon"]))

    def _sampling_delta(self, parameters: Mapping[str, str]) -> Any:
        question = parameters["neighbours"], parameters["sampling"], parameters["group"]
        if question != ("add-remove", "poisson", "1"):
            return Unsupported("not asked")
        scale = float(parameters["scale"])
        gaussian = parameters["mechanism"] == "gaussian"
        noise = self.zoo.GaussianMechanism(scale) if gaussian else self.zoo.LaplaceMechanism(scale)
        step = self.transformers.AmplificationBySampling()(noise, float(parameters["rate"]))
        return step.get_approx_delta(float(parameters["epsilon"]))

    def _zcdp_epsilon(self, parameters: Mapping[str, str]) -> Any:
        return self.zoo.zCDP_Mechanism(float(parameters["rho"])).get_approxDP(
            float(parameters["delta"])
        )

    def _composed(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] == "gaussian":
            ratio = float(parameters["sigma"]) / float(parameters["sensitivity"])
            single = self.zoo.ExactGaussianMechanism(ratio)
            return self.transformers.ComposeGaussian()([single], [int(parameters["k"])])
        if parameters["mechanism"] == "laplace":
            single = self.zoo.LaplaceMechanism(float(parameters["scale"]), phi_off=False)
            return self.transformers.ComposeAFA()([single], [int(parameters["k"])])
        if float(parameters["delta_each"]):
            return Unsupported("composes pure mechanisms")
        single = self.zoo.PureDP_Mechanism(float(parameters["epsilon_each"]))
        return self.transformers.Composition()([single], [int(parameters["k"])])

    def _composition_delta(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] != "laplace":
            return Unsupported("the composed mechanism gives epsilon at delta")
        return self._composed(parameters).get_approx_delta(float(parameters["epsilon"]))

    def _composition_epsilon(self, parameters: Mapping[str, str]) -> Any:
        mechanism = self._composed(parameters)
        if isinstance(mechanism, Unsupported):
            return mechanism
        return mechanism.get_approxDP(float(parameters["delta"]))

    def _trained(self, parameters: Mapping[str, str]) -> Any:
        if parameters["neighbours"] != "add-remove":
            return None
        return self.zoo.NoisySGD_Mechanism(
            prob=float(parameters["rate"]),
            sigma=float(parameters["sigma"]),
            niter=int(parameters["k"]),
        )

    def _sampled_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        mechanism = self._trained(parameters)
        if mechanism is None:
            return Unsupported("not asked")
        return mechanism.get_approx_delta(float(parameters["epsilon"]))

    def _sampled_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        mechanism = self._trained(parameters)
        if mechanism is None:
            return Unsupported("not asked")
        return mechanism.get_approxDP(float(parameters["delta"]))


def make() -> AutoDP:
    """The adapter; raises ImportError where autodp is not installed."""
    names = ("mechanism_zoo", "transformer_zoo", "calibrator_zoo", "dp_bank")
    zoo, transformers, calibrators, bank = (import_module(f"autodp.{name}") for name in names)
    return AutoDP(zoo, transformers, calibrators, bank, version("autodp"))
