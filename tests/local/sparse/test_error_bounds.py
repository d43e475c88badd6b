"""Error bars that hold: against exact laws, and against vectors that are made to be bad."""

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.local import Entries, SparseVectorMean
from exactdp.local.sparse import OneBit
from exactdp.samplers import SeededSource
from tests.local.sparse.model import report_law

F = Fraction
ALL = {x: F(1) for x in range(8)}


def errors(m: SparseVectorMean, vector: dict[int, Fraction], item: int) -> Law[Fraction]:
    """The exact law of what one report says of an item, less the truth."""

    def error(report: tuple[int, ...]) -> Fraction:
        means = m.aggregate().add([report]).estimate()
        return means.exact([item])[0] - vector.get(item, F(0))

    return report_law(m, vector).map(error)


def test_a_subspace_of_items_is_biased_as_much_as_any_items_can_be() -> None:
    m = SparseVectorMean(d=8, k=8, epsilon=5, level="user", grid=1, bins=1, users=1)
    eta = m.plan.clip
    assert eta is not None
    assert eta < 8
    bias = -errors(m, ALL, 0).expectation()
    # every sum of signs is 0, but for the function of all ones, where it is 8
    assert abs(bias - (1 - F(eta, 8))) < F(1, 2**60)
    assert m.plan.bias < bias <= m.bias
    spare = eta - 1
    assert float(m.bias) == pytest.approx((sqrt(7 + spare**2) - spare) / 2)


def test_one_bit_of_a_subspace_of_items() -> None:
    m = OneBit(d=8, k=8, epsilon=5, clip=4)
    users = np.repeat(np.arange(40_000), 8)
    vectors = Entries(40_000, users, np.tile(np.arange(8), 40_000), np.ones(320_000))
    reports = m.draw_many(vectors, SeededSource(5))
    bias = 1 - m.aggregate().add(reports).estimate()[3]
    assert m.bias < 0.4 < bias
    # alpha < 1e-8: 1/2, at most six deviations off
    assert abs(bias - 0.5) < 6 * sqrt(float(m.variance) / 40_000)
    assert m.bias_of_any_items == F(1, 2)


def test_rounding_counts_where_bins_are_many() -> None:
    m = SparseVectorMean(d=1, k=1, epsilon=40, level="event", grid=1, bins=16)
    reports = m.draw_many([{0: F(1, 2)}] * 100, SeededSource(1))
    means = [m.aggregate().add(reports[i : i + 1]).estimate()[0] for i in range(100)]
    square = float(np.var(means))
    # alpha < 1e-6: fair coins of 0 and 1
    assert square > 1 / 16 + 0.1
    assert m.plan.variance > F(1, 4)


@pytest.mark.few(3)
@pytest.mark.parametrize("beta", ["0.05", "1e-2", "1e-4"])
@pytest.mark.parametrize("n", [1, 2])
def test_the_exact_tail_is_within(n: int, beta: str) -> None:
    m = SparseVectorMean(d=2, k=2, epsilon=4, level="event", grid=1, bins=1)
    one = errors(m, {0: F(1, 2), 1: F(1)}, 0)
    total = one if n == 1 else one.product(one).map(sum)
    within = m.means(n, None).accuracy(beta)  # type: ignore[arg-type]
    assert total.probability(lambda error: abs(error) > n * within) <= F(beta)
    # and not for want of trying
    assert total.probability(lambda error: abs(error) > n * within / 4) > F(beta)


def test_for_many_users_it_is_near_the_normal_law() -> None:
    means = SparseVectorMean(d=9, k=8, epsilon=1, level="event").means(10**6, None)  # type: ignore[arg-type]
    normal = NormalDist().inv_cdf(1 - 1e-9 / 2) * means.deviation
    assert normal < means.accuracy("1e-9") < 1.1 * normal
    assert means.accuracy("1e-9") == means.accuracy("1e-7", 100)


def test_what_cannot_be_promised_is_refused() -> None:
    means = SparseVectorMean(d=9, k=8, epsilon=1, level="event").means(1000, None)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="beta"):
        means.accuracy("1e-17")
    with pytest.raises(InvalidParameter, match="beta"):
        means.accuracy(0)
