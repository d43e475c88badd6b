from __future__ import annotations

import os
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx

from exactdp import Undecided
from exactdp.balls import FLOOR_BITS, ball, enclosure, precision, refine

ROOT_TWO = Fraction(14142135623730950488016887242096980785696718753769480, 10**52)


def test_refine_reaches_the_asked_width_around_the_true_value() -> None:
    e = refine(lambda: arb(2).sqrt(), relative_width=Fraction(1, 10**50))
    assert e.relative_width <= Fraction(1, 10**50)
    assert e.lower**2 < 2 < e.upper**2
    assert abs(e.lower - ROOT_TWO) < Fraction(1, 10**49)


def test_cancellation_is_met_with_precision() -> None:
    tiny = Fraction(1, 10**300)
    e = refine(lambda: (1 + ball(tiny)) - 1)
    assert tiny in e
    assert e.relative_width <= Fraction(1, 10**12)


def test_what_cannot_be_known_raises() -> None:
    with pytest.raises(Undecided):
        refine(lambda: arb(0, 1))
    with pytest.raises(Undecided):
        refine(lambda: arb("nan"))


def test_below_the_floor_an_enclosure_is_small_instead_of_narrow() -> None:
    e = refine(lambda: arb(-(10**40)).exp())
    assert e.lower == 0
    assert e.upper == Fraction(1, 2**FLOOR_BITS)


def test_precision_is_restored() -> None:
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(200):
        assert ctx.prec == 200
        _ = 1 / 0
    assert ctx.prec == before


def test_exact_ends() -> None:
    with precision(64):
        e = enclosure(arb(3) / 4)
    assert e.lower == e.upper == Fraction(3, 4)


def test_threads_and_forks_compute_the_same() -> None:
    results: list[Fraction] = []

    def work() -> None:
        results.append(refine(lambda: arb(2).sqrt()).lower)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    if hasattr(os, "fork"):
        with precision(100):
            child = os.fork()
            if not child:
                thread = threading.Thread(target=work)
                thread.start()
                thread.join(20)
                os._exit(0 if len(results) == 9 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
