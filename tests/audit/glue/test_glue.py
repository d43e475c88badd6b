"""Record and replay of pipelines: distances by hand, ways to add noise, and what is refused."""

import random
import secrets
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.random import laplace

from exactdp.audit import glue
from exactdp.audit.glue.distance import differences, norm_power, norm_text, same
from exactdp.errors import InvalidParameter, Undecided
from exactdp.oracle import assert_sensitivity

GENERATOR = np.random.default_rng(7)
CLOCK = count()


def _scaled(rows: Any) -> Any:
    return sum(rows) + 3 * np.random.default_rng().standard_normal()


def _in_place(rows: Any) -> Any:
    counts = np.array([float(sum(rows)), 0.0])
    counts += np.random.laplace(size=2)
    return counts


def _legacy_state(rows: Any) -> Any:
    return np.random.RandomState(3).normal(sum(rows), 2.0)


def _one_by_one(rows: Any) -> Any:
    noise = np.random.default_rng().laplace(size=2)
    values = [sum(rows), 0]
    return [value + noise[i] for i, value in enumerate(values)]


def _series(rows: Any) -> Any:
    import pandas as pd

    column = pd.Series([float(sum(rows)), 1.0])
    return column + np.random.default_rng().laplace(size=2)


def _python(rows: Any) -> Any:
    return random.Random(5).gauss(0, 2) + sum(rows)


def _seeded(rows: Any) -> Any:
    np.random.seed(0)
    return round(sum(rows) - np.random.laplace(), 2)


def _noisy_threshold(rows: Any) -> Any:
    rng = np.random.default_rng()
    return bool(rng.laplace(scale=2.0) > 3 - sum(rows))


def _difference_of_draws(rows: Any) -> Any:
    rng = np.random.default_rng()
    return sum(rows) + (rng.geometric(0.5) - rng.geometric(0.5))


WAYS = [
    _noisy_threshold,
    lambda rows: np.random.default_rng().laplace(sum(rows), 2.0),
    lambda rows: sum(rows) + laplace(scale=2.0),  # the name was bound before the audit
    lambda rows: sum(rows) + GENERATOR.laplace(scale=2.0),  # so was the generator
    _scaled,
    _in_place,
    _legacy_state,
    _one_by_one,
    pytest.param(_series, marks=pytest.mark.slow),  # pandas makes every later fork dearer
    _python,
    _seeded,
    _difference_of_draws,
    lambda rows: sum(rows) + np.random.default_rng(secrets.randbits(64)).laplace(),
    lambda rows: sum(rows) + np.random.default_rng(next(CLOCK) // 3).laplace(),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("pipeline", WAYS)
def test_the_distance_is_seen_however_noise_is_added(pipeline: Any) -> None:
    report = glue.sensitivity(pipeline, [1, 2], [1, 7], declared=4)
    assert [each.kind for each in report.violations] == ["sensitivity"]
    assert max(call.power for call in report.calls) == 5
    assert "test_glue.py:" in report.violations[0].where
    assert not glue.sensitivity(pipeline, [1, 2], [1, 7], declared=5).violation


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("pipeline", "kind"),
    [
        (lambda rows: np.zeros(2) + sum(rows) + np.random.laplace(), "shared"),
        (lambda rows: sum(rows) + np.random.laplace(scale=1.0 + max(rows)), "scale"),
        (lambda rows: sum(rows) + max(rows) * np.random.laplace(), "scale"),
        (lambda rows: sum(rows) + np.random.default_rng(max(rows)).laplace(), "scale"),
        (lambda rows: sum(rows) + np.random.RandomState(seed=rows).laplace(), "scale"),
        (lambda rows: np.random.laplace(size=max(rows)) + 1, "structure"),
        (lambda rows: [np.random.laplace(0, 1) for _ in range(max(rows))], "structure"),
        (lambda rows: (min(len(rows), 1) + np.random.laplace(), max(rows)), "leak"),
        (lambda rows: 1 / (9 - max(rows)) * (1 + np.random.laplace()), "leak"),
    ],
)
def test_other_ways_of_the_data_out_are_seen(pipeline: Any, kind: str) -> None:
    report = glue.sensitivity(pipeline, [1, 2], [1, 9 if kind == "leak" else 7], declared=100)
    assert kind in {each.kind for each in report.violations}, str(report)


def _reused(rows: Any) -> Any:
    noise = np.random.laplace(scale=9.0)
    return sum(rows) + noise, max(rows) + noise


def test_one_noise_value_for_two_values_is_seen() -> None:
    report = glue.sensitivity(_reused, [1, 2], [1, 4], declared=9)
    assert [each.kind for each in report.violations] == ["shared"]


#: Noise with and without a location, which protects nothing.
DRAWS = [
    lambda: np.random.laplace(scale=9.0),
    lambda: np.random.laplace(0, 9.0),
    lambda: np.random.default_rng().laplace(2.0, 9.0),
    lambda: random.gauss(0, 9.0),
]


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    "show",
    [
        lambda n, z: n + z if n + z > 0 else 0.0,
        lambda n, z: (n + z, 2 * (z + n)),
        lambda n, z: (n + z, -(n + z), round(float(n + z))),
    ],
)
def test_one_noised_value_may_be_used_twice(show: Any, draw: Any) -> None:
    assert not glue.sensitivity(lambda n: show(n, draw()), 1, 2, declared=1).violation


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    "show",
    [
        lambda n, z: {"count": n + z, "noise": z},
        lambda n, z: (n + z) - z,
        lambda n, z: (n + z, 2 * z),
        lambda n, z: (n + z, abs(z)),
        lambda n, z: (n + z) / z,
    ],
)
def test_noise_that_is_shown_or_taken_off_again_is_a_leak(show: Any, draw: Any) -> None:
    report = glue.sensitivity(lambda n: show(n, draw()), 1, 2, declared=1)
    assert "leak" in {each.kind for each in report.violations}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("show", [lambda n, z: (n + z, float(z)), lambda n, z: (n + z, f"{z}")])
