"""Replace-one neighbours, batches, groups and random sensitivities, against the noise itself."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import cast

import numpy as np
import pytest
from mpmath import mp, mpf, ncdf, npdf, quad
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.pld import ask
from exactdp.accounting.pld.ask import search
from exactdp.accounting.pld.grid.densities import bounds
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.accounting.pld.laws.normal import NormalLaw
from exactdp.errors import InvalidParameter
from tests.accounting.pld.integers import in_integers

STEP = Fraction(1, 1024)

#: (weight, shift) of every normal law
Mixture = list[tuple[float, float]]


def _density(mixture: Mixture, x: mpf) -> mpf:
    return sum(w * npdf(x - s) for w, s in mixture)


def _tail(mixture: Mixture, x: mpf) -> mpf:
    return sum(w * ncdf(s - x) for w, s in mixture)


def _loss(p: Mixture, q: Mixture, x: mpf) -> mpf:
    return mp.log(_density(p, x) / _density(q, x))


def _one(p: Mixture, q: Mixture, epsilon: mpf) -> mpf:
    """delta of one step whose loss rises with x, whatever the sign of epsilon."""
    if _loss(p, q, mpf(-30)) > epsilon:
        return 1 - mp.exp(epsilon)
    if _loss(p, q, mpf(30)) < epsilon:
        return mpf(0)
    low, high = mpf(-30), mpf(30)
    for _ in range(50):
        x = (low + high) / 2
        low, high = (x, high) if _loss(p, q, x) < epsilon else (low, x)
    return _tail(p, x) - mp.exp(epsilon) * _tail(q, x)


def _two(p: Mixture, q: Mixture, epsilon: mpf) -> mpf:
    """delta of two steps: the mean of the second one's over the first one's loss."""
    places = [-12, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 14]
    return quad(
        lambda x: _density(p, x) * _one(p, q, epsilon - _loss(p, q, x)), places, maxdegree=4
    )


def _at(measure: Measure, epsilon: float) -> float:
    masses = measure.masses.at(0)
    step = float(measure.grid.step)
    losses = float(measure.grid.offset) + step * (measure.first + np.arange(len(masses)))
    gain = np.maximum(-np.expm1(epsilon - losses), 0)
    return float((masses * gain).sum()) + float(measure.infinity)


REPLACED = pld.gaussian(sigma=1).sampled("0.1").replaced()
BATCHED = pld.gaussian(sigma=2).batched("0.2")
MIXED = pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=["0.7", "0.3"])
GROUPED = pld.gaussian(sigma=2).sampled("0.1").grouped(3)

_NONE: Mixture = [(1, 0)]
_THREE: Mixture = [(0.729, 0), (0.243, 0.5), (0.027, 1), (0.001, 1.5)]
PAIRS: list[tuple[pld.Pld, bool, Mixture, Mixture]] = [
    (REPLACED, True, [(0.9, 0), (0.1, 1)], [(0.1, -1), (0.9, 0)]),
    (MIXED, True, [(0.7, 1), (0.3, 2)], _NONE),
    (MIXED, False, _NONE, [(0.3, -2), (0.7, -1)]),
    (GROUPED, True, _THREE, _NONE),
    (GROUPED, False, _NONE, [(w, -s) for w, s in _THREE]),
]


def _law(loss: pld.Pld, removed: bool) -> NormalLaw:
    ((step, _),) = loss.steps
    return cast(NormalLaw, step.removed if removed else step.added)


@pytest.mark.parametrize(
    ("loss", "removed", "p", "q"),
    [*PAIRS[:2], *(pytest.param(*pair, marks=pytest.mark.slow) for pair in PAIRS[2:])],
)
def test_the_exact_curve_lies_between(loss: pld.Pld, removed: bool, p: Mixture, q: Mixture) -> None:
    below, above = bounds(_law(loss, removed), STEP, 96)
    for epsilon in (-1.1, -0.2, -0.01, 0.0, 0.004, 0.15, 0.9, 3.0):
        exact = float(_one(p, q, mpf(epsilon)))
        low, high = _at(below, epsilon), _at(above, epsilon)
        assert low - 1e-12 <= exact <= high + 1e-12, epsilon
        assert high - low <= 2e-6, epsilon


@pytest.mark.parametrize("epsilon", [-1.0, -0.03, 0.0, 0.02, 0.7, 2.5])
def test_batches_are_as_bad_as_the_worst_three_vectors(epsilon: float) -> None:
    """Others' vector w, the user's u and v, all within the sensitivity: sums over a fine line."""
    x = np.linspace(-12, 12, 4001)
    unit, rate = x[1] - x[0], 0.2

    def normal(mean: float) -> np.ndarray:
        edges = np.append(x - unit / 2, x[-1] + unit / 2)
        return np.diff(ndtr(edges - mean))

    worst = 0.0
    for w in (-0.5, -0.1, 0.5):  # sensitivity 1, sigma 2
        for u in (-0.5, 0.0, 0.3, 0.5):
            for v in (-0.5, 0.2, 0.5):
                p = (1 - rate) * normal(w) + rate * normal(u)
                q = (1 - rate) * normal(w) + rate * normal(v)
                worst = max(worst, float(np.maximum(p - np.exp(epsilon) * q, 0).sum()))
    below, above = (_at(m, epsilon) for m in bounds(_law(BATCHED, True), STEP, 96))
    assert abs(worst - above) < 1e-5
    assert below <= worst + 1e-5
    assert above - below <= 2e-6


@pytest.mark.parametrize(("loss", "removed", "p", "q"), [PAIRS[0], PAIRS[1]])
@pytest.mark.slow
def test_two_steps(loss: pld.Pld, removed: bool, p: Mixture, q: Mixture) -> None:
    order = loss.composed(2).orders()[0 if removed else 1]
    for epsilon in ("0.3", "1.5"):
        found = ask.delta(order, Fraction(epsilon), Fraction(1, 10**4))
        exact = _two(p, q, mpf(epsilon))
        assert found.float_lower() <= exact * (1 + mpf(1e-7))
        assert exact * (1 - mpf(1e-7)) <= found.float_upper()


@pytest.mark.parametrize("loss", [REPLACED, pytest.param(BATCHED, marks=pytest.mark.slow)])
def test_integers_agree(loss: pld.Pld) -> None:
    order = loss.composed(5).orders()[0]
    parts = search.measures(order, Fraction(1, 32), 96)
    whole = in_integers(parts, Fraction(2))
    found = ask.delta(order, Fraction(2), Fraction(1, 1000))
    assert max(found.lower, whole.lower) <= min(found.upper, whole.upper)


def test_what_is_known_of_each() -> None:
    g = pld.gaussian(sigma=1)
    # at rate 1 nothing is sampled, and a group of one is a user
    assert g.sampled(1).replaced() == g.batched(1) == g.replaced()
    assert g.replaced().batched("0.1") == g.batched("0.1")
    assert g.replaced().orders() == pld.gaussian(sigma=1, sensitivity=2).orders()
    assert g.sampled("0.1").grouped(1) == g.sampled("0.1")
    assert g.sampled("0.5").sampled("0.5").orders() == g.sampled("0.25").orders()
    # a batch leaks at least what a Poisson sample with moves twice as long does, and at most what
    # the unsampled mechanism does
    batch = pld.gaussian(sigma=4).batched("0.1").composed(10).delta(1)
    poisson = pld.gaussian(sigma=2).sampled("0.1").composed(10).delta(1)
    assert batch.lower == poisson.lower
    assert poisson.upper < batch.upper < pld.gaussian(sigma=2).composed(10).delta(1).lower


def test_a_single_batch_leaks_what_its_worst_neighbours_leak() -> None:
    loss = pld.gaussian(sigma=4).batched("0.1")
    same, found = pld.gaussian(sigma=2).sampled("0.1").delta(1), loss.delta(1)
    assert found.lower == same.lower
    assert same.lower < found.upper < same.lower * Fraction(1001, 1000)
    assert "upper bound" in loss.guarantee(1).source


def _discrete(kind: str, z: np.ndarray) -> np.ndarray:
    masses = np.exp(-0.3 * abs(z)) if kind == "laplace" else np.exp(-(z**2) / 8.0)
    return np.asarray(masses / masses.sum())


DISCRETE = {
    "laplace": pld.discrete_laplace(epsilon="0.6", sensitivity=2),
    "gaussian": pld.discrete_gaussian(sigma2=4, sensitivity=2),
}


def _excess(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("kind", ["laplace", pytest.param("gaussian", marks=pytest.mark.slow)])
def test_integer_noise_on_samples_by_enumeration(kind: str) -> None:
    """The worst of all integers that the user may add before and after, and of all others'."""
    z, rate, loss = np.arange(-150, 151), 0.2, DISCRETE[kind]
    shifted = {s: _discrete(kind, z - s) for s in range(-2, 3)}
    replaced, batched = loss.sampled("0.2").replaced(), loss.batched("0.2")
    for epsilon in (0, 0.1, 0.2):  # below the largest loss of both
        poisson, batches = (
            max(
                _excess((1 - rate) * w + rate * u, (1 - rate) * w + rate * v, epsilon)
                for w in others
                for u, v in product(shifted.values(), repeat=2)
            )
            for others in ([shifted[0]], list(shifted.values()))
        )
        for made, exact in ((replaced, poisson), (batched, batches)):
            found = made.delta(str(epsilon))
            assert found.float_lower() <= exact * (1 + 1e-9), (made, epsilon)
            assert exact * (1 - 1e-9) <= found.float_upper(), (made, epsilon)


