"""gdpnum: the mu of Gaussian DP, and trade-off functions, from dp_accounting's distributions.

- CTDAccountant, whose history is one entry for all steps; get_beta, so that the power is 1 - beta.
- mu is that of get_mu_and_regret, documented as pessimistic: the trade-off function of N(mu, 1) is
  at most the mechanism's. It knows no least delta, so its mu would have to be the larger one.
- It has add-remove neighbours only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod
from vectors.adapters.riskcal import history


@dataclass(frozen=True)
class Gdpnum(ByMethod):
    """Calls into gdpnum."""

    library: Any
    version: str
    name: str = "gdpnum"

    def _power_power(self, parameters: Mapping[str, str]) -> Any:
        accountant = history(self.library.CTDAccountant(), parameters)
        if accountant is None:
            return Unsupported("add-remove neighbours only")
        return 1 - float(accountant.get_beta(float(parameters["false_alarms"])))

    def _power_mu(self, parameters: Mapping[str, str]) -> Any:
        accountant = history(self.library.CTDAccountant(), parameters)
        if accountant is None:
            return Unsupported("add-remove neighbours only")
        return accountant.get_mu_and_regret()[0]


def make() -> Gdpnum:
    """The adapter; raises ImportError where gdpnum is not installed."""
    return Gdpnum(import_module("gdpnum"), version("gdpnum"))
