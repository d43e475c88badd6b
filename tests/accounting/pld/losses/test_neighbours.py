"""Replace-one neighbours, batches, groups and random sensitivities, against the noise itself."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import search
from tests.accounting.pld.curves import excess, of_measure

STEP = Fraction(1, 1024)

BATCHED = pld.gaussian(sigma=2).batched("0.2")


@pytest.mark.few(1)
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
                worst = max(worst, excess(p, q, epsilon))
    order = BATCHED.orders()[0]
    below, above = (of_measure(m, epsilon) for m in search.measures(order, STEP, 96)[0][:2])
    assert abs(worst - above) < 1e-5
    assert below <= worst + 1e-5
    assert above - below <= 2e-6


@pytest.mark.slow
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
    same, batched = pld.gaussian(sigma=2).sampled("0.1").delta(1), loss.delta(1)
    assert batched.lower == same.lower
    assert same.lower < batched.upper < same.lower * Fraction(1001, 1000)
    assert "upper bound" in loss.guarantee(1).source


def _discrete(kind: str, z: np.ndarray) -> np.ndarray:
    masses = np.exp(-0.3 * abs(z)) if kind == "laplace" else np.exp(-(z**2) / 8.0)
    return np.asarray(masses / masses.sum())


DISCRETE = {
    "laplace": pld.discrete_laplace(epsilon="0.6", sensitivity=2),
    "gaussian": pld.discrete_gaussian(sigma2=4, sensitivity=2),
}


@pytest.mark.parametrize("kind", ["laplace", pytest.param("gaussian", marks=pytest.mark.slow)])
def test_integer_noise_on_samples_by_enumeration(kind: str) -> None:
    """The worst of all integers that the user may add before and after, and of all others'."""
    z, rate, loss = np.arange(-150, 151), 0.2, DISCRETE[kind]
    shifted = {s: _discrete(kind, z - s) for s in range(-2, 3)}
    replaced, batched = loss.sampled("0.2").replaced(), loss.batched("0.2")
    for epsilon in (0, 0.1, 0.2):  # below the largest loss of both
        poisson, batches = (
            max(
                excess((1 - rate) * w + rate * u, (1 - rate) * w + rate * v, epsilon)
                for w in others
                for u, v in product(shifted.values(), repeat=2)
            )
            for others in ([shifted[0]], list(shifted.values()))
        )
        for scheme, exact in ((replaced, poisson), (batched, batches)):
            delta = scheme.delta(str(epsilon))
            assert delta.float_lower() <= exact * (1 + 1e-9), (scheme, epsilon)
            assert exact * (1 - 1e-9) <= delta.float_upper(), (scheme, epsilon)


def test_any_pure_mechanism_on_batches() -> None:
    """Randomised response over three answers, each user's data and the others' any of them."""
    answers = np.full((3, 3), 1.0) + (np.e - 1) * np.eye(3)
    laws, rate = answers / answers.sum(axis=1), 0.3
    one = pld.randomized_response(epsilon=1, neighbours=pld.REPLACE_ONE).batched("0.3")
    for epsilon in (0, 0.2, 0.4):
        worst = max(
            excess((1 - rate) * w + rate * u, (1 - rate) * w + rate * v, epsilon)
            for w, u, v in product(laws, repeat=3)
        )
        assert worst <= one.delta(str(epsilon)).float_upper()
    limit = float(np.log1p(rate * np.expm1(1)))
    assert abs(one.epsilon("1e-12").float_upper() - limit) < 1e-6