def test_several_steps_of_integer_noise_by_enumeration() -> None:
    z, rate = np.arange(-60, 61), 0.2
    here, before, after = (_discrete("laplace", z - s) for s in (0, -2, 2))
    p, q = (1 - rate) * here + rate * before, (1 - rate) * here + rate * after
    exact = _excess(np.outer(p, p).ravel(), np.outer(q, q).ravel(), 0.3)
    found = DISCRETE["laplace"].sampled("0.2").replaced().composed(2).delta("0.3")
    assert found.float_lower() <= exact * (1 + 1e-6)
    assert exact * (1 - 1e-6) <= found.float_upper()


def test_any_pure_mechanism_on_batches() -> None:
    """Randomised response over three answers, each user's data and the others' any of them."""
    answers = np.full((3, 3), 1.0) + (np.e - 1) * np.eye(3)
    laws, rate = answers / answers.sum(axis=1), 0.3
    one = pld.randomized_response(epsilon=1, neighbours=pld.REPLACE_ONE).batched("0.3")
    for epsilon in (0, 0.2, 0.4):
        worst = max(
            _excess((1 - rate) * w + rate * u, (1 - rate) * w + rate * v, epsilon)
            for w, u, v in product(laws, repeat=3)
        )
        assert worst <= one.delta(str(epsilon)).float_upper()
    limit = float(np.log1p(rate * np.expm1(1)))
    assert abs(one.epsilon("1e-12").float_upper() - limit) < 1e-6


