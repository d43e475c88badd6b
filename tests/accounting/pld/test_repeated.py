"""Repeat and select against the exact law of the best output, over all orders of the outputs."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import pytest
from mpmath import mp, mpf

from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from tests.reference import to_mp

#: Runs by their mean and shape.
RUNS: list[tuple[str, int | str]] = [
    ("1.5", 1),
    ("20", 1),
    ("5", 0),
    ("50", 0),
    ("0.5", "poisson"),
    ("3", "poisson"),
    ("4", "-0.5"),
    ("10", 2),
    ("10", "0.5"),
    ("300", 1),
]


def _gamma(mean: str, eta: mpf) -> mpf:
    """gamma of the truncated negative binomial law with this mean, by halving."""

    def mean_at(gamma: mpf) -> mpf:
        if not eta:
            return (1 / gamma - 1) / mp.log(1 / gamma)
        return eta * (1 - gamma) / (gamma * (1 - gamma**eta))

    low, high = mpf(10) ** -12, 1 - mpf(10) ** -12
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_at(middle) > mpf(mean) else (low, middle)
    return low


def _generating(mean: str, shape: int | str) -> Callable[[mpf], mpf]:
    """E x^K, as Papernot and Steinke define the laws."""
    if shape == "poisson":
        return lambda x: mp.exp(mpf(mean) * (x - 1))
    eta = mpf(shape)
    gamma = _gamma(mean, eta)
    if not eta:
        return lambda x: mp.log(1 - (1 - gamma) * x) / mp.log(gamma)
    return lambda x: ((1 - (1 - gamma) * x) ** -eta - 1) / (gamma**-eta - 1)


def _best(f: Callable[[mpf], mpf], p: list[mpf], q: list[mpf], epsilon: mpf) -> mpf:
    """The largest delta over all orders of the outputs."""
    largest = mpf(0)
    for order in permutations(range(len(p))):
        below_p = below_q = delta = mpf(0)
        for i in order:
            with_, without = f(below_p + p[i]) - f(below_p), f(below_q + q[i]) - f(below_q)
            below_p, below_q = below_p + p[i], below_q + q[i]
            delta += max(with_ - mp.exp(epsilon) * without, 0)
        largest = max(largest, delta)
    return largest


def _law(chances: random.Random, count: int) -> list[Fraction]:
    weights = [chances.randrange(chances.random() > 0.1, 60) ** 2 for _ in range(count)]
    weights[0] += not any(weights)
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_any_mechanism_leaks_more(seed: int) -> None:
    chances = random.Random(seed)
    mean, shape = RUNS[seed % len(RUNS)]
    p, q = (_law(chances, 4) for _ in range(2))
    one = pld.laws(Law(dict(enumerate(p))), Law(dict(enumerate(q))), neighbours=pld.ADD_REMOVE)
    best = pld.repeat_and_select(one, mean=mean, shape=shape)
    f, one_side, other = _generating(mean, shape), *([to_mp(x) for x in side] for side in (p, q))
    for epsilon in ("0", "0.5", "1", "2"):
        pairs = ((one_side, other), (other, one_side))
        largest = max(_best(f, a, b, mpf(epsilon)) for a, b in pairs)
        assert largest <= to_mp(best.delta(epsilon).upper) + mpf(10) ** -12


def test_an_event_attains_the_lower_end() -> None:
    p, q = [Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 5), Fraction(4, 5)]
    one = pld.laws(Law(dict(enumerate(p))), Law(dict(enumerate(q))), neighbours=pld.ADD_REMOVE)
    best = pld.repeat_and_select(one, mean="1.5", shape=1)
    one_side, other = ([to_mp(x) for x in side] for side in (p, q))
    f, pairs = _generating("1.5", 1), ((one_side, other), (other, one_side))
    exact = max(_best(f, a, b, mpf("0.5")) for a, b in pairs)
    lower = to_mp(best.delta("0.5").lower)
    assert exact * mpf("0.999") <= lower <= exact * (1 + mpf(10) ** -9)


@pytest.mark.parametrize(("mean", "shape"), [("10", 1), ("10", 0), ("5", "poisson"), ("10", "2.5")])
def test_the_pure_loss_is_that_of_an_output_which_is_in_the_middle(
    mean: str, shape: int | str
) -> None:
    """Worse are nearly all outputs with the largest loss; a last one of these is the output."""
    largest = pld.repeat_and_select(
        pld.randomized_response(epsilon=1), mean=mean, shape=shape
    ).epsilon(0)
    f = _generating(mean, shape)

    def loss(epsilon: mpf) -> mpf:
        p, part = mp.exp(epsilon) / (1 + mp.exp(epsilon)), mpf(10) ** -6
        with_ = f(p) - f(p * (1 - part))
        q = 1 - p
        return mp.log(with_ / (f(q) - f(q * (1 - part))))

    with mp.workdps(40):
        assert loss(mpf(1)) <= to_mp(largest.upper) < loss(mpf(1)) + mpf("1e-4")
        assert loss(mpf("1.03")) > to_mp(largest.upper)  # a weaker mechanism


@pytest.mark.parametrize(("mean", "shape"), [(10, 1), (10, 0), (100, 0), (100, 2)])
def test_the_bound_is_below_that_by_renyi_divergences(mean: int, shape: int) -> None:
    """Papernot and Steinke 2022, Theorem 2, for Gaussian noise with sigma = 1; delta 1e-6."""
    gamma = _gamma(str(mean), mpf(shape))
    orders = [1 + mpf(i) / 20 for i in range(1, 2000)]
    fixed = min((1 + shape) * ((1 - 1 / a) * a / 2 + mp.log(1 / gamma) / a) for a in orders)
    delta = mpf("1e-6")
    by_renyi = min(
        a / 2 + fixed + mp.log(mean) / (a - 1) + mp.log1p(-1 / a) - mp.log(delta * a) / (a - 1)
        for a in orders
    )
    loss = pld.repeat_and_select(pld.gaussian(sigma=1), mean=mean, shape=shape)
    assert to_mp(loss.epsilon("1e-6").upper) < by_renyi - 1


def test_one_run_is_the_mechanism_itself() -> None:
    one = pld.gaussian(sigma=2)
    assert pld.repeat_and_select(one, mean=1, shape=3) is one


def test_more_runs_leak_more() -> None:
    uppers = [
        pld.repeat_and_select(pld.laplace(scale=2), mean=mean, shape=0).epsilon("1e-4").upper
        for mean in ("1.01", 2, 10, 100)
    ]
    assert uppers == sorted(uppers)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"mean": "0.5", "shape": 1}, "mean"),
        ({"mean": 0, "shape": "poisson"}, "mean"),
        ({"mean": "1e10", "shape": 0}, "mean"),
        ({"mean": 2, "shape": -1}, "shape"),
        ({"mean": 2, "shape": "geometric"}, "shape"),
        ({"mean": 2, "least_delta": 0}, "delta"),
    ],
)
def test_bad_parameters_are_refused(values: dict[str, object], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        pld.repeat_and_select(pld.gaussian(sigma=1), **values)  # type: ignore[arg-type]
