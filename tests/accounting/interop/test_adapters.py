"""The accountants that other libraries' users can plug in, against those libraries."""

from __future__ import annotations

import importlib
import warnings
from fractions import Fraction
from math import exp, inf, log
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import pytest

from exactdp.accounting import pld
from exactdp.accounting.interop import events
from exactdp.accounting.interop.opacus import CertifiedAccountant
from exactdp.errors import InvalidParameter


def _peer(name: str) -> Any:
    pytest.importorskip(name.partition(".")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


@pytest.mark.parametrize("neighbours", [pld.ADD_REMOVE, pld.REPLACE_ONE])
@pytest.mark.peers
def test_events_of_dp_accounting(neighbours: str) -> None:
    event = _peer("dp_accounting.dp_event")
    relation = _peer("dp_accounting.privacy_accountant").NeighboringRelation
    pld_peer = _peer("dp_accounting.pld.pld_privacy_accountant")
    alike = relation.REPLACE_ONE if neighbours == pld.REPLACE_ONE else relation.ADD_OR_REMOVE_ONE
    accountant, peer = events.accountant(neighbours), pld_peer.PLDAccountant(alike)
    sampled = event.PoissonSampledDpEvent(0.1, event.GaussianDpEvent(2.0))
    for one in (accountant, peer):
        one.compose(event.SelfComposedDpEvent(sampled, 4), 4)
        one.compose(event.NoOpDpEvent())
    if neighbours == pld.ADD_REMOVE:
        assert accountant.loss() == pld.sgd(noise_multiplier=2, rate="0.1", steps=16)
    # their answer is rounded up, on a grid of 1e-4
    assert 0 <= peer.get_epsilon(1e-5) - accountant.get_epsilon(1e-5) + 1e-3 < 0.01


@pytest.mark.peers
def test_counts_of_every_kind_of_event() -> None:
    event = _peer("dp_accounting.dp_event")
    one = event.DiscreteLaplaceDpEvent(0.5, 2)
    two = event.ComposedDpEvent([one, event.GaussianDpEvent(3.0)])
    exact = pld.discrete_laplace(epsilon=1, sensitivity=2).then(pld.gaussian(sigma=3))
    assert events.loss_of(two, 5) == exact.composed(5)


@pytest.mark.peers
def test_a_composition_on_one_sample_is_what_their_accountant_takes_it_for() -> None:
    event = _peer("dp_accounting.dp_event")
    peer = _peer("dp_accounting.rdp.rdp_privacy_accountant").RdpAccountant(orders=[2, 8])
    both = event.ComposedDpEvent(
        [event.SelfComposedDpEvent(event.GaussianDpEvent(2.0), 3), event.GaussianDpEvent(1.5)]
    )
    peer.compose(event.PoissonSampledDpEvent(0.1, both), 16)
    loss = events.loss_of(event.PoissonSampledDpEvent(0.1, both), 16)
    assert loss is not None
    for order, theirs in zip([2, 8], peer._rdp, strict=True):
        assert abs(float(loss.renyi(order).upper) - theirs) < 1e-9 * theirs


def _event(kind: str, **fields: Any) -> Any:
    return type(kind, (), fields)()


GAUSS = _event("GaussianDpEvent", noise_multiplier=2.5)
BATCH = _event(
    "SampledWithoutReplacementDpEvent", source_dataset_size=40, sample_size=2, event=GAUSS
)
NOISE = pld.gaussian(sigma="2.5")
READ = [
    (_event("LaplaceDpEvent", noise_multiplier=2.5), pld.ADD_REMOVE, pld.laplace(scale="2.5")),
    (GAUSS, pld.REPLACE_ONE, NOISE.replaced()),
    (
        _event("PoissonSampledDpEvent", sampling_probability=0.1, event=GAUSS),
        pld.REPLACE_ONE,
        NOISE.sampled("0.1").replaced(),
    ),
    (BATCH, pld.REPLACE_ONE, NOISE.batched("0.05")),
    (
        _event("EpsilonDeltaDpEvent", epsilon=0.5, delta=1e-6),
        pld.REPLACE_ONE,
        pld.approximate(epsilon="0.5", delta="1e-6", neighbours=pld.REPLACE_ONE),
    ),
    (
        _event(
            "MixtureOfGaussiansDpEvent",
            standard_deviation=2.0,
            sensitivities=[0.0, 1.0, 2.0],
            sampling_probs=[0.5, 0.5, 0.0],
        ),
        pld.ADD_REMOVE,
        pld.gaussian(sigma=2).sampled("0.5"),
    ),
    (
        _event("DiscreteGaussianDpEvent", sigma=1.5, sensitivity=2.0, dimension=1),
        pld.ADD_REMOVE,
        pld.discrete_gaussian(sigma2="2.25", sensitivity=2),
    ),
]


@pytest.mark.parametrize(("event", "neighbours", "same"), READ)
def test_events_are_read_as_what_they_are(event: Any, neighbours: str, same: pld.Pld) -> None:
    loss = events.loss_of(event, 3, neighbours=neighbours)
    assert loss is not None
    assert (loss.steps, loss.neighbours) == (same.composed(3).steps, same.neighbours)


SPECIAL = [
    (GAUSS, NOISE),
    (_event("PoissonSampledDpEvent", sampling_probability=0.1, event=GAUSS), NOISE.sampled("0.1")),
    (_event("LaplaceDpEvent", noise_multiplier=2.5), pld.laplace(scale="2.5")),
    # 5 steps fill three levels of a tree
    (
        _event("SingleEpochTreeAggregationDpEvent", noise_multiplier=2.5, step_counts=[3, 5]),
        NOISE.composed(3),
    ),
]


@pytest.mark.parametrize(("event", "same"), SPECIAL)
def test_a_null_record_is_like_no_record(event: Any, same: pld.Pld) -> None:
    loss = events.loss_of(event, neighbours=pld.REPLACE_SPECIAL)
    assert loss is not None
    assert (loss.steps, loss.neighbours) == (same.steps, pld.REPLACE_SPECIAL)


def test_the_answer_of_a_null_record_is_any_answer() -> None:
    event = _event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4)
    loss = events.loss_of(event, neighbours=pld.REPLACE_SPECIAL)
    assert loss is not None
    # 5/8 against 1/4, and 1/8 against 1/4 three times: sums by hand
    assert loss.delta(0).lower <= Fraction(3, 8) <= loss.delta(0).upper
    largest = loss.largest_loss()
    assert largest is not None
    assert abs(float(largest.upper) - log(2.5)) < 1e-12


