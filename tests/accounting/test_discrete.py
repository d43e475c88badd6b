"""Discrete Gaussian mechanisms against direct mpmath sums."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp, mpf

from exactdp import Enclosure, InvalidParameter, Undecided
from exactdp.accounting import discrete_csh, discrete_gaussian, gaussian
from exactdp.accounting.certify.lattice import smoothing
from exactdp.accounting.sparse_histograms.discrete_csh_terms import Showing
from exactdp.balls import FLOOR_BITS, precision
from tests import reference

NARROW = Fraction(1, 10**12)
FLOOR = Fraction(1, 2**FLOOR_BITS)


def _mp(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def assert_about(found: Enclosure, expected: mpf, digits: int = 30) -> None:
    assert found.lower * (1 + NARROW) >= found.upper or found.upper <= FLOOR
    with mp.workdps(80):
        slack = abs(expected) * mpf(10) ** -digits
        assert _mp(found.lower) <= expected + slack
        assert expected - slack <= _mp(found.upper)


def weights(sigma2: Fraction, bits: int) -> dict[int, mpf]:
    """The law, cut where it falls below 2^-bits."""
    reach = int(mpmath.sqrt(2 * _mp(sigma2) * bits * mpmath.log(2))) + 2
    raw = {z: mpmath.exp(-mpf(z * z) / (2 * _mp(sigma2))) for z in range(-reach, reach + 1)}
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
                total += p * -mpmath.expm1(_mp(epsilon - loss))
        return total


@pytest.mark.parametrize("seed", range(4))
def test_one_query(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        sigma2 = Fraction(f"{10 ** rng.uniform(-2, 3):.6e}")
        epsilon = Fraction(f"{10 ** rng.uniform(-3, 1):.6e}")
        sensitivity = rng.choice([1, 1, 2, 5])
        found = discrete_gaussian.delta(sigma2=sigma2, epsilon=epsilon, sensitivity=sensitivity)
        bits = 200 + int(-mpmath.log(_mp(found.upper), 2)) if found.upper > FLOOR else 0
        if 0 < bits < 2000:
            assert_about(found, direct([sensitivity], [sigma2], epsilon, bits))


@pytest.mark.parametrize(
    ("sigma2", "epsilon", "sensitivity"),
    [
        (1, "0.5", 1),
        (1, "1.5", 1),
        (1, "2.5", 1),
        ("0.25", 2, 1),
        (4, "1", 2),
        (2, "0", 1),
    ],
)
def test_ties_between_loss_and_epsilon(sigma2: object, epsilon: str, sensitivity: int) -> None:
    variance = Fraction(str(sigma2))
    found = discrete_gaussian.delta(sigma2=variance, epsilon=epsilon, sensitivity=sensitivity)
    assert_about(found, direct([sensitivity], [variance], Fraction(epsilon)))


def test_far_tails() -> None:
    """epsilon = 800 and delta = 1e-300: terms in mpmath, down to 1e-800, at 450 digits."""
    for sigma2, epsilon, most in (("0.003", 800, 5), ("0.5", 40, 45), ("1000", 1, 2000)):
        found = discrete_gaussian.delta(sigma2=sigma2, epsilon=epsilon)
        v = Fraction(sigma2)
        with mp.workdps(450):
            first = int(epsilon * v - Fraction(1, 2) // 1) - 1
            raw = [mpmath.exp(-mpf(z * z) / (2 * _mp(v))) for z in range(-most, most)]
            norm = mpmath.fsum(raw)
            expected = mpmath.fsum(
                mpmath.exp(-mpf(z * z) / (2 * _mp(v)))
                / norm
                * -mpmath.expm1(epsilon - _mp(Fraction(2 * z + 1) / (2 * v)))
                for z in range(max(first, -1), most)
                if Fraction(2 * z + 1) / (2 * v) > epsilon
            )
        assert expected < mpf(10) ** -200 or sigma2 == "0.5"
        assert_about(found, expected)
    assert discrete_gaussian.delta(sigma2="1e300", epsilon=1).upper <= FLOOR
    assert discrete_gaussian.delta(sigma2="1e-300", epsilon=1).lower > 1 - NARROW


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
    found = discrete_gaussian.delta_many(shifts=shifts, sigma2s=sigma2s, epsilon=epsilon)
    kept = [(s, Fraction(v)) for s, v in zip(shifts, sigma2s, strict=True) if s]
    expected = direct([s for s, _ in kept], [v for _, v in kept], Fraction(epsilon), 140)
    assert_about(found, expected)


def test_vectors_agree_with_one_query() -> None:
    one = discrete_gaussian.delta(sigma2=50, epsilon="0.4", sensitivity=2)
    assert discrete_gaussian.delta_many(shifts=[2], sigma2s=[50], epsilon="0.4") == one
    assert discrete_gaussian.delta_many(shifts=[0], sigma2s=[50], epsilon="0.4") == 0
    assert discrete_gaussian.delta_many(shifts=[], sigma2s=[], epsilon="0.4") == 0


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


def test_the_continuous_mechanism_is_the_limit() -> None:
    for scale in (1, 10, 100, 1000):
        found = discrete_gaussian.delta(sigma2=100 * scale**2, epsilon="0.35", sensitivity=scale)
        limit = gaussian.delta(sigma=10, epsilon="0.35")
        assert abs(found.lower - limit.lower) < limit.lower / scale


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
    found = discrete_gaussian.calibrate(
        epsilon=str(epsilon), delta=delta, sensitivity=sensitivity, resolution="1e-6"
    )
    assert found.delta <= delta
    assert found.refuted is not None
    assert found.refuted.delta > delta
    assert found.refuted.value < found.sigma2
    assert found.sigma2 - found.refuted.value < found.sigma2 / 10**5
    assert found.as_dict()["parameters"]["sigma2"]  # type: ignore[index]
    again = discrete_gaussian.check(
        sigma2=found.sigma2, epsilon=str(epsilon), delta=delta, sensitivity=sensitivity
    )
    assert again.verdict == "proved"


@pytest.mark.parametrize(
    "call",
    [
        lambda: discrete_gaussian.delta(sigma2=0, epsilon=1),
        lambda: discrete_gaussian.delta(sigma2=1, epsilon=-1),
        lambda: discrete_gaussian.delta(sigma2=1, epsilon=1, sensitivity=0),
        lambda: discrete_gaussian.delta(sigma2=1, epsilon=1, sensitivity="1.5"),
        lambda: discrete_gaussian.delta_many(shifts=[1], sigma2s=[1, 2], epsilon=1),
        lambda: discrete_gaussian.delta_many(shifts=[0.5], sigma2s=[1], epsilon=1),  # type: ignore[list-item]
        lambda: discrete_gaussian.calibrate(epsilon=1, delta=0),
    ],
)
def test_bad_input_is_refused(call: object) -> None:
    with pytest.raises(InvalidParameter):
        call()  # type: ignore[operator]


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
    for sigma2, found in ((less, first), (more, second)):
        bits = 200 + int(-mpmath.log(_mp(found.upper), 2))
        with mp.workdps(700):
            v = _mp(Fraction(sigma2))
            law = weights(Fraction(sigma2), bits)
            expected = mpmath.fsum(
                p * -mpmath.expm1(epsilon - (2 * z + 1) / (2 * v))
                for z, p in law.items()
                if Fraction(2 * z + 1) / (2 * Fraction(sigma2)) > epsilon
            )
        assert_about(found, expected)


# The correlated histogram


def cut_weights(v: mpf, bits: int) -> dict[int, mpf]:
    """As weights, for a parameter that need not be rational."""
    reach = int(mpmath.sqrt(2 * v * bits * mpmath.log(2))) + 2
    raw = {z: mpmath.exp(-mpf(z * z) / (2 * v)) for z in range(-reach, reach + 1)}
    norm = mpmath.fsum(raw.values())
    return {z: w / norm for z, w in raw.items()}


def csh_noise(k: int, sigma: Fraction, epsilon: Fraction) -> mpf:
    """k + 1 coordinates, every one of them visited; the loss from the two probabilities."""
    v = 4 * _mp(sigma) ** 2
    own, shared = cut_weights(v, 130), cut_weights(v / mpmath.sqrt(k), 130)
    total = mpf(0)
    for point in itertools.product(*[own.items()] * k, shared.items()):
        moved = [2 * z + 1 for z, _ in point]
        loss = (sum(moved[:-1]) + mpmath.sqrt(k) * moved[-1]) / (2 * v)
        if loss > _mp(epsilon):
            total += mpmath.fprod(w for _, w in point) * -mpmath.expm1(_mp(epsilon) - loss)
    return total


def csh_threshold(k: int, sigma: Fraction, tau: Fraction, r: int) -> mpf:
    v = 4 * _mp(sigma) ** 2
    own, shared = cut_weights(v, 200), cut_weights(v / mpmath.sqrt(k), 200)
    return mpmath.fsum(
        w * (1 - mpmath.fsum(u for x, u in own.items() if x + z <= 2 * tau) ** r)
        for z, w in shared.items()
    )


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
    found = discrete_csh.delta(k=k, sigma=s, tau=t, epsilon=e, analysis="exact-parts")
    assert_about(found, min(expected, mpf(1)))


def true_delta(k: int, sigma: float, tau: float, epsilon: float) -> float:
    """The mechanism itself, without lifting: largest divergence over neighbours, in floats.

    j counters on both sides, far above the threshold; a of them move; r on one side only, at 1.
    """
    v = 4 * sigma * sigma

    def law(variance: float) -> dict[int, float]:
        reach = int(9 * variance**0.5) + 2
        raw = {z: math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)}
        return {z: w / sum(raw.values()) for z, w in raw.items()}

    own, shared = law(v), law(v / math.sqrt(k))

    def outputs(j: int, a: int, r: int) -> dict[tuple[object, ...], float]:
        found: dict[tuple[object, ...], float] = {}
        for z, w in shared.items():
            for point in itertools.product(own.items(), repeat=j + r):
                seen: list[object] = [2 * (i < a) + x + z for i, (x, _) in enumerate(point[:j])]
                seen += [x + z if x + z > 2 * tau else None for x, _ in point[j:]]
                key = tuple(seen) if any(s is not None for s in seen[j:]) else tuple(seen[:j])
                found[key] = found.get(key, 0.0) + w * math.prod(u for _, u in point)
        return found

    worst = 0.0
    for j in range(k + 1):
        for a in range(j + 1):
            for r in range(k - j + 1):
                p, q = outputs(j, a, r), outputs(j, 0, 0)
                for one, other in ((p, q), (q, p)):
                    excess = (w - math.exp(epsilon) * other.get(y, 0.0) for y, w in one.items())
                    worst = max(worst, math.fsum(x for x in excess if x > 0))
    return worst


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
    found = [
        discrete_csh.delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)
        for analysis in discrete_csh.ANALYSES
    ]
    assert 0 < truth * (1 - 1e-9) < found[-1].upper
    assert all(tighter <= looser for looser, tighter in itertools.pairwise(found))


@pytest.mark.parametrize("k", [*(pytest.param(k, marks=pytest.mark.slow) for k in (1, 4)), 10])
def test_the_correlated_gaussian_mechanism_is_the_limit(k: int) -> None:
    """Noise and steps shrink together: only sigma grows, and epsilon = c/sigma."""
    for sigma in (10, 100):
        epsilon = Fraction(3, sigma)
        found = discrete_csh.delta(k=k, sigma=sigma, tau=40 * sigma, epsilon=epsilon)
        with mp.workdps(40):
            mu = mpmath.sqrt(k + mpmath.sqrt(k)) / (2 * sigma)
            limit = reference.gaussian(_mp(epsilon), mu)
        assert abs(found.float_upper() - float(limit)) < 0.3 / sigma**2 * float(limit)


@pytest.mark.parametrize("k", [2, 16, 81, 10])
def test_the_published_threshold(k: int) -> None:
    """With epsilon out of reach the threshold part is left; k = 16 and 81 have rational roots."""
    for sigma, tau in (("1", "6"), ("2", "8.25"), ("1", "0"), ("0.75", "4.5")):
        found = discrete_csh.delta(k=k, sigma=sigma, tau=tau, epsilon=10**6, analysis="published")
        with mp.workdps(60):
            v, root = 4 * _mp(Fraction(sigma)) ** 2, mpf(k) ** (mpf(1) / 4)
            double, tiny = 2 * _mp(Fraction(tau)), mpf(10) ** -40
            own, shared = cut_weights(v, 300), cut_weights(v / mpmath.sqrt(k), 300)
            first = mpmath.fsum(w for z, w in shared.items() if z <= double / (1 + root) + tiny)
            each = mpmath.fsum(w for z, w in own.items() if z <= double * root / (1 + root) + tiny)
            expected = 1 - first * each**k
        assert_about(found, expected)


@pytest.mark.parametrize(
    ("k", "epsilon", "delta"), [(1, 1, "1e-6"), (2, "0.35", "1e-5"), (10, 3, "1e-10")]
)
def test_a_chosen_sigma_needs_no_larger_threshold_than_others(
    k: int, epsilon: int | str, delta: str
) -> None:
    chosen = discrete_csh.calibrate(k=k, epsilon=epsilon, delta=delta)
    for factor in ("1.005", "1.02", "1.1"):
        other = discrete_csh.calibrate(
            k=k, epsilon=epsilon, delta=delta, sigma=Fraction(chosen.sigma) * Fraction(factor)
        )
        assert (chosen.tau or 0) <= (other.tau or 0)
    least = Fraction(chosen.sigma) * Fraction("0.98")  # the noise alone leaks more than delta
    with pytest.raises(InvalidParameter, match="sigma must be larger"):
        discrete_csh.calibrate(k=k, epsilon=epsilon, delta=delta, sigma=least)


def test_correlated_calibration() -> None:
    taus = []
    for analysis in discrete_csh.ANALYSES:
        found = discrete_csh.calibrate(
            k=10, epsilon="0.35", delta="1e-5", sigma=26, analysis=analysis
        )
        assert found.delta <= "1e-5"
        assert found.refuted is not None
        assert found.refuted.delta > "1e-5"
        assert found.tau is not None
        taus.append(found.tau)
    assert taus == sorted(taus, reverse=True)
    with pytest.raises(InvalidParameter, match="sigma must be larger"):
        discrete_csh.calibrate(k=10, epsilon="0.35", delta="1e-5", sigma=5)
    assert discrete_csh.check(k=10, sigma=20, tau=120, epsilon="0.35", delta="1e-5").verdict == (
        "proved"
    )
    assert "sparse" in discrete_csh.guarantee(k=3, sigma=20, tau=120, epsilon=1).neighbours


@pytest.mark.parametrize(
    "call",
    [
        lambda: discrete_csh.delta(k=0, sigma=1, tau=1, epsilon=1),
        lambda: discrete_csh.delta(k=1, sigma=0, tau=1, epsilon=1),
        lambda: discrete_csh.delta(k=1, sigma=1, tau=-1, epsilon=1),
        lambda: discrete_csh.delta(k=1, sigma=1, tau=1, epsilon=1, analysis="tight"),
    ],
)
def test_bad_input_of_the_histogram_is_refused(call: object) -> None:
    with pytest.raises(InvalidParameter):
        call()  # type: ignore[operator]


def test_too_much_shared_noise_is_undecided() -> None:
    with pytest.raises(Undecided, match="shared noise"):
        discrete_csh.delta(k=4, sigma=10**6, tau=10**7, epsilon=1)


@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon"),
    [(12, "8", "30", "0.35"), (7, "3", "9", "0.5"), (30, "4", "11", "0"), (25, "20", "95", "0.1")],
)
def test_by_cases_is_the_largest_of_all_cases(k: int, sigma: str, tau: str, epsilon: str) -> None:
    """Every r visited; the search leaves most of them out."""
    numbers = {"sigma": sigma, "tau": tau, "epsilon": epsilon, "analysis": "by-cases"}
    found = discrete_csh.delta(k=k, **numbers)
    point = discrete_csh._point(k, sigma, tau, epsilon, "by-cases")
    with precision(128):
        showing = Showing.of(k, point.variance, point.tau)
        cases = [discrete_csh._case(k - r, point) + showing.any_of(r) for r in range(1, k)]
        best = discrete_csh._case(k, point).max(showing.any_of(k))
        for case in cases:
            best = best.max(case)
        low, high = (float(end.mid()) for end in (best.lower(), best.upper()))
    assert found.float_lower() <= high * (1 + 1e-12)
    assert low <= found.float_upper() * (1 + 1e-12)


def test_by_cases_at_a_thousand_counters() -> None:
    """What was enclosed before, 1.0053e-5, bounded ranges of cases instead of each."""
    found = discrete_csh.delta(k=1000, sigma="156.66", tau=900, epsilon="0.35", analysis="by-cases")
    assert f"{found.float_lower():.5e}" == "9.99951e-06"


def test_a_sensitivity_in_words_is_read_by_all() -> None:
    for text in ("2", "2.0", "2e0"):
        promise = discrete_gaussian.guarantee(sigma2=2, epsilon=1, sensitivity=text)
        assert promise.neighbours.endswith("by at most 2")
