"""Values that are not allowed: the parameter is named."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from exactdp.accounting import composition, discrete_csh, discrete_gaussian, gshm, pld, top_k, zcdp
from exactdp.errors import InvalidParameter
from exactdp.law import Law

NOISE, HISTOGRAM = pld.gaussian(sigma=1), pld.gshm(k=9, sigma=30, tau=110)

BAD: list[tuple[str, Callable[[], object]]] = [
    ("k", lambda: composition.optimal(k=0, epsilon=1, total_epsilon=1)),
    ("epsilon", lambda: composition.optimal(k=1, epsilon=-1, total_epsilon=1)),
    ("delta", lambda: composition.optimal(k=1, epsilon=1, delta=2, total_epsilon=1)),
    ("delta", lambda: composition.basic(parts=[(1, -1)])),
    ("rhos", lambda: composition.concentrated(rhos=[-1], epsilon=1)),
    ("sigma2", lambda: composition.discrete_gaussian(k=1, sigma2=0, epsilon=1)),
    ("rho", lambda: zcdp.delta(rho=-1, epsilon=1)),
    ("epsilon", lambda: zcdp.delta(rho=1, epsilon=-1)),
    ("rule", lambda: zcdp.delta(rho=1, epsilon=1, rule="best")),
    ("epsilon", lambda: zcdp.rho(epsilon=0, delta="1e-5")),
    ("delta", lambda: zcdp.rho(epsilon=1, delta=1)),
    ("sigma2", lambda: zcdp.of_gaussian(sigma2=0)),
    ("orders", lambda: zcdp.from_rdp(curve=lambda a: a, epsilon=1, orders=[])),
    ("orders", lambda: zcdp.from_rdp(curve=lambda a: a, epsilon=1, orders=[2, 1])),
    ("curve", lambda: zcdp.from_rdp(curve=lambda a: -a, epsilon=1, orders=[2])),
    ("sigma2", lambda: discrete_gaussian.delta(sigma2=0, epsilon=1)),
    ("epsilon", lambda: discrete_gaussian.delta(sigma2=1, epsilon=-1)),
    ("sensitivity", lambda: discrete_gaussian.delta(sigma2=1, epsilon=1, sensitivity=0)),
    ("sensitivity", lambda: discrete_gaussian.delta(sigma2=1, epsilon=1, sensitivity="1.5")),
    ("sigma2s", lambda: discrete_gaussian.delta_many(shifts=[1], sigma2s=[1, 2], epsilon=1)),
    ("shifts", lambda: discrete_gaussian.delta_many(shifts=[0.5], sigma2s=[1], epsilon=1)),
    ("delta", lambda: discrete_gaussian.calibrate(epsilon=1, delta=0)),
    ("k", lambda: discrete_csh.delta(k=0, sigma=1, tau=1, epsilon=1)),
    ("sigma", lambda: discrete_csh.delta(k=1, sigma=0, tau=1, epsilon=1)),
    ("tau", lambda: discrete_csh.delta(k=1, sigma=1, tau=-1, epsilon=1)),
    ("analysis", lambda: discrete_csh.delta(k=1, sigma=1, tau=1, epsilon=1, analysis="tight")),
    ("tau", lambda: top_k.delta_with_base(k=1, sigma=1, tau=-1, epsilon=1)),
    ("resolution", lambda: gshm.calibrate(k=10, epsilon="0.35", delta="1e-5", resolution="1e-16")),
    ("scale", lambda: pld.laplace(scale="nan")),
    ("sensitivity", lambda: pld.laplace(scale=1, sensitivity=-1)),
    ("times", lambda: NOISE.composed(0)),
    ("rate", lambda: NOISE.sampled(0)),
    ("rate", lambda: NOISE.sampled("1.01")),
    ("rate", lambda: NOISE.sampled("half")),
    ("rate", lambda: NOISE.batched("1.5")),
    ("size", lambda: NOISE.grouped(0)),
    ("k", lambda: pld.gshm(k=0, sigma=1, tau=1)),
    ("sigma", lambda: pld.gshm(k=2, sigma=0, tau=1)),
    ("tau", lambda: pld.csh(k=2, sigma=1, tau=-1)),
    ("contributions", lambda: pld.csh(k=2, sigma=1, tau=1, contributions=3)),
    ("epsilon", lambda: pld.exponential(epsilon=0)),
    ("noise", lambda: pld.noisy_max(epsilon=1, noise="gaussian")),
    ("options", lambda: pld.gaussian_noisy_max(sigma=1, options=1)),
    ("sigma", lambda: pld.gaussian_noisy_max(sigma=0, options=3)),
    ("options", lambda: pld.gaussian_noisy_max(sigma=1, options=10**30)),
    ("queries", lambda: pld.above_threshold(sigma=1, threshold_sigma=1, queries=0)),
    (
        "monotone",
        lambda: pld.above_threshold(sigma=1, threshold_sigma=1, queries=3, monotone="false"),
    ),
    ("sensitivities", lambda: pld.gaussian_mixture(sigma=1, sensitivities=[0], weights=[1])),
    ("weights", lambda: pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=[1])),
    (
        "weights",
        lambda: pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=["0.5", "0.4"]),
    ),
    (
        "sensitivities",
        lambda: pld.gaussian_mixture(sigma=1, sensitivities=[1, -2], weights=["0.5", "0.5"]),
    ),
    (
        "p.residual",
        lambda: pld.laws(Law({0: Fraction(1, 2)}, Fraction(1, 2)), Law.point(0), neighbours="any"),
    ),
    ("rate", lambda: pld.calibrate_sgd(rate=0, steps=10, epsilon=1, delta="1e-5")),
    ("steps", lambda: pld.calibrate_sgd(rate="0.1", steps=0, epsilon=1, delta="1e-5")),
    ("delta", lambda: pld.calibrate_sgd(rate="0.1", steps=10, epsilon=1, delta=1)),
    ("rate", lambda: pld.sgd(noise_multiplier=1, rate="0.3", steps=10, sampling="allocated")),
    ("rate", lambda: pld.sgd(noise_multiplier=1, rate="0.1", steps=15, sampling="allocated")),
    ("batch_limit", lambda: pld.sgd(noise_multiplier=1, rate="0.1", steps=5, sampling="truncated")),
    ("sampling", lambda: pld.sgd(noise_multiplier=1, rate="0.1", steps=5, batch_limit=3, users=5)),
    ("batch_limit", lambda: NOISE.sampled("0.1", batch_limit=3)),
    ("users", lambda: NOISE.sampled("0.1", users=3)),
    ("batch_limit", lambda: NOISE.sampled("0.1", batch_limit=0, users=5)),
    ("other", lambda: NOISE.then(NOISE.replaced())),
    ("other", lambda: NOISE.batched("0.1").then(NOISE.sampled("0.1"))),
    ("other", lambda: NOISE.grouped(2).then(NOISE)),
    ("other", lambda: NOISE.grouped(2).then(NOISE.grouped(3))),
    ("neighbours", lambda: NOISE.replaced().sampled("0.1")),
    ("neighbours", lambda: NOISE.grouped(2).sampled("0.1")),
    ("neighbours", lambda: NOISE.replaced().replaced()),
    ("mechanism", lambda: NOISE.batched("0.1").batched("0.1")),
    ("mechanism", lambda: NOISE.sampled("0.1").replaced().batched("0.1")),
    ("mechanism", lambda: NOISE.sampled("0.5").batched("0.1")),
    ("loss", lambda: NOISE.composed(2).allocated(10)),
    ("neighbours", lambda: NOISE.replaced().allocated(10)),
    ("mechanism", lambda: NOISE.allocated(10).sampled("0.1")),
    ("mechanism", lambda: NOISE.allocated(10).renyi(2)),
    ("neighbours", lambda: NOISE.replaced().sampled("0.1", batch_limit=3, users=5)),
    ("mechanism", lambda: NOISE.sampled("0.1", batch_limit=3, users=5).grouped(2)),
    ("mechanism", lambda: NOISE.sampled("0.1", batch_limit=3, users=5).sampled("0.1")),
    ("mechanism", lambda: pld.laplace(scale=1).sampled("0.1", batch_limit=3, users=5)),
    ("mechanism", lambda: pld.approximate(epsilon=1, delta=0).replaced()),
    ("delta", lambda: pld.approximate(epsilon=1, delta="1e-3").composed(2).epsilon("1e-3")),
    ("mechanism", lambda: HISTOGRAM.allocated(10)),
    ("mechanism", lambda: HISTOGRAM.replaced()),
    ("mechanism", lambda: HISTOGRAM.batched("0.1")),
    ("mechanism", lambda: HISTOGRAM.grouped(2)),
    ("delta", lambda: HISTOGRAM.composed(3).epsilon("1e-9")),
    ("mechanism", lambda: pld.gaussian_noisy_max(sigma=1, options=30).sampled("0.1")),
    ("mechanism", lambda: pld.gaussian_noisy_max(sigma=1, options=30).renyi(2)),
    ("loss", lambda: pld.above_threshold(sigma=1, threshold_sigma=1, queries=3).sampled("0.1")),
    ("mechanisms", lambda: pld.together(NOISE, pld.laplace(scale=1))),
    ("mechanisms", lambda: pld.together(pld.laplace(scale=1).composed(2))),
    ("mechanisms", lambda: pld.together(NOISE.sampled("0.1"), NOISE.sampled("0.1"))),
    ("other", lambda: pld.together(NOISE, NOISE.replaced())),
    ("mechanisms", lambda: pld.together([NOISE, NOISE])),
    ("mechanisms", lambda: pld.together()),
]


@pytest.mark.parametrize(("name", "call"), BAD)
def test_bad_values_are_refused_by_name(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        call()
    assert refusal.value.name == name
