"""Each mechanism has its own order of the neighbours, where no side of a pair has a name.

Expected numbers are sums over all outcomes and orders, see `tests.accounting.pld.orders_at_random`.
"""

from fractions import Fraction
from functools import cache
from itertools import islice, product
from math import exp, log

import numpy as np
import pytest

from exactdp.accounting import gaussian, pld
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from tests.accounting.pld import orders_at_random as at_random
from tests.accounting.pld.orders_at_random import Pair, common, turned

TEXT = "two values of one user"
UNNAMED = (pld.REPLACE_ONE, TEXT)

#: Relative errors of the expected numbers are below this.
UP = 1 + Fraction(1, 10**12)


def pair(*rows: str) -> Pair:
    """A pair of laws from rows "p q", in hundredths."""
    numbers = [[Fraction(number) / 100 for number in row.split()] for row in rows]
    return tuple((p, q) for p, q in numbers)


#: One bit of a user, answered with noise.
BIT = pair("50 35", "49 63", "1 2")


def laws(rows: Pair, neighbours: str) -> pld.Pld:
    p, q = (Law({i: row[side] for i, row in enumerate(rows) if row[side]}) for side in (0, 1))
    return pld.laws(p, q, neighbours=neighbours)


@pytest.mark.parametrize("neighbours", UNNAMED)
def test_a_user_whose_two_bits_change_in_opposite_directions(neighbours: str) -> None:
    """The bits go from (0, 1) to (1, 0): p x q against q x p."""
    exact = common((BIT, turned(BIT)), (1, 1), Fraction(exp(0.95)))
    assert abs(exact - Fraction("0.000950016192395")) < Fraction("1e-15")
    for loss in (
        laws(BIT, neighbours).composed(2),
        laws(BIT, neighbours).then(laws(BIT, neighbours)),
    ):
        delta = loss.delta("0.95")
        assert exact <= delta.upper * UP <= exact * Fraction(1001, 1000)
        assert exact * Fraction(999, 1000) <= delta.lower <= exact * UP
        assert not loss.exact


def test_named_sides_have_one_order_in_all_mechanisms() -> None:
    exact = max(common((rows,), (2,), Fraction(exp(0.95))) for rows in (BIT, turned(BIT)))
    for neighbours in (pld.ADD_REMOVE, pld.REPLACE_SPECIAL):
        loss = laws(BIT, neighbours).composed(2)
        delta = loss.delta("0.95")
        assert loss.exact
        assert exact <= delta.upper * UP <= exact * Fraction(1001, 1000)
        assert delta.lower <= exact * UP


@pytest.mark.parametrize("case", list(islice(at_random.cases(46), 24)), ids=lambda x: x.relation)
def test_compositions_at_random(case: at_random.Case) -> None:
    assert not at_random.fault(case)


def test_upper_laws_at_random() -> None:
    assert not any(map(at_random.fault_of_laws, islice(at_random.cases(48), 80)))


@pytest.mark.slow
def test_lower_ends_are_the_worst_of_few_orders_that_are_fixed() -> None:
    for case in islice(at_random.cases(47), 10):
        if case.relation != "add-remove" and case.epsilon >= 0:
            low, high = case.ratios()
            delta = case.loss.delta(case.epsilon)
            assert case.largest_fixed(high) * Fraction(998, 1000) <= delta.lower
            assert delta.lower <= case.largest_fixed(low)


@pytest.mark.parametrize("epsilon", [-0.4, 0.0, 1.3, 2.9, 4.0])
def test_many_runs_of_one_mechanism(epsilon: float) -> None:
    """30 runs of two outcomes: how often each of them occurs, net, tells the sum of the losses."""
    rows = ((0.75, 0.6), (0.25, 0.4))
    losses = [log(p / q) for p, q in rows]

    @cache
    def worst(runs: int, first: int, second: int) -> float:
        if not runs:
            return max(1 - exp(epsilon - first * losses[0] - second * losses[1]), 0.0)
        return max(
            rows[0][side] * worst(runs - 1, first + sign, second)
            + rows[1][side] * worst(runs - 1, first, second + sign)
            for side, sign in ((0, 1), (1, -1))
        )

    delta = laws(pair("75 60", "25 40"), pld.REPLACE_ONE).composed(30).delta(epsilon)
    assert worst(30, 0, 0) <= delta.float_upper() * (1 + 1e-12) <= worst(30, 0, 0) * 1.001
    assert delta.float_lower() <= worst(30, 0, 0) * (1 + 1e-12)


def test_noise_between_runs_that_have_their_own_orders() -> None:
    """The orders of two answers may depend on what Gaussian noise has shown before."""
    mu = 0.5  # one user moves the query by 2, sigma is 4
    z = np.arange(-9.0, 9.0, 0.005)
    masses = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * 0.005
    losses = mu * z + mu * mu / 2

    def worst(x: np.ndarray, runs: int) -> np.ndarray:
        if not runs:
            return np.maximum(1 - x, 0)
        both = (
            sum(float(p) * worst(x * float(q / p), runs - 1) for p, q in rows)
            for rows in (BIT, turned(BIT))
        )
        return np.maximum(*both)

    noise = pld.gaussian(sigma=4).replaced()
    loss = laws(BIT, pld.REPLACE_ONE).then(noise).then(laws(BIT, pld.REPLACE_ONE))
    for epsilon in (0.5, 1.0, 2.0):
        exact = float((masses * worst(np.exp(epsilon - losses), 2)).sum())
        delta = loss.delta(epsilon)
        assert exact * (1 - 1e-6) <= delta.float_upper() <= exact * 1.01
        assert delta.float_lower() <= exact * (1 + 1e-6)


