"""The sparse histograms and their analyses for one target, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from exactdp.accounting.calculator import CALCULATORS, calculator, parameters
from exactdp.accounting.calibration import Calibration, Exact
from exactdp.accounting.sparse_histograms.bounds import refuse_k
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, delta_target, integer, non_negative


@dataclass(frozen=True)
class Row:
    """One mechanism and analysis: its best parameters and what they cost.

    noise: standard deviation of all noise on one counter. What the mechanism assumes of the data is
    in `given` of the calibration: k (contributions) bounds one user, sparsity the whole histogram.
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
        """mechanism, analysis, assumption, sigma, noise, tau, delta and saving, as text."""
        return [
            self.calibration.mechanism,
            self.calibration.analysis,
            _assumed(self.calibration.given),
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
    given: Mapping[str, Fraction]
    reason: str

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"mechanism": self.mechanism, "analysis": self.analysis, "undecided": self.reason}

    def cells(self) -> list[str]:
        """The cells of a Row, empty where a number is not known."""
        return [self.mechanism, self.analysis, _assumed(self.given), "undecided", "", "", "", ""]


def compare(
    *,
    contributions: int | None = None,
    sparsity: int | None = None,
    epsilon: Real,
    delta: Real,
    **ambiguous: Any,
) -> list[Row | Open]:
    """Calibrate the sparse histograms for (epsilon, delta) with every analysis that is compared.

    contributions: largest number of counters of one user, >= 1; None is the sparsity.
    sparsity: largest number of non-zero counters of the whole histogram, of any data set, at least
    `contributions`; None if there is no such number. Then only mechanisms that need none are
    compared.
    epsilon: >= 0. delta: target, > 0 and < 1.
    Returns a row for each mechanism and analysis; an `Open` where the calibration is undecided.
    Raises InvalidParameter, also for k, which could be either of the two.
    """
    refuse_k(ambiguous, "k", "sparsity")
    if ambiguous:
        raise TypeError(f"compare() got an unexpected keyword argument {min(ambiguous)!r}")
    if contributions is None and sparsity is None:
        raise InvalidParameter("contributions, sparsity", None, "given, at least one of the two")
    total = None if sparsity is None else integer("sparsity", sparsity, least=1)
    own = total if contributions is None else integer("contributions", contributions, least=1)
    assert own is not None
    if total is not None and own > total:
        raise InvalidParameter("contributions", own, f"at most the sparsity, {total}")
    loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
    calibrations: list[Calibration | Open] = []
    for name in CALCULATORS:
        mechanism = calculator(name)
        for analysis in mechanism.compared:
            bounds = _bounds(parameters(mechanism.calibrate), analysis, own, total)
            if bounds is None:
                continue
            try:
                calibrations.append(
                    mechanism.calibrate(**bounds, epsilon=loss, delta=target, analysis=analysis)
                )
            except Undecided as error:
                exact = {each: Fraction(bound) for each, bound in bounds.items()}
                calibrations.append(Open(name, analysis, exact, str(error)))
    best = next(x for x in calibrations if (x.mechanism, x.analysis) == ("gshm", "exact"))
    reference = None if isinstance(best, Open) else _tau(best)
    return [row if isinstance(row, Open) else _row(row, reference) for row in calibrations]


def _bounds(
    takes: Mapping[str, bool], analysis: str, contributions: int, sparsity: int | None
) -> dict[str, int] | None:
    """The bounds on counters that a calibration takes; None where there is no sparsity."""
    if "sparsity" not in takes:
        return {"k": contributions}
    if sparsity is None:
        return None
    if "contributions" in takes and analysis == "exact" and contributions < sparsity:
        return {"sparsity": sparsity, "contributions": contributions}
    return {"sparsity": sparsity}


def _assumed(bounds: Mapping[str, Exact]) -> str:
    words = {"k": "contributions"}
    return ", ".join(f"{words.get(name, name)} <= {bound}" for name, bound in bounds.items())


def _row(calibration: Calibration, reference: Fraction | None) -> Row:
    bounds = {name: int(n) for name, n in calibration.given.items() if name != "contributions"}
    noise = calculator(calibration.mechanism).total_noise(**bounds, sigma=calibration.sigma)
    saving = 1 - _tau(calibration) / reference if reference else None
    return Row(calibration, noise, saving)


def _tau(calibration: Calibration) -> Fraction:
    return Fraction(calibration.tau or Decimal(0))