NOISELESS = [
    _event("NonPrivateDpEvent"),
    _event("GaussianDpEvent", noise_multiplier=0.0),
    _event("LaplaceDpEvent", noise_multiplier=0.0),
    _event("DiscreteLaplaceDpEvent", noise_parameter=0.0, sensitivity=1),
    _event(
        "MixtureOfGaussiansDpEvent",
        standard_deviation=0.0,
        sensitivities=[1.0],
        sampling_probs=[1.0],
    ),
    _event("EpsilonDeltaDpEvent", epsilon=1.0, delta=1.0),
]


@pytest.mark.parametrize("event", NOISELESS)
def test_without_noise_nothing_is_private(event: Any) -> None:
    sampled = _event("PoissonSampledDpEvent", sampling_probability=0.1, event=event)
    for whole in [event] if "Delta" in type(event).__name__ else [event, sampled]:
        with pytest.raises(InvalidParameter, match="differentially private"):
            events.loss_of(whole)
    never = _event("PoissonSampledDpEvent", sampling_probability=0.0, event=GAUSS)
    assert events.loss_of(never) is None


@pytest.mark.peers
def test_answers_at_the_ends_are_exact() -> None:
    event = _peer("dp_accounting.dp_event")
    accountant = events.accountant()
    for epsilon, delta in [(1.0, 0.1), (2.0, 0.2)]:  # older versions have no such event
        promise = _event("EpsilonDeltaDpEvent", epsilon=epsilon, delta=delta)
        accountant._maybe_compose(promise, 1, True)
    # 1 - 0.9 * 0.8 = 0.28 is never hidden; the largest other loss is 1 + 2
    assert accountant.get_epsilon(0.28) == 3
    assert accountant.get_epsilon(0.27) == inf
    assert accountant.get_delta(3.0) == accountant.get_delta(inf) == 0.28
    assert accountant.get_gdp_parameter_estimate() == inf
    nothing = events.accountant()
    assert nothing.get_epsilon(0) == nothing.get_delta(0) == 0
    assert abs(nothing.get_delta(-1) - (1 - exp(-1))) < 1e-12
    assert events.accountant().compose(event.GaussianDpEvent(1.0)).get_epsilon(0) == inf


