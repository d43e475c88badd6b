"""CSH, Algorithm 4: noise in steps of one half."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp import mechanisms
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._discrete import masses
from exactdp.proofs_check.claims.csh._model import BITS, precision
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import DiscreteGaussian, SeededSource, exact_law

__all__ = ["CLAIMS"]

_CASES = ((2, Fraction(1, 5), "1e-6"), (9, Fraction(1), "1e-3"))  # k, sigma, residual mass
_SEEDS = 10


def _noise(root: int) -> str:
    """The shared noise has the masses of N_Z(0, 4 sigma^2/k^(1/root)), by enumeration; the counters
    get half the sum of it and of a draw of N_Z(0, 4 sigma^2) each, on the same random draws.
    """
    for k, sigma, residual in _CASES:
        code = mechanisms.CSH(k=k, sigma=sigma, tau=1, epsilon=1, delta="0.999999")
        own, counts = DiscreteGaussian(sigma2=4 * sigma**2), {x: 1000 + x for x in range(k)}
        for seed in range(_SEEDS):
            source = SeededSource(seed)
            common = code._shared.sample(source)
            noisy = {x: c + Fraction(own.sample(source) + common, 2) for x, c in counts.items()}
            found = dict(code.draw(counts, SeededSource(seed)))
            require(found == noisy, f"k={k}, seed {seed}: code {found}, stated {noisy}")
        law = exact_law(code._shared.sample, residual=residual)
        found_masses = dict(law.items())
        with precision(BITS):
            stated = masses(4 * ball(sigma**2) / arb(k).root(root))
            for z, p in stated.items():
                low = found_masses.get(z, Fraction(0))
                case = f"k={k}, sigma={sigma}: P(Z = {z}) is {float(low):.6g}, stated {p.mid()}"
                require(bool(ball(low) <= p) and bool(p <= ball(low + law.residual)), case)
    return f"k = 2 and 9; the law to 1e-6 and 1e-3, {_SEEDS} seeds each"


CLAIMS = (
    CSH.verified(
        "Algorithm 4",
        "Counters get (Z_i + Z)/2 with Z_i ~ N_Z(0, 4 sigma^2) and one shared "
        "Z ~ N_Z(0, 4 sigma^2/sqrt k).",
        "exact law",
        **varied(_noise, 2, 1, "Z ~ N_Z(0, 4 sigma^2/k)"),
        note="the law of the shared noise by enumeration; that of Z_i is Definition 7.1",
    ),
)
