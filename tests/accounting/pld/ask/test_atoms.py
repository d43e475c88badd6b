"""Compositions of few outcomes against all sequences of outputs, one by one; and grids, too."""

import math
import random
from fractions import Fraction
from itertools import product

import mpmath as mp
import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld.ask import atoms, closed
from exactdp.enclosure import Enclosure
from exactdp.law import Law
from tests.accounting.pld.random_powers import concave, power_at

#: Outputs with their probabilities with and without the user.
_Rows = list[tuple[mp.mpf, mp.mpf]]


def _exact(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def _encloses(answer: Enclosure, exact: mp.mpf) -> bool:
    return bool(_exact(answer.lower) <= exact <= _exact(answer.upper))


def _mechanism(rng: random.Random) -> tuple[pld.Pld, _Rows]:
    """A mechanism with few outputs, drawn at random."""
    kind = rng.randrange(4)
    if kind == 0:
        size, failure = Fraction(rng.randint(1, 30), 10), Fraction(rng.randint(0, 3), 100)
        loss = pld.approximate(epsilon=size, delta=failure)
        yes = (1 - _exact(failure)) / (1 + mp.exp(-_exact(size)))
        no, both = 1 - _exact(failure) - yes, _exact(failure)
        rows = [(yes, no), (no, yes), (both, mp.mpf(0)), (mp.mpf(0), both)]
    elif kind == 1:
        rate, shift = Fraction(rng.randint(3, 10), 10), rng.randint(1, 3)
        loss = pld.discrete_laplace(epsilon=rate * shift, sensitivity=shift)
        fall, z = mp.exp(-_exact(rate)), range(-400, 401)
        noise = {i: (1 - fall) / (1 + fall) * fall ** abs(i) for i in range(-410, 411)}
        rows = _joined([(mp.mpf(1), mp.mpf(1))], [(noise[i - shift], noise[i]) for i in z])
    else:
        p, q = ([Fraction(rng.randint(0, 9)) for _ in range(3)] for _ in range(2))
        p[0], q[1] = p[0] + 1, q[1] + 1
        p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
        laws = (Law({i: x for i, x in enumerate(weights) if x}) for weights in (p, q))
        loss = pld.laws(*laws, neighbours=pld.ADD_REMOVE)
        rows = [(_exact(a), _exact(b)) for a, b in zip(p, q, strict=True)]
    if rng.randrange(2):
        rate = Fraction(rng.randint(1, 9), 10)
        loss, share = loss.sampled(rate), _exact(rate)
        rows = [(share * a + (1 - share) * b, b) for a, b in rows]
    return loss, rows


def _joined(rows: _Rows, others: _Rows) -> _Rows:
    """All pairs of outputs, where outputs of one ratio are merged."""
    sums: dict[str, tuple[mp.mpf, mp.mpf]] = {}
    for (a, b), (c, d) in product(rows, others):
        p, q = a * c, b * d
        if p or q:
            ratio = mp.nstr(p / (p + q), 40)
            x, y = sums.get(ratio, (mp.mpf(0), mp.mpf(0)))
            sums[ratio] = x + p, y + q
    return list(sums.values())


@pytest.mark.parametrize("has_grid", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms(seed: int, has_grid: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    with mp.workdps(60):
        (one, rows), (other, others) = _mechanism(rng), _mechanism(rng)
    runs = rng.randint(1, 3)
    loss = one.composed(runs).then(other)
    assert all(map(atoms.are_few, loss.orders()))
    if has_grid:
        monkeypatch.setattr(closed, "are_few", lambda order: False)
    with mp.workdps(50):
        for _ in range(runs):
            others = _joined(others, rows)
        for epsilon in (
            Fraction(0),
            Fraction(rng.randint(1, 20), 10),
            Fraction(rng.choice([1, 2])),
        ):
            x = mp.exp(_exact(epsilon))
            removed, added = (
                sum(max(p - x * q, mp.mpf(0)) for p, q in pairs)
                for pairs in (others, [(q, p) for p, q in others])
            )
            answer = loss.delta(epsilon)
            assert _encloses(answer, max(removed, added))
            assert answer.relative_width <= (1e-3 if has_grid else 1e-12)


def test_losses_that_cancel_count_nothing_at_epsilon_0() -> None:
    """The ratios 3 and 1/3 have the product 1, whose loss is 0."""
    p, q = Law({0: Fraction(3, 4), 1: Fraction(1, 4)}), Law({0: Fraction(1, 4), 1: Fraction(3, 4)})
    advantage = pld.laws(p, q, neighbours=pld.ADD_REMOVE).composed(2).advantage()
    assert Fraction(1, 2) in advantage  # 9/16 - 1/16
    assert advantage.relative_width <= 1e-12


def test_at_a_loss_delta_leaves_out_this_loss() -> None:
    loss = pld.randomized_response(epsilon=1).composed(4)
    with mp.workdps(50):
        yes = 1 / (1 + mp.exp(-1))
        exact = yes**4 - mp.exp(2) * (1 - yes) ** 4
        assert _encloses(loss.delta(2), exact)


@pytest.mark.parametrize("alpha", ["1e-6", "0.00022276247652739281", "0.3"])
def test_three_runs_of_four_outputs(alpha: str) -> None:
    """With at most 2^18 nodes, a grid leaves the second power undecided."""
    p = [Fraction(x, 67) for x in (8, 4, 17, 38)]
    q = [Fraction(x, 118) for x in (30, 27, 34, 27)]
    laws = (Law(dict(enumerate(weights))) for weights in (p, q))
    power = pld.laws(*laws, neighbours=pld.ADD_REMOVE).composed(3).power(alpha)
    points = []
    for order in ((p, q), (q, p)):
        sides = ([math.prod(x) for x in product(side, repeat=3)] for side in order)
        alarms = right = Fraction(0)
        points.append((alarms, right))
        rows = list(zip(*sides, strict=True))
        for a, b in sorted(rows, key=lambda row: row[0] / (row[0] + row[1]), reverse=True):
            alarms, right = alarms + b, right + a
            points.append((alarms, right))
    assert power_at(concave(points), Fraction(alpha)) in power
    assert power.relative_width <= Fraction(1, 1000)


def test_many_outcomes_are_left_to_a_grid() -> None:
    law = Law({i: Fraction(2 * i + 1, 900) for i in range(30)})
    loss = pld.laws(law, Law.uniform(range(30)), neighbours=pld.ADD_REMOVE).composed(5)
    (order, _) = loss.orders()
    assert not atoms.are_few(order)
    assert loss.delta(1).relative_width <= Fraction(1, 1000)