@pytest.mark.peers
def test_rates_of_attacks_on_gaussian_noise() -> None:
    event = _peer("dp_accounting.dp_event")
    accountant = events.accountant().compose(event.GaussianDpEvent(1.0))
    for rate, power in zip(
        [0.05, 0.3], accountant.get_true_positive_rates([0.05, 0.3]), strict=True
    ):
        # the best attack compares with a threshold (Neyman and Pearson)
        normal = NormalDist()
        exact = 1 - normal.cdf(normal.inv_cdf(1 - rate) - 1)
        assert 0 <= power - exact < 1.1e-3
    assert 0 <= accountant.get_gdp_parameter_estimate() - 1 < 1.1e-3
    assert 0 <= accountant.get_gdp_parameter_estimate([Fraction(1, 3), 0.2]) - 1 < 1.1e-3
    with pytest.raises(InvalidParameter, match="false_positive_rates"):
        accountant.get_gdp_parameter_estimate([0.2, 2])


def test_a_response_among_answers_loses_what_its_laws_do() -> None:
    event = _event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4)
    loss = events.loss_of(event, 2, neighbours=pld.REPLACE_ONE)
    assert loss is not None
    own, other = Fraction(5, 8), Fraction(1, 8)
    epsilon = loss.epsilon("1e-9")
    # two answers: the largest loss is twice log 5, with mass (5/8)^2
    assert abs(float(epsilon.upper) - 2 * log(own / other)) < 1e-4
    exact = own**2 - other**2 + 2 * (own - other) / 4
    zero = loss.delta(0, relative_width="1e-9")
    assert zero.lower <= exact <= zero.upper
    noise = _event("RandomizedResponseDpEvent", noise_parameter=1.0, num_buckets=4)
    assert events.loss_of(noise, neighbours=pld.REPLACE_ONE) is None


@pytest.mark.parametrize(
    ("event", "neighbours"),
    [
        (BATCH, pld.ADD_REMOVE),
        (_event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4), pld.ADD_REMOVE),
        (
            _event("DiscreteGaussianDpEvent", sigma=1.5, sensitivity=1.0, dimension=None),
            pld.ADD_REMOVE,
        ),
        (_event("PoissonSampledDpEvent", sampling_probability=0.1, event=BATCH), pld.REPLACE_ONE),
        (
            _event("PoissonSampledDpEvent", sampling_probability=0.1, event=READ[0][0]),
            pld.REPLACE_ONE,
        ),
        (
            _event(
                "MixtureOfGaussiansDpEvent",
                standard_deviation=2.0,
                sensitivities=[1.0, 2.0],
                sampling_probs=[0.5, 0.5],
            ),
            pld.REPLACE_ONE,
        ),
    ],
)
def test_what_an_event_does_not_say_is_refused(event: Any, neighbours: str) -> None:
    with pytest.raises(InvalidParameter):
        events.loss_of(event, neighbours=neighbours)


@pytest.mark.peers
def test_events_without_a_law_are_refused_by_name() -> None:
    event = _peer("dp_accounting.dp_event")
    accountant = events.accountant()
    inner = event.ZCDpEvent(0.1)
    nested = event.ComposedDpEvent([event.NoOpDpEvent(), event.SelfComposedDpEvent(inner, 3)])
    refusal = accountant._maybe_compose(nested, 1, False)
    assert refusal.invalid_event == inner
    with pytest.raises(Exception, match="zCDP alone has no privacy loss distribution"):
        accountant.compose(nested)


def test_opacus_interface() -> None:
    accountant = CertifiedAccountant()
    hook = accountant.get_optimizer_hook_fn(0.1)
    for _ in range(16):
        hook(SimpleNamespace(noise_multiplier=2.0, accumulated_iterations=1))
    assert len(accountant) == 16
    exact = pld.sgd(noise_multiplier=2, rate="0.1", steps=16).epsilon("1e-5")
    assert Fraction(accountant.get_epsilon(1e-5)) >= exact.lower
    copy = CertifiedAccountant()
    copy.load_state_dict(accountant.state_dict())
    assert copy.history == accountant.history
    with pytest.raises(InvalidParameter, match="state_dict"):
        copy.load_state_dict({"history": []})


def test_bad_rates_are_refused_at_the_step() -> None:
    with pytest.raises(InvalidParameter, match="sample_rate must be > 0 and <= 1"):
        CertifiedAccountant().step(noise_multiplier=1.0, sample_rate=1.5)
