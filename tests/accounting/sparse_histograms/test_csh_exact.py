"""The exact delta of the CSH against densities, mpmath, fixed values, bounds and limits.

The fixed values were computed by another program (the first prototype) at 128 bits, and checked
against a floating-point maximum over all pairs and both sides.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.special import ndtr

from exactdp import Undecided
from exactdp.accounting import csh, gshm
from exactdp.accounting.sparse_histograms.csh_exact import (
    MOST_BITS,
    Family,
    Worst,
    evaluate,
    noise_only,
    pair,
    threshold_only,
)
from exactdp.accounting.sparse_histograms.csh_exact.half_lines import half_lines
from exactdp.accounting.sparse_histograms.csh_exact.interior import Loss, integral
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile, SharedNoise
from exactdp.balls import FLOOR_BITS, ball, precision
from tests.seeds import seeds

Number = int | str


def family(
    k: int,
    sigma: Number | Fraction,
    tau: Number | Fraction,
    epsilon: Number | Fraction,
    kappa: Number | None = None,
    most: int | None = None,
) -> Family:
    noise = Fraction(sigma)
    correlation = None if kappa is None else Fraction(kappa)
    return Family(k, noise, Fraction(tau), Fraction(epsilon), noise, correlation, most or k)


def delta(of: Family, bits: int = 128) -> tuple[arb, Worst]:
    with precision(bits):
        ends, worst = evaluate(of)
        return ends.hull(), worst


def term(of: Family, j: int, a: int, r: int) -> arb:
    with precision(128):
        return pair(of, j, a, r)


def relative_width(value: arb) -> float:
    return float((value.upper() / value.lower() - 1).mid())


def close(value: arb, expected: float, relative: float) -> bool:
    return abs(float(value.mid()) / expected - 1) < relative


# --- independent values ---------------------------------------------------------------------------


def by_densities(
    j: int, a: int, r: int, sigma: float, tau: float, epsilon: float, kappa: float
) -> tuple[float, float]:
    """delta of sides A and B, from densities of the released values on a grid.

    The shared noise is summed out at every point; no statistic of the values is used.
    """

    def density(x: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
        return np.exp(-((x / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))

    size = {1: 8001, 2: 601}[j]
    shared = sigma / math.sqrt(kappa)
    z = np.linspace(-9 * shared, 9 * shared, 161)
    weight = density(z, shared) * (z[1] - z[0])
    reach = 7.2 * math.hypot(sigma, shared)
    y = np.linspace(-reach, reach + 1, size)
    still = density(y[None, :] - z[:, None], sigma) * (y[1] - y[0])
    moved = density(y[None, :] - 1 - z[:, None], sigma) * (y[1] - y[0])
    hidden = weight * ndtr((tau - z) / sigma) ** r
    on_a, on_b = [moved] * a + [still] * (j - a), [still] * j
    if j == 1:
        p_a, p_b = hidden @ on_a[0], weight @ on_b[0]
    else:
        p_a, p_b = (hidden[:, None] * on_a[0]).T @ on_a[1], (weight[:, None] * on_b[0]).T @ on_b[1]
    grow = math.exp(epsilon)
    side_a = 1 - p_a.sum() + np.maximum(p_a - grow * p_b, 0).sum()
    return float(side_a), float(np.maximum(p_b - grow * p_a, 0).sum())


SETTINGS = [
    ("2", "5", "0.5", "2"),
    ("1", "1.5", "1", "3"),
    ("3", "2", "0", "1.7"),
    ("0.7", "1", "0.3", "0.5"),
]
PAIRS = [(j, a, r) for j in (1, 2) for a in range(j + 1) for r in (1, 2)]


@pytest.mark.few(1)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("numbers", PAIRS)
def test_densities(setting: tuple[str, str, str, str], numbers: tuple[int, int, int]) -> None:
    of = family(4, setting[0], setting[1], setting[2], setting[3])
    side_a, side_b = by_densities(*numbers, *(float(x) for x in setting))
    assert abs(float(term(of, *numbers).mid()) - side_a) < 2e-5
    assert side_b <= side_a + 2e-5  # the other side never leaks more


def by_quadrature(of: Family, j: int, a: int, r: int) -> mpmath.mpf:
    """Formula (A) of the design by mpmath; for a = j the roots of ln G + c m = b are found."""
    sigma, tau, epsilon, kappa = (
        mpmath.mpf(x.numerator) / x.denominator
        for x in (of.sigma, of.tau, of.epsilon, of.correlation or Fraction(1))
    )
    if of.correlation is None:
        kappa = mpmath.sqrt(of.k)
    spread = mpmath.sqrt(j / (kappa * (j + kappa)))
    deviation, ratio = 1 / mpmath.sqrt(j + kappa), tau / sigma
    cuts = [-10, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 10]

    normal = [(mpmath.mpf(i) / 3, mpmath.npdf(mpmath.mpf(i) / 3) / 3) for i in range(-27, 28)]

    def hidden(m: mpmath.mpf) -> mpmath.mpf:
        return sum(p * mpmath.ncdf(ratio - m - deviation * x) ** r for x, p in normal)

    def integrate(function: Callable[[mpmath.mpf], mpmath.mpf], points: list[float]) -> mpmath.mpf:
        return mpmath.quad(function, points, method="gauss-legendre", maxdegree=3)

    def passing(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x) * (1 - mpmath.ncdf(ratio - x / mpmath.sqrt(kappa)) ** r)

    passed = integrate(passing, cuts)
    squared = (a - mpmath.mpf(a * a) / (j + kappa)) / sigma**2
    b, c = epsilon - squared / 2, a * kappa / (j * sigma)
    w = mpmath.sqrt(mpmath.mpf(a * (j - a)) / j) / sigma
    if w > 0:

        def bracket(x: mpmath.mpf) -> mpmath.mpf:
            m = x * spread
            g, mean = hidden(m), b - c * m
            top = (mpmath.log(g) - mean) / w
            rest = mpmath.exp(mean + w * w / 2) * mpmath.ncdf(top - w)
            return mpmath.npdf(x) * (g * mpmath.ncdf(top) - rest)

        return passed + integrate(bracket, cuts)

    def margin(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.log(hidden(x * spread)) + c * x * spread - b

    grid = [mpmath.mpf(i) / 2 for i in range(-20, 21)]
    signs = [margin(x) > 0 for x in grid]
    ends = [
        mpmath.findroot(margin, (left, right), solver="anderson", tol=1e-20)
        for (left, right), (s, t) in zip(
            itertools.pairwise(grid), itertools.pairwise(signs), strict=True
        )
        if s != t
    ]
    ends = ([grid[0]] if signs[0] else []) + ends + ([grid[-1]] if signs[-1] else [])
    if not ends:
        return passed
    left, right = ends

    def gain(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x) * (hidden(x * spread) - mpmath.exp(b - c * x * spread))

    points = [left + (right - left) * i / 4 for i in range(5)]
    return passed + integrate(gain, points)


QUADRATURES = [
    (family(7, "3", "4", "0"), (3, 3, 4)),
    (family(5, "2", "5", "0.5"), (3, 1, 2)),
    (family(6, "1.3", "2.5", "0.2", "0.5"), (4, 3, 2)),
    (family(9, "6", "21", "0.1", "40"), (5, 3, 4)),
    (family(4, "1.5", "4", "0.4"), (2, 2, 2)),
    (family(3, "0.8", "2", "1", "5"), (1, 1, 2)),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("of", "numbers"), QUADRATURES)
def test_quadrature(of: Family, numbers: tuple[int, int, int]) -> None:
    ball = term(of, *numbers)
    assert abs(float(ball.mid() - arb(str(by_quadrature(of, *numbers))))) < 2e-12
    assert relative_width(ball) < 2e-13


# --- fixed values ---------------------------------------------------------------------------------

ENDS = [
    (family(1, 2, 8, 1), "0.00233886749052", 1),
    (family(2, 3, 9, "0.5"), "0.0206370141625", 2),
    (family(3, 4, 14, "0.7"), "0.00769003792972", 3),
    (family(5, 6, 20, 1), "0.0132488817921", 5),
]


@pytest.mark.parametrize(("of", "expected", "k"), ENDS)
def test_the_threshold_decides(of: Family, expected: str, k: int) -> None:
    value, worst = delta(of)
    assert close(value, float(expected), 1e-11)
    assert worst == Worst(0, 0, k, "A")
    assert relative_width(value) < 2e-13


INSIDE = [
    (family(12, "13.683", "23.258", 3), (7, 6, 5), "0.259963277305"),
    (family(3, "19.8", "69.424", 0), (2, 1, 1), "0.0178696445090"),
    (family(30, "4.688", "4.865", 0), (11, 4, 19), "0.887422068645"),
    (family(4, "3.527", "16.831", 0, 1000), (3, 2, 1), "0.1587418593126"),
    (family(100, "16.606", "57.194", "0.35"), (64, 38, 36), "0.0273474234579"),
]


@pytest.mark.parametrize(("of", "numbers", "expected"), INSIDE)
def test_single_pairs(of: Family, numbers: tuple[int, int, int], expected: str) -> None:
    assert close(term(of, *numbers), float(expected), 1e-11)


def test_the_maximum_can_be_inside() -> None:
    value, worst = delta(family(9, "2.334", "5.1535", 0, 1))
    assert close(value, 0.277208443672, 1e-11)
    assert worst == Worst(4, 2, 5, "A")
    assert relative_width(value) < 2e-13


def test_nyc_taxi_size() -> None:
    value, worst = delta(family(51914, "1113.8", "6987", "0.35"))
    with precision(128):
        assert value.overlaps(arb("1.00314426600752597640e-5 +/- 1e-25"))
        assert value.rad() < 1e-25
    assert worst == Worst(0, 0, 51914, "A")


def test_a_million_counters() -> None:
    value, worst = delta(family(10**6, 4895, 33000, "0.35"))
    assert close(value, 9.56698045858e-6, 1e-11)
    assert worst == Worst(10**6, 500500, 0, "A")


@pytest.mark.parametrize(("most", "expected"), [(1, 1.93233093784e-10), (1000, 1.9323307148e-7)])
def test_few_contributions(most: int, expected: float) -> None:
    value, worst = delta(family(51914, "1113.8", 6987, "0.35", most=most))
    assert close(value, expected, 1e-10)
    assert worst == Worst(51914 - most, 0, most, "A")


# --- limits, ends and order -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon"),
    [(1, "2", "5", "1"), (3, "2", "6", "0.5"), (10, "12", "50", "0.35"), (10, "20", "70", "0.1")],
)
def test_little_shared_noise_is_the_gshm(k: int, sigma: str, tau: str, epsilon: str) -> None:
    expected = gshm.delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon).float_upper()
    assert close(delta(family(k, sigma, tau, epsilon, 10**12))[0], expected, 1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize("most", [3, 10])
@pytest.mark.parametrize("kappa", [None, "1", "100"])
def test_ends(kappa: str | None, most: int) -> None:
    correlation = None if kappa is None else Fraction(kappa)
    of = family(10, "17.66", "90", "0.35", kappa, most)
    with precision(128):
        by_noise = noise_only(10, ball(of.sigma), ball(of.epsilon), correlation, most)
        by_threshold = threshold_only(10, ball(of.tau / of.sigma), correlation, most)
        far = family(10, "17.66", "9000", "0.35", kappa, most)
        assert evaluate(far)[0].hull().overlaps(by_noise)
        assert evaluate(of)[0].upper >= by_noise.max(by_threshold).lower()
        assert by_threshold.overlaps(pair(of, 0, 0, most))
        brute = arb(0)
        for a in range(1, most + 1):
            brute = brute.max(pair(of, 10, a, 0))
        assert brute.overlaps(by_noise)


def random_family(rng: random.Random) -> Family:
    k = rng.randint(1, 8)
    sigma = Fraction(f"{10 ** rng.uniform(-0.8, 1.5):.4f}")
    tau = sigma * Fraction(f"{rng.choice([rng.uniform(0, 6), rng.uniform(1.5, 4)]):.4f}")
    epsilon = Fraction(f"{rng.choice([0, 0.01, 0.1, 0.35, 1, 3, rng.uniform(0, 2)]):.4f}")
    return family(k, sigma, tau, epsilon)


@pytest.mark.few(10)
@seeds(range(20), range(20, 120))
def test_below_the_published_bounds(seed: int) -> None:
    of = random_family(random.Random(seed))
    value, _ = delta(of)
    assert relative_width(value) < 1e-9
    numbers = {"sparsity": of.k, "sigma": of.sigma, "tau": of.tau, "epsilon": of.epsilon}
    published = csh.delta(**numbers, analysis="published")
    simple = csh.delta(**numbers, analysis="add-the-deltas")
    # the two analyses share the Gaussian term when (k + sqrt k)/2 is an integer
    slack = Fraction(1, 10**11)
    assert float(value.lower()) <= published.upper * (1 + slack)
    assert published.lower <= simple.upper * (1 + slack)


@pytest.mark.few(1)
@seeds(range(12), range(12, 60))
def test_every_pair(seed: int) -> None:
    """The search against all (j, a, r), none excluded by an argument."""
    rng = random.Random(300 + seed)
    k = rng.randint(2, 4)
    most, kappa = rng.randint(1, k), rng.choice([None, "0.3", "1", "30"])
    sigma = Fraction(f"{10 ** rng.uniform(-0.5, 0.8):.4f}")
    tau, epsilon = sigma * Fraction(f"{rng.uniform(1, 3):.4f}"), Fraction(rng.randint(0, 3), 4)
    of = family(k, sigma, tau, epsilon, kappa, most)
    value, _ = delta(of)
    best = arb(0)
    for j, a, r in itertools.product(range(k + 1), repeat=3):
        if j + r <= k and a <= j and a + r <= most:
            best = best.max(term(of, j, a, r))
    with precision(128):
        assert best.overlaps(value)
        assert best.upper() <= best.lower() * (1 + arb(2) ** -33)


# --- certification --------------------------------------------------------------------------------


def coarse(of: Family, relative: int, absolute: int) -> SharedNoise:
    kappa = arb(of.k).sqrt() if of.correlation is None else ball(of.correlation)
    return SharedNoise(kappa, ball(of.tau / of.sigma), of.k, relative, absolute)


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "relative", [1, 4, 16, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 8))]
)
@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize(
    ("of", "numbers"), [*((of, numbers) for of, numbers, _ in INSIDE), *QUADRATURES]
)
def test_bounds_hold_on_a_coarse_grid(
    of: Family, numbers: tuple[int, int, int], relative: int, extra: int
) -> None:
    """The grid is chosen by floats; the errors must hold for any, visible ones included."""
    j, a, r = numbers
    with precision(128):
        rough, fine = coarse(of, relative, relative + extra), coarse(of, 60, 60)
        assert rough.exceeded(r).overlaps(fine.exceeded(r))
        for m in (-1.5, -0.25, 0, 0.3, 1):
            bound, exact = rough.hidden(arb(m), j, r), fine.hidden(arb(m), j, r)
            if bound.log.is_finite():
                assert bound.log.overlaps(exact.log)
                assert bound.slope.overlaps(exact.slope)
        within = (j, arb(-0.5), arb(0.3))
        assert rough.exceeded_within(r, *within).overlaps(fine.exceeded_within(r, *within))
        total = j + (arb(of.k).sqrt() if of.correlation is None else ball(of.correlation))
        squared, covariance = (
            (a - a * a / total) / ball(of.sigma) ** 2,
            a / (total * ball(of.sigma)),
        )
        values = []
        for grid in (rough, fine):
            profile, loss = Profile(grid, j, r), ball(of.epsilon)
            if a == j:
                values.append(half_lines(profile, loss, squared, covariance))
            else:
                values.append(integral(profile, Loss.of(profile, loss, squared, covariance)))
        assert values[0].overlaps(values[1])


def test_precision() -> None:
    of = family(10, "17.66", "96.3", "0.35")
    before = ctx.prec
    values = [delta(of, bits)[0] for bits in (96, 128, 256, 512)]
    assert ctx.prec == before
    with precision(600):
        for bits, value in zip((96, 128, 256, 512), values, strict=True):
            assert value.overlaps(values[-1])
            assert value.upper() <= value.lower() * (1 + arb(2) ** -(bits // 3))
    with pytest.raises(Undecided):
        delta(of, 2 * MOST_BITS)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "of",
    [
        family(10, "1000", "20000", 1),  # below 1e-80
        family(10, "1", "1000", "10000"),  # below what can be written
        family(1000, "0.001", 0, 0),
        family(51914, 5000, 0, "0.1"),
        family(1, 1, 0, 0),
        family(2, "1e-6", "1e-5", "1e-12"),
        family(3, "1e15", "6e16", "1e4"),
    ],
)
def test_extremes(of: Family) -> None:
    value, _ = delta(of)
    with precision(128):
        narrow = value.upper() <= value.lower() * (1 + arb(2) ** -33)
        floor = arb(2) ** -FLOOR_BITS
        assert narrow or value.upper() < floor
        assert value.lower() > -floor
        assert value.lower() <= 1


def test_a_kappa_out_of_reach() -> None:
    with pytest.raises(Undecided, match="kappa is too small"):
        delta(family(1000, 10, 50, "0.1", "1e-12"))
