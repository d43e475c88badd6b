"""autodp: mechanisms with their epsilon(delta), the analytic Gaussian's calibrator, composition.

- Its sigma is in units of the sensitivity.
- analytic Gaussian: get_logdelta_ana_gaussian, ExactGaussianMechanism and ana_gaussian_calibrator.
  The calibrator documents an absolute tolerance of 1e-12 on delta, which is kept at its default.
- zCDP and pure DP go through Renyi orders with its default conversion; k Gaussians through
  ComposeGaussian; k Laplace through ComposeAFA, its Fourier accountant.
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


@dataclass(frozen=True)
class AutoDP(ByMethod):
    """Calls into autodp."""

    zoo: Any
    transformers: Any
    calibrators: Any
    bank: Any
    version: str
    name: str = "autodp"

    def _analytic_gaussian_delta(self, given: Mapping[str, str]) -> Any:
        ratio = float(given["sigma"]) / float(given["sensitivity"])
        return math.exp(self.bank.get_logdelta_ana_gaussian(ratio, float(given["epsilon"])))

    def _analytic_gaussian_epsilon(self, given: Mapping[str, str]) -> Any:
        ratio = float(given["sigma"]) / float(given["sensitivity"])
        return self.zoo.ExactGaussianMechanism(ratio).get_approxDP(float(given["delta"]))

    def _analytic_gaussian_sigma(self, given: Mapping[str, str]) -> Any:
        calibrate = self.calibrators.ana_gaussian_calibrator()
        mechanism = calibrate(
            self.zoo.ExactGaussianMechanism, float(given["epsilon"]), float(given["delta"])
        )
        return mechanism.params["sigma"] * float(given["sensitivity"])

    def _zcdp_epsilon(self, given: Mapping[str, str]) -> Any:
        return self.zoo.zCDP_Mechanism(float(given["rho"])).get_approxDP(float(given["delta"]))

    def _composed(self, given: Mapping[str, str]) -> Any:
        if given["mechanism"] == "gaussian":
            ratio = float(given["sigma"]) / float(given["sensitivity"])
            single = self.zoo.ExactGaussianMechanism(ratio)
            return self.transformers.ComposeGaussian()([single], [int(given["k"])])
        if given["mechanism"] == "laplace":
            single = self.zoo.LaplaceMechanism(float(given["scale"]), phi_off=False)
            return self.transformers.ComposeAFA()([single], [int(given["k"])])
        if float(given["delta_each"]):
            return Unsupported("composes pure mechanisms")
        single = self.zoo.PureDP_Mechanism(float(given["epsilon_each"]))
        return self.transformers.Composition()([single], [int(given["k"])])

    def _composition_delta(self, given: Mapping[str, str]) -> Any:
        if given["mechanism"] != "laplace":
            return Unsupported("the composed mechanism gives epsilon at delta")
        return self._composed(given).get_approx_delta(float(given["epsilon"]))

    def _composition_epsilon(self, given: Mapping[str, str]) -> Any:
        found = self._composed(given)
        if isinstance(found, Unsupported):
            return found
        return found.get_approxDP(float(given["delta"]))

    def _sampled_gaussian_epsilon(self, given: Mapping[str, str]) -> Any:
        if given["neighbours"] != "add-remove":
            return Unsupported()
        mechanism = self.zoo.NoisySGD_Mechanism(
            prob=float(given["rate"]), sigma=float(given["sigma"]), niter=int(given["k"])
        )
        return mechanism.get_approxDP(float(given["delta"]))


def make() -> AutoDP:
    """The adapter; raises ImportError where autodp is not installed."""
    names = ("mechanism_zoo", "transformer_zoo", "calibrator_zoo", "dp_bank")
    zoo, transformers, calibrators, bank = (import_module(f"autodp.{name}") for name in names)
    return AutoDP(zoo, transformers, calibrators, bank, version("autodp"))
