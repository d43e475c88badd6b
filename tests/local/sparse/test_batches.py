"""Many vectors at once: what is refused, how values are split, and what states are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import Entries, SparseVectorMean
from exactdp.local.sparse.entries import checked
from exactdp.samplers import SeededSource, SystemSource, exact_law

F = Fraction

LINEAR = SparseVectorMean(d=1000, k=8, epsilon=1, level="event")
KEYED = SparseVectorMean(d=1000, k=8, epsilon=1, level="event", hashes="keyed")
UNEVEN = SparseVectorMean(d=1000, k=8, epsilon=1, level="event", bins=5)
both = pytest.mark.parametrize("m", [LINEAR, KEYED, UNEVEN], ids=["linear", "keyed", "uneven"])


def batch(n: int, seed: int, k: int = 8, d: int = 1000) -> Entries:
    rng = np.random.default_rng(seed)
    item = np.concatenate([rng.choice(d, k, replace=False) for _ in range(n)])
    return Entries(n, np.repeat(np.arange(n), k), item, rng.uniform(-1, 1, n * k))


def parts(scaled) -> dict[tuple[int, int], Fraction]:  # type: ignore[no-untyped-def]
    return {
        (int(scaled.user[i]), int(scaled.item[i])): int(scaled.floor[i])
        + (int(scaled.word[i]) + scaled.rest.get(i, F(0))) / F(2**62)
        for i in range(len(scaled.user))
    }


@pytest.mark.parametrize("grid", [1, 64, 2**20, 7])
def test_every_double_is_split_exactly(grid: int) -> None:
    rng = np.random.default_rng(2)
    tiny = 2.0 ** rng.integers(-1074, 0, 300) * rng.choice([-1, 1], 300)
    edge = np.array([1, -1, 0.5, -0.5, -(2.0**-9), 2.0**-10, -(2.0**-1074), np.nextafter(-1, 0)])
    value = np.concatenate([rng.uniform(-1, 1, 300), tiny, edge])
    n = len(value)
    split = parts(checked(Entries(n, np.arange(n), np.zeros(n, int), value), d=1, k=1, grid=grid))
    assert split == {(i, 0): F(float(v)) * grid for i, v in enumerate(value)}


def test_mappings_are_split_exactly_and_zeros_dropped() -> None:
    vectors = [{3: "1/3", 0: "-0.1"}, {}, {5: 0, 1: 1, 2: 0.25}]
    split = parts(checked(vectors, d=6, k=2, grid=10))
    assert split == {(0, 0): -1, (0, 3): F(10, 3), (2, 1): 10, (2, 2): F(5, 2)}


def test_mappings_lists_and_arrays_of_floats_are_one() -> None:
    """Floats are their binary fractions everywhere, mixed with integers or not."""
    values = [0.1, 1, 0.75]
    arrays = Entries(2, np.zeros(3, int), np.arange(3), np.array(values))
    lists = [values, []], [np.array(values), {}], np.array([values, [0, 0, 0]])
    for vectors in ([{0: 0.1, 1: 1, 2: 0.75}, {}], arrays, *lists):
        assert parts(checked(vectors, d=3, k=3, grid=8)) == {
            (0, 0): F(0.1) * 8, (0, 1): 8, (0, 2): 6
        }  # fmt: skip


def test_rounding_has_the_value_as_its_mean() -> None:
    vector = {0: F(1, 3), 1: F(-1, 7), 2: F(1, 2**70), 3: F(-1)}
    scaled = checked([vector], d=4, k=4, grid=1)
    law = exact_law(lambda source: tuple(scaled.rounded(source).tolist()), residual=0)
    for i, value in enumerate(vector.values()):
        assert law.expectation(lambda z, i=i: F(z[i])) == value
        assert {z[i] for z in law.support} == {*range(value.__floor__(), value.__ceil__() + 1)}


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([{}, {1: 0.5, 1000: 1}], "item of user 1"),
        ([{}, {-1: 0.5}], "item of user 1"),
        ([{}, {1.5: 0.5}], "item of user 1"),
        ([{2**70: 1}], "item of user 0"),
        ([{1: 1}, {2: "1.01"}], "value of user 1"),
        ([{1: float("nan")}], "value of user 0"),
        ([{1: float("inf")}], "value of user 0"),
        ([{1: 1}, dict.fromkeys(range(9), 1)], "entries of user 1"),
        ([{1: 1, "1": 1}], "item of user 0"),
        ([3], "vector of user 0"),
        (7, "values must be"),
        ({1: 1}, "values"),
    ],
)
def test_bad_vectors_are_refused_by_user(vectors, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidParameter, match=words):
        LINEAR.draw_many(vectors, SeededSource(1))


@pytest.mark.parametrize(
    ("user", "item", "value", "words"),
    [
        ([0, 1, 1], [1, 2, 2], [1.0, 1.0, 1.0], "item of user 1 .* twice"),
        ([0, 1], [1, 1000], [1.0, 1.0], "item of user 1"),
        ([0, 1], [1, 2], [1.0, np.nan], "value of user 1"),
        ([1, 0], [1, 2], [-1.5, 0.0], "value of user 1"),
        ([0, 1], [1, 2], [1, 2], "value of user 1"),
        ([0, 2], [1, 2], [1.0, 1.0], "user must be"),
        ([0, 1], [1, 2], [1.0], "one length"),
        ([0.0, 1.0], [1, 2], [1.0, 1.0], "integers"),
        ([0, 1], [1, 2], ["a", "b"], "value must be"),
        ([1] * 9, range(9), [0.5] * 9, "entries of user 1"),
    ],
)
def test_bad_arrays_are_refused_by_user(user, item, value, words: str) -> None:  # type: ignore[no-untyped-def]
    entries = Entries(2, np.array(user), np.array(item), np.array(value))
    with pytest.raises(InvalidParameter, match=words):
        LINEAR.draw_many(entries, SeededSource(1))


def test_a_refused_batch_draws_nothing() -> None:
    source = SystemSource()
    with pytest.raises(InvalidParameter):
        LINEAR.report_many([{1: 1}, {2: 2}], source)
    assert source.bits_used == 0


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"k": 1001}, "k"),
        ({"level": "household"}, "level"),
        ({"level": None}, "level, L"),
        ({"L": 2}, "level, L"),
        ({"level": None, "L": 0}, "L"),
        ({"delta": "1e-5"}, "hashes"),
        ({"delta": 1, "hashes": "keyed"}, "delta"),
        ({"hashes": "secret"}, "hashes"),
        ({"clip": 0}, "clip"),
        ({"entries": 99}, "entries"),
        ({"share": "1.5"}, "share"),
        ({"bins": 2**16}, "bins"),
    ],
)
def test_bad_parameters_are_refused_by_name(wrong: dict[str, object], name: str) -> None:
    good: dict[str, object] = {"d": 1000, "k": 8, "epsilon": 1, "level": "event"}
    with pytest.raises(InvalidParameter) as error:
        SparseVectorMean(**{**good, **wrong})  # type: ignore[arg-type]
    assert error.value.name == name


@both
def test_states_add_up_in_any_order(m: SparseVectorMean) -> None:
    reports = m.draw_many(batch(50, 3), SeededSource(3))
    whole = m.aggregate().add(reports)
    merged = m.aggregate().add(reports[30:]) + m.aggregate().add(reports[:30])
    assert merged == whole == whole + m.aggregate()
    assert m.state_from_bytes(merged.to_bytes()) == whole
    assert merged.estimate().exact([5, 9]) == whole.estimate().exact([5, 9])
    packed = m.pack(reports)
    assert len(packed) == (m.bits * 50 + 7) // 8
    assert (m.unpack(packed, 50) == reports).all()


@both
def test_states_of_another_configuration_are_refused(m: SparseVectorMean) -> None:
    other = SparseVectorMean(d=1000, k=8, epsilon=2, level="event", hashes=m.hashes)
    for use in (
        lambda: m.aggregate() + other.aggregate(),
        lambda: m.state_from_bytes(other.aggregate().to_bytes()),
    ):
        with pytest.raises(InvalidParameter, match=r"state|reports"):
            use()
    data = bytearray(m.aggregate().add(m.draw_many(batch(3, 1), SeededSource(1))).to_bytes())
    data[-40] ^= 1
    with pytest.raises(InvalidParameter):
        m.state_from_bytes(bytes(data))
    with pytest.raises(InvalidParameter, match="no reports"):
        m.aggregate().estimate()


@pytest.mark.few(1)
@both
def test_estimates_are_the_sums_of_algorithm_1(m: SparseVectorMean) -> None:
    n = 40
    reports = m.draw_many(batch(n, 4), SeededSource(4))
    functions, bins = m.functions_of(reports), m.bins_of(reports)
    expected = []
    for x in range(m.d):
        place, sign = m.family.places(functions, np.full(n, x))
        total = sum(int(sign[i]) * int(bins[i, place[i]]) for i in range(n))
        expected.append(F(total, n * m.plan.grid))
    means = m.aggregate().add(reports).estimate()
    assert means.exact(range(m.d)) == expected
    assert means[7] == float(expected[7])
    assert (means.values == np.array([float(x) for x in expected])).all()
    best = sorted(range(m.d), key=lambda x: -expected[x])[:5]
    assert [x for x, _ in means.top(5)] == best


def test_too_many_items_for_a_spectrum_are_decoded_one_by_one() -> None:
    m = SparseVectorMean(d=2**60, k=4, epsilon=20, level="event", bins=64)
    far = 2**60 - 1
    reports = m.draw_many([{far: 1, 5: -1}] * 200, SeededSource(5))
    means = m.aggregate().add(reports).estimate()
    # alpha < 1e-9: six and more standard deviations, collisions included
    assert abs(means[far] - 1) < 6.5 * means.deviation
    assert abs(means[5] + 1) < 6.5 * means.deviation
    assert abs(means[6]) < 6.5 * means.deviation
    with pytest.raises(InvalidParameter, match="2\\^28"):
        means.values  # noqa: B018


@pytest.mark.few(1)
@both
def test_mean_square_error_is_that_of_the_formula(m: SparseVectorMean) -> None:
    # alpha < 1e-6: five deviations of d nearly normal errors, and of n b squares of the noise
    n = 3000
    entries = batch(n, 6)
    reports = m.draw_many(entries, SeededSource(6))
    truth = np.bincount(entries.item, entries.floats, m.d) / n
    error = ((m.aggregate().add(reports).estimate().values - truth) ** 2).mean()
    squares = (entries.floats**2).sum() / n
    filled = np.bincount(np.arange(32) * 5 // 32) / 32 if m is UNEVEN else np.array([1.0])
    same = (filled**2).sum() if m is UNEVEN else 1 / m.plan.bins
    assert filled.max() in (1, float(m.plan.hit))
    expected = (float(m.plan.noise) + squares * same * (1 - 1 / m.d)) / n
    assert abs(error / expected - 1) < 5 * (2 / m.d + 5 / (n * m.plan.bins)) ** 0.5


def test_no_users_and_wide_noise() -> None:
    assert LINEAR.draw_many([], SeededSource(1)).shape == (0, len(LINEAR.form.sizes))
    wide = SparseVectorMean(d=10, k=2, epsilon="1e-6", level="user")
    report = wide.draw({3: 1}, SeededSource(2))
    assert wide.aggregate().add([report]).n == 1
    assert wide.plan.limit > 10**8


def test_more_reports_than_64_bits_hold_the_sums_of_are_refused() -> None:
    m = SparseVectorMean(d=10, k=2, epsilon="1e-6", level="user")
    most = (2**63 - 1) // (m.plan.bins * m.plan.limit)
    state = m.aggregate()
    state.n = most
    assert state.estimate()[3] == 0
    state.n += 1
    with pytest.raises(InvalidParameter, match=f"at most {most}"):
        state.estimate()


def test_reports_are_tallied_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = LINEAR.draw_many(batch(50, 5), SeededSource(5))
    whole = LINEAR.aggregate().add(reports)
    monkeypatch.setattr("exactdp.local.sparse.mean._AT_ONCE", 7)
    assert LINEAR.aggregate().add(reports) == whole
