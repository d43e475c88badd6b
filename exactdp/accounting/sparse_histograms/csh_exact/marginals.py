"""How fast the exact delta falls as one moves away from the corner that bounds a box of pairs.

On one profile (G for j counters, r extras) let Psi(D^2, t) = E[F(M)], as in :mod:`cells`. With
T = (ln G - b + c M)/w, by Plackett's identity and with b = epsilon - D^2/2,

    dPsi/dD^2 = E[G phi(T)]/(2 w),    -dPsi/dt = E[-(ln G)'(M) G phi(T)]/w,

and one extra counter less costs at least E[(L_r - L_(r-1)) P(e^(b-U) > G_(r_1) | M)], as long as
r_1 < r are left. Lower bounds on the three over a rectangle of (D^2, t) come from the cells: ln G
falls and is concave, L_r - L_(r-1) is log-concave in m (so least at an end of a cell), and
ln G_(r_1) <= (r_1/r) ln G_r, as ln G is convex in r and 0 at r = 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from flint import arb

from exactdp.accounting.gaussian import tail
from exactdp.accounting.sparse_histograms.csh_exact.cells import Cells
from exactdp.balls import ball

__all__ = ["Marginals", "marginals"]


class Marginals(NamedTuple):
    """Lower bounds >= 0 on dPsi/dD^2, -dPsi/dt and what one extra counter less costs."""

    distance: arb
    covariance: arb
    extra: arb


def marginals(
    cells: Cells, fewer: Cells, epsilon: arb, squared: arb, covariance: arb, least: int
) -> Marginals:
    """Over balls squared and covariance; `fewer` has one extra counter less, `least` = r_1."""
    slope = covariance / cells.profile.variance
    variance = squared - covariance * slope
    if not variance > 0:
        return Marginals(arb(0), arb(0), arb(0))
    width, offset = variance.sqrt(), epsilon - squared / 2
    share, step = arb(least) / cells.profile.r, ball(cells.step)
    logs = [(-lost).log1p() for lost in cells.about]
    steps = [(x - y).lower() for x, y in zip(cells.about, fewer.about, strict=True)]
    distance = covariance_part = extra = drop = arb(0)
    for i, (low, high) in enumerate(pairwise(logs)):
        log = low.union(high)
        if not log.is_finite():
            break
        middle = slope * cells.nodes[i].union(cells.nodes[i + 1]) - offset
        far = ((log + middle) / width).abs_upper()
        density = cells.cells[i].mass * (high - far * far / 2).exp() / width
        distance += density.lower()
        covariance_part += (drop * density).lower()
        least_step = _smaller(steps[i], steps[i + 1]).max(arb(0))
        over = tail((share * log + middle) / width)
        extra += (cells.cells[i].mass * least_step * over).lower()
        drop = ((low - high) / step).max(arb(0))
    scale = (2 * arb.pi()).rsqrt()
    return Marginals(
        (scale * distance / 2).lower(), (scale * covariance_part).lower(), extra.lower()
    )


def _smaller(bound: arb, other: arb) -> arb:
    return other if other < bound else bound
