"""The audit finds every broken mechanism, and does not flag the correct twins."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp.accounting import csh, divergence, gaussian, gshm
from exactdp.audit import CopiedRandomness, audit, private
from exactdp.law import Law
from exactdp.mechanisms import KeepHeavy, KeepHeavySampled
from exactdp.samplers import GeoSample
from tests.audit.broken import noise, thresholds
from tests.audit.broken.case import GRID, Case
from tests.audit.broken.suite import SUITE
from tests.distributions import binomial_quantile

ALPHA = "0.01"
#: One or two of each module, and one for each kind of property that gives it away.
QUICK = {
    *("laplace-scale-epsilon", "nats-as-bits", "exact-zero", "clamped-to-data", "exact-size"),
    *("threshold-off-by-one", "noisy-max-scale", "sparse-vector-5", "float-laplace"),
    *("grid-from-data", "low-bits-dropped", "constant-seed", "seeded-by-data", "unary-pairing"),
    *("overlapping-groups", "sample-size-released", "tree-in-a-record", "int-or-float"),
    *("negative-zero", "word-in-a-text", "residue-13"),
}
marked = [pytest.param(c, marks=() if c.name in QUICK else pytest.mark.slow) for c in SUITE]
some_quick = pytest.mark.parametrize("case", marked, ids=lambda case: case.name)
every_case = pytest.mark.parametrize("case", SUITE, ids=lambda case: case.name)


def violated(case: Case, run: Any, samples: int) -> bool:
    report = audit(
        run, case.left, case.right, epsilon=case.epsilon, delta=case.delta, samples=samples,
        alpha=ALPHA,
    )  # fmt: skip
    return report.violation


def detected(case: Case, samples: int, seed: int) -> bool:
    try:
        return violated(case, case.make_broken(seed), samples)
    except CopiedRandomness:  # outputs that repeat: no statistics needed
        return True


def flagged(case: Case, samples: int, seed: int) -> bool:
    return violated(case, case.make_correct(seed), samples)


@pytest.mark.few(1)
@some_quick
def test_broken_is_found(case: Case) -> None:
    assert detected(case, case.samples, seed=1)


@pytest.mark.slow
@every_case
def test_broken_is_found_again(case: Case) -> None:
    # fresh outputs; ten times as many, up to the limit of 10^7
    assert detected(case, min(10 * case.samples, 10_000_000), seed=2)


@pytest.mark.few(1)
@some_quick
def test_twin_is_not_flagged(case: Case) -> None:
    # alpha = 0.01 each: with these fixed seeds none of them is a false alarm
    assert not flagged(case, 2_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))  # each takes two minutes
def test_flags_of_twins_are_as_rare_as_promised(part: int) -> None:
    runs = range(100 * part, 100 * (part + 1))
    flags = sum(
        flagged(SUITE[i % len(SUITE)], 4_000 if i % 4 else 40_000, seed=100 + i) for i in runs
    )
    assert flags <= binomial_quantile(len(runs), float(ALPHA), 2e-4)


def test_names_and_size() -> None:
    assert len({case.name for case in SUITE}) == len(SUITE) >= 30
    assert all(case.mistake and case.samples <= 10_000_000 for case in SUITE)


@every_case
def test_outputs_are_as_many_as_asked_for_and_fixed_by_the_seed(case: Case) -> None:
    for make in (case.make_broken, case.make_correct):
        for data in (case.left, case.right):
            assert len(make(3)(data, 7)) == 7
    first, again = (case.make_correct(5)(case.left, 50) for _ in range(2))
    assert repr(list(first)) == repr(list(again))
    other = case.make_correct(None)(case.left, 50)
    if len({repr(row) for row in other}) > 10:
        assert repr(list(first)) != repr(list(other))


class TestPromises:
    """The twins whose parameters are numbers keep their promise, exactly."""

    def test_gaussian(self) -> None:
        assert gaussian.delta(sigma=noise.SIGMA, epsilon=1) <= "0.01"
        assert gaussian.delta(sigma=noise.SIGMA_LARGE_EPSILON, epsilon=8) <= "0.1"
        assert gaussian.delta(sigma=math.sqrt(noise.SIGMA), epsilon=1) > "0.01"
        classic = math.sqrt(2 * math.log(12.5)) / 8
        assert gaussian.delta(sigma=classic, epsilon=8) > "0.1"

    def test_thresholds(self) -> None:
        one, ten = thresholds.GSHM_ONE, thresholds.GSHM_TEN
        assert gshm.delta(k=10, sigma=ten[0], tau=ten[1], epsilon=1) <= "0.01"
        assert gshm.delta(k=1, sigma=one[0], tau=one[1], epsilon=1) <= "0.01"
        assert gshm.delta(k=10, sigma=one[0], tau=one[1], epsilon=1) > "0.09"
        tail = math.exp(-thresholds.LEVEL) / (1 + math.exp(-1))
        assert tail < 0.004927
        assert math.isclose(tail * math.e, 0.0134, abs_tol=1e-4)
        level = 1 + math.log(1 / 0.02)
        assert thresholds.on_grid(level) - level < 1 / GRID
        # the rounded noise stays below a threshold on the grid as often as real noise or more
        assert math.exp(1 - thresholds.on_grid(level) - 1 / (2 * GRID)) / 2 <= 0.01

    def test_correlated_noise(self) -> None:
        calibrated = csh.calibrate(sparsity=noise.K, epsilon=1, delta="0.01", analysis="exact")
        assert Fraction(calibrated.sigma) <= Fraction(str(noise.SIGMA_CSH))
        # all ten counters move together: independent noise alone is far from enough
        assert gaussian.delta(sigma=noise.SIGMA_CSH, epsilon=1, sensitivity="3.1623") > "0.1"

    def test_order_statistics(self) -> None:
        twin = KeepHeavySampled(GeoSample(n=1, epsilon=1, power_of_two=True), universe=4)
        left, right = twin.law({0: 1}), twin.law({1: 1})
        assert divergence.max_loss(left, right) == Fraction(9, 4)
        assert math.log(9 / 4) < 0.810931
        assert left == KeepHeavy(GeoSample(n=1, epsilon=1, power_of_two=True), universe=4).law(
            {0: 1}
        )

    @pytest.mark.parametrize("side", ["left", "right"])
    def test_order_statistics_are_drawn_with_that_law(self, side: str) -> None:
        case = next(case for case in SUITE if case.name == "printed-order-statistics")
        data, n = getattr(case, side), 40_000
        law: Law = KeepHeavySampled(GeoSample(n=1, epsilon=1, power_of_two=True), universe=4).law(
            {data: 1}
        )
        rows = case.make_correct(4)(data, n)
        for outcome, weight in law.items():
            hits, p = sum(row == dict(outcome) for row in rows), float(weight)
            assert abs(hits - n * p) <= 5 * math.sqrt(n * p * (1 - p))

    def test_printed_order_statistics_lose_too_much(self) -> None:
        case = next(case for case in SUITE if case.name == "printed-order-statistics")
        n = 200_000
        for data, p in ((0, 588 / 15625), (1, 81 / 625)):
            hits = sum(row == {1: 1} for row in case.make_broken(4)(data, n))
            assert abs(hits - n * p) <= 5 * math.sqrt(n * p * (1 - p))

    def test_exact_coins(self) -> None:
        for odds, epsilon in ((3, 1.098613), (4, 1.386295), (2, 0.693148)):
            assert math.log(odds) < epsilon < math.log(odds) + 2e-6

    @pytest.mark.slow
    def test_coins_from_bits(self) -> None:
        """The white-box audit decides the modulo cases, and by how little the twins keep theirs."""

        def from_nibble(bit, rng):
            return 1 - bit if rng.getrandbits(4) % 5 == 4 else bit

        def from_byte(bit, rng):
            return 1 - bit if rng.getrandbits(8) % 3 == 2 else bit

        def lie_in(odds):
            return lambda bit, rng: 1 - bit if rng.randrange(odds) == 0 else bit

        for broken, odds, epsilon in ((from_nibble, 5, "1.386295"), (from_byte, 3, "0.693148")):
            assert private(broken, 0, 1, epsilon=epsilon).verdict == "refuted"
            assert private(lie_in(odds), 0, 1, epsilon=epsilon).verdict == "proved"

    def test_smooth_sensitivity(self) -> None:
        from tests.audit.broken.sensitivity import gap

        rng = np.random.default_rng(6)
        for _ in range(200):
            data = rng.integers(0, 11, 5).tolist()
            other = list(data)
            other[rng.integers(0, 5)] = int(rng.integers(0, 11))
            # neighbours see each other's gap one step later, which is what smoothness rests on
            assert all(gap(data, k) <= gap(other, k + 1) for k in range(5))
