"""Mechanisms on one sample against mechanisms on samples of their own, integrated in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf, ncdf

from exactdp.accounting import pld
from exactdp.accounting.interop import events
from exactdp.errors import InvalidParameter
from tests.accounting.pld.curves import NORMAL, of_mixtures

#: (weight, (shift of the first answer, shift of the second)) of every normal law in the plane
Plane = list[tuple[float, tuple[float, float]]]

RATE = 0.3
FIRST, SECOND = 2.0, 1.5  # sensitivity over sigma
ONE, TWO = pld.gaussian(sigma="0.5"), pld.gaussian(sigma=2, sensitivity=3)
NONE: Plane = [(1.0, (0.0, 0.0))]


def _on_one_sample(first: float, second: float) -> Plane:
    return [(1 - RATE, (0.0, 0.0)), (RATE, (first, second))]


def _on_two_samples(first: float, second: float) -> Plane:
    along = [(1 - RATE, 0.0), (RATE, 1.0)]
    return [(v * w, (x * first, y * second)) for v, x in along for w, y in along]


def _leaked(p: Plane, q: Plane, epsilon: float) -> float:
    """delta of the pair of laws in the plane: over the first answer, the rest at each."""
    from scipy.integrate import quad

    def at(x: float) -> float:
        weights = [[(w * NORMAL[0](x - s), t) for w, (s, t) in laws] for laws in (p, q)]
        return of_mixtures(weights[0], weights[1], NORMAL, epsilon)

    return float(sum(quad(at, x, x + 1, epsabs=1e-12)[0] for x in range(-12, 14)))


def _worst(p: Plane, q: Plane, epsilon: str) -> float:
    def mirrored(laws: Plane) -> Plane:
        return [(w, (-s, -t)) for w, (s, t) in laws]

    return max(_leaked(*order, float(epsilon)) for order in [(p, q), (mirrored(q), mirrored(p))])


QUESTIONS: dict[str, tuple[pld.Pld, Plane, Plane]] = {
    "one sample": (pld.together(ONE, TWO).sampled("0.3"), _on_one_sample(FIRST, SECOND), NONE),
    "own samples": (
        ONE.sampled("0.3").then(TWO.sampled("0.3")),
        _on_two_samples(FIRST, SECOND),
        NONE,
    ),
    "one sample, replaced": (
        pld.together(ONE, TWO).sampled("0.3").replaced(),
        _on_one_sample(FIRST, SECOND),
        _on_one_sample(-FIRST, -SECOND),
    ),
    "one batch": (
        pld.together(ONE, TWO).batched("0.3"),
        _on_one_sample(2 * FIRST, 2 * SECOND),
        NONE,
    ),
    "no sample": (pld.together(ONE, TWO), [(1.0, (FIRST, SECOND))], NONE),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_both_readings_are_those_of_the_plane(name: str, epsilon: str) -> None:
    loss, p, q = QUESTIONS[name]
    delta = loss.delta(epsilon, relative_width="1e-6")
    truth = _worst(p, q, epsilon)
    assert float(delta.lower) * (1 - 1e-7) <= truth <= float(delta.upper) * (1 + 1e-7)


def test_later_queries_that_depend_on_earlier_answers_leak_no_more() -> None:
    """One user is replaced; where each is moved in the second query is chosen by the first."""
    draw = np.random.default_rng(26)
    ratio, step = float(np.exp(0.5)), 0.05
    x = np.arange(-9, 9, step)[:, None]
    y = x.T

    def normal(z: Any) -> Any:
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    most = pld.together(ONE, TWO).sampled("0.3").replaced().delta("0.5").float_upper()
    leaked = []
    for corners in (False, True):
        for _ in range(20):
            u, v = draw.uniform(-SECOND, SECOND, (2, len(x), 1))
            if corners:  # as far as allowed, in opposite directions that change with the answer
                u = SECOND * np.sign(u)
                v = -u
            none = (1 - RATE) * normal(x) * normal(y)
            p = none + RATE * normal(x - FIRST) * normal(y - u)
            q = none + RATE * normal(x + FIRST) * normal(y - v)
            leaked.append(float(np.maximum(p - ratio * q, 0).sum() * step * step))
    assert max(leaked) < most * (1 + 1e-5)
    assert max(leaked) > most * 0.99  # opposite corners are as bad as it gets


def test_distances_add_in_squares_and_a_rational_root_is_exact() -> None:
    same = pld.together(pld.gaussian(sigma=3), pld.gaussian(sigma=4))
    assert same.orders() == pld.gaussian(sigma=12, sensitivity=5).orders()
    four = pld.together(pld.gaussian(sigma=2).composed(4))
    assert four.orders() == pld.gaussian(sigma=1).orders()
    assert same.exact
    assert four.exact


@pytest.mark.few(1)
@pytest.mark.parametrize("change", ["sampled", "replaced", "batched", "grouped", "mu", "renyi"])
def test_an_irrational_distance_lies_between_two_rational_ones(change: str) -> None:
    """sqrt 2, between two decimals of 14 digits: every answer lies between theirs."""
    questions: dict[str, Callable[[pld.Pld], Any]] = {
        "sampled": lambda loss: loss.sampled("0.1").composed(3).delta(1),
        "replaced": lambda loss: loss.sampled("0.1").replaced().delta(1),
        "batched": lambda loss: loss.batched("0.1").delta(1),
        "grouped": lambda loss: loss.sampled("0.1").grouped(2).delta(1),
        "mu": lambda loss: loss.sampled("0.1").mu(),
        "renyi": lambda loss: loss.sampled("0.1").renyi(3),
    }
    ask = questions[change]
    bounds = ask(pld.together(pld.gaussian(sigma=1), pld.gaussian(sigma=1)))
    low, high = (
        ask(pld.gaussian(sigma=1, sensitivity=mu)) for mu in ("1.4142135623730", "1.4142135623731")
    )
    assert bounds.lower <= high.upper
    assert low.lower <= bounds.upper
    assert bounds.width <= 2 * max(low.width, high.width, Fraction(1, 10**12))


def test_a_single_run_at_an_irrational_distance_is_enclosed_however_narrow() -> None:
    """One step's lower end is not that of the larger rational distance."""
    loss = pld.together(pld.gaussian(sigma=1), pld.gaussian(sigma=1))
    step, times = loss.steps[0]
    assert times == 1
    assert not step.attained
    low, high = (law.mu**2 for law in (step.real[0][0].removed, step.removed))  # type: ignore[union-attr]
    assert low < 2 < high
    assert high - low < Fraction(1, 2**500)
    narrow = loss.delta(1, relative_width="1e-60")
    with mp.workdps(120):
        root = mp.sqrt(2)
        truth = ncdf(root / 2 - 1 / root) - mp.e * ncdf(-root / 2 - 1 / root)
        assert mpf(narrow.lower.numerator) / narrow.lower.denominator <= truth
        assert truth <= mpf(narrow.upper.numerator) / narrow.upper.denominator


