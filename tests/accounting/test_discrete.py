"""Discrete Gaussian mechanisms against direct mpmath sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp, mpf

from exactdp import InvalidParameter, Undecided
from exactdp.accounting import discrete_csh, discrete_gaussian
from exactdp.accounting.certify.gaussian_sums import smoothing
from exactdp.accounting.sparse_histograms.discrete_csh_terms import Showing
from exactdp.balls import precision
from tests import reference
from tests.reference import assert_about, to_mp

NARROW = Fraction(1, 10**12)


def weights(sigma2: Fraction | mpf, bits: int) -> dict[int, mpf]:
    """The law, cut where it falls below 2^-bits. sigma2: an mpf where it is irrational."""
    v = to_mp(sigma2) if isinstance(sigma2, Fraction) else sigma2
    reach = int(mpmath.sqrt(2 * v * bits * mpmath.log(2))) + 2
    raw = {z: mpmath.exp(-mpf(z * z) / (2 * v)) for z in range(-reach, reach + 1)}
    norm = mpmath.fsum(raw.values())
    return {z: w / norm for z, w in raw.items()}


def direct(shifts: list[int], sigma2s: list[Fraction], epsilon: Fraction, bits: int = 200) -> mpf:
    """Sum of p - e^eps q over all outcomes, each pair of probabilities multiplied out."""
    with mp.workdps(70):
        laws = [weights(v, bits) for v in sigma2s]
        total = mpf(0)
        for point in itertools.product(*(law.items() for law in laws)):
            loss = sum(
                (
                    Fraction(2 * z * s + s * s) / (2 * v)
                    for (z, _), s, v in zip(point, shifts, sigma2s, strict=True)
                ),
                Fraction(0),
            )
            if loss > epsilon:
                p = mpmath.fprod(w for _, w in point)
                total += p * -mpmath.expm1(to_mp(epsilon - loss))
        return total


@pytest.mark.parametrize("epsilon", [220, 301])  # delta is about e^-24420 and e^-45300
def test_a_delta_near_the_smallest_that_is_told_from_zero(epsilon: int) -> None:
    with mp.workdps(50):
        total = 2 * mpmath.nsum(lambda x: mpmath.exp(-x * x / 2), [1, mpmath.inf]) + 1
        beyond = range(epsilon, epsilon + 9)  # the loss is x + 1/2
        terms = (
            mpmath.exp(-mpf(x * x) / 2) * -mpmath.expm1(epsilon - x - mpf(0.5)) for x in beyond
        )
        assert_about(discrete_gaussian.delta(sigma2=1, epsilon=epsilon), sum(terms) / total)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shifts", "sigma2s", "epsilon"),
    [
        ([1, 1], ["2", "2"], "0.5"),
        ([1, 2], ["2", "3"], "0.75"),
        ([1, -2], ["2", "3"], "0.75"),
        ([3, 0, 1], ["5", "7", "1.5"], "1"),
        ([1, 1], ["0.3", "0.3"], "4"),
        ([1, 1], ["0.5", "1.25"], "2"),
        ([1, 1], ["1", "1"], "1"),  # a tie
    ],
)
def test_vectors(shifts: list[int], sigma2s: list[str], epsilon: str) -> None:
    delta = discrete_gaussian.delta_many(shifts=shifts, sigma2s=sigma2s, epsilon=epsilon)
    kept = [(s, Fraction(v)) for s, v in zip(shifts, sigma2s, strict=True) if s]
    expected = direct([s for s, _ in kept], [v for _, v in kept], Fraction(epsilon), 140)
    assert_about(delta, expected)


def test_vectors_agree_with_one_query() -> None:
    one = discrete_gaussian.delta(sigma2=50, epsilon="0.4", sensitivity=2)
    assert discrete_gaussian.delta_many(shifts=[2], sigma2s=[50], epsilon="0.4") == one
    assert discrete_gaussian.delta_many(shifts=[0], sigma2s=[50], epsilon="0.4") == 0
    assert discrete_gaussian.delta_many(shifts=[], sigma2s=[], epsilon="0.4") == 0


@pytest.mark.few(2)
@pytest.mark.parametrize(("count", "sigma2"), [(2, "1"), (3, "1.5"), (5, "2"), (4, "3")])
def test_the_smoothing_bound_holds_pointwise(count: int, sigma2: str) -> None:
    variance = Fraction(sigma2)
    with precision(128):
        bound = float(smoothing(count, variance))
    with mp.workdps(40):
        law, one = {0: mpf(1)}, weights(variance, 300)
        for _ in range(count):
            grown: dict[int, mpf] = {}
            for (s, p), (z, w) in itertools.product(law.items(), one.items()):
                grown[s + z] = grown.get(s + z, mpf(0)) + p * w
            law = grown
        smooth = weights(count * variance, 400)
        reach = int(4 * (count * variance) ** 0.5) + 2
        worst = max(abs(mpmath.log(law[s] / smooth[s])) for s in range(-reach, reach + 1))
    assert 0 < worst <= bound
    assert count > 2 or bound < 5 * worst  # further copies average the error away


def test_smoothed_and_convolved_sums_agree() -> None:
    """Just above the limit of smoothing, against a list that convolves all the same."""
    smoothed = discrete_gaussian.delta_many(shifts=[1] * 6, sigma2s=[4] * 6, epsilon=1)
    nearly = [4] * 5 + ["4.00000000"]
    assert discrete_gaussian.delta_many(shifts=[1] * 6, sigma2s=nearly, epsilon=1) == smoothed
    convolved = discrete_gaussian.delta_many(
        shifts=[1] * 6, sigma2s=[4] * 5 + [Fraction(401, 100)], epsilon=1
    )
    assert abs(convolved.lower - smoothed.lower) < smoothed.lower / 100


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"),
    [
        ("0.35", "1e-5", 1),
        (1, "1e-5", 3),
        (800, "1e-300", 1),
        ("0.1", "1e-300", 1),
        (5, "0.1", 1),
    ],
)
def test_calibration_from_both_sides(epsilon: object, delta: str, sensitivity: int) -> None:
    calibration = discrete_gaussian.calibrate(
        epsilon=str(epsilon), delta=delta, sensitivity=sensitivity, resolution="1e-6"
    )
    assert calibration.delta <= delta
    assert calibration.refuted is not None
    assert calibration.refuted.delta > delta
    assert calibration.refuted.value < calibration.sigma2
    assert calibration.sigma2 - calibration.refuted.value < calibration.sigma2 / 10**5
    assert calibration.as_dict()["parameters"]["sigma2"]  # type: ignore[index]
    again = discrete_gaussian.check(
        sigma2=calibration.sigma2, epsilon=str(epsilon), delta=delta, sensitivity=sensitivity
    )
    assert again.verdict == "proved"


def test_a_lattice_that_is_too_fine_is_undecided() -> None:
    with pytest.raises(Undecided, match="values"):
        discrete_gaussian.delta_many(
            shifts=[1, 1], sigma2s=["1000.00000001", "999.99999999"], epsilon=1
        )


@pytest.mark.parametrize(
    ("epsilon", "less", "more"),
    [(1, "0.5", "0.6"), (2, "14.75", "14.84"), (800, "0.003125", "0.004")],
)
def test_more_noise_can_be_worse(epsilon: int, less: str, more: str) -> None:
    """So a calibrated sigma2 is not to be rounded up without a check."""
    first, second = (discrete_gaussian.delta(sigma2=v, epsilon=epsilon) for v in (less, more))
    assert first < second


# The correlated histogram


def csh_noise(k: int, sigma: Fraction, epsilon: Fraction) -> mpf:
    """k + 1 coordinates, every one of them visited; the loss from the two probabilities."""
    v = 4 * to_mp(sigma) ** 2
    own, shared = weights(v, 130), weights(v / mpmath.sqrt(k), 130)
    total = mpf(0)
    for point in itertools.product(*[own.items()] * k, shared.items()):
        moved = [2 * z + 1 for z, _ in point]
        loss = (sum(moved[:-1]) + mpmath.sqrt(k) * moved[-1]) / (2 * v)
        if loss > to_mp(epsilon):
            total += mpmath.fprod(w for _, w in point) * -mpmath.expm1(to_mp(epsilon) - loss)
    return total


def csh_threshold(k: int, sigma: Fraction, tau: Fraction, r: int) -> mpf:
    v = 4 * to_mp(sigma) ** 2
    own, shared = weights(v, 200), weights(v / mpmath.sqrt(k), 200)
    return mpmath.fsum(
        w * (1 - mpmath.fsum(u for x, u in own.items() if x + z <= 2 * tau) ** r)
        for z, w in shared.items()
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon"),
    [
        (1, "0.5", "2", "1.2"),
        (2, "0.4", "1.75", "1"),
        pytest.param(2, "0.7", "3.5", "0.8", marks=pytest.mark.slow),
        pytest.param(3, "0.25", "1.5", "2", marks=pytest.mark.slow),
        (1, "1", "4", "0.25"),  # a tie: the losses are (x + z + 1)/4
    ],
)
def test_the_exact_parts_against_full_enumeration(
    k: int, sigma: str, tau: str, epsilon: str
) -> None:
    s, t, e = Fraction(sigma), Fraction(tau), Fraction(epsilon)
    with mp.workdps(50):
        expected = csh_noise(k, s, e) + csh_threshold(k, s, t, k)
    delta = discrete_csh.delta(sparsity=k, sigma=s, tau=t, epsilon=e, analysis="exact-parts")
    assert_about(delta, min(expected, mpf(1)))


def true_delta(k: int, sigma: float, tau: float, epsilon: float) -> float:
    """The mechanism itself, without lifting: largest divergence over neighbours, in floats.

    j counters on both sides, far above the threshold; a of them move; r on one side only, at 1.
    """
    v = 4 * sigma * sigma

    own, shared = (
        reference.discrete_gaussian(w, int(9 * w**0.5) + 2) for w in (v, v / math.sqrt(k))
    )

    def outputs(j: int, a: int, r: int) -> dict[tuple[object, ...], float]:
        law: dict[tuple[object, ...], float] = {}
        for z, w in shared.items():
            for point in itertools.product(own.items(), repeat=j + r):
                seen: list[object] = [2 * (i < a) + x + z for i, (x, _) in enumerate(point[:j])]
                seen += [x + z if x + z > 2 * tau else None for x, _ in point[j:]]
                key = tuple(seen) if any(s is not None for s in seen[j:]) else tuple(seen[:j])
                law[key] = law.get(key, 0.0) + w * math.prod(u for _, u in point)
        return law

    return max(
        reference.leaked(outputs(j, a, r), outputs(j, 0, 0), epsilon)
        for j in range(k + 1)
        for a in range(j + 1)
        for r in range(k - j + 1)
    )


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon"),
    [
        (1, "0.4", "1.5", "1"),
        (1, "1", "5", "0.5"),
        (1, "2", "11", "0.2"),
        (2, "0.3", "1.5", "1.5"),
        (2, "0.6", "3", "0.5"),
        (2, "0.6", "1", "2"),
        (2, "0.5", "3", "3"),
    ],
)
def test_every_analysis_bounds_the_true_delta(k: int, sigma: str, tau: str, epsilon: str) -> None:
    truth = true_delta(k, float(sigma), float(tau), float(epsilon))
    deltas = [
        discrete_csh.delta(sparsity=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)
        for analysis in discrete_csh.ANALYSES
    ]
    assert 0 < truth * (1 - 1e-9) < deltas[-1].upper
    assert all(tighter <= looser for looser, tighter in itertools.pairwise(deltas))


@pytest.mark.parametrize("k", [2, 16, 81, 10])
def test_the_published_threshold(k: int) -> None:
    """With epsilon out of reach the threshold part is left; k = 16 and 81 have rational roots."""
    for sigma, tau in (("1", "6"), ("2", "8.25"), ("1", "0"), ("0.75", "4.5")):
        delta = discrete_csh.delta(
            sparsity=k, sigma=sigma, tau=tau, epsilon=10**6, analysis="published"
        )
        with mp.workdps(60):
            v, root = 4 * to_mp(Fraction(sigma)) ** 2, mpf(k) ** (mpf(1) / 4)
            double, tiny = 2 * to_mp(Fraction(tau)), mpf(10) ** -40
            own, shared = weights(v, 300), weights(v / mpmath.sqrt(k), 300)
            first = mpmath.fsum(w for z, w in shared.items() if z <= double / (1 + root) + tiny)
            each = mpmath.fsum(w for z, w in own.items() if z <= double * root / (1 + root) + tiny)
            expected = 1 - first * each**k
        assert_about(delta, expected)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("k", "epsilon", "delta"), [(1, 1, "1e-6"), (2, "0.35", "1e-5"), (10, 3, "1e-10")]
)
def test_a_chosen_sigma_needs_no_larger_threshold_than_others(
    k: int, epsilon: int | str, delta: str
) -> None:
    chosen = discrete_csh.calibrate(sparsity=k, epsilon=epsilon, delta=delta)
    for factor in ("1.005", "1.02", "1.1"):
        other = discrete_csh.calibrate(
            sparsity=k,
            epsilon=epsilon,
            delta=delta,
            sigma=Fraction(chosen.sigma) * Fraction(factor),
        )
        assert (chosen.tau or 0) <= (other.tau or 0)
    least = Fraction(chosen.sigma) * Fraction("0.98")  # the noise alone leaks more than delta
    with pytest.raises(InvalidParameter, match="sigma must be larger"):
        discrete_csh.calibrate(sparsity=k, epsilon=epsilon, delta=delta, sigma=least)


@pytest.mark.slow
def test_correlated_calibration() -> None:
    taus = []
    for analysis in discrete_csh.ANALYSES:
        calibration = discrete_csh.calibrate(
            sparsity=10, epsilon="0.35", delta="1e-5", sigma=26, analysis=analysis
        )
        assert calibration.delta <= "1e-5"
        assert calibration.refuted is not None
        assert calibration.refuted.delta > "1e-5"
        assert calibration.tau is not None
        taus.append(calibration.tau)
    assert taus == sorted(taus, reverse=True)
    with pytest.raises(InvalidParameter, match="sigma must be larger"):
        discrete_csh.calibrate(sparsity=10, epsilon="0.35", delta="1e-5", sigma=5)
    assert discrete_csh.check(
        sparsity=10, sigma=20, tau=120, epsilon="0.35", delta="1e-5"
    ).verdict == ("proved")
    promise = discrete_csh.guarantee(sparsity=3, sigma=20, tau=120, epsilon=1)
    assert "sparsity = 3" in promise.neighbours


def test_too_much_shared_noise_is_undecided() -> None:
    with pytest.raises(Undecided, match="shared noise"):
        discrete_csh.delta(sparsity=4, sigma=10**6, tau=10**7, epsilon=1)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon"),
    [(12, "8", "30", "0.35"), (7, "3", "9", "0.5"), (30, "4", "11", "0"), (25, "20", "95", "0.1")],
)
def test_by_cases_is_the_largest_of_all_cases(k: int, sigma: str, tau: str, epsilon: str) -> None:
    """Every r visited; the search leaves most of them out."""
    numbers = {"sigma": sigma, "tau": tau, "epsilon": epsilon, "analysis": "by-cases"}
    delta = discrete_csh.delta(sparsity=k, **numbers)
    mechanism = discrete_csh.DiscreteCsh(sparsity=k, **numbers)
    with precision(128):
        showing = Showing.of(k, mechanism.variance, mechanism.tau)
        cases = [mechanism.case(k - r) + showing.any_of(r) for r in range(1, k)]
        best = mechanism.case(k).max(showing.any_of(k))
        for case in cases:
            best = best.max(case)
        low, high = (float(end.mid()) for end in (best.lower(), best.upper()))
    assert delta.float_lower() <= high * (1 + 1e-12)
    assert low <= delta.float_upper() * (1 + 1e-12)


@pytest.mark.slow
def test_by_cases_at_a_thousand_counters() -> None:
    """What was enclosed before, 1.0053e-5, bounded ranges of cases instead of each."""
    delta = discrete_csh.delta(
        sparsity=1000, sigma="156.66", tau=900, epsilon="0.35", analysis="by-cases"
    )
    assert f"{delta.float_lower():.5e}" == "9.99951e-06"


def test_a_sensitivity_in_words_is_read_by_all() -> None:
    for text in ("2", "2.0", "2e0"):
        promise = discrete_gaussian.guarantee(sigma2=2, epsilon=1, sensitivity=text)
        assert promise.neighbours.endswith("by at most 2")