def test_noise_that_becomes_a_plain_number_may_be_a_leak(show: Any, draw: Any) -> None:
    with pytest.raises(Undecided, match="plain number"):
        glue.sensitivity(lambda n: show(n, draw()), 1, 2, declared=1)


@pytest.mark.parametrize("draw", DRAWS)
def test_the_sign_of_noise_may_be_a_leak(draw: Any) -> None:
    def pipeline(n: Any) -> Any:
        z = draw()
        return n + z, bool(z > 0)

    with pytest.raises(Undecided, match="decides something by itself"):
        glue.sensitivity(pipeline, 1, 2, declared=1)


def _two_releases(rows: Any, scale: float = 4.0) -> Any:
    rng = np.random.default_rng()
    return sum(rows) + rng.laplace(0, scale), len(rows) + scale * rng.laplace(0, 0.5)


def test_the_total_is_the_sum_of_distances_over_scales() -> None:
    pair = ([1], [1, 3])  # 3/4 + 1/2
    assert not glue.sensitivity(_two_releases, *pair, epsilon="1.25").violation
    report = glue.sensitivity(_two_releases, *pair, epsilon="1.2499")
    assert "epsilon 1.25 exceeds" in str(report)


def test_the_total_of_gaussian_noise_is_a_sum_of_squares() -> None:
    pair = ([1], [1, 3])  # (3/3)^2 / 2
    assert not glue.sensitivity(_scaled, *pair, rho="0.5").violation
    assert glue.sensitivity(_scaled, *pair, rho="0.499").violation


def _float_noise(rows: Any) -> Any:
    return sum(rows) + float(np.random.laplace())


class Holder:
    rng = np.random.default_rng(1)


def _held(rows: Any) -> Any:
    return sum(rows) + Holder.rng.laplace()


def _state(rows: Any, seen: list[int] = []) -> Any:  # noqa: B006
    seen.append(1)
    return sum(rows) + np.random.laplace(size=len(seen))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        (sum, "no noise call"),
        (len, "no noise call"),
        (lambda rows: sum(rows) + float(np.random.laplace(0, 1)), "was not followed"),
        (_float_noise, "becomes a plain number"),
        (_held, "no noise call|held by an object"),
        (_state, "two runs on the same data differ"),
        (lambda rows: random.random() < 1 / (1 + max(rows)), "probability depends on the data"),
        (
            lambda rows: np.random.choice(2, p=[1 / max(rows), 1 - 1 / max(rows)]),
            "depends on the data",
        ),
        (lambda rows: sum(rows) + random.SystemRandom().getrandbits(3), "no noise call"),
    ],
)
def test_nothing_is_said_about_noise_that_was_not_followed(pipeline: Any, words: str) -> None:
    with pytest.raises(Undecided, match=words):
        glue.sensitivity(pipeline, [1, 2], [1, 7], declared=100)


