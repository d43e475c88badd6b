"""Laws of foreign clients: stand-ins that follow every choice, and what they find in libraries."""

from __future__ import annotations

import dataclasses
import math
import random
import types
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp.law import Law
from exactdp.oracle.adapter import make
from exactdp.oracle.conformance import run
from exactdp.oracle.vectors import select
from vectors import adapters
from vectors.clients import doubles, losses, published
from vectors.clients.laws import client_law, loss

F = Fraction


def module() -> Any:
    return types.SimpleNamespace(random=random, np=np)


def test_uniform_reals_remember_what_they_were_compared_with() -> None:
    m = module()

    def client() -> int:
        u = m.random.random()
        return int(u < 0.25) + int(u <= 0.5) + int(u > 0.75)

    expected = {0: F(1, 4), 1: F(1, 2), 2: F(1, 4)}
    assert client_law(client, [m]) == Law(expected)
    assert m.random is random


def test_every_function_that_clients_use() -> None:
    m = module()
    third = F(1 / 3)
    cases: list[tuple[Any, Law[Any]]] = [
        (lambda: m.random.randint(2, 4), Law.uniform((2, 3, 4))),
        (lambda: m.random.choice("ab"), Law.uniform("ab")),
        (
            lambda: m.random.choices([1, -1], weights=[0.75, 0.25])[0],
            Law({1: F(3, 4), -1: F(1, 4)}),
        ),
        (lambda: m.np.random.binomial(1, 1 / 3), Law({1: third, 0: 1 - third})),
        (lambda: m.np.random.binomial(1, 0.5, 2), Law.uniform([(0, 0), (0, 1), (1, 0), (1, 1)])),
        (lambda: m.np.random.randint(3), Law.uniform(range(3))),
        (lambda: m.np.random.choice(np.array([5, 6])), Law.uniform((5, 6))),
        (
            lambda: m.np.random.choice([1, 0], size=2, p=[0.25, 0.75]),
            Law({(1, 1): F(1, 16), (1, 0): F(3, 16), (0, 1): F(3, 16), (0, 0): F(9, 16)}),
        ),
        (
            lambda: sorted(m.np.random.choice(np.arange(3), size=2, replace=False)),
            Law.uniform([(0, 1), (0, 2), (1, 2)]),
        ),
        (lambda: m.np.random.random_sample() < 0.5, Law.uniform((True, False))),
        (lambda: m.np.random.rand(2) < 0.5, Law.uniform([(a, b) for a in (0, 1) for b in (0, 1)])),
        (lambda: m.np.arange(2), Law.point((0, 1))),
    ]
    for client, law in cases:
        assert client_law(client, [m]) == law


@pytest.mark.slow
def test_laplace_noise_is_compared_as_a_real_number() -> None:
    """Three comparisons, one of them after a shift, against the distribution function."""
    m = module()

    def client() -> tuple[Any, ...]:
        first, second = np.array([0.0, 1.0]) + m.np.random.laplace(loc=0.0, scale=2.0, size=2)
        return first > 0.5, first > -3.0, second > 0.25

    law = client_law(client, [m])
    above = [(1 - math.copysign(1 - math.exp(-abs(t) / 2), t)) / 2 for t in (0.5, -3.0, 0.25 - 1)]
    for second in (True, False):
        other = above[2] if second else 1 - above[2]
        assert float(law[True, True, second]) == pytest.approx(above[0] * other, rel=1e-12)
        assert float(law[False, True, second]) == pytest.approx(
            (above[1] - above[0]) * other, rel=1e-12
        )
    assert not law[True, False, True]


def test_losses_finite_and_infinite() -> None:
    p, q = Law({0: F(3, 4), 1: F(1, 4)}), Law({0: F(1, 4), 1: F(3, 4)})
    assert loss([p, q]).ratio == 3
    assert loss([p, p]).ratio == 1
    broken = loss([p, Law.point(0)])
    assert (broken.ratio, broken.report, broken.values) == (None, 1, (0, 1))


_PACKAGES = ("pure_ldp", "multi_freq_ldpy", "ldp_toolbox")


@pytest.mark.parametrize(
    "name", ["exactdp", *(pytest.param(name, marks=pytest.mark.peers) for name in _PACKAGES)]
)
def test_adapters_answer_with_the_laws_of_clients(name: str) -> None:
    pytest.importorskip(name)
    report = run(make(adapters.ADAPTERS[name]), select(group="local_responses", question="pmf"))
    counts = report.counts()
    assert counts["crash"] == 0
    assert counts["safe"] >= {"exactdp": 54, "multi_freq_ldpy": 36}.get(name, 20)
    wrong = {r.vector.parameters["mechanism"] for r in report.results if r.verdict == "wrong"}
    assert wrong == ({"rappor"} if name == "pure_ldp" else set())


