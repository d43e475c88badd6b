from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from mpmath import mp

from exactdp import Enclosure, InvalidParameter
from exactdp.accounting import csh, gaussian, gshm
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import least_multiple
from exactdp.accounting.sparse_histograms.comparison import compare
from tests import reference

#: Known thresholds for epsilon = 0.35, delta = 1e-5, some of them from the papers' experiments.
QUOTED = [
    (51914, "gshm", "add-the-deltas", "14673"),
    (51914, "gshm", "exact", "13913"),
    (51914, "csh", "add-the-deltas", "7840"),
    (51914, "csh", "published", "7434"),
    (10, "gshm", "add-the-deltas", "157.6"),
    (10, "gshm", "exact", "146.6"),
    (10, "csh", "add-the-deltas", "141.8"),
    (10, "csh", "published", "131.9"),
    (10, "csh", "exact", "96.3"),
    pytest.param(51914, "csh", "exact", "6987", marks=pytest.mark.slow),
]
MODULES = {"gshm": gshm, "csh": csh}
#: Mechanism -> the name of its bound on counters.
BOUND = {"gshm": "k", "csh": "sparsity"}
REFERENCES: dict[tuple[str, str], Callable[..., mp.mpf]] = {
    ("gshm", "exact"): reference.gshm_exact,
    ("gshm", "add-the-deltas"): reference.gshm_add_the_deltas,
    ("csh", "published"): reference.csh_published,
    ("csh", "add-the-deltas"): reference.csh_add_the_deltas,
}


def assert_certified(calibration: Calibration, target: Fraction) -> None:
    """An independent evaluation: tau keeps the target, and the refuted tau does not."""
    delta = REFERENCES[calibration.mechanism, calibration.analysis]
    k, sigma, epsilon = (
        int(next(iter(calibration.given.values()))),
        Fraction(calibration.sigma),
        calibration.epsilon,
    )
    assert calibration.delta.upper <= target
    assert calibration.tau is not None
    with mp.workprec(400):
        limit = reference.to_mp(target)
        assert delta(k, sigma, Fraction(calibration.tau), epsilon) <= limit
    if calibration.refuted is None:
        assert calibration.tau == 0
    else:
        below = Fraction(calibration.refuted.value)
        assert calibration.refuted.delta.lower > target
        assert delta(k, sigma, below, epsilon) > limit
        assert 0 < Fraction(calibration.tau) - below <= Fraction(calibration.tau) / 10**9


@pytest.mark.few(2)
@pytest.mark.parametrize(("k", "mechanism", "analysis", "tau"), QUOTED)
def test_quoted_thresholds(k: int, mechanism: str, analysis: str, tau: str) -> None:
    calibration = MODULES[mechanism].calibrate(
        **{BOUND[mechanism]: k}, epsilon="0.35", delta="1e-5", analysis=analysis
    )
    unit = Fraction(1, 10) if "." in tau else Fraction(1)
    assert calibration.tau is not None
    assert abs(Fraction(calibration.tau) - Fraction(tau)) <= unit / 2
    assert calibration.tau_bound is not None
    assert (
        Fraction(calibration.tau) * (1 - Fraction(2, 10**4))
        < calibration.tau_bound
        < calibration.tau
    )
    if k == 10 and (mechanism, analysis) in REFERENCES:
        assert_certified(calibration, Fraction(1, 10**5))


@pytest.mark.slow
@pytest.mark.parametrize("targets", [6, pytest.param(24, marks=pytest.mark.slow)])
def test_random_targets_with_and_without_sigma(targets: int) -> None:
    rng = random.Random(3)
    for number in range(targets):
        k = rng.choice([1, 2, 5, 30])
        target = Fraction(f"{10 ** rng.uniform(-20, -0.5):.3e}")
        epsilon = Fraction(f"{10 ** rng.uniform(-3, 1.5):.3e}")
        mechanism, analysis = list(REFERENCES)[number % 4]
        calibrate = partial(MODULES[mechanism].calibrate, **{BOUND[mechanism]: k})
        free = calibrate(epsilon=epsilon, delta=target, analysis=analysis)
        assert_certified(free, target)
        sigma = Fraction(free.sigma) * Fraction(f"{rng.uniform(1.01, 3):.4f}")
        fixed = calibrate(epsilon=epsilon, delta=target, analysis=analysis, sigma=sigma)
        assert_certified(fixed, target)
        assert fixed.tau_bound is None
        if free.tau_bound is not None and fixed.tau is not None:
            assert fixed.tau > free.tau_bound


def test_a_sigma_below_the_least_is_an_error_that_names_it() -> None:
    least = gaussian.calibrate(epsilon="0.35", delta="1e-5", sensitivity=3)
    with pytest.raises(InvalidParameter, match=r"^sigma must be > \d.* got '3'$") as caught:
        gshm.calibrate(k=9, epsilon="0.35", delta="1e-5", sigma=3)
    assert str(least.sigma)[:8] in str(caught.value)


