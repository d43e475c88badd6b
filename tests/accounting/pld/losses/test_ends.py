"""Largest losses and masses of infinite losses, against enumeration and closed forms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from flint import arb

from exactdp.accounting import pld
from exactdp.accounting.pld.ask.closed import ends
from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.losses.base import LossLaw, Step
from exactdp.accounting.pld.losses.listed import ListedLaw
from exactdp.balls import ball
from exactdp.law import Law

P = Law({0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)})
Q = Law({0: Fraction(1, 4), 1: Fraction(1, 2), 3: Fraction(1, 4)})
Pairs = list[tuple[Fraction, Fraction]]


def _pairs(p: Law[int], q: Law[int]) -> Pairs:
    return [(p[x], q[x]) for x in p.support | q.support]


def _sampled(p: Law[int], q: Law[int]) -> Pairs:
    return [((a + 2 * b) / 3, b) for a, b in _pairs(p, q)]


def _allocated(p: Law[int], q: Law[int]) -> Pairs:
    runs = itertools.product(_pairs(p, q), repeat=3)
    return [(_one_of(run), math.prod(b for _, b in run)) for run in runs]


def _one_of(run: tuple[tuple[Fraction, Fraction], ...]) -> Fraction:
    """The user takes part in one of these steps."""
    chosen = range(len(run))
    each = [math.prod(pair[i != j] for i, pair in enumerate(run)) for j in chosen]
    return sum(each, Fraction(0)) / len(run)


SCHEMES: dict[str, tuple[Callable[[pld.Pld], pld.Pld], Callable[[Law[int], Law[int]], Pairs]]] = {
    "once": (lambda loss: loss, _pairs),
    "on a sample": (lambda loss: loss.sampled(Fraction(1, 3)), _sampled),
    "in one of three steps": (lambda loss: loss.allocated(3), _allocated),
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("p", "q"), [(P, Q), (Q, P), (P, P), (P, Law({0: Fraction(1)}))])
def test_finite_laws(scheme: str, p: Law[int], q: Law[int]) -> None:
    of_scheme, enumerated = SCHEMES[scheme]
    loss = of_scheme(pld.laws(p, q, neighbours=pld.ADD_REMOVE))
    steps = loss.steps[0][0]
    pairs = enumerated(p, q)
    for law, runs in ((steps.removed, pairs), (steps.added, [(b, a) for a, b in pairs])):
        end = ends(((law, 1),))
        assert end.mass.lower == sum(a for a, b in runs if not b) == end.mass.upper
        expected = max(math.log(a / b) for a, b in runs if a and b)
        assert end.largest is not None
        assert end.largest.float_lower() - 1e-12 <= expected <= end.largest.float_upper() + 1e-12
        assert end.largest.width < Fraction(1, 10**9)


def test_finite_losses_below_0_count_as_they_are() -> None:
    # one step has the losses -log 2 and infinity, the other one log 2
    p, q = Law({0: Fraction(1, 2), 1: Fraction(1, 2)}), Law({0: Fraction(1)})
    one, other = (pld.laws(*pair, neighbours=pld.ADD_REMOVE) for pair in ((p, q), (q, p)))
    assert 0 in one.then(other).epsilon("0.5")
    assert 0 in one.then(other).largest_loss()


BOUNDED: list[tuple[pld.Pld, float | None, float | None]] = [
    (pld.gaussian(sigma=1), None, None),
    (pld.gaussian(sigma=1).sampled("0.25"), None, -math.log(0.75)),
    (pld.gaussian(sigma=1).sampled("0.25").replaced(), None, None),
    (pld.gaussian(sigma=1).batched("0.25"), None, None),
    (pld.gaussian(sigma=1).allocated(4), None, None),
    (pld.discrete_gaussian(sigma2=2).sampled("0.25"), None, None),
    (pld.discrete_gaussian(sigma2=2).sampled("0.25").grouped(2), None, None),
    (pld.laplace(scale=2).sampled("0.25"), math.log(0.75 + math.exp(0.5) / 4), None),
    (pld.discrete_laplace(epsilon=1, sensitivity=2), 1.0, 1.0),
]


@pytest.mark.parametrize(("loss", "removed", "added"), BOUNDED)
def test_noise(loss: pld.Pld, removed: float | None, added: float | None) -> None:
    step = loss.steps[0][0]
    for law, expected in ((step.removed, removed), (step.added, added)):
        end = ends(((law, 2),))
        assert end.mass.upper == 0
        if expected is not None:
            assert end.largest is not None
            assert end.largest.float_upper() == pytest.approx(2 * expected)
    assert (loss.largest_loss() is None) == (removed is None)


class _Endless(ListedLaw):
    """Losses 0, 1, 2, ... with masses 1/4, 1/8, ..., and infinity with mass 1/2."""

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        for i in range(tail_bits):
            p = arb(2) ** -(i + 2)
            yield Outcome.at(Fraction(i), p, p * (-ball(Fraction(i))).exp())

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return arb(0.5) + arb(0.5, 0.5) * arb(2) ** -tail_bits, arb(0)

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        return arb(2) ** -bits, bits


def test_infinite_losses_count_where_finite_losses_have_no_end() -> None:
    loss = pld.Pld(((Step.alike(_Endless()), 1),), pld.ADD_REMOVE, "a test")
    assert loss.largest_loss() is None
    assert loss.infinite_mass().lower <= Fraction(1, 2) <= loss.infinite_mass().upper


def test_every_law_must_say_where_its_losses_end() -> None:
    assert "ends" in LossLaw.__abstractmethods__
