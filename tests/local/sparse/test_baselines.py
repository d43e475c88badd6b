"""The baselines: their laws enumerated, their exact epsilon, their means and variances."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, log
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from exactdp import InvalidParameter
from exactdp.law import Law
from exactdp.local import Entries, SparseVectorMean
from exactdp.local.sparse import (
    Harmony,
    KFold,
    NaiveGaussian,
    NaiveLaplace,
    OneBit,
    Pckv,
    PckvUnary,
    Sampled,
    Stated,
    lower_bound,
)
from exactdp.local.sparse.baseline import Baseline
from exactdp.local.sparse.clipping import clip_bias
from exactdp.samplers import SeededSource
from tests.local.sparse.model import Outcome, Vector, geometric, hashed, rounded, vectors

F = Fraction
R = F(3)


def sign_law(value: int, ratio: Fraction) -> dict[int, Fraction]:
    """A private sign of -1, 0 or 1."""
    right = ratio / (1 + ratio)
    return {1: F(1, 2), -1: F(1, 2)} if not value else {value: right, -value: 1 - right}


def hashed_sign(m: KFold | Sampled, x: int, value: int, ratio: Fraction) -> dict[int, Fraction]:
    """2 a + bit for one item."""
    mixed, size = int(m.family.mixed(np.array([x]))[0]), 1 << m.family.index_bits
    law: dict[int, Fraction] = {}
    for a in range(size):
        sign = hashed([a], mixed)[1]
        for reported, p in sign_law(sign * value, ratio).items():
            law[2 * a + (reported < 0)] = p / size
    return law


def kfold(m: KFold, entries: list[tuple[int, int]]) -> dict[object, Fraction]:
    padded = entries + [(0, 0)] * (m.k - len(entries))
    laws = [hashed_sign(m, x, v, m.e_epsilon) for x, v in padded]
    joint: dict[object, Fraction] = {}
    for pairs in product(*(law.items() for law in laws)):
        reports = tuple(sorted(y for y, _ in pairs))
        weight = F(1)
        for _, p in pairs:
            weight *= p
        joint[reports] = joint.get(reports, F(0)) + weight
    return joint


def sampled(m: Sampled, entries: list[tuple[int, int]]) -> dict[object, Fraction]:
    ratio = m.e_epsilon if m.level == "user" else 1 + m.k * (m.e_epsilon - 1)
    return mixed([hashed_sign(m, x, v, ratio) for x, v in padded(m.k, entries)])


def harmony(m: Harmony, entries: list[tuple[int, int]]) -> dict[object, Fraction]:
    own = dict(entries)
    laws = []
    for x in range(m.d):
        signs = sign_law(own.get(x, 0), m.e_epsilon)
        laws.append({2 * x + (s < 0): p for s, p in signs.items()})
    return mixed(laws)


def pckv(m: Pckv, entries: list[tuple[int, int]]) -> dict[object, Fraction]:
    size = 2 * (m.d + m.k)
    ratio = 1 + m.k * (m.e_epsilon - 1)
    laws = []
    for rank in range(m.k):
        x, v = entries[rank] if rank < len(entries) else (m.d + rank, 0)
        own = {2 * x + (v < 0): F(1)} if v else {2 * x: F(1, 2), 2 * x + 1: F(1, 2)}
        total = ratio + size - 1
        laws.append({y: (1 + own.get(y, 0) * (ratio - 1)) / total for y in range(size)})
    return mixed(laws)


def pckv_unary(m: PckvUnary, entries: list[tuple[int, int]]) -> dict[object, Fraction]:
    """Item by item: nothing, 1 or -1, more often the truth for the item that was drawn."""
    r, laws = m.e_epsilon, []
    for rank in range(m.k):
        x, v = entries[rank] if rank < len(entries) else (m.d, 0)
        own = {0: F(1, 2), 1: F(1, 4), -1: F(1, 4)}
        if v:
            own = {0: F(1, 2), v: r / (1 + r) / 2, -v: 1 / (1 + r) / 2}
        rest = {0: (r + 1) / (r + 3), 1: 1 / (r + 3), -1: 1 / (r + 3)}
        masses: dict[object, Fraction] = {}
        for signs in product((0, 1, -1), repeat=m.d):
            weight = F(1)
            for y, z in enumerate(signs):
                weight *= own[z] if y == x else rest[z]
            plus = sum((z == 1) << y for y, z in enumerate(signs))
            minus = sum((z == -1) << (m.d + y) for y, z in enumerate(signs))
            masses[plus | minus] = weight
        laws.append(masses)
    return mixed(laws)  # type: ignore[arg-type]


def one_bit(m: OneBit, vector: Vector) -> Law[Outcome]:
    """By the law of the clipped sum, rounded to one of its ends, and randomized response."""
    eta, size, r = F(m.clip or 0), 1 << m.family.index_bits, m.e_epsilon
    mixed = m.family.mixed(np.arange(m.d)).tolist()
    masses: dict[object, Fraction] = {}
    for a, (integers, weight) in product(range(size), rounded(vector, 64)):
        total = sum((hashed([a], mixed[x])[1] * F(v, 64) for x, v in integers.items()), F(0))
        up = (1 + max(-eta, min(eta, total)) / eta) / 2
        plus = (up * r + 1 - up) / (1 + r)
        for report, p in ((2 * a, plus), (2 * a + 1, 1 - plus)):
            masses[report] = masses.get(report, F(0)) + weight * p / size
    return Law(masses)  # type: ignore[arg-type]


def test_one_bit_has_its_law_ratio_mean_and_variance() -> None:
    whole, clipped = OneBit(d=4, k=3, epsilon=1, clip=3), OneBit(d=4, k=3, epsilon=1, clip="1.5")
    examples: list[Vector] = [{}, {0: F(-1), 3: F(1)}, {1: F(1), 2: F(1, 3), 3: F(-1)}]
    for m in (whole, clipped):
        for vector in examples:
            assert m.law(vector) == one_bit(m, vector)
        laws = [one_bit(m, v) for v in vectors(4, 3, [F(-1), F(1)])]
        assert (
            max(max(p[y] for p in laws) / min(p[y] for p in laws) for y in range(8)) == m.e_epsilon
        )
    mean, square = [F(0)] * 4, [F(0)] * 4
    for report, chance in one_bit(whole, examples[2]).items():
        for x, value in enumerate(whole.aggregate().add([report]).estimate().exact(range(4))):
            mean[x] += chance * value
            square[x] += chance * value**2
    assert mean == [examples[2].get(x, 0) for x in range(4)]
    assert max(square) == whole.variance
    assert whole.bias == 0 < clipped.bias
    chosen = OneBit(d=1000, k=64, epsilon=1)
    others = [OneBit(d=1000, k=64, epsilon=1, clip=c) for c in range(5, 40)]
    assert chosen.mean_square(10**5) <= min(m.mean_square(10**5) for m in others)


def dense(m: NaiveLaplace, entries: list[tuple[int, int]]) -> dict[object, Fraction]:
    own, q, limit = dict(entries), m._noise.q, m._limit
    laws = [geometric(own.get(x, 0), q, limit) for x in range(m.d)]
    masses: dict[object, Fraction] = {}
    for pairs in product(*(law.items() for law in laws)):
        weight = F(1)
        for _, p in pairs:
            weight *= p
        report = tuple(y + limit for y, _ in pairs)
        masses[report if m.d > 1 else report[0]] = weight
    return masses


def padded(k: int, entries: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return entries + [(0, 0)] * (k - len(entries))


def mixed(laws: list[dict[int, Fraction]]) -> dict[object, Fraction]:
    masses: dict[object, Fraction] = {}
    for law in laws:
        for y, p in law.items():
            masses[y] = masses.get(y, F(0)) + p / len(laws)
    return masses


MODELS: dict[str, tuple[Baseline, Callable[..., dict[object, Fraction]]]] = {
    "Harmony": (Harmony(d=3, k=2, epsilon="1.1"), harmony),
    "PCKV": (Pckv(d=3, k=2, epsilon="1.1"), pckv),
    "k-fold": (KFold(d=4, k=2, epsilon="1.1"), kfold),
    "sampled": (Sampled(d=4, k=3, epsilon="1.1"), sampled),
    "sampled, event": (Sampled(d=4, k=3, epsilon="1.1", level="event"), sampled),
    "PCKV, unary": (PckvUnary(d=2, k=2, epsilon="1.1"), pckv_unary),
    "Laplace": (NaiveLaplace(d=1, k=1, epsilon=6, grid=1), dense),
    "Laplace, event": (NaiveLaplace(d=2, k=2, epsilon=30, grid=1, level="event"), dense),
}
models = pytest.mark.parametrize("name", MODELS)


def law_of(name: str, vector: Vector) -> Law[Outcome]:
    m, model = MODELS[name]
    parts = []
    for integers, weight in rounded(vector, 1):
        entries = [(x, v) for x, v in sorted(integers.items())]
        parts.append((weight, Law(model(m, entries))))
    return Law.mixture(parts)  # type: ignore[return-value]


@pytest.mark.few(1)
@models
def test_the_client_has_the_law_of_the_baseline(name: str) -> None:
    m, _ = MODELS[name]
    examples: list[Vector] = [{}, {0: F(-1)}, {m.d - 1: F(1, 3)}]
    if m.k > 1:
        examples.append({0: F(1), m.d - 1: F(-1)})
    for vector in examples:
        law = m.law(vector)
        assert law == law_of(name, vector)


@models
def test_e_epsilon_is_reached_and_never_exceeded(name: str) -> None:
    m, _ = MODELS[name]
    laws = [(v, law_of(name, v)) for v in vectors(m.d, m.k, [F(-1), F(1)])]
    largest = max(
        p[y] / q[y]
        for (v, p), (w, q) in product(laws, laws)
        if m.level == "user" or sum(v.get(x) != w.get(x) for x in range(m.d)) == 1
        for y in p.support
    )
    assert largest <= m.e_epsilon
    assert largest >= m.e_epsilon * (1 - F(1, 10**12))
    assert m.guarantee.e_epsilon == m.e_epsilon


@pytest.mark.few(2)
@models
def test_one_report_has_the_vector_as_its_mean_and_no_more_variance_than_said(name: str) -> None:
    m, _ = MODELS[name]
    largest = F(0)
    for vector in vectors(m.d, m.k, [F(-1), F(1, 2)]):
        mean, square = [F(0)] * m.d, [F(0)] * m.d
        for report, chance in law_of(name, vector).items():
            for x, value in enumerate(m.aggregate().add([report]).estimate().exact(range(m.d))):
                mean[x] += chance * value
                square[x] += chance * value**2
        slack = F(1, 2**60) if "Laplace" in name else 0  # reports are cut off
        assert all(abs(mean[x] - vector.get(x, 0)) <= slack for x in range(m.d))
        largest = max(largest, *(s - a * a for s, a in zip(square, mean, strict=True)))
    assert m.variance * F(1, 3) <= largest <= m.variance


def test_many_users_have_the_error_of_the_formula() -> None:
    # alpha < 1e-6 each: the mean of 400 squares within six of their standard deviations
    n, d, k = 4000, 400, 4
    rng = np.random.default_rng(8)
    item = np.concatenate([rng.choice(d, k, replace=False) for _ in range(n)])
    entries = Entries(n, np.repeat(np.arange(n), k), item, rng.choice([-1.0, 1.0], n * k))
    truth = np.bincount(item, entries.floats, d) / n
    for m in (
        KFold(d=d, k=k, epsilon=1),
        Sampled(d=d, k=k, epsilon=1),
        Sampled(d=d, k=k, epsilon=1, level="event"),
        Harmony(d=d, k=k, epsilon=1),
        Pckv(d=d, k=k, epsilon=1),
        PckvUnary(d=d, k=k, epsilon=1),
    ):
        state = m.aggregate().add(m.draw_many(entries, SeededSource(9)))
        error = ((state.estimate().values - truth) ** 2).mean()
        expected = m.variance
        if isinstance(m, Pckv):  # the worst item is everybody's; here one user in d/k has it
            background = F(2, m.form.sizes[0]) * (1 - m.scale * k)
            expected = (m.scale * F(k, d) + background) / m.scale**2
        if isinstance(m, PckvUnary):  # likewise
            expected = 2 / (m.e_epsilon + 3) / m.scale**2
        assert abs(error / float(expected / n) - 1) < 6 * (2 / d) ** 0.5 + 0.02


def test_dense_gaussian_reports_keep_delta() -> None:
    event = NaiveGaussian(d=3, k=2, epsilon=1, level="event")
    user = NaiveGaussian(d=3, k=2, epsilon=1)
    assert event.guarantee.delta == F(1, 10**5)
    assert (user.guarantee * 2).delta == F(2, 10**5)
    assert abs(user.sigma2 / event.sigma2 - 2) < F(1, 1000)
    from exactdp.accounting import discrete_gaussian

    moved = discrete_gaussian.delta(sigma2=event.sigma2, epsilon=1, sensitivity=128)
    assert F(1, 10**6) < moved.upper <= F(1, 10**5)
    n = 2000
    reports = event.draw_many([{0: 1}] * n, SeededSource(3))
    means = event.aggregate().add(reports).estimate()
    assert abs(means[0] - 1) < 6 * means.deviation  # alpha < 1e-8
    assert abs(means[2]) < 6 * means.deviation


def test_vectors_that_are_stated_need_less_clipping() -> None:
    """The plan for a sample: its bias is the exact one, and the errors of users are as stated."""
    sample = [{x: 1, 90 + x: -1} for x in range(40)] + [{x: 1} for x in range(40)]
    stated = Stated.of(sample)
    assert (stated.entries, stated.share) == (2, F(1, 40))
    halves = Stated.of([{1: "0.5", 2: "-0.5", 3: 1, 4: -1}, {1: "-0.3"}])
    assert (halves.entries, halves.share) == (3, F(1, 2))  # 2.5; items 3 and 4
    # means 3/40, -2/40 and 1/40: the root mean square of 100 items, rounded up to 4 digits
    rows = [{1: 1}] * 3 + [{2: -1}] * 2 + [{3: 1}] + [{}] * 34
    of_all = Stated.of(rows, 100)
    assert of_all.share == F(ceil(10_000 * (14 / 100) ** 0.5 / 40), 10_000)
    assert Stated.of(rows).share == F(3, 40)
    arguments = {"d": 200, "k": 20, "epsilon": 1, "users": 10_000}
    worst = SparseVectorMean(**arguments, level="user")  # type: ignore[arg-type]
    plan = SparseVectorMean(**arguments, level="user", entries=2, share=F(1, 40))  # type: ignore[arg-type]
    bit = OneBit(**arguments, entries=2, share=F(1, 40))  # type: ignore[arg-type]
    assert plan.plan.stated_error(10_000, stated) < float(worst.mean_square(10_000)) / 5
    assert bit.stated_error(10_000, stated) < OneBit(**arguments).mean_square(10_000) / 5  # type: ignore[arg-type]
    assert plan.mean_square(10_000) > worst.mean_square(10_000)  # of the worst vectors
    for eta in (F(1, 2), F(1), F(7, 4)):
        exact = clip_bias(2, F(1), eta) * stated.share
        assert stated.bias(1.0, float(eta)) == pytest.approx(float(exact), abs=0.13 / 40)  # chords
    for limit in (1, 2, 3):  # a user with four entries of +-1, all signs
        sums = [1 + sum(signs) for signs in product((-1, 1), repeat=3)]
        lost = 1 - F(sum(max(min(x, limit), -limit) for x in sums), 8)
        assert Stated(4, F(1, 2)).bias(1.0, limit) == pytest.approx(float(lost) / 2)
    n = 4000
    state = plan.aggregate().add(plan.draw_many(sample * (n // 80), SeededSource(4)))
    truth = np.zeros(200)
    truth[:40] = 1 / 40
    truth[90:130] = -1 / 80
    error = ((state.estimate().values - truth) ** 2).mean()
    assert error < 1.5 * plan.plan.stated_error(n, stated)


def test_no_mechanism_is_below_the_lower_bound() -> None:
    d, k, n = 64, 4, 20_000
    rng = np.random.default_rng(2)
    m = OneBit(d=d, k=k, epsilon=1, users=n)
    bound = lower_bound(d=d, k=k, epsilon=1, users=n, of="distribution")
    with mp.workdps(30):  # the formula of the module, once more
        logs = mp.log(mp.binomial(d, k))
        a, c = 1 - mp.log(2) / logs, n * mp.sinh(mp.mpf(1) / 2) ** 2 / logs
        h = min(mp.sqrt(a / (3 * c)), 1)
        assert F(str(h / 2 * (a - c * h**2))) == pytest.approx(bound.lower, rel=1e-12)
    wide = {"d": 10**6, "k": 99, "epsilon": 1, "users": n}
    both = [lower_bound(**wide, of=of) for of in ("sample", "distribution")]  # type: ignore[arg-type]
    assert 0 < both[0].upper < both[1].lower < both[0].lower + F(2, 100)
    item = np.argsort(rng.random((n, d)))[:, :k].ravel()
    entries = Entries(n, np.repeat(np.arange(n), k), item, np.ones(n * k, int))
    means = m.aggregate().add(m.draw_many(entries, SeededSource(1))).estimate()
    assert abs(means.values - k / d).max() > bound.upper
    more = [lower_bound(d=d, k=k, epsilon=1, users=n * 4**i, of="distribution") for i in range(3)]
    ratios = [float(a.upper / b.lower) for a, b in pairwise(more)]
    assert ratios == pytest.approx([2, 2])
    assert lower_bound(d=2, k=1, epsilon=1, users=10).upper == 0
    event = [
        lower_bound(d=10**6, k=5, epsilon=1, users=n, of=of, level="event")  # type: ignore[arg-type]
        for of in ("sample", "distribution")
    ]
    with mp.workdps(30):
        logs = mp.log(2 * 10**6)
        a, c = 1 - mp.log(2) / logs, 4 * n * mp.sinh(mp.mpf(1) / 2) ** 2 / logs
        h = mp.sqrt(a / (3 * c))
        by_hand = h / 3 * a
        assert F(str(by_hand)) == pytest.approx(event[1].lower, rel=1e-12)
        assert F(str(by_hand - 1 / (2 * mp.sqrt(n)))) == pytest.approx(event[0].lower, rel=1e-9)
    for wrong in ({"k": 64}, {"of": "users"}, {"level": "household"}, {"users": 0}):
        with pytest.raises(InvalidParameter):
            lower_bound(**{"d": d, "k": k, "epsilon": 1, "users": n, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("stated", [{}, {"entries": 2}, {"entries": 51, "share": "0.1"}])
@pytest.mark.parametrize(("n", "k"), [(47_958, 100), (1000, 60)])
def test_the_default_is_the_better_of_the_published_clip_and_the_plan(
    n: int, k: int, stated: dict[str, Any]
) -> None:
    about = Stated(stated.get("entries", k), stated.get("share", 1))
    for of, more in ((OneBit, {}), (SparseVectorMean, {"level": "user", "bins": 1})):
        basic = {"d": 1378, "k": k, "epsilon": 1, "users": n, **stated, **more}
        error = of(**basic).stated_error(n, about)
        published = of(**basic, clip="published")
        assert published.clip == pytest.approx((k * log(n)) ** 0.5 / 2.5, abs=1 / 64)
        for clip in ("published", 1, 2, 3, 5, 8, 13, 21, 34):
            assert error <= of(**basic, clip=clip).stated_error(n, about) * (1 + 1e-6)


def test_published_clips_need_no_planning_data() -> None:
    assert OneBit(d=9, k=3, epsilon=1, users=1, clip="published").clip == 1
    with pytest.raises(InvalidParameter, match="clip"):
        OneBit(d=9, k=3, epsilon=1, clip="printed")
