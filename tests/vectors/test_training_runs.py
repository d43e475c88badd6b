"""Peers on training runs: asked in processes of their own, judged exactly, checked by mpmath."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from vectors.conformance import training_runs
from vectors.conformance.training_runs import Peer, delta_at, judged

CERTIFIED = Enclosure(Fraction(1), Fraction(11, 10))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (1.0, "safe"),
        (float("inf"), "safe"),
        (0.9999999999999999, "unsafe"),
        (-1e-18, "negative"),
        (float("nan"), "nan"),
        ("ValueError: no", "no answer"),
    ],
)
def test_verdicts(answer: object, verdict: str) -> None:
    assert judged(answer, CERTIFIED)[0] == verdict


def test_a_peer_answers_fails_and_dies() -> None:
    program = """
import os
def ask(sigma, rate, steps, question, value):
    if steps == 2:
        raise ValueError("two")
    if steps == 3:
        os._exit(1)
    return sigma + rate
"""
    peer = Peer(program)
    try:
        assert peer.ask([1.0, 0.5, 1, "epsilon", 0.1]) == 1.5
        assert peer.ask([1.0, 0.5, 2, "epsilon", 0.1]) == "ValueError: two"
        assert "died" in peer.ask([1.0, 0.5, 3, "epsilon", 0.1])
        assert peer.ask([2.0, 0.5, 1, "epsilon", 0.1]) == 2.5
    finally:
        peer.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "sigma", "rate"), [(0.3, 1.0, 0.05), (2.0, 0.7, 0.4), (0.5, 1.0, 0.5)]
)
def test_one_step_is_the_integral_of_the_excess(epsilon: float, sigma: float, rate: float) -> None:
    mu, unit, sums = 1 / mpf(sigma), mpf(1) / 64, [mpf(0), mpf(0)]
    for i in range(-12 * 64, 16 * 64):
        plain, moved = mp.npdf(i * unit), mp.npdf(i * unit - mu)
        mixed = (1 - mpf(rate)) * plain + mpf(rate) * moved
        for order, (p, q) in enumerate(((mixed, plain), (plain, mixed))):
            sums[order] += unit * max(p - mp.exp(mpf(epsilon)) * q, mpf(0))
    recomputed = float(delta_at(epsilon, sigma, rate, 1))
    assert abs(recomputed - max(sums)) < mpf(10) ** -4
    delta = pld.sgd(noise_multiplier=sigma, rate=rate, steps=1).delta(epsilon)
    assert abs(recomputed - delta.float_lower()) < 1e-12


def test_the_section_says_what_is_bold(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def ask(sigma, rate, steps, question, value): return {answer}"
    programs = {name: ("json", code.format(answer=a)) for name, a in (("low", 0.2), ("high", 9))}
    monkeypatch.setattr(training_runs, "PROGRAMS", programs)
    monkeypatch.setattr(training_runs, "_RUNS", [(1.0, 0.05, 1, 1e-6)])
    (line,) = [x for x in training_runs.section().splitlines() if x.startswith("| 1.0")]
    assert "| **0.2** (delta 0.00" in line
    assert line.endswith("| 9 |")


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize("run", [(1.0, 0.05, 1, 1e-6), (0.6, 0.01, 100, 1e-5)])
def test_opacus_own_accountants(run: tuple[float, float, int, float]) -> None:
    """Renyi and prv answers are above the certified lower end, the asymptotic one is below."""
    sigma, rate, steps, delta = run
    certified = pld.sgd(noise_multiplier=sigma, rate=rate, steps=steps).epsilon(delta)
    verdicts = {}
    for name in ("Opacus, rdp", "Opacus, prv", "Opacus, gdp"):
        peer = Peer(training_runs.PROGRAMS[name][1])
        verdicts[name] = judged(peer.ask([sigma, rate, steps, "epsilon", delta]), certified)[0]
        peer.stop()
    assert verdicts == {"Opacus, rdp": "safe", "Opacus, prv": "safe", "Opacus, gdp": "unsafe"}
