"""The accountants that other libraries' users can plug in, against those libraries."""

from __future__ import annotations

import importlib
import warnings
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld import events
from exactdp.accounting.pld.opacus import CertifiedAccountant
from exactdp.errors import InvalidParameter


def _peer(name: str) -> Any:
    pytest.importorskip(name.partition(".")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


def test_events_of_dp_accounting() -> None:
    event = _peer("dp_accounting.dp_event")
    accountant = events.accountant()
    sampled = event.PoissonSampledDpEvent(0.1, event.GaussianDpEvent(2.0))
    accountant.compose(event.SelfComposedDpEvent(sampled, 4), 4)
    accountant.compose(event.NoOpDpEvent())
    assert accountant.loss() == pld.sgd(noise_multiplier=2, rate="0.1", steps=16)
    peer = _peer("dp_accounting.pld.pld_privacy_accountant").PLDAccountant()
    peer.compose(sampled, 16)
    # their answer is rounded up, on a grid of 1e-4
    assert 0 <= peer.get_epsilon(1e-5) - accountant.get_epsilon(1e-5) + 1e-3 < 0.01


def test_counts_of_every_kind_of_event() -> None:
    event = _peer("dp_accounting.dp_event")
    one = event.DiscreteLaplaceDpEvent(0.5, 2)
    two = event.ComposedDpEvent([one, event.GaussianDpEvent(3.0)])
    exact = pld.discrete_laplace(epsilon=1, sensitivity=2).then(pld.gaussian(sigma=3))
    assert events.loss_of(two, 5) == exact.composed(5)


def test_laplace_events_are_read_by_their_scale() -> None:
    event = type("LaplaceDpEvent", (), {"noise_multiplier": 2.5})()
    assert events.loss_of(event, 3) == pld.laplace(scale="2.5").composed(3)


def test_events_without_a_law_are_refused_by_name() -> None:
    event = _peer("dp_accounting.dp_event")
    accountant = events.accountant()
    assert not accountant.supports(event.NonPrivateDpEvent())
    with pytest.raises(Exception, match="NonPrivateDpEvent"):
        accountant.compose(event.NonPrivateDpEvent())


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


def test_the_shape_is_opacus_own() -> None:
    peer = _peer("opacus.accountants.accountant").IAccountant
    names = {name for name in vars(peer) if not name.startswith("_")} | {"__len__"}
    assert all(callable(getattr(CertifiedAccountant, name, None)) for name in names)


def test_bad_rates_are_refused_at_the_step() -> None:
    with pytest.raises(InvalidParameter, match="sample_rate must be > 0 and <= 1"):
        CertifiedAccountant().step(noise_multiplier=1.0, sample_rate=1.5)