AMBIGUOUS: list[Callable[[], object]] = [
    lambda: ONE.then(TWO).sampled("0.1"),
    lambda: ONE.composed(2).sampled("0.1"),
    lambda: ONE.then(ONE).batched("0.1"),
    lambda: ONE.composed(2).replaced().batched("0.1"),
    lambda: ONE.sampled("0.5").composed(2).sampled("0.5"),
    lambda: pld.together(ONE, TWO).composed(2).sampled("0.1"),
]


@pytest.mark.parametrize("ask", AMBIGUOUS)
def test_a_composition_is_not_sampled_and_both_readings_are_named(
    ask: Callable[[], object],
) -> None:
    readings = r"pld\.together\(a, b\)\.(sampled|batched)\(rate\).*a\.\1\(rate\)\.then\(b\.\1"
    with pytest.raises(InvalidParameter, match=readings):
        ask()


def test_a_selection_that_gaussian_noise_bounds_is_no_gaussian_mechanism() -> None:
    noise = pld.gaussian(sigma=1)
    selection = pld.gaussian_noisy_max(sigma=1, options=2)
    for mechanisms in ((selection, noise), (noise, selection), (selection,)):
        with pytest.raises(InvalidParameter, match=r"Gaussian mechanisms .* got a selection, of"):
            pld.together(*mechanisms)


def test_where_both_readings_agree_nothing_is_refused() -> None:
    both = ONE.then(TWO)
    assert both.sampled(1) == both
    assert both.batched(1) == both.replaced()
    assert ONE.composed(1).sampled("0.1") == ONE.sampled("0.1") == pld.together(ONE).sampled("0.1")
    assert both.replaced().orders() == ONE.replaced().then(TWO.replaced()).orders()


def test_the_bound_that_the_refusal_names_is_one() -> None:
    """Laplace noise of scale 2 twice on one sample, by cells of the plane, at most the bound."""
    noise, epsilon, rate = pld.laplace(scale=2), "0.5", 0.3
    twice = noise.composed(2)
    bound = pld.approximate(epsilon=epsilon, delta=twice.delta(epsilon).upper).sampled("0.3")
    step = 0.05
    z = np.arange(-40, 40, step) + step / 2

    def density(shift: float) -> Any:
        return np.exp(-np.abs(z - shift) / 2) / 4 * step

    none = np.multiply.outer(density(0), density(0))
    mixed = (1 - rate) * none + rate * np.multiply.outer(density(1), density(1))
    loss = np.log1p(rate * np.expm1(0.5))
    truth = float(np.maximum(mixed - np.exp(loss) * none, 0).sum())
    assert 0 < truth <= bound.delta(str(loss)).float_upper() * (1 + 1e-4)


def _event(kind: str, **fields: Any) -> Any:
    return type(kind, (SimpleNamespace,), {})(**fields)


def _gaussian(sigma: float) -> Any:
    return _event("GaussianDpEvent", noise_multiplier=sigma)