def test_infinite_losses_and_the_largest_loss_are_those_of_the_worse_order_of_each_run() -> None:
    loss = laws(pair("50 75", "40 25", "10 0"), pld.REPLACE_ONE).composed(3)
    never = Fraction(9, 10) ** 3
    assert loss.infinite_mass().lower == loss.infinite_mass().upper == 1 - never
    largest = loss.largest_loss()
    assert largest is not None
    assert abs(float(largest.upper) - 3 * log(40 / 25)) < 1e-12  # 75/50 in the other order
    assert loss.delta(2) == loss.infinite_mass()  # beyond all finite losses
    assert loss.epsilon(1 - never).upper == largest.upper
    pure = laws(pair("80 90", "20 10"), pld.REPLACE_ONE)
    both = pure.then(laws(pair("30 10", "70 90"), pld.REPLACE_ONE))
    end = both.epsilon(0)
    assert abs(float(end.lower) - log(2) - log(3)) < 1e-12
    assert abs(float(end.upper) - log(2) - log(3)) < 1e-12


@pytest.mark.parametrize("order", [1.5, 2.0, 40.0])
def test_renyi_divergences_take_the_worse_order_of_each_mechanism(order: float) -> None:
    other = pair("20 10", "80 90")

    def divergence(rows: Pair) -> float:
        terms = (float(p) * float(p / q) ** (order - 1) for p, q in rows)
        return log(sum(terms)) / (order - 1)

    both = laws(BIT, pld.REPLACE_ONE).composed(2).then(laws(other, pld.REPLACE_ONE))
    exact = 2 * max(divergence(BIT), divergence(turned(BIT)))
    exact += max(divergence(other), divergence(turned(other)))
    bounds = both.renyi(order)
    assert abs(bounds.float_upper() - exact) < 1e-10
    assert abs(bounds.float_lower() - exact) < 1e-10
    budget = pld.Budget(epsilon=50, delta="1e-3", by="renyi", order=order)
    budget.spend(both)
    assert float(budget.spent["divergence"]) >= exact - 1e-12


def test_mu_and_renyi_delta_hold_for_all_orders() -> None:
    loss = laws(BIT, pld.REPLACE_ONE).composed(3)
    assert loss.renyi_delta("0.8").upper >= at_random.worst((BIT,), (3,), Fraction(exp(0.8)))
    answer = pair("95 50", "5 50")
    mu = laws(answer, pld.REPLACE_ONE).composed(3).mu(least_delta="1e-2").upper
    for epsilon in (0.3, 1.0, 1.7):
        exact = at_random.worst((answer,), (3,), Fraction(exp(epsilon)))
        if exact > Fraction(1, 100):
            assert gaussian.delta(sigma=1, sensitivity=mu, epsilon=epsilon).upper >= exact


def test_trade_offs_hold_for_all_orders() -> None:
    """The best test of level 1/20 by three answers, two of them in the opposite order."""
    answer = pair("95 50", "5 50")
    runs = product(answer, turned(answer), turned(answer))
    rows = [(a * c * e, b * d * f) for (a, b), (c, d), (e, f) in runs]
    left, missed = Fraction(1, 20), Fraction(1)
    for p, q in sorted(rows, key=lambda row: row[0] / row[1], reverse=True):
        share = min(left / q, Fraction(1))
        left, missed = left - share * q, missed - share * p
    error = laws(answer, pld.REPLACE_ONE).composed(3).type_two_error("0.05", width="1e-2")
    assert error.lower <= missed
    same = laws(answer, pld.ADD_REMOVE).composed(3).type_two_error("0.05", width="1e-2")
    assert missed < same.lower


def test_laws_that_are_alike_in_both_orders_compose_as_before() -> None:
    rows = pair("60 30", "30 60", "10 10")
    losses = [laws(rows, text).composed(5) for text in (pld.ADD_REMOVE, *UNNAMED)]
    assert all(loss.exact and loss.orders() == losses[0].orders() for loss in losses)
    assert len({loss.delta("0.5") for loss in losses}) == 1
    noise = pld.gaussian(sigma=2).sampled("0.1").replaced().composed(50)
    assert noise.exact
    assert noise.orders() == noise.real_orders()


def test_laws_without_a_curve_of_both_orders_are_refused() -> None:
    sampled = pld.gaussian(sigma=1).sampled("0.1")
    one = pld.Pld(sampled.steps, pld.REPLACE_ONE, "a test")
    assert one.delta(1) == sampled.delta(1)
    with pytest.raises(InvalidParameter, match="alike in both orders"):
        one.composed(2).delta(1)


def test_samples_need_a_side_without_the_user() -> None:
    with pytest.raises(InvalidParameter, match="add-remove"):
        laws(BIT, TEXT).sampled("0.1")


def test_more_outcomes_than_are_bounded_together() -> None:
    """80 outcomes: the larger curve of both orders is composed with itself."""
    rows = tuple((Fraction(i, 3240), Fraction((i * 37) % 81, 3240)) for i in range(1, 81))
    loss = laws(rows, pld.REPLACE_ONE).composed(2)
    orders = [(rows, rows), (rows, turned(rows)), (turned(rows), turned(rows))]
    exact = max(common(each, (1, 1), Fraction(exp(0.5))) for each in orders)
    delta = loss.delta("0.5")
    assert exact <= delta.upper * UP
    assert exact * Fraction(999, 1000) <= delta.lower <= exact * UP
