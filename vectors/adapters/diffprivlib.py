"""diffprivlib (IBM): the analytic Gaussian's scale, and the budget accountant's composition.

- GaussianAnalytic chooses its standard deviation for (epsilon, delta); it is read from the
  attribute that the mechanism draws with, as variance() would round it by squaring.
- BudgetAccountant.total with slack = delta composes pure mechanisms.
- It offers no deltas of given noise, no thresholds, and no probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from exactdp.oracle.conformance import Unsupported, beyond_doubles


@dataclass(frozen=True)
class Diffprivlib:
    """Calls into diffprivlib."""

    library: Any
    version: str
    name: str = "diffprivlib"

    def answer(self, question: str, group: str, parameters: Mapping[str, str]) -> Any:
        """What the mechanism or the accountant says."""
        if beyond_doubles(parameters):
            return Unsupported("a parameter is beyond double precision")
        if (group, question) == ("analytic_gaussian", "sigma"):
            mechanism = self.library.mechanisms.GaussianAnalytic(
                epsilon=float(parameters["epsilon"]),
                delta=float(parameters["delta"]),
                sensitivity=float(parameters["sensitivity"]),
            )
            return mechanism._scale
        if (group, question) == ("composition", "epsilon"):
            return self._composed(parameters)
        return Unsupported()

    def _composed(self, parameters: Mapping[str, str]) -> Any:
        if parameters["mechanism"] != "pure":
            return Unsupported("composes promises, not mechanisms")
        each = float(parameters["epsilon_each"]), float(parameters["delta_each"])
        spent, slack = [each] * int(parameters["k"]), float(parameters["delta"])
        return self.library.BudgetAccountant().total(spent_budget=spent, slack=slack)[0]


def make() -> Diffprivlib:
    """The adapter; raises ImportError where diffprivlib is not installed."""
    import diffprivlib

    return Diffprivlib(diffprivlib, version("diffprivlib"))