def test_a_sensitivity_must_be_declared() -> None:
    with pytest.raises(Undecided, match="no declared sensitivity"):
        glue.sensitivity(_scaled, [1], [2])
    with pytest.raises(InvalidParameter, match="at most one of the three"):
        glue.sensitivity(_scaled, [1], [2], declared=1, epsilon=1)
    with pytest.raises(InvalidParameter, match="l1"):
        glue.sensitivity(_scaled, [1], [2], declared=1, norm="max")
    with pytest.raises(Undecided, match="not known here"):
        glue.sensitivity(_scaled, [1], [2], epsilon=1)


def test_generators_are_back_in_place_after_an_audit() -> None:
    before = (np.random.default_rng, np.random.laplace, random.gauss, GENERATOR, laplace)
    glue.sensitivity(_scaled, [1], [2], declared=1)
    assert before == (np.random.default_rng, np.random.laplace, random.gauss, GENERATOR, laplace)


class Mechanism:
    """A primitive of a class, with its own sensitivity."""

    def __init__(self, sensitivity: float) -> None:
        self.sensitivity = sensitivity

    def randomise(self, value: float) -> float:
        return value + random.SystemRandom().gauss(0, self.sensitivity)


MECHANISM = glue.Primitive(
    Mechanism, "randomise", "value", lambda arguments: arguments["self"].sensitivity
)


@pytest.mark.few(1)
@pytest.mark.parametrize(("declared", "violation"), [(5.0, False), (4.5, True)])
def test_a_named_primitive_is_held_to_its_own_sensitivity(declared: float, violation: bool) -> None:
    def pipeline(rows: Any) -> Any:
        return Mechanism(declared).randomise(sum(rows))

    report = glue.sensitivity(pipeline, [1], [6], primitives=[MECHANISM])
    assert report.violation is violation
    assert report.calls[0].distance == "5"


def test_a_sensitivity_that_depends_on_the_data_is_seen() -> None:
    report = glue.sensitivity(
        lambda rows: Mechanism(max(rows)).randomise(min(rows)), [1, 5], [1, 9],
        primitives=[MECHANISM],
    )  # fmt: skip
    assert [each.kind for each in report.violations] == ["scale"]


@pytest.mark.slow
def test_hypothesis_shrinks_the_pair() -> None:
    pairs = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda two: ([two[0]], [*two]))
    report = glue.search(_scaled, pairs, declared=50)
    assert (report.left, report.right) == ([0], [0, 51])
    assert "9 pairs" in str(assert_sensitivity(_scaled, pairs, declared=99, examples=9))
    with pytest.raises(AssertionError, match="L1 distance 51 exceeds the declared 50"):
        assert_sensitivity(_scaled, [([0], [0, 51])], declared=50)


def test_differences_are_exact() -> None:
    left, right = np.array([0.1, 0.0, np.nan, 1.0]), np.array([0.3, 0.0, np.nan, np.inf])
    changes = differences(left, right)
    assert changes == {0: Fraction(0.3) - Fraction(0.1), 3: None}
    assert norm_power([Fraction(3), Fraction(-4)], "l2") == 25
    assert norm_text(Fraction(25), "l2") == "5"
    assert norm_power([Fraction(3), Fraction(-4)], "linf") == 4


def test_outputs_are_compared_by_their_parts() -> None:
    assert same({"a": (1, [np.nan])}, {"a": (1, [np.nan])})
    assert not same([1, 2], [1, 3])
    assert not same(Mechanism(1.0), Mechanism(2.0))
    assert same(Mechanism(1.0), Mechanism(1.0))


@pytest.mark.slow
def test_frames_are_compared_by_their_values() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, np.nan]})
    assert same({"b": frame}, {"b": frame.copy()})
    assert not same(frame, frame + 1)
