"""Our exact analysis of Algorithm 2 (exactdp/pages/exact-csh.md): theorem, formulas and proof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import ceil, isqrt

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact import Family, evaluate, pair
from exactdp.accounting.sparse_histograms.csh_exact.terms import Terms
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._densities import by_densities, side_b
from exactdp.proofs_check.claims.csh._families import FAMILIES, PAIRS, SETTINGS, TOLERANCE, settled
from exactdp.proofs_check.claims.csh._gshm import side_a
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    Point,
    equal,
    excess,
    family,
    point,
    precision,
)
from exactdp.proofs_check.claims.csh.exact_analysis_bounds import one_minus_q
from exactdp.proofs_check.entries import OUR_CSH as CSH
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]


def _formula_a(extra: int) -> str:
    worst = 0.0
    for setting, (j, a, r) in product(SETTINGS, PAIRS):
        exact, _ = by_densities(j, a, r, *(float(x) for x in setting))
        with precision(BITS):
            found = float(pair(settled(setting), j, a, r + extra).mid())
        case = f"(j, a, r) = {j, a, r}, {setting}: densities {exact:.6f}, (A) {found:.6f}"
        require(abs(found - exact) < TOLERANCE, case)
        worst = max(worst, abs(found - exact))
    return f"{len(SETTINGS)} settings, {len(PAIRS)} pairs, largest difference {worst:.1e}"


def _formula_b(shift: float) -> str:
    worst = 0.0
    for setting, (j, a, r) in product(SETTINGS, PAIRS):
        numbers = [float(x) for x in setting]
        _, exact = by_densities(j, a, r, *numbers)
        found = side_b((j, a, r), numbers, shift)
        case = f"(j, a, r) = {j, a, r}, {setting}: densities {exact:.6f}, (B) {found:.6f}"
        require(abs(found - exact) < TOLERANCE, case)
        worst = max(worst, abs(found - exact))
    return f"{len(SETTINGS)} settings, {len(PAIRS)} pairs, largest difference {worst:.1e}"


def _all_pairs(of: Family) -> Iterator[tuple[int, int, int]]:
    """All neighbours."""
    for j, a, r in product(range(of.k + 1), repeat=3):
        if j + r <= of.k and a <= j and a + r <= of.contributions:
            yield j, a, r


def _candidates(of: Family, share: Fraction) -> Iterator[tuple[int, int, int]]:
    """j = k - r, and a up to share * (j + kappa), rounded up."""
    root = isqrt(10**12 * of.k) / Fraction(10**6)  # kappa unless given; no j + kappa is near even
    kappa = root if of.correlation is None else of.correlation
    most = min(of.k, of.contributions)
    for r in range(most + 1):
        for a in range(min(ceil(share * (of.k - r + kappa)), most - r) + 1):
            if a <= of.k - r:
                yield of.k - r, a, r


def _theorem(share: Fraction) -> str:
    """The search of the library and the stated maximum both find the largest of all pairs."""
    pairs = 0
    # in the last one the noise decides, and the largest a is needed
    families = (*FAMILIES, (point(4, "2", "40", "0.25"), Fraction(6, 5), 4))
    for at, kappa, most in families:
        of = family(at, kappa, most)
        with precision(BITS):
            value = evaluate(of)[0].hull()
            values = {numbers: pair(of, *numbers) for numbers in _all_pairs(of)}
            best = reduce(arb.max, values.values())
            stated = reduce(arb.max, (values[numbers] for numbers in _candidates(of, share)))
            pairs += len(values)
            case = f"{at}, kappa={kappa}, m={most}: all pairs {best.mid().str(12)}"
            require(equal(best, value), f"{case}, by the search {value.mid().str(12)}")
            require(equal(best, stated), f"{case}, stated {stated.mid().str(12)}")
    return f"{len(families)} families, {pairs} neighbours (j, a, r), none excluded"


def _boundary(kappa_power: int) -> str:
    """a = 0: 1 - q_r; r = 0: H(epsilon, D); kappa to infinity: the GSHM's term; by integrals."""
    at = point(6, "2.5", "6", "0.3")
    with precision(BITS):
        of = family(at, Fraction(2))
        for j, a in ((3, 2), (6, 4)):
            squared = (a - Fraction(a * a) / (j + 2)) / at.sigma**2
            stated = excess(ball(at.epsilon), ball(squared).sqrt())
            require(equal(pair(of, j, a, 0), stated), f"r=0, j={j}, a={a}")
        for r in (1, 4):
            stated = one_minus_q(2, r, at.tau / at.sigma)
            require(equal(pair(of, 2, 0, r), stated), f"a=0, r={r}")
        far = family(at, Fraction(10) ** kappa_power)
        for a in (1, 3, 5):
            found, limit = pair(far, a, a, at.k - a), side_a(at, a)
            case = (
                f"kappa=10^{kappa_power}, a={a}: {found.mid().str(12)}, GSHM {limit.mid().str(12)}"
            )
            require(bool(abs(found - limit) < arb(10) ** -8), case)
    return f"k = 6: r = 0, a = 0, and the GSHM's integral at kappa = 10^{kappa_power}"