GIVEN = pld.gaussian(sigma=1)
REFUSED: list[Callable[[], object]] = [
    lambda: GIVEN.then(GIVEN.replaced()),
    lambda: GIVEN.batched("0.1").then(GIVEN.sampled("0.1")),
    lambda: GIVEN.grouped(2).then(GIVEN),
    lambda: GIVEN.grouped(2).then(GIVEN.grouped(3)),
    lambda: GIVEN.replaced().sampled("0.1"),
    lambda: GIVEN.grouped(2).sampled("0.1"),
    lambda: GIVEN.replaced().replaced(),
    lambda: GIVEN.batched("0.1").batched("0.1"),
    lambda: GIVEN.sampled("0.1").replaced().batched("0.1"),
    lambda: GIVEN.sampled("0.5").batched("0.1"),
    lambda: GIVEN.batched("1.5"),
    lambda: GIVEN.grouped(0),
    lambda: pld.approximate(epsilon=1, delta=0).replaced(),
    lambda: pld.gaussian_mixture(sigma=1, sensitivities=[0], weights=[1]),
    lambda: pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=[1]),
    lambda: pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=["0.5", "0.4"]),
    lambda: pld.gaussian_mixture(sigma=1, sensitivities=[1, -2], weights=["0.5", "0.5"]),
]


@pytest.mark.parametrize("asked", REFUSED)
def test_what_has_no_answer_is_refused(asked: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter, match=r"(other|neighbours|rate|size|mech|sens|weights)"):
        asked()
