"""riskcal: attack risks from the privacy loss distributions of dp_accounting.

- CTDAccountant, whose history is one entry for all steps; get_beta, so that the power is 1 - beta,
  and get_epsilon. It has add-remove neighbours only.
- riskcal offers no mu and no delta of its own.
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
class Riskcal(ByMethod):
    """Calls into riskcal."""

    accountants: Any
    version: str
    name: str = "riskcal"

    def _trained(self, parameters: Mapping[str, str]) -> Any:
        return history(self.accountants.CTDAccountant(), parameters)

    def _power_power(self, parameters: Mapping[str, str]) -> Any:
        accountant = self._trained(parameters)
        if accountant is None:
            return Unsupported("add-remove neighbours only")
        return 1 - float(accountant.get_beta(alpha=float(parameters["false_alarms"])))

    def _sampled_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        accountant = self._trained(parameters)
        if accountant is None:
            return Unsupported("add-remove neighbours only")
        return accountant.get_epsilon(delta=float(parameters["delta"]))


def history(accountant: Any, parameters: Mapping[str, str]) -> Any:
    """An accountant of Opacus's kind after k steps, or None for replace-one neighbours."""
    if parameters["neighbours"] != "add-remove":
        return None
    sigma, rate, steps = (parameters[name] for name in ("sigma", "rate", "k"))
    accountant.history = [(float(sigma), float(rate), int(steps))]
    return accountant


def make() -> Riskcal:
    """The adapter; raises ImportError where riskcal is not installed."""
    return Riskcal(import_module("riskcal.accountants"), version("riskcal"))