@pytest.mark.parametrize("resolution", ["1e-3", "1e-12", "1e-15"])
def test_resolution(resolution: str) -> None:
    calibration = gshm.calibrate(
        k=10, epsilon="0.35", delta="1e-5", sigma=31, resolution=resolution
    )
    assert calibration.refuted is not None
    assert calibration.tau is not None
    step = Fraction(calibration.tau) - Fraction(calibration.refuted.value)
    assert 0 < step <= Fraction(resolution) * Fraction(calibration.tau)
    assert step.numerator == 1  # a power of ten


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"),
    [("1", "1e-5", "1"), ("0", "0.1", "3"), ("1e4", "1e-300", "1e-6"), ("1e-12", "1e-1000", "2")],
)
def test_gaussian_from_both_sides(epsilon: str, delta: str, sensitivity: str) -> None:
    calibration = gaussian.calibrate(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    arguments = Fraction(epsilon), Fraction(sensitivity)
    with mp.workprec(10_000):
        target = reference.to_mp(Fraction(delta))
        assert reference.gaussian_delta(Fraction(calibration.sigma), *arguments) <= target
        assert calibration.refuted is not None
        assert reference.gaussian_delta(Fraction(calibration.refuted.value), *arguments) > target


def test_what_is_returned_can_be_pasted_back() -> None:
    calibration = csh.calibrate(sparsity=10, epsilon="0.35", delta="1e-5", sigma="17.7")
    arguments = {
        "sparsity": 10,
        "sigma": str(calibration.sigma),
        "tau": str(calibration.tau),
        "epsilon": "0.35",
    }
    assert csh.delta(**arguments) == calibration.delta
    assert csh.check(**arguments, delta="1e-5").verdict == "proved"
    assert calibration.refuted is not None
    arguments["tau"] = str(calibration.refuted.value)
    assert csh.check(**arguments, delta="1e-5").verdict == "refuted"
    assert "add-remove" in calibration.guarantee.neighbours
    assert (
        csh.guarantee(sparsity=10, sigma=calibration.sigma, tau=calibration.tau, epsilon="0.35")
        == calibration.guarantee
    )
    json.dumps(calibration.as_dict())


def test_a_claim_that_is_exactly_met_is_undecided() -> None:
    """tau = 0 and k = 1: delta is exactly 1/2, which no ball can tell from a claim of 1/2."""
    outcome = gshm.check(k=1, sigma=10, tau=0, epsilon=1, delta="0.5")
    assert outcome.verdict == "undecided"
    assert Fraction(1, 2) in outcome.delta


def test_correlation_and_contributions() -> None:
    arguments = {"sparsity": 10, "sigma": "17.7", "tau": "97", "epsilon": "0.35"}
    usual = csh.delta(**arguments)
    assert csh.delta(**arguments, contributions=10) == usual
    assert csh.delta(**arguments, contributions=3).upper < usual.lower
    far = csh.delta(**arguments, correlation="1e15")
    limit = csh.delta(**arguments, correlation="infinity")
    point = {"sigma": "17.7", "tau": "97", "epsilon": "0.35"}
    assert limit == gshm.delta(k=10, **point)
    assert abs(far.lower - limit.lower) < limit.lower / 10**12
    fewer = csh.delta(**arguments, correlation="infinity", contributions=4)
    assert fewer == gshm.delta(k=4, **point)
    assert csh.worst_case(**arguments) == csh.Worst(10, 7, 0, "A")
    for wrong in (
        {"contributions": 11},
        {"contributions": 0},
        {"correlation": 0},
        {"correlation": "free"},
        {"correlation": 3, "analysis": "published"},
        {"contributions": 3, "analysis": "add-the-deltas"},
    ):
        with pytest.raises(InvalidParameter):
            csh.delta(**arguments, **wrong)


@pytest.mark.slow
def test_the_best_correlation_is_no_worse_than_the_usual_one() -> None:
    usual = csh.calibrate(sparsity=10, epsilon="0.35", delta="1e-5")
    free = csh.calibrate(sparsity=10, epsilon="0.35", delta="1e-5", correlation="free")
    assert free.tau is not None
    assert usual.tau is not None
    assert free.tau < usual.tau
    kappa = free.given["correlation"]
    again = {"sparsity": 10, "sigma": free.sigma, "tau": free.tau, "epsilon": "0.35"}
    assert csh.delta(**again, correlation=kappa) == free.delta
    assert free.delta.upper <= Fraction(1, 10**5)
    with pytest.raises(
        InvalidParameter, match=r"^sparsity must be at most 1000000000 with analysis"
    ):
        csh.calibrate(sparsity=10**12, epsilon="0.35", delta="1e-5")
    with pytest.raises(InvalidParameter, match="correlation"):
        csh.calibrate(sparsity=10, epsilon="0.35", delta="1e-5", correlation="free", sigma=20)


@pytest.mark.slow
def test_more_noise_than_the_least_allows_a_lower_threshold() -> None:
    setting: dict[str, Any] = {"sparsity": 6, "epsilon": 0, "correlation": "0.1"}
    least_noise = csh.calibrate(delta="0.1", **setting)
    more_noise = csh.calibrate(delta="0.1", sigma="5.1", **setting)
    # the least sigma is 4.913, with tau = 35.61
    assert Fraction(least_noise.tau or 0) < Fraction(more_noise.tau or 0) < Fraction("35.3")
    assert csh.delta(sigma=least_noise.sigma, tau=least_noise.tau or 0, **setting) <= "0.1"


@dataclass
class Falling:
    """A delta that falls with the value, and a record of the values at which it was evaluated."""

    delta: Callable[[float], float]
    target: Fraction
    values: list[Fraction] = field(default_factory=list)

    def __call__(self, value: Fraction) -> Check:
        self.values.append(value)
        delta = Enclosure.exact(self.delta(float(value)))
        return Check(delta, self.target, True)


def normal_tail(value: float) -> float:
    return math.erfc(value / math.sqrt(2)) / 2


@pytest.mark.parametrize("start", ["0", "1e-3", "1", "3.71", "3.72", "5000"])
@pytest.mark.parametrize("stride", [1, 100])
def test_the_least_multiple_from_any_start(start: str, stride: int) -> None:
    check, step = Falling(normal_tail, Fraction(1, 10**4)), Fraction(1, 1000)
    value, refuted = least_multiple(check, Fraction(start), step, stride=stride)
    assert value == Fraction("3.720")  # P(N > 3.7190165) = 1e-4
    assert refuted is not None
    assert refuted.value == Decimal("3.719")
    assert len(check.values) < 60


@pytest.mark.parametrize("lowest", [0, 1])
def test_the_lowest_multiple_can_be_enough(lowest: int) -> None:
    check = Falling(normal_tail, Fraction(1, 2))
    value, refuted = least_multiple(check, Fraction(3), Fraction(1, 4), lowest=lowest)
    assert value == Fraction(lowest, 4)
    assert refuted is None
    assert min(check.values) == value


@pytest.mark.few(6)
@pytest.mark.parametrize("analysis", ["exact", "add-the-deltas", "published"])
@pytest.mark.parametrize("delta", ["0.3", "0.6", "0.8", "0.9", "0.999999"])
@pytest.mark.parametrize("epsilon", ["0", "1"])
def test_deltas_for_which_no_threshold_is_needed(analysis: str, delta: str, epsilon: str) -> None:
    """With k = 1 a noisy counter exceeds a threshold of 0 with probability 1/2."""
    target, loss = Fraction(delta), Fraction(epsilon)
    for name, module in MODULES.items():
        if analysis not in module.ANALYSES:
            continue
        calibration = module.calibrate(
            **{BOUND[name]: 1}, epsilon=epsilon, delta=delta, analysis=analysis
        )
        assert calibration.delta.upper <= target
        if analysis == "exact" and name == "csh":  # kappa = 1: both noises have variance sigma^2
            assert (calibration.tau == 0) == (target > Fraction(1, 2))
            assert calibration.delta.lower > target * Fraction(999_999, 10**6)
            continue
        assert_certified(calibration, target)
        if not calibration.tau:  # 1/1000 less noise is not enough
            lower = Fraction(calibration.sigma) * Fraction(999, 1000)
            assert REFERENCES[name, analysis](1, lower, Fraction(0), loss) > float(target)


def test_a_tiny_delta_at_epsilon_0() -> None:
    """delta is the total variation distance, 1/(sigma sqrt(2 pi)) up to a part in sigma^2."""
    calibration = gaussian.calibrate(epsilon=0, delta="1e-300")
    with mp.workprec(200):
        wanted = mp.mpf(10) ** 300 / mp.sqrt(2 * mp.pi)
        assert abs(reference.to_mp(Fraction(calibration.sigma)) / wanted - 1) < 1e-8


def test_a_delta_that_is_just_kept_without_a_threshold() -> None:
    """k = 1, delta = P(N > 0): any threshold above 0 is enough, at every sigma."""
    for name, module in MODULES.items():
        calibration = module.calibrate(**{BOUND[name]: 1}, epsilon=1, delta="0.5")
        assert calibration.delta.upper <= Fraction(1, 2)
        assert calibration.tau is not None
        assert calibration.tau < Fraction(1, 10**9)


@pytest.mark.slow
def test_comparison_rows() -> None:
    rows = compare(sparsity=10, epsilon="0.35", delta="1e-5")
    assert [(r.calibration.mechanism, r.calibration.analysis) for r in rows] == [
        ("gshm", "add-the-deltas"),
        ("gshm", "exact"),
        ("csh", "add-the-deltas"),
        ("csh", "published"),
        ("csh", "exact"),
        ("discrete-gshm", "exact"),
        ("discrete-csh", "by-cases"),
    ]
    assert rows[1].saving == 0
    assert rows[4].saving > rows[3].saving
    assert rows[3].saving > 0
    noise = Fraction(rows[3].calibration.sigma) ** 2 * (1 + Fraction(10**15, 3162277660168379))
    assert abs(rows[3].noise.lower ** 2 - noise) < Fraction(1, 10**9)
