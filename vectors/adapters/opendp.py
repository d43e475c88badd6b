"""OpenDP: zCDP noise with its conversion to approximate DP, and noise with a threshold.

- Gaussian noise is accounted for through zCDP; OpenDP offers no tighter measure for it, so its
  deltas are upper bounds. Integer queries get discrete noise, as it chooses itself.
- make_laplace_threshold and make_gaussian_threshold document that counts *less than* the threshold
  are excluded, so they answer for comparison ">=" on integers; on floats both comparisons.
  In 0.16.0 a count equal to the threshold is indeed released, while the map's delta leaves it out:
  known as https://github.com/opendp/opendp/issues/2922.
- binary_search finds sigma with bounds, from 0 to _MOST sensitivities: without them it looks for
  bounds itself, and does not always end.
- d_in of the thresholds is (l0, l1 or l2, l_infinity) = (k, ..., 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod

_COPIES = 2000

#: Largest sigma that is searched for, in sensitivities.
_MOST = 1e12


@dataclass(frozen=True)
class OpenDP(ByMethod):
    """Calls into opendp.prelude."""

    dp: Any
    version: str
    name: str = "opendp"

    def _curve(self, measurement: Any, distance: Any) -> Any:
        return self.dp.c.make_zCDP_to_approxDP(measurement).map(distance)

    def _gaussian(self, scale: float, kind: type = float) -> Any:
        space = self._atom(kind), self.dp.absolute_distance(T=kind)
        return self.dp.m.make_gaussian(*space, scale)

    def _atom(self, kind: type) -> Any:
        if kind is float:
            return self.dp.atom_domain(T=float, nan=False)
        return self.dp.atom_domain(T=kind)

    def _analytic_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        noise = self._gaussian(float(parameters["sigma"]))
        return self._curve(noise, float(parameters["sensitivity"])).delta(
            float(parameters["epsilon"])
        )

    def _analytic_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        noise = self._gaussian(float(parameters["sigma"]))
        return self._curve(noise, float(parameters["sensitivity"])).epsilon(
            float(parameters["delta"])
        )

    def _analytic_gaussian_sigma(self, parameters: Mapping[str, str]) -> Any:
        distance, delta = float(parameters["sensitivity"]), float(parameters["delta"])
        epsilon = float(parameters["epsilon"])

        def enough(sigma: float) -> bool:
            curve = self._curve(self._gaussian(sigma), distance)
            return bool(curve.epsilon(delta) <= epsilon)

        return self.dp.binary_search(enough, bounds=(0.0, _MOST * distance))

    def _discrete_gaussian_delta(self, parameters: Mapping[str, str]) -> Any:
        noise = self._gaussian(math.sqrt(float(parameters["sigma2"])), int)
        return self._curve(noise, int(parameters["sensitivity"])).delta(
            float(parameters["epsilon"])
        )

    def _zcdp(self, rho: float) -> Any:
        return self.dp.m.make_user_measurement(
            self.dp.atom_domain(T=int),
            self.dp.absolute_distance(T=int),
            self.dp.zero_concentrated_divergence(),
            lambda value: value,
            lambda distance: rho * distance,
            TO=int,
        )

    def _zcdp_delta(self, parameters: Mapping[str, str]) -> Any:
        return self._curve(self._zcdp(float(parameters["rho"])), 1).delta(
            float(parameters["epsilon"])
        )

    def _zcdp_epsilon(self, parameters: Mapping[str, str]) -> Any:
        return self._curve(self._zcdp(float(parameters["rho"])), 1).epsilon(
            float(parameters["delta"])
        )

    def _composed(self, parameters: Mapping[str, str]) -> Any:
        copies = int(parameters["k"])
        if parameters["mechanism"] != "gaussian":
            return Unsupported("pure DP composes by adding epsilons only")
        if copies > _COPIES:
            return Unsupported(f"a list of {copies} measurements")
        single = self._gaussian(float(parameters["sigma"]))
        both = self.dp.c.make_composition([single] * copies)
        return self._curve(both, float(parameters["sensitivity"]))

    def _composition_delta(self, parameters: Mapping[str, str]) -> Any:
        curve = self._composed(parameters)
        return (
            curve if isinstance(curve, Unsupported) else curve.delta(float(parameters["epsilon"]))
        )

    def _composition_epsilon(self, parameters: Mapping[str, str]) -> Any:
        curve = self._composed(parameters)
        return (
            curve if isinstance(curve, Unsupported) else curve.epsilon(float(parameters["delta"]))
        )

    def _threshold(self, parameters: Mapping[str, str], threshold: Any) -> float:
        """delta of the threshold part for k counts of 1."""
        kind = float if parameters["noise"] in ("laplace", "gaussian") else int
        laplace = parameters["noise"] in ("laplace", "geometric")
        domain = self.dp.map_domain(self.dp.atom_domain(T=str), self._atom(kind))
        distance, count = self.dp.absolute_distance(T=kind), int(parameters["k"])
        if laplace:
            metric, make = self.dp.l01inf_distance(distance), self.dp.m.make_laplace_threshold
        else:
            metric, make = self.dp.l02inf_distance(distance), self.dp.m.make_gaussian_threshold
        total = count if laplace else math.sqrt(count)
        step = kind(math.ceil(total)) if kind is int else float(total)
        noise = make(domain, metric, float(parameters["scale"]), kind(threshold))
        return float(noise.map((count, step, kind(1)))[1])

    def _offered(self, parameters: Mapping[str, str]) -> bool:
        return parameters["noise"] in ("laplace", "gaussian") or parameters["comparison"] == ">="

    def _thresholds_delta(self, parameters: Mapping[str, str]) -> Any:
        level = float(parameters["threshold"])
        if not self._offered(parameters):
            return Unsupported("integer counts are released where >= threshold")
        if parameters["noise"] not in ("laplace", "gaussian") and not level.is_integer():
            return Unsupported("the threshold of integers is an integer")
        if level < 1:
            return Unsupported("a threshold is at least the sensitivity of a count")
        return self._threshold(parameters, level)

    def _thresholds_tau(self, parameters: Mapping[str, str]) -> Any:
        if not self._offered(parameters):
            return Unsupported("integer counts are released where >= threshold")
        delta = float(parameters["delta"])
        kind = float if parameters["noise"] in ("laplace", "gaussian") else int
        low, high = kind(1), kind(2 * 10**6)

        def enough(threshold: Any) -> bool:
            return self._threshold(parameters, threshold) <= delta

        if enough(low):
            return low
        if not enough(high):
            return Unsupported(f"no threshold up to {high} is shown to be enough")
        return self.dp.binary_search(enough, bounds=(low, high))


def make() -> OpenDP:
    """The adapter; raises ImportError where opendp is not installed."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    return OpenDP(dp, version("opendp"))
