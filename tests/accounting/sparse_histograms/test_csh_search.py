"""The search for the worst neighbours: cells, marginals, and the error terms of the integrals."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import arb

from exactdp.accounting import csh
from exactdp.accounting.sparse_histograms.csh_exact import (
    Estimates,
    Family,
    Worst,
    evaluate,
    interior,
    threshold_only,
)
from exactdp.accounting.sparse_histograms.csh_exact.boxes import Box
from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import CellBounds
from exactdp.accounting.sparse_histograms.csh_exact.interior import CellGrid, Loss, by_cells
from exactdp.accounting.sparse_histograms.csh_exact.marginals import marginals
from exactdp.accounting.sparse_histograms.csh_exact.maximum import _Search
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile, SharedNoise
from exactdp.accounting.sparse_histograms.csh_exact.terms import Terms
from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick
from tests.accounting.sparse_histograms.test_csh_exact import by_quadrature


def family(k: int, sigma: str, tau: str, epsilon: str, kappa: str | None = None) -> Family:
    noise = Fraction(sigma)
    correlation = None if kappa is None else Fraction(kappa)
    return Family(k, noise, Fraction(tau), Fraction(epsilon), noise, correlation, k)


PAIRS = [
    (family(100, "16.606", "57.194", "0.35"), (64, 38, 36)),
    (family(9, "2.334", "5.1535", "0", "1"), (4, 2, 5)),
    (family(100, "262.202", "1037.27", "0"), (99, 54, 1)),
    (family(6, "579001.8148", "3506617.02", "0"), (3, 2, 3)),  # w = 1.4e-6
    (family(5, "3", "6", "0", "1"), (2, 2, 3)),  # w = 0
    (family(12, "0.5", "1.2", "1"), (7, 3, 4)),
    (family(200, "1.111797146", "1.625899085", "0"), (187, 96, 13)),  # w = 6.3, delta = 0.999
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("of", "numbers"), PAIRS)
def test_cells_bound_a_pair_more_tightly_the_more_there_are(
    of: Family, numbers: tuple[int, int, int]
) -> None:
    j, a, r = numbers
    with precision(128):
        terms = Terms(of)
        exact = terms.pair(*numbers)
        for count, gap in ((32, 0.3), (128, 0.02), (512, 0.002)):
            cells = CellBounds(Profile(terms.noise, j, r), count)
            bound = cells.bound(terms.epsilon, terms.squared(j, a), terms.covariance(j, a), a == j)
            assert bound.upper >= exact
            assert bound.upper < exact * (1 + gap)


@pytest.mark.few(1)
@pytest.mark.parametrize(("of", "numbers"), [p for p in PAIRS if p[1][0] != p[1][1]])
def test_marginals_against_differences(of: Family, numbers: tuple[int, int, int]) -> None:
    """Lower bounds on three slopes, close to difference quotients."""
    j, a, r = numbers
    with precision(128):
        terms = Terms(of)
        squared, covariance = terms.squared(j, a), terms.covariance(j, a)
        cells = [CellBounds(Profile(terms.noise, j, n), 1024) for n in (r, max(r - 1, 1))]
        slopes = marginals(*cells, terms.epsilon, squared, covariance, max(r - 1, 1))

        def value(by: str, change: arb) -> arb:
            d2, t = squared, covariance
            d2, t = (d2 + change, t) if by == "distance" else (d2, t + change)
            return terms.between(cells[0].profile, d2, t, False)

        for by, size in (("distance", squared), ("covariance", covariance)):
            step = size * arb(2) ** -20
            quotient = (value(by, step) - value(by, -step)) / (2 * step)
            quotient = -quotient if by == "covariance" else quotient
            assert getattr(slopes, by) <= quotient.upper()
            assert getattr(slopes, by) >= 0.98 * quotient
        if r > 1:
            fewer = terms.between(cells[1].profile, squared, covariance, False)
            cost = terms.between(cells[0].profile, squared, covariance, False) - fewer
            assert slopes.extra <= cost.upper()
            assert slopes.extra >= 0.7 * cost


# --- every error term of the integral is needed ---------------------------------------------------

ROUGH: dict[str, tuple[Family, tuple[int, int, int], dict[str, int], float]] = {
    "alias": (family(60, "2", "10", "0.1", "100"), (10, 1, 50), {"relative": 3}, 1 / 64),
    "cut": (*PAIRS[1], {"width": 7}, 1 / 256),
    # a bound for every L: what L really loses is far smaller, so the whole term is left out
    "rest": (family(30, "1", "6", "0.1"), (20, 3, 10), {"terms": 18, "nats": 90}, 0),
    "left": (*PAIRS[1], {"first": -3}, 1 / 64),
    "right": (*PAIRS[1], {"last": 1}, 1 / 1024),
}


def by_plan(
    of: Family, numbers: tuple[int, int, int], relative: int = 60, nats: int = 60, **changes: int
) -> tuple[CellGrid, Loss]:
    """A plan for a pair that is fine in every respect but the ones changed."""
    j, a, r = numbers
    terms = Terms(of)
    fine, rough = (
        SharedNoise(terms.kappa, terms.noise.ratio, of.k, x, nats) for x in (60, relative)
    )
    loss = Loss.of(Profile(fine, j, r), terms.epsilon, terms.squared(j, a), terms.covariance(j, a))
    chosen = interior._plan(Profile(fine, j, r), loss)
    assert chosen is not None
    if relative < 60:  # the same cells on a coarser grid, one node each
        scale = float(fine.step / rough.step)
        first, last = (round(x * chosen.stride * scale) for x in (chosen.first, chosen.last))
        width = round(chosen.width * scale) + 2
        chosen = CellGrid(Profile(rough, j, r), 1, first, last, 150, width)
    return replace(chosen, **changes), loss


@pytest.mark.few(1)
@pytest.mark.parametrize("term", ROUGH)
def test_every_error_term_is_needed(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one thing made coarse the ball holds the true value, but not if its term is shrunk."""
    of, numbers, changes, factor = ROUGH[term]
    with precision(256):
        exact = by_cells(*by_plan(of, numbers, nats=90))
        rough = by_plan(of, numbers, **changes)
        assert by_cells(*rough).overlaps(exact)
        if term in ("left", "right"):
            outside = CellGrid.outside(*rough)
            both = (
                outside[0] * (factor if term == "left" else 1),
                outside[1] * (factor if term == "right" else 1),
            )
            monkeypatch.setattr(CellGrid, "outside", lambda plan, loss: both)
        else:
            whole = getattr(CellGrid, term)
            monkeypatch.setattr(CellGrid, term, lambda plan, *at: whole(plan, *at) * factor)
        assert not by_cells(*rough).overlaps(exact)


