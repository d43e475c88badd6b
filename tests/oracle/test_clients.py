"""Laws of foreign clients: stand-ins that follow every choice, and what they find in libraries."""

from __future__ import annotations

import random
import types
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp.law import Law
from exactdp.oracle import adapters, client_losses
from exactdp.oracle.clients import client_law, loss
from exactdp.oracle.conformance import run
from exactdp.oracle.vectors import select

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
        (lambda: m.np.arange(2), Law.point((0, 1))),
    ]
    for client, law in cases:
        assert client_law(client, [m]) == law


def test_losses_finite_and_infinite() -> None:
    p, q = Law({0: F(3, 4), 1: F(1, 4)}), Law({0: F(1, 4), 1: F(3, 4)})
    assert loss([p, q]).ratio == 3
    assert loss([p, p]).ratio == 1
    broken = loss([p, Law.point(0)])
    assert (broken.ratio, broken.report, broken.values) == (None, 1, (0, 1))


@pytest.mark.parametrize("name", ["exactdp", "pure_ldp", "multi_freq_ldpy"])
def test_adapters_answer_with_the_laws_of_clients(name: str) -> None:
    pytest.importorskip(name)
    report = run(adapters.make(name), select(group="local_responses", question="pmf"))
    counts = report.counts()
    assert counts["crash"] == 0
    assert counts["safe"] >= 20
    wrong = {r.vector.parameters["mechanism"] for r in report.results if r.verdict == "wrong"}
    assert wrong == ({"rappor"} if name == "pure_ldp" else set())


def test_findings_stand() -> None:
    pytest.importorskip("pure_ldp")
    pytest.importorskip("multi_freq_ldpy")
    broken = {c.name for c in client_losses.CLIENTS if client_losses.examined(c).ratio is None}
    assert broken == {"RAPPORClient", "SS_Client"}


def test_reproductions_are_short_and_compile() -> None:
    for name, code in client_losses._REPRODUCTIONS.items():
        assert len(code.strip().splitlines()) <= 5
        compile(code, name, "exec")