def broken(package: str) -> dict[str, Fraction | None]:
    """Of the clients of a package: what those lose that do not keep what they state."""
    pytest.importorskip(package)
    clients = [c for c in published.CLIENTS if c.package.replace("-", "_") == package]
    by_name = {c.name: (losses.examined(c), c) for c in clients}
    assert len(by_name) > 5
    return {n: lost.ratio for n, (lost, c) in by_name.items() if not losses._kept(c, lost)}


@pytest.mark.peers
def test_findings_in_pure_ldp_stand() -> None:
    assert broken("pure_ldp") == {"RAPPORClient": None}


@pytest.mark.peers
def test_findings_in_ldp_toolbox_stand() -> None:
    assert broken("ldp_toolbox") == {}


def test_the_own_entry_near_zero_is_a_multiple_of_the_unit() -> None:
    """On doubles of every size, noise from numpy; another entry seldom is."""
    noise = np.random.default_rng(5).laplace(scale=2.0, size=100_000)
    near = np.nextafter(-1.0, 0) + 2.0 ** -np.arange(2.0, 60.0)
    assert not any(doubles.is_revealing(float(x)) for x in 1.0 + np.concatenate([noise, near]))
    assert sum(doubles.is_revealing(float(x)) for x in noise) > 5000


@pytest.mark.parametrize("client", doubles.CLIENTS, ids=lambda client: client.package)
@pytest.mark.peers
def test_doubles_of_histogram_encoding_tell_the_value(client: doubles.NoisyVector) -> None:
    pytest.importorskip(client.package.replace("-", "_"))
    own, other = client.counts(4000)
    assert own == 0
    assert other > 200


@pytest.mark.peers
def test_findings_in_multi_freq_ldpy_stand() -> None:
    """Fake data in all attributes but one: 2 (e - 1) + 1, the amplified loss."""
    ratios = broken("multi_freq_ldpy")
    assert ratios.pop("SS_Client") is None
    kinds = ("GRR", "UE_zero", "UE_rnd", "ADP")
    assert set(ratios) == {f"RSpFD_{kind}_Client" for kind in kinds}
    for ratio in ratios.values():
        assert ratio is not None
        assert float(ratio) == pytest.approx(2 * math.e - 1, rel=1e-12)


@pytest.mark.peers
def test_tuples_that_differ_in_one_attribute_keep_epsilon() -> None:
    """Random fake data: with p the chance of an own value, 1/(2 (1 - p)) = e by hand."""
    pytest.importorskip("multi_freq_ldpy")
    client = next(c for c in published.CLIENTS if c.name == "RSpFD_GRR_Client")
    one = dataclasses.replace(client, values=((0, 1), (1, 1)))
    ratio = losses.examined(one).ratio
    assert ratio is not None
    assert float(ratio) == pytest.approx(math.e, rel=1e-12)


@pytest.mark.peers
def test_texts_are_hashed_as_bytes_and_seeds_are_few() -> None:
    xxhash = pytest.importorskip("xxhash")
    m = types.SimpleNamespace(np=np, xxhash=xxhash, maxsize=2**63 - 1)

    def client() -> tuple[int, int]:
        seed = m.np.random.randint(0, m.maxsize)
        return seed, m.xxhash.xxh32("7", seed=seed).intdigest()

    law = client_law(client, [m])
    stated = {(s, xxhash.xxh32(b"7", seed=s).intdigest()): F(1, 8) for s in range(8)}
    assert law == Law(stated)
    assert m.xxhash is xxhash


def test_bounds_from_runs() -> None:
    """Against scipy's quantiles of the beta distribution."""
    from scipy.special import betaincinv

    runs, alpha = losses._RUNS, float(losses._ALPHA) / 2
    low = betaincinv(8000, runs - 8000 + 1, alpha)
    high = betaincinv(2001, runs - 2000, 1 - alpha)
    assert losses._at_least(8000, 2000) == pytest.approx(math.log(low / high), rel=1e-6)
    assert losses._at_least(2000, 2000) == 0


def test_reproductions_are_short_and_compile() -> None:
    noisy = {client.name: client.reproduction() for client in doubles.CLIENTS}
    for name, code in {**losses._REPRODUCTIONS, **noisy}.items():
        assert len(code.strip().splitlines()) <= 5
        compile(code, name, "exec")