# --- searches that were not decided before --------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("of", "worst"),
    [
        (family(6, "579001.8148", "3506617.0188", "0"), Worst(3, 2, 3, "A")),
        (family(60, "20577", "102665", "0"), Worst(60, 34, 0, "A")),
        (family(100, "262.202", "1037.27", "0"), Worst(0, 0, 100, "A")),
    ],
)
def test_decided(of: Family, worst: Worst) -> None:
    with precision(128):
        (lower, upper), attained = evaluate(of)
        assert attained == worst
        assert upper <= lower * (1 + arb(10) ** -12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "numbers", "factor"),
    [
        (family(6, "579002", "3506620", "0"), (3, 2, 3), 1.0336),  # kappa = sqrt k
        (family(4, "43.7008", "171.289", "0", "1"), (2, 1, 2), 1.037),  # sqrt k/2, a usual delta
    ],
)
def test_an_end_need_not_win(of: Family, numbers: tuple[int, int, int], factor: float) -> None:
    """By mpmath, too."""
    with precision(128):
        terms = Terms(of)
        ends = terms.exceeded(of.k).max(terms.noise_end)
        assert terms.pair(*numbers) > factor * ends
        assert by_quadrature(of, *numbers) > factor * float(ends.upper())


@pytest.mark.few(2)
@pytest.mark.parametrize(("of", "numbers"), PAIRS)
def test_estimates_have_ten_digits(of: Family, numbers: tuple[int, int, int]) -> None:
    estimates = Estimates(of)
    with precision(128):
        exact = Terms(of).pair(*numbers)
        assert abs(estimates.pair(*numbers) / exact - 1) < 1e-10
        passed = threshold_only(of.k, ball(of.tau / of.sigma), of.correlation, of.k)
        assert abs(estimates.exceeded(of.k) / passed - 1) < 1e-10


