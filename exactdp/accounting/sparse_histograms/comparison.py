"""Every mechanism and analysis for one target, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.sparse_histograms import csh, gshm
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real

__all__ = ["Row", "compare"]


@dataclass(frozen=True)
class Row:
    """One mechanism and analysis: its best parameters and what they cost.

    noise: standard deviation of all noise on one counter.
    saving: 1 - tau / (tau of the exact GSHM), as a fraction; negative where tau is larger.
    """

    calibration: Calibration
    noise: Enclosure
    saving: Fraction

    def as_dict(self) -> dict[str, object]:
        """For JSON: the calibration with "noise" and "saving" beside it."""
        saving = f"{float(self.saving):.6f}"
        return {**self.calibration.as_dict(), "noise": self.noise.as_dict(), "saving": saving}


def compare(*, k: int, epsilon: Real, delta: Real) -> list[Row]:
    """Calibrate every (sigma, tau) mechanism with every analysis for (epsilon, delta).

    k: sparsity, >= 1. epsilon: >= 0. delta: target, > 0 and < 1.
    Raises InvalidParameter, Undecided.
    """
    gaussians = [
        gshm.calibrate(k=k, epsilon=epsilon, delta=delta, analysis=name)
        for name in ("add-the-deltas", "exact")
    ]
    correlated = [
        csh.calibrate(k=k, epsilon=epsilon, delta=delta, analysis=name)
        for name in ("add-the-deltas", "published", "exact")
    ]
    reference = _tau(gaussians[-1])
    rows = [(c, Enclosure.exact(c.sigma)) for c in gaussians]
    rows += [(c, csh.total_noise(k=k, sigma=c.sigma)) for c in correlated]
    return [
        Row(c, noise, 1 - _tau(c) / reference if reference else Fraction(0)) for c, noise in rows
    ]


def _tau(calibration: Calibration) -> Fraction:
    return Fraction(calibration.tau or Decimal(0))
