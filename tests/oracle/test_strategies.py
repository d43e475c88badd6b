"""The strategies draw what the neighbouring relations say, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.oracle.strategies import (
    datasets,
    histograms,
    neighbouring_datasets,
    neighbouring_histograms,
    neighbouring_vectors,
)


@pytest.mark.slow
@given(neighbouring_histograms(k=2))
def test_histograms_differ_by_one_user(pair: tuple[dict[int, int], dict[int, int]]) -> None:
    left, right = pair
    changes = {x: left.get(x, 0) - right.get(x, 0) for x in left.keys() | right.keys()}
    moved = {change for change in changes.values() if change}
    assert moved in ({1}, {-1})
    assert 1 <= sum(1 for change in changes.values() if change) <= 2
    assert all(count >= 1 for side in pair for count in side.values())


@pytest.mark.slow
@given(neighbouring_datasets(relation="replace-one"))
def test_replace_one(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    left, right = pair
    assert len(left) == len(right) >= 1
    assert sum(a != b for a, b in zip(left, right, strict=True)) <= 1


@given(neighbouring_datasets(relation="add-remove", max_size=3))
def test_add_remove(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    shorter, longer = sorted(pair, key=len)
    assert len(longer) == len(shorter) + 1 <= 3
    assert shorter in [longer[:i] + longer[i + 1 :] for i in range(len(longer))]


@given(neighbouring_vectors(3, most=2))
def test_vectors_are_within_distance_one(pair: object) -> None:
    left, right = pair  # type: ignore[misc]
    assert sum(abs(a - b) for a, b in zip(left, right, strict=True)) <= 1
    assert min(right) >= 0


@pytest.mark.slow
def test_extremes_are_reached() -> None:
    find(neighbouring_histograms(k=3), lambda pair: abs(len(pair[0]) - len(pair[1])) == 3)
    find(
        neighbouring_vectors(2),
        lambda pair: sum(abs(a - b) for a, b in zip(*pair, strict=True)) == 1,
    )
    find(neighbouring_datasets(max_size=3), lambda pair: len(pair[0]) == 3 and pair[0] != pair[1])


def test_shrinks_to_the_smallest_pair() -> None:
    left, right = find(neighbouring_histograms(k=3), lambda pair: True)
    assert (left, right) == ({}, {0: 1})


@given(histograms(st.sampled_from("ab"), max_size=2, max_count=1), datasets(st.just(7), max_size=2))
def test_own_keys_and_rows(counts: dict[str, int], rows: tuple[int, ...]) -> None:
    assert set(counts) <= {"a", "b"}
    assert set(counts.values()) <= {1}
    assert rows in ((), (7,), (7, 7))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: neighbouring_histograms(k=0), "k must be"),
        (lambda: neighbouring_datasets(relation="swap"), "relation must be"),
        (lambda: neighbouring_datasets(max_size=0), "max_size must be"),
        (lambda: neighbouring_vectors(0), "dimension must be"),
        (lambda: datasets(min_size=3, max_size=2), "max_size must be"),
    ],
)
def test_bad_input(make: object, named: str) -> None:
    with pytest.raises(InvalidParameter, match=named):
        make()  # type: ignore[operator]
