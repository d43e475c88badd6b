"""jax_privacy (Google DeepMind): sensitivities of matrix strategies, and accountants of training.

- Matrices: toeplitz.minsep_sensitivity_squared, which refuses coefficients that it does not know to
  be right for, in double precision (jax_enable_x64); then dp_accounting's Gaussian mechanism, as
  its documentation does.
- Training: DpsgdTrainingAccountant with dp_accounting's PLD accountant, for epsilon; its number of
  examples is 10 000, so rates that are no multiples of 1/10 000 are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from math import sqrt
from typing import Any

from exactdp.oracle.conformance import Unsupported
from vectors.adapters.by_method import ByMethod

_EXAMPLES = 10_000


@dataclass(frozen=True)
class JaxPrivacy(ByMethod):
    """Calls into jax_privacy."""

    accounting: Any
    toeplitz: Any
    losses: Any
    version: str
    name: str = "jax_privacy"

    def _matrix_delta(self, parameters: Mapping[str, str]) -> Any:
        coefficients = import_module("jax.numpy").array(
            [float(text) for text in parameters["strategy"].split()]
        )
        square = self.toeplitz.minsep_sensitivity_squared(
            coefficients,
            min_sep=int(parameters["separation"]),
            max_participations=int(parameters["participations"]),
            n=int(parameters["steps"]),
        )
        loss = self.losses.GaussianPrivacyLoss(
            float(parameters["sigma"]), sensitivity=sqrt(float(square))
        )
        return loss.get_delta_for_epsilon(float(parameters["epsilon"]))

    def _sampled_gaussian_epsilon(self, parameters: Mapping[str, str]) -> Any:
        batch = Fraction(parameters["rate"]) * _EXAMPLES
        if parameters["neighbours"] != "add-remove" or batch.denominator > 1:
            return Unsupported("not asked")
        settings = self.accounting.DpParams(
            noise_multipliers=float(parameters["sigma"]),
            num_samples=_EXAMPLES,
            delta=float(parameters["delta"]),
            batch_size=int(batch),
        )
        accountant = self.accounting.DpsgdTrainingAccountant(
            dp_accountant_config=self.accounting.PldAccountantConfig()
        )
        return accountant.compute_epsilon(int(parameters["k"]), settings)


def make() -> JaxPrivacy:
    """The adapter; raises ImportError where jax_privacy is not installed."""
    names = (
        "jax_privacy.accounting",
        "jax_privacy.matrix_factorization.toeplitz",
        "dp_accounting.pld.privacy_loss_mechanism",
    )
    import_module("jax").config.update("jax_enable_x64", True)
    accounting, toeplitz, losses = map(import_module, names)
    return JaxPrivacy(accounting, toeplitz, losses, version("jax-privacy"))
