"""Threshold against noise: the certified points behind the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.sparse_histograms import csh, gshm
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, integer

#: The curves of the CSH paper's Figure 3, and the exact one.
CURVES = (
    ("gshm", "add-the-deltas"),
    ("gshm", "exact"),
    ("csh", "add-the-deltas"),
    ("csh", "published"),
    ("csh", "exact"),
)


@dataclass(frozen=True)
class CurvePoint:
    """The smallest threshold (certified) at a total noise per counter."""

    noise: Enclosure
    calibration: Calibration


@dataclass(frozen=True)
class Saving:
    """Best thresholds at one sparsity, by (mechanism, analysis)."""

    k: int
    tau: dict[tuple[str, str], Fraction]

    def saved(self) -> Fraction:
        """How much lower the exact CSH threshold is than the exact GSHM's, as a fraction."""
        return 1 - self.tau["csh", "exact"] / self.tau["gshm", "exact"]


def threshold_curve(
    mechanism: str, analysis: str, *, k: int, epsilon: Real, delta: Real, points: int = 24
) -> Iterator[CurvePoint]:
    """Smallest thresholds from the sigma that allows the lowest one to 1.4 times that sigma.

    mechanism: "gshm" or "csh"; analysis: one of its own. points: >= 2. The rest as in calibrate.
    """
    count = integer("points", points, least=2)
    run, noise = _tools(mechanism)
    best = run(k=k, epsilon=epsilon, delta=delta, analysis=analysis, resolution="1e-6")
    least = Fraction(best.sigma)
    for i in range(count):
        # quadratic spacing: the curve bends near the least noise
        sigma = least * (1 + Fraction(2 * i * i, 5 * (count - 1) ** 2))
        found = best
        if i:
            rounded = f"{float(sigma):.6g}"
            found = run(
                k=k,
                epsilon=epsilon,
                delta=delta,
                analysis=analysis,
                sigma=rounded,
                resolution="1e-6",
            )
        yield CurvePoint(noise(k, found), found)


def savings(*, epsilon: Real, delta: Real, sparsities: tuple[int, ...]) -> Iterator[Saving]:
    """Best thresholds of every curve for each sparsity."""
    for k in sparsities:
        tau = {}
        for mechanism, analysis in CURVES:
            run, _ = _tools(mechanism)
            found = run(k=k, epsilon=epsilon, delta=delta, analysis=analysis, resolution="1e-6")
            tau[mechanism, analysis] = Fraction(found.tau or 0)
        yield Saving(k, tau)


def _tools(
    mechanism: str,
) -> tuple[Callable[..., Calibration], Callable[[int, Calibration], Enclosure]]:
    if mechanism == "gshm":
        return gshm.calibrate, lambda _, found: Enclosure.exact(found.sigma)
    return csh.calibrate, lambda k, found: csh.total_noise(k=k, sigma=found.sigma)
