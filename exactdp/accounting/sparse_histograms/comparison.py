"""Every mechanism and analysis for one target, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial

from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.sparse_histograms import csh, discrete_csh, discrete_gshm, gshm
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.parameters import Real, delta_target, integer, non_negative


@dataclass(frozen=True)
class Row:
    """One mechanism and analysis: its best parameters and what they cost.

    noise: standard deviation of all noise on one counter.
    saving: 1 - tau / (tau of the exact GSHM), as a fraction; negative where tau is larger. None
    where that one is not known.
    """

    calibration: Calibration
    noise: Enclosure
    saving: Fraction | None

    def as_dict(self) -> dict[str, object]:
        """For JSON: the calibration with "noise" and "saving" beside it."""
        saving = None if self.saving is None else f"{float(self.saving):.6f}"
        return {**self.calibration.as_dict(), "noise": self.noise.as_dict(), "saving": saving}

    def cells(self) -> list[str]:
        """mechanism, analysis, sigma, noise, tau, delta and saving, as text."""
        return [
            self.calibration.mechanism,
            self.calibration.analysis,
            str(self.calibration.sigma),
            self.noise.decimal_upper(7),
            str(self.calibration.tau),
            self.calibration.delta.decimal_upper(10),
            "" if self.saving is None else f"{100 * float(self.saving):.1f} %",
        ]


@dataclass(frozen=True)
class Open:
    """A mechanism and analysis whose parameters could not be settled, and why."""

    mechanism: str
    analysis: str
    reason: str

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"mechanism": self.mechanism, "analysis": self.analysis, "undecided": self.reason}

    def cells(self) -> list[str]:
        """As those of a Row."""
        return [self.mechanism, self.analysis, "undecided", "", "", "", ""]


def compare(*, k: int, epsilon: Real, delta: Real) -> list[Row | Open]:
    """Calibrate every (sigma, tau) mechanism with every analysis for (epsilon, delta).

    k: sparsity, >= 1. epsilon: >= 0. delta: target, > 0 and < 1. The discrete mechanisms are those
    that are released. What cannot be settled is a row of its own. Raises InvalidParameter.
    """
    number, loss = integer("k", k, least=1), non_negative("epsilon", epsilon)
    target = delta_target("delta", delta)
    runs: list[tuple[str, str, Callable[..., Calibration]]] = [
        ("gshm", "add-the-deltas", partial(gshm.calibrate, analysis="add-the-deltas")),
        ("gshm", "exact", gshm.calibrate),
        ("csh", "add-the-deltas", partial(csh.calibrate, analysis="add-the-deltas")),
        ("csh", "published", partial(csh.calibrate, analysis="published")),
        ("csh", "exact", csh.calibrate),
        ("discrete-gshm", "exact", discrete_gshm.calibrate),
        ("discrete-csh", discrete_csh.DEFAULT_ANALYSIS, discrete_csh.calibrate),
    ]
    found: list[Calibration | Open] = []
    for mechanism, analysis, run in runs:
        try:
            found.append(run(k=number, epsilon=loss, delta=target))
        except Undecided as error:
            found.append(Open(mechanism, analysis, str(error)))
    exact = found[1]
    reference = None if isinstance(exact, Open) else _tau(exact)
    return [row if isinstance(row, Open) else _row(row, number, reference) for row in found]


def _row(calibration: Calibration, k: int, reference: Fraction | None) -> Row:
    noise = Enclosure.exact(calibration.sigma)
    if calibration.mechanism.endswith("csh"):
        noise = csh.total_noise(k=k, sigma=calibration.sigma)
    saving = 1 - _tau(calibration) / reference if reference else None
    return Row(calibration, noise, saving)


def _tau(calibration: Calibration) -> Fraction:
    return Fraction(calibration.tau or Decimal(0))