def _interior(
    at: Point, kappa: Fraction | None, numbers: tuple[int, int, int], value: str, most: str
) -> str:
    """The pair exceeds both ends, which are at most `most`; its value as printed."""
    with precision(BITS):
        terms = Terms(family(at, kappa))
        found = terms.pair(*numbers)
        ends = terms.exceeded(at.k).max(terms.noise_end)
        case = f"(j, a, r) = {numbers}: {found.mid().str(12, radius=False)}, ends at most "
        case += ends.mid().str(12, radius=False)
        require(bool(found > ends), case)
        require(bool(ends <= ball(Fraction(most))), f"{case}, more than {most}")
        require(bool(abs(found - ball(Fraction(value))) < arb(10) ** -(len(value) - 3)), case)
    return case


def _interior_wins(numbers: tuple[int, int, int]) -> str:
    at = point(4, "43.7008", "171.289", "0")
    dense, _ = by_densities(2, 1, 2, 43.7008, 171.289, 0.0, 1.0)
    fourth = _interior(at, Fraction(1), (2, 1, 2), "0.0103745612", "0.01001")
    require(abs(dense - 0.0103745612) < TOLERANCE, f"{fourth}, by densities {dense:.7f}")
    at = point(9, "10.517", "69.17", "0")
    other = _interior(at, Fraction(1, 10), (6, 3, 3), "0.0804853480421", "0.057")
    at = point(6, "579002", "3506620", "0")
    usual = _interior(at, None, (3, 2, 3), "0.0000010336593195329", "0.000001")
    at = point(9, "2.334", "5.1535", "0")
    ninth = _interior(at, Fraction(1), numbers, "0.277208443672", "0.2653")
    return f"{fourth}; {ninth}; {other}; {usual}"


def _finite_counts(least: float) -> str:
    """delta does not fall with the shared counter's count, and is (A) or (B) from `least` on."""
    texts = []
    for setting in (*SETTINGS, ("2", "5", "0.5", "3")):
        sigma, tau, epsilon, kappa = (float(x) for x in setting)
        counts = (1.0, 3.0, 9.0, math.inf)
        rows = [by_densities(1, 1, 1, sigma, tau, epsilon, kappa, x) for x in counts]
        with precision(BITS):
            first = float(pair(settled(setting), 1, 1, 1).mid())
        formulas = first, side_b((1, 1, 1), [sigma, tau, epsilon, kappa])
        for side, formula in enumerate(formulas):
            values = [row[side] for row in rows]
            text = f"{setting}, {'AB'[side]}: " + ", ".join(f"{v:.5f}" for v in values)
            for low, high in pairwise(values):
                require(low <= high + TOLERANCE, f"{text}: it falls")
            for count, value in zip(counts, values, strict=True):
                near = count < least or abs(value - formula) < TOLERANCE
                require(near, f"{text}: not {formula:.5f} at count {count}")
            texts.append(text)
    return "; ".join(texts[:2])


CLAIMS = (
    CSH.verified(
        "Exact analysis, theorem",
        "For epsilon >= 0 the exact delta of the CSH (any kappa, m changes) is the "
        "largest delta_A(k-r, a, r) over 0 <= r <= min(k, m) and "
        "0 <= a <= min(ceil((k-r+kappa)/2), min(k, m) - r).",
        "certified numerics",
        **varied(
            _theorem, Fraction(1, 2), Fraction(38, 100), "a <= ceil(0.38 (k - r + kappa)) will do"
        ),
    ),
    CSH.reproduced(
        "Exact analysis, formula (A)",
        "delta_A(j,a,r) = 1 - q_r + E[(G(M) - e^(b-U))_+], within 3e-5 of a brute-force "
        "integral of the output densities.",
        "reproduction",
        **varied(_formula_a, 0, 1, "with one more hidden counter"),
    ),
    CSH.reproduced(
        "Exact analysis, formula (B)",
        "delta_B(j,a,r) = E[(1 - e^(b+U) G(M-t))_+], within 3e-5 of the densities.",
        "reproduction",
        **varied(_formula_b, 1.0, 0.0, "G(M) instead of G(M - t)"),
        seconds=30,
    ),
    CSH.reproduced(
        "Exact analysis, thresholded shared counters",
        "At counts 1, 3, 9 of a shared counter that is hidden below the threshold, too, delta "
        "rises on either side (j = a = r = 1), and from 9 on is within 3e-5 of (A) and (B).",
        "reproduction",
        **varied(_finite_counts, 9.0, 3.0, "from 3 on"),
    ),
    CSH.verified(
        "Exact analysis, boundary cases",
        "a = 0: delta_A = 1 - q_r. r = 0: H(epsilon, D). kappa = 10^8: the GSHM, to 1e-8.",
        "certified numerics",
        **varied(_boundary, 8, 7, "the GSHM to 1e-8 at kappa = 10^7"),
    ),
    CSH.verified(
        "Exact analysis, the ends need not win",
        "At epsilon = 0, delta_A(j,a,r) exceeds both ends, which are at most e: "
        "k = 9, kappa = 1, sigma = 2.334, tau = 5.1535: 0.277208443672 at (4,2,5), e = 0.2653; "
        "k = 9, kappa = 0.1, sigma = 10.517, tau = 69.17: 0.0804853480421 at (6,3,3), e = 0.057; "
        "k = 4, kappa = 1, sigma = 43.7008, tau = 171.289: 0.0103745612 at (2,1,2), by the output "
        "densities, too, to 3e-5, e = 0.01001; k = 6, kappa = sqrt k, sigma = 579002, tau = "
        "3506620: 1.0336593195e-6 at (3,2,3), e = 1e-6.",
        "certified numerics",
        **varied(_interior_wins, (4, 2, 5), (5, 2, 4), "the same value at (5, 2, 4)"),
    ),
)