def test_estimates_out_of_the_range_of_doubles() -> None:
    assert Estimates(family(1, "20", "60", "0.1")).best() is None  # nothing between the ends
    for far in (family(9, "1e400", "6e400", "0"), family(9, "1e-400", "1", "0")):
        assert Estimates(far).best() is None
        assert Estimates(far).exceeded(9) == Estimates(far).pair(5, 2, 4) == 0


def random_arguments(rng: random.Random, most: int) -> dict[str, object]:
    """k from 1, epsilon from 0, sigma and tau where both noise and threshold matter."""
    k = round(most ** rng.random())
    epsilon = rng.choice([Fraction(0), Fraction(f"{10 ** rng.uniform(-5, 0.7):.4g}")])
    sigma = Fraction(f"{k**0.5 * 10 ** rng.uniform(-0.5, 3):.6g}")
    tau = sigma * Fraction(f"{rng.uniform(0, 7):.4f}")
    return {"sparsity": k, "sigma": sigma, "tau": tau, "epsilon": epsilon}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_random_calls_are_decided(seed: int) -> None:
    rng = random.Random(5000 + seed)
    delta = csh.delta(**random_arguments(rng, 1000))  # type: ignore[arg-type]
    assert delta.upper <= delta.lower * (1 + Fraction(1, 10**9)) or delta.upper < 10**-5000


@pytest.mark.slow
@pytest.mark.parametrize(
    "of",
    [
        pytest.param(family(24, "5e6", "3e7", "0"), marks=pytest.mark.slow),
        family(20, "600", "3000", "0.001"),
    ],
)
def test_no_pair_of_a_box_is_above_its_relieved_corner(of: Family) -> None:
    """Corner and pairs by integrals; the relief is a good part of what lies between."""
    with precision(128):
        search = _Search(Terms(of), Estimates(of), None, 1 << 20)
        model, k = search.model, of.k
        for r, a, size in ((4, 3, 1), (8, 2, 2), (k // 2, 2, 3)):
            low, high = a / (search.whole - r), (a + size) / (search.whole - r - size)
            box = Box(r, r + size, low, high, count=128)
            profile = Profile(model.noise, k - r, r + size)
            corner = model.between(profile, *search._corner(box), False)
            slopes = search._slopes(box)
            parts, seen = (box, *box.parts(search.whole)), 0
            for x, y in product(range(r, r + size + 1), range(1, k - r + 1)):
                share, value = y / (search.whole - x), model.pair(k - x, y, x)
                for part in parts:
                    if part.first_r <= x <= part.last_r and part.least <= share <= part.most:
                        assert value <= corner - slopes.relief(part)
                        seen += part is box
                if low <= share <= high:
                    pair = Box(x, x, share, share, (y, y))
                    assert slopes.relief(pair) <= corner - value <= 3 * slopes.relief(pair)
            assert seen > 1


def test_the_product_bound_holds_and_is_near_where_the_sum_says_nothing() -> None:
    """1 - q_r (1 - H), against integrals; the sum of both parts is above 1."""
    with precision(128):
        model = Terms(family(12, "0.4", "0.3", "0.2"))
        for r, a in ((1, 4), (3, 3), (6, 2), (9, 3)):
            squared = model.squared(12 - r, a)
            bound, value = model.sum_bound(r, squared), model.pair(12 - r, a, r)
            assert value < bound < 1
            assert model.exceeded(r) + hockey_stick(model.epsilon, squared.sqrt()) > 1


def test_a_target_next_to_one_is_told_by_what_it_lacks_of_it() -> None:
    calibration = csh.calibrate(sparsity=5, epsilon="1e-12", delta="0.9999999999999")
    assert 0 < 1 - calibration.delta.upper < 1 - calibration.delta.lower < Fraction(11, 10**14)