COMPOSED = _event("ComposedDpEvent", events=[_gaussian(3.0), _gaussian(4.0)])
NESTED = _event(
    "ComposedDpEvent",
    events=[
        _event("SelfComposedDpEvent", event=COMPOSED, count=2),
        _event("NoOpDpEvent"),
        _gaussian(1.0),
    ],
)
FIVE = pld.gaussian(sigma=12, sensitivity=5)
READ = [
    (COMPOSED, FIVE),
    (_event("SelfComposedDpEvent", event=_gaussian(2.0), count=4), pld.gaussian(sigma=1)),
    (NESTED, pld.together(pld.gaussian(sigma=1), FIVE, FIVE)),
    (_event("SelfComposedDpEvent", event=_event("LaplaceDpEvent", noise_multiplier=2.0), count=1),
     pld.laplace(scale=2)),
]  # fmt: skip


@pytest.mark.parametrize(("inside", "same"), READ)
def test_what_is_composed_inside_a_sampled_event_is_on_one_sample(
    inside: Any, same: pld.Pld
) -> None:
    sampled = _event("PoissonSampledDpEvent", sampling_probability=0.1, event=inside)
    joint = events.loss_of(sampled, 5)
    assert joint is not None
    assert joint.steps == same.sampled("0.1").composed(5).steps
    fixed_size = _event(
        "SampledWithoutReplacementDpEvent", source_dataset_size=40, sample_size=4, event=inside
    )
    batch = events.loss_of(fixed_size, neighbours=pld.REPLACE_ONE)
    assert batch is not None
    own, other = (loss.delta(1, relative_width="1e-9") for loss in (batch, same.batched("0.1")))
    assert own.lower <= other.upper
    assert other.lower <= own.upper


NOISY = _event("LaplaceDpEvent", noise_multiplier=2.0)
UNKNOWN = [
    (_event("ComposedDpEvent", events=[_gaussian(1.0), NOISY]), pld.ADD_REMOVE),
    (_event("SelfComposedDpEvent", event=NOISY, count=2), pld.ADD_REMOVE),
    (_event("SelfComposedDpEvent", event=NOISY, count=1), pld.REPLACE_ONE),
]


@pytest.mark.parametrize(("inside", "neighbours"), UNKNOWN)
def test_other_noise_on_one_sample_is_refused(inside: Any, neighbours: str) -> None:
    sampled = _event("PoissonSampledDpEvent", sampling_probability=0.1, event=inside)
    with pytest.raises(InvalidParameter):
        events.loss_of(sampled, neighbours=neighbours)


def test_nothing_on_a_sample_leaks_nothing() -> None:
    for inside in (_event("NoOpDpEvent"), _event("ComposedDpEvent", events=[])):
        sampled = _event("PoissonSampledDpEvent", sampling_probability=0.1, event=inside)
        assert events.loss_of(sampled) is None


def test_an_irrational_distance_stays_between_its_ends() -> None:
    """The lower end must not rest on a distance that was rounded up before."""
    noise = pld.gaussian(sigma=1)
    joint = noise
    for runs in range(2, 6):
        joint = pld.together(joint, noise)
        (step, _), *_ = joint.steps
        below = step.real[0][0].removed.distance if step.real else step.removed.distance
        assert below is not None
        assert step.removed.distance is not None
        assert below**2 <= runs <= step.removed.distance**2


@pytest.mark.parametrize("epsilon", [0.2, 1.5, 4.0])
def test_gaussian_queries_beside_laplace_noise_are_an_integral(epsilon: float) -> None:
    """The Laplace answer has losses -1/2, 1/2 and a density between; a normal loss for the rest."""
    from scipy.integrate import quad

    queries = [(Fraction(2), 3), (Fraction(3, 2), 1), (Fraction(5), 20)]
    mu = math.sqrt(sum(n / float(sigma) ** 2 for sigma, n in queries))
    loss = pld.laplace(scale=2)
    for sigma, n in queries:
        loss = loss.then(pld.gaussian(sigma=sigma).composed(n))

    def rest(shift: float) -> float:
        x = epsilon - shift
        return float(
            0.5 * math.erfc((x / mu - mu / 2) / math.sqrt(2))
            - 0.5 * math.exp(x) * math.erfc((x / mu + mu / 2) / math.sqrt(2))
        )

    # at a distance 1/2 of the scale, an answer at z is lost by |z| - |z - 1/2|
    between, _ = quad(lambda z: rest(2 * z - 0.5) * math.exp(z - 0.5) / 2, 0, 0.5, epsabs=1e-13)
    truth = 0.5 * rest(0.5) + 0.5 * math.exp(-0.5) * rest(-0.5) + between
    delta = loss.delta(str(epsilon), relative_width="1e-5")
    assert float(delta.lower) * (1 - 1e-9) <= truth <= float(delta.upper) * (1 + 1e-9)
    assert len(loss.orders()[0]) == 2
