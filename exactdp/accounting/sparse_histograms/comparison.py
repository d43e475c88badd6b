"""The sparse histograms and their analyses for one target, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from exactdp.accounting.calculator import CALCULATORS, calculator
from exactdp.accounting.calibration import Calibration
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.parameters import Real, delta_target, integer, non_negative


@dataclass(frozen=True)
class Row:
    """One mechanism and analysis: its best parameters and what they cost.

    noise: standard deviation of all noise on one counter.
    saving: 1 - tau / (tau of the exact analysis of the Gaussian sparse histogram mechanism), as a
    fraction; negative where tau is larger. None where that tau is not known.
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
    """A mechanism and analysis whose calibration is undecided, and why."""

    mechanism: str
    analysis: str
    reason: str

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"mechanism": self.mechanism, "analysis": self.analysis, "undecided": self.reason}

    def cells(self) -> list[str]:
        """The cells of a Row, empty where a number is not known."""
        return [self.mechanism, self.analysis, "undecided", "", "", "", ""]


def compare(*, k: int, epsilon: Real, delta: Real) -> list[Row | Open]:
    """Calibrate the sparse histograms for (epsilon, delta) with every analysis that is compared.

    k: sparsity, >= 1. epsilon: >= 0. delta: target, > 0 and < 1.
    Returns a row for each mechanism and analysis; an `Open` where the calibration is undecided.
    Raises InvalidParameter.
    """
    number, loss = integer("k", k, least=1), non_negative("epsilon", epsilon)
    target = delta_target("delta", delta)
    found: list[Calibration | Open] = []
    for name in CALCULATORS:
        made = calculator(name)
        for analysis in made.compared:
            try:
                found.append(
                    made.calibrate(k=number, epsilon=loss, delta=target, analysis=analysis)
                )
            except Undecided as error:
                found.append(Open(name, analysis, str(error)))
    exact = next(x for x in found if (x.mechanism, x.analysis) == ("gshm", "exact"))
    reference = None if isinstance(exact, Open) else _tau(exact)
    return [row if isinstance(row, Open) else _row(row, number, reference) for row in found]


def _row(calibration: Calibration, k: int, reference: Fraction | None) -> Row:
    noise = calculator(calibration.mechanism).noise(k=k, sigma=calibration.sigma)
    saving = 1 - _tau(calibration) / reference if reference else None
    return Row(calibration, noise, saving)


def _tau(calibration: Calibration) -> Fraction:
    return Fraction(calibration.tau or Decimal(0))
